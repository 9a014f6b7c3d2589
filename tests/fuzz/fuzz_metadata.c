/*
 * Documents of resources and authorization servers. The first line is the
 * endpoint, the second the issuer, the rest the document. What is accepted
 * holds what was promised.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/auth/flow_find.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void check_resource(const struct url *endpoint, struct str body,
			   struct arena *arena)
{
	struct metadata_resource r;
	struct err err = ERR_INIT;
	struct strlist list;
	struct url u;

	metadata_resource_urls(endpoint, NULL, arena, &list);
	expect(list.n == 1 || list.n == 2);
	for (size_t i = 0; i < list.n; i++)
		expect(url_parse(str_of(list.item[i]), arena, &u, &err) == 0 &&
		       url_same_origin(endpoint, &u));
	if (metadata_resource(body, arena, &r, &err) != 0)
		return;
	expect(r.resource && r.servers.n > 0);
	if (metadata_is_for(endpoint, r.resource, &err) == 0)
		expect(url_parse(str_of(r.resource), arena, &u, &err) == 0 &&
		       url_same_origin(endpoint, &u));
}

static void check_server(const char *issuer, struct str body, bool slash,
			 struct arena *arena)
{
	const struct metadata_rules rules = {slash, true};
	struct metadata_server s;
	struct err err = ERR_INIT;

	if (metadata_server(body, issuer, &rules, arena, &s, &err) != 0)
		return;
	expect(s.token && s.authorization && s.issuer);
	expect(slash || !strcmp(s.issuer, issuer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str rest = {(const char *)data, size};
	struct str endpoint = str_cut(&rest, '\n');
	struct str issuer = arena_str(&arena, str_cut(&rest, '\n'));
	struct strlist list;
	struct err err = ERR_INIT;
	struct url u;

	if (url_parse(endpoint, &arena, &u, &err) == 0)
		check_resource(&u, rest, &arena);
	if (metadata_server_urls(issuer.p, &arena, &list, &err) == 0)
		expect(list.n == 2 || list.n == 3);
	check_server(issuer.p, rest, false, &arena);
	check_server(issuer.p, rest, true, &arena);
	return 0;
}
