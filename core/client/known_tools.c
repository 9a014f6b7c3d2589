#include "core/client/known_tools.h"

#include <ctype.h>
#include <string.h>

#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/config/state_file.h"

#define SCHEMA "matins-tools/1"
/* One file, bytes; beyond it names are not kept. */
#define FILE_BYTES (256 * 1024)
/* A name of a tool (MCP 2025-11-25, server/tools). */
#define NAME_BYTES 128

/* state_dir  NULL: the path is NULL, too */
static char *path_of(const char *state_dir, const char *config,
		     const char *server)
{
	AUTO(mem_freep) char *key = mem_printf("%s\n%s", config, server);
	char hex[SHA256_HEX_BYTES];

	sha256_hex(str_of(key), hex);
	return state_dir ? mem_printf("%s/tools/%s.json", state_dir, hex)
			 : NULL;
}

bool known_tools_takes(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) &&
		    !memchr("_-./:", name.p[i], 5))
			return false;
	return name.n && name.n <= NAME_BYTES && name.p[0] != '-';
}

void known_tools_keep(const char *state_dir, const char *config,
		      const char *server, const struct listing *tools,
		      const struct scrub *scrub)
{
	AUTO(mem_freep) char *path = path_of(state_dir, config, server);
	const struct state_file f = {path, SCHEMA, FILE_BYTES};
	AUTO(buf_release) struct buf now = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf known = BUF_INIT(FILE_BYTES);
	struct str value;
	struct jw w;

	if (!path)
		return;
	w = jw_begin(&now);
	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_array(&w, "tools");
	for (size_t i = 0; i < tools->n; i++) {
		const struct str name = tools->item[i].name;

		if (known_tools_takes(name) &&
		    !(scrub && scrub_finds(scrub, name)))
			jw_str(&w, name);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(&now, '\n');
	if (!state_file_read(&f, &known, &value) ||
	    !str_eq(buf_str(&known), buf_str(&now)))
		state_file_write(&f, buf_str(&now));
}

struct strlist known_tools(const char *state_dir, const char *config,
			   const char *server, struct arena *arena)
{
	AUTO(mem_freep) char *path = path_of(state_dir, config, server);
	const struct state_file f = {path, SCHEMA, FILE_BYTES};
	AUTO(buf_release) struct buf text = BUF_INIT(FILE_BYTES);
	struct strlist names = {NULL, 0};
	struct str file, tools;

	if (!path || !state_file_read(&f, &text, &file) ||
	    !scan_get(file, "tools", &tools))
		return names;
	for (struct scan_iter it = scan_over(tools); scan_next(&it);) {
		AUTO(buf_release) struct buf name = BUF_INIT(NAME_BYTES);

		if (scan_string(it.value, &name) &&
		    known_tools_takes(buf_str(&name)))
			list_add(&names, arena,
				 arena_strdup(arena, buf_cstr(&name)));
	}
	return names;
}
