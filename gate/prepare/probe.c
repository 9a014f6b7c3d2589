#include "gate/prepare/probe.h"

void gate_probe(struct gate *g)
{
	if (g->probed)
		return;
	g->probed = true;
	ns_probe(g->place, g->n_places, g->config.state_dir, &g->ns);
}

void gate_probe_again(struct gate *g)
{
	ns_forget(g->config.state_dir);
	g->probed = g->has_facts = g->view_failed = false;
	gate_probe(g);
}
