#include "core/import/launch.h"

#include <strings.h>

#include "core/base/buf.h"

void pairs_set(struct pairs *p, struct arena *arena, const char *name,
	       const char *value, bool replaces)
{
	size_t i = 0;

	while (i < p->n && strcmp(p->item[i].name, name) != 0)
		i++;
	if (i == p->n)
		p->item = arena_grow(arena, p->item, p->n++, sizeof(*p->item));
	else if (!replaces)
		return;
	p->item[i] = (struct pair){name, value};
}

/* Name of the program, without its folder here or on Windows. */
static const char *last_part(const struct launch *l)
{
	const char *name = l->program ? l->program : "";

	for (const char *p = name; *p; p++)
		if (*p == '/' || *p == '\\')
			name = p + 1;
	return name;
}

static bool is_program(const struct launch *l, const char *words)
{
	return str_has_word(words, str_of(last_part(l)));
}

void launch_unwrap(struct launch *l, struct arena *arena, struct strlist *notes)
{
	struct str name = str_of(last_part(l));
	size_t n = 0;

	if (strcasecmp(name.p, "cmd") == 0 ||
	    strcasecmp(name.p, "cmd.exe") == 0)
		while (n < l->args.n && l->args.item[n][0] == '/' &&
		       l->args.item[n][1] && !l->args.item[n][2])
			n++;
	if (n && n < l->args.n) {
		l->program = l->args.item[n];
		l->args.item += n + 1;
		l->args.n -= n + 1;
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

bool launch_is_wrapped(const struct launch *l)
{
	return is_program(l, "matins") && l->args.n &&
	       strcmp(l->args.item[0], "exec") == 0;
}

bool launch_is_url(const char *text)
{
	static const char *const begins[] = {"http://", "https://", "ws://",
					     "wss://", "${"};
	bool is_url = false;

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		is_url |= str_starts(str_of(text), begins[i]);
	return is_url;
}

/* "Name: value", in which variables of the program have their values. */
static void add_header(const char *text, const struct pairs *env,
		       struct arena *arena, struct pairs *headers)
{
	struct str value = str_of(text);
	const struct str name = str_trim(str_cut(&value, ':'));
	const char *filled;

	value = str_trim(value);
	filled = arena_strndup(arena, value.p, value.n);
	for (size_t i = 0; i < env->n; i++) {
		const char *form =
			arena_printf(arena, "${%s}", env->item[i].name);
		const char *at = strstr(filled, form);

		if (at)
			filled = arena_printf(
				arena, "%.*s%s%s", (int)(at - filled), filled,
				env->item[i].value, at + strlen(form));
	}
	pairs_set(headers, arena, arena_strndup(arena, name.p, name.n), filled,
		  true);
}

const char *launch_bridge(const struct launch *l, const struct pairs *env,
			  struct arena *arena, struct pairs *headers,
			  struct strlist *left)
{
	const struct strlist *args = &l->args;
	const char *url = NULL;
	size_t i = 0;

	if (is_program(l, "npx bunx pnpx pnpm npm yarn bun"))
		while (i < args->n &&
		       !str_is(str_of(args->item[i]), "mcp-remote") &&
		       !str_starts(str_of(args->item[i]), "mcp-remote@"))
			i++;
	else
		i = is_program(l, "mcp-remote") ? SIZE_MAX : args->n;
	if (i == args->n)
		return NULL;
	while (++i < args->n) {
		if (!url && launch_is_url(args->item[i]))
			url = args->item[i];
		else if (strcmp(args->item[i], "--header") == 0 &&
			 i + 1 < args->n)
			add_header(args->item[++i], env, arena, headers);
		else
			list_add(left, arena, args->item[i]);
	}
	return url;
}
