#include "gate/path/npm_prefix.h"

#include <strings.h>

#include "core/base/fd.h"
#include "gate/path/resolve.h"

/* Bytes of an npmrc file. */
#define NPMRC_BYTES (256 * 1024)

extern char **environ;

/* ---- the text of a file ---- */

static struct str unquoted(struct str s)
{
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') &&
	    s.p[s.n - 1] == s.p[0])
		return (struct str){s.p + 1, s.n - 2};
	s.n = str_find(s, ';');
	s.n = str_find(s, '#');
	return str_trim(s);
}

const char *npm_setting(struct str text, const char *key, struct arena *arena)
{
	const char *found = NULL;

	while (text.n) {
		struct str line = str_trim(str_cut(&text, '\n'));
		struct str name = str_trim(str_cut(&line, '='));

		/* in a section it is the name of another key */
		if (str_starts(name, "["))
			break;
		line = unquoted(str_trim(line));
		if (str_is(name, key) && line.n && !memchr(line.p, 0, line.n))
			found = arena_strndup(arena, line.p, line.n);
	}
	return found;
}

/* ---- the environment ---- */

/* npm takes names of its own variables in any case. */
static const char *variable_in(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; env && env[i]; i++)
		if (strncasecmp(env[i], name, n) == 0 && env[i][n] == '=' &&
		    env[i][n + 1])
			return env[i] + n + 1;
	return NULL;
}

/* Replace ${NAME} and ~/ at the beginning; NULL: no absolute path then. */
static const char *expand(const char *value, const char *home,
			  struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(NPMRC_BYTES);
	struct str rest = str_of(value);

	if (str_starts(rest, "~/") && home) {
		buf_adds(&out, home);
		rest = str_skip(rest, 1);
	}
	while (rest.n) {
		size_t end = str_find(rest, '}');

		if (str_starts(rest, "${") && end < rest.n) {
			const char *is = getenv(
				arena_strndup(arena, rest.p + 2, end - 2));

			buf_adds(&out, is ? is : "");
			rest = str_skip(rest, end + 1);
			continue;
		}
		buf_add(&out, rest.p, 1);
		rest = str_skip(rest, 1);
	}
	while (out.n > 1 && out.p[out.n - 1] == '/')
		out.p[--out.n] = '\0';
	return out.n && out.p[0] == '/' ? arena_strdup(arena, buf_cstr(&out))
					: NULL;
}

/* ---- the places ---- */

static const char *setting_in(const char *file, const char *key,
			      const char *home, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(NPMRC_BYTES);
	const char *value = NULL;

	if (file && fd_read_regular(file, &text, ERR_IGNORED) == 0)
		value = npm_setting(buf_str(&text), key, arena);
	return value ? expand(value, home, arena) : NULL;
}

/* The folder two levels above a file. */
static const char *two_above(const char *path, struct arena *arena)
{
	return resolve_dirname(resolve_dirname(path, arena), arena);
}

/* Setting of the user: a variable, else a line in the npmrc of HOME. */
static const char *setting_of(const char *const *env, const char *key,
			      const char *home, struct arena *arena)
{
	const char *const *own = (const char *const *)environ;
	const char *name = arena_printf(arena, "npm_config_%s", key);
	const char *value = variable_in(env, name), *file;

	if (!value)
		value = variable_in(own, name);
	if (value)
		return expand(value, home, arena);
	file = variable_in(own, "npm_config_userconfig");
	if (!file && home)
		file = arena_printf(arena, "%s/.npmrc", home);
	return setting_in(file, key, home, arena);
}

const char *npm_prefix(const char *const *env, const char *home,
		       struct arena *arena)
{
	const char *const *own = (const char *const *)environ;
	const char *found = setting_of(env, "prefix", home, arena);
	const char *base, *node, *npm, *file;

	if (found)
		return found;
	base = variable_in(own, "PREFIX");
	node = base ? NULL : resolve_in_own_path("node", arena);
	if (node)
		base = two_above(node, arena);
	file = variable_in(own, "npm_config_globalconfig");
	if (!file && base)
		file = arena_printf(arena, "%s/etc/npmrc", base);
	found = setting_in(file, "prefix", home, arena);
	npm = found ? NULL : resolve_in_own_path("npm", arena);
	if (npm)
		found = setting_in(
			arena_printf(arena, "%s/npmrc", two_above(npm, arena)),
			"prefix", home, arena);
	return found ? found : base;
}

const char *npm_cache(const char *const *env, const char *home,
		      struct arena *arena)
{
	const char *found = setting_of(env, "cache", home, arena);

	return found || !home ? found : arena_printf(arena, "%s/.npm", home);
}
