#include "core/run/env.h"

#include "core/base/mem.h"

static void wipe_line(char *line)
{
	mem_wipe(line, strlen(line));
	free(line);
}

/* n  bytes of the name and its "=" */
static void put_line(struct env *e, char *line, size_t n)
{
	for (size_t i = 0; i < e->n; i++) {
		if (strncmp(e->item[i], line, n) != 0)
			continue;
		wipe_line(e->item[i]);
		e->item[i] = line;
		return;
	}
	e->item = mem_realloc(e->item, (e->n + 2) * sizeof(*e->item));
	e->item[e->n++] = line;
	e->item[e->n] = NULL;
}

void env_set(struct env *e, const char *name, struct str value)
{
	put_line(e, mem_printf("%s=%.*s", name, STR_ARG(value)),
		 strlen(name) + 1);
}

void env_add_lines(struct env *e, const char *const *lines)
{
	for (; lines && *lines; lines++) {
		struct str rest = str_of(*lines);

		put_line(e, mem_strdup(*lines), str_cut(&rest, '=').n + 1);
	}
}

const char *const *env_lines(const struct env *e)
{
	return (const char *const *)e->item;
}

void env_release(struct env *e)
{
	for (size_t i = 0; i < e->n; i++)
		wipe_line(e->item[i]);
	free(e->item);
	*e = (struct env){NULL, 0};
}
