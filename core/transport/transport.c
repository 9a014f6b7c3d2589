#include "core/transport/transport.h"

int transport_in_fd(const struct transport *t)
{
	return t->type->in_fd(t);
}

int transport_out_fd(const struct transport *t)
{
	return t->type->out_fd(t);
}

ssize_t transport_receive(struct transport *t, char *into, size_t room)
{
	return t->type->receive(t, into, room);
}

ssize_t transport_send(struct transport *t, struct str bytes)
{
	return t->type->send(t, bytes);
}

void transport_end_output(struct transport *t)
{
	t->type->end_output(t);
}

void transport_end_input(struct transport *t)
{
	t->type->end_input(t);
}

void transport_free(struct transport *t)
{
	if (t)
		t->type->free(t);
}

bool transport_has_messages(const struct transport *t)
{
	return t->type->next != NULL;
}

void transport_next(struct transport *t, struct transport_item *ret)
{
	t->type->next(t, ret);
}

void transport_facts(const struct transport *t, struct jw *w)
{
	if (t->type->facts)
		t->type->facts(t, w);
}
