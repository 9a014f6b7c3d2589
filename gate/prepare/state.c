#include "gate/prepare/state.h"

#include <string.h>

const char *gate_keep_text(struct gate *g, const char *text)
{
	for (size_t i = 0; i < g->texts.n; i++)
		if (strcmp(g->texts.item[i], text) == 0)
			return g->texts.item[i];
	list_add(&g->texts, &g->arena, arena_strdup(&g->arena, text));
	return g->texts.item[g->texts.n - 1];
}

void gate_keep_facts(struct gate *g, const struct gate_fact *from,
		     struct gate_fact *to)
{
	for (int i = 0; i < N_GUARANTEES; i++) {
		to[i] = from[i];
		to[i].how = gate_keep_text(g, from[i].how);
		if (from[i].remedy)
			to[i].remedy = gate_keep_text(g, from[i].remedy);
	}
}
