#include "core/run/pinned.h"

#include <errno.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/place.h"
#include "core/config/paths.h"
#include "core/report/pins.h"
#include "core/run/advice_command.h"

int pinned_text(const struct config *config, const struct server *server,
		const struct listing *tools, struct buf *out, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct pins pins = {
		server->name,
		place_name(config->path),
		ARENA_ARRAY(&arena, struct str, tools->n + 1),
		tools->n,
	};

	for (size_t i = 0; i < tools->n; i++)
		pins.tool[i] = tools->item[i].json;
	return pins_print(&pins, out, err);
}

int pinned_check_owner(const struct config *config, const struct server *server,
		       const char *path, struct str kept, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *owner = pins_owner(kept, &arena);

	if (!path_is_other(config, owner))
		return 0;
	return err_set(err, ERR_COMPARE,
		       "%s holds the tools of the server %s in %s; give that "
		       "of %s another name, or move one of the two files to a "
		       "folder of its own",
		       path, server->name, owner, place_name(config->path));
}

/* Read what is kept; a sentence says why it does not count. */
static const char *read_kept(const struct config *config,
			     const struct server *server, struct arena *arena,
			     struct buf *kept)
{
	const char *path = pins_path(config->dir, server->name, arena);
	struct err err = ERR_INIT;
	int r = path_read(path, config->dir, config, kept, &err);

	if (r < 0 && err.sys == ENOENT)
		return arena_printf(
			arena,
			"the server is pinned, and %s is not there yet; it was "
			"not called; to keep its tools as they are now: matins "
			"golden record --tools%s",
			path, advice_config(config, arena));
	if (r < 0 ||
	    pinned_check_owner(config, server, path, buf_str(kept), &err) < 0)
		return arena_printf(arena, "%s; it was not called", err.msg);
	return NULL;
}

const char *pinned_missing(const struct config *config,
			   const struct server *server, struct arena *arena)
{
	AUTO(buf_release) struct buf kept = BUF_INIT(LIMIT_REPORT_BYTES);

	return read_kept(config, server, arena, &kept);
}

const char *pinned_refusal(const struct config *config,
			   const struct server *server,
			   const struct listing_item *tool, struct arena *arena)
{
	AUTO(buf_release) struct buf kept = BUF_INIT(LIMIT_REPORT_BYTES);
	AUTO(buf_release) struct buf now = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);
	const char *path = pins_path(config->dir, server->name, arena);
	const char *option = advice_config(config, arena);
	struct str json = tool->json;
	const struct pins pins = {server->name, NULL, &json, 1};
	struct err err = ERR_INIT;
	const char *why = read_kept(config, server, arena, &kept);

	if (why)
		return why;
	if (pins_print(&pins, &now, &err) < 0 ||
	    pins_diff(buf_str(&kept), buf_str(&now), tool->name, &diff, &err) <
		    0)
		return arena_printf(arena, "%s: %s; it was not called", path,
				    err.msg);
	if (!diff.n)
		return NULL;
	return arena_printf(
		arena,
		"the tool is not as it was accepted in %s, and was not called; "
		"to see and accept all that has changed: matins golden accept "
		"--tools "
		"%s%s\n%.*s",
		path, server->name, option, STR_ARG(str_trim(buf_str(&diff))));
}

const char *pinned_action_refusal(const struct action *action, struct str tool,
				  struct arena *arena)
{
	char hex[SHA256_HEX_BYTES];
	struct err err = ERR_INIT;

	if (!action || !action->pin)
		return NULL;
	if (pins_digest(tool, hex, &err) < 0)
		return arena_printf(arena, "%s; it was not called", err.msg);
	if (strcmp(hex, action->pin) == 0)
		return NULL;
	return arena_printf(
		arena,
		"the tool is not as it was promoted to the action %s, and was "
		"not called; see it by `matins describe %s.%s`, and write pin "
		"= \"%s\" to accept it",
		action->name, action->server_name, action->tool, hex);
}
