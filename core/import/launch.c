#include "core/import/launch.h"

#include <strings.h>

#include "core/base/buf.h"

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');

	if (back && (!slash || back > slash))
		return back + 1;
	return slash ? slash + 1 : path;
}

static bool is_program(const struct launch *l, const char *words)
{
	return l->program && str_has_word(words, str_of(last_part(l->program)));
}

static void drop_args(struct launch *l, size_t n)
{
	l->args.item += n;
	l->args.n -= n;
}

void launch_unwrap(struct launch *l, struct arena *arena, struct strlist *notes)
{
	struct str name = str_of(l->program ? last_part(l->program) : "");
	size_t n = 0;

	if (strcasecmp(name.p, "cmd") == 0 ||
	    strcasecmp(name.p, "cmd.exe") == 0)
		while (n < l->args.n && l->args.item[n][0] == '/' &&
		       l->args.item[n][1] && !l->args.item[n][2])
			n++;
	if (n && n < l->args.n) {
		l->program = l->args.item[n];
		drop_args(l, n + 1);
		list_add(notes, arena, "`cmd /c` of Windows is left out");
		name = str_of(l->program);
	}
	if (name.n > 4 && strcspn(name.p, "/\\") == name.n &&
	    (strcasecmp(name.p + name.n - 4, ".cmd") == 0 ||
	     strcasecmp(name.p + name.n - 4, ".exe") == 0))
		l->program = arena_strndup(arena, name.p, name.n - 4);
	if (l->program && strchr(l->program, '\\'))
		list_add(notes, arena,
			 "the program is a path of Windows; write the path "
			 "that it has here");
}

bool launch_is_container(const struct launch *l)
{
	return is_program(l, "docker podman nerdctl");
}

bool launch_is_url(const char *text)
{
	const struct str s = str_of(text);

	return str_starts(s, "http://") || str_starts(s, "https://") ||
	       str_starts(s, "ws://") || str_starts(s, "wss://") ||
	       str_starts(s, "${");
}

static bool is_bridge(const char *word)
{
	const char *at = strncmp(word, "mcp-remote", 10) == 0 ? word + 10 : "x";

	return !*at || *at == '@';
}

/* "--header", "Name: value" */
static void take_header(struct launch *l, const char *text, struct arena *arena)
{
	struct str value = str_of(text);
	const struct str name = str_trim(str_cut(&value, ':'));

	value = str_trim(value);
	list_add(&l->headers, arena, arena_strndup(arena, name.p, name.n));
	list_add(&l->headers, arena, arena_strndup(arena, value.p, value.n));
}

const char *launch_bridge(struct launch *l, struct arena *arena)
{
	const char *url = NULL;
	size_t i = 0;

	if (is_program(l, "npx bunx pnpx pnpm npm yarn bun"))
		while (i < l->args.n && !is_bridge(l->args.item[i]))
			i++;
	else if (!is_program(l, "mcp-remote"))
		return NULL;
	else
		i = SIZE_MAX;
	if (i == l->args.n)
		return NULL;
	while (++i < l->args.n) {
		if (!url && launch_is_url(l->args.item[i]))
			url = l->args.item[i];
		else if (strcmp(l->args.item[i], "--header") == 0 &&
			 i + 1 < l->args.n)
			take_header(l, l->args.item[++i], arena);
		else
			list_add(&l->left, arena, l->args.item[i]);
	}
	return url;
}

const char *launch_fill(const char *text, const struct strlist *names,
			const struct strlist *values, struct arena *arena)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *form = arena_printf(arena, "${%s}", names->item[i]);
		const char *at = strstr(text, form);

		if (at)
			text = arena_printf(arena, "%.*s%s%s", (int)(at - text),
					    text, values->item[i],
					    at + strlen(form));
	}
	return text;
}
