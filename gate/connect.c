/* Connections that the runner makes itself, judged by the leash. */
#include "gate/policy/endpoint.h"
#include "gate/gate.h"
#include "gate/prepare/state.h"

/* The bytes of an address, and whether it is one that names lead to. */
static bool target_of(const struct sockaddr *address, uint16_t port,
		      struct endpoint_target *ret)
{
	struct address a;

	return address_of(address, &a) &&
	       endpoint_target_bytes(a.bytes, a.is_v6, port, ret) == 0;
}

static bool row_allows(const char *row, const struct endpoint_target *name,
		       const struct endpoint_target *address)
{
	struct err ignored = ERR_INIT;
	struct endpoint e;
	enum endpoint_grant grant;

	if (strcmp(row, "all") == 0)
		return true;
	if (strcmp(row, "loopback") == 0)
		return address &&
		       address_class_of(&address->address) == ADDRESS_LOOPBACK;
	if (endpoint_parse(row, &e, &ignored) < 0)
		return false;
	if (address && endpoint_judge(&e, 1, address) == ENDPOINT_LITERAL)
		return true;
	grant = endpoint_judge(&e, 1, name);
	return grant != ENDPOINT_REFUSED &&
	       (!address || endpoint_reaches(grant, &address->address));
}

int gate_may_connect(const struct gate *gate, struct str host, uint16_t port,
		     const struct sockaddr *address, struct err *err)
{
	const struct gate_axis *net = &gate->config.leash.net;
	struct endpoint_target name, at;
	char text[ENDPOINT_TEXT_BYTES];

	if (net->all)
		return 0;
	if (endpoint_target(host, port, &name) < 0 ||
	    (address && !target_of(address, port, &at)))
		return err_set(err, ERR_LEASH,
			       "\"%.*s\" is not a host name or an address",
			       STR_ARG(host));
	for (size_t i = 0; i < net->only.n; i++)
		if (row_allows(net->only.item[i], &name, address ? &at : NULL))
			return 0;
	endpoint_target_text(&name, text);
	return err_set(err, ERR_LEASH,
		       "the leash (%s) does not allow connections to %s; add "
		       "it to its \"net\"",
		       gate->config.leash.source ? gate->config.leash.source
						 : "of this run",
		       text);
}
