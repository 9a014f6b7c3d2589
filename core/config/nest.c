#include "core/config/nest.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/config/params.h"

static const struct routine *routine_of(const struct config *c,
					const struct step *s)
{
	return s->routine ? config_routine(c, s->routine) : NULL;
}

/* ---- what is reached ---- */

static void mark(const struct config *c, const struct routine *r, bool *reached)
{
	if (reached[r - c->routines])
		return;
	reached[r - c->routines] = true;
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct routine *next = routine_of(c, &r->steps[i]);

		if (next)
			mark(c, next, reached);
	}
}

bool *nest_reached(const struct config *c, const char *from,
		   struct arena *arena)
{
	bool *reached = ARENA_ARRAY(arena, bool, c->n_routines);
	const struct routine *r = from ? config_routine(c, from) : NULL;

	if (r)
		mark(c, r, reached);
	else if (!from)
		memset(reached, true, c->n_routines * sizeof(*reached));
	return reached;
}

/* ---- mistakes ---- */

struct nesting {
	const struct config *config;
	struct arena *arena;
	struct findings *findings;
	unsigned *depth;   /* by routine; 0: not known yet */
	const char **path; /* names from the outermost to this one */
	size_t n;
};

static void say_unknown(const struct nesting *n, const struct toml_value *at)
{
	const struct config *c = n->config;
	struct strlist names = {NULL, 0};
	const char *near;

	for (size_t i = 0; i < c->n_routines; i++)
		list_add(&names, n->arena, c->routines[i].name);
	near = str_nearest(at->string, names.item, names.n);
	findings_addf(n->findings, false, at->line, at->col,
		      "there is no routine \"%.*s\"%s%s%s", STR_ARG(at->string),
		      near ? "; did you mean \"" : "", near ? near : "",
		      near ? "\"?" : "");
}

/* Report whether it lies on the path, and then is a circle, which is named. */
static bool is_circle(const struct nesting *n, const struct routine *next,
		      const struct toml_value *at)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	size_t i = 0;

	while (i < n->n && n->path[i] != next->name)
		i++;
	if (i == n->n)
		return false;
	buf_adds(&line, next->name);
	for (size_t k = i + 1; k < n->n; k++)
		buf_addf(&line, "%s runs %s", k > i + 1 ? ", which" : "",
			 n->path[k]);
	findings_addf(n->findings, false, at->line, at->col,
		      "routine \"%s\" runs itself: %s%s runs %s", next->name,
		      buf_cstr(&line), n->n > i + 1 ? ", which" : "",
		      next->name);
	return true;
}

static unsigned look(struct nesting *n, const struct routine *r)
{
	size_t index = (size_t)(r - n->config->routines);
	unsigned deepest = 0;

	if (n->depth[index])
		return n->depth[index];
	n->path[n->n++] = r->name;
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct step *s = &r->steps[i];
		const struct routine *next = routine_of(n->config, s);
		const struct toml_value *at = toml_get(s->written, "routine");
		unsigned depth;

		if (!s->routine || (!next && (say_unknown(n, at), true)) ||
		    is_circle(n, next, at))
			continue;
		params_check_step(next, s, n->findings);
		depth = look(n, next);
		if (depth == LIMIT_ROUTINE_DEPTH)
			findings_addf(n->findings, false, at->line, at->col,
				      "routines run each other more than %d "
				      "deep from here",
				      LIMIT_ROUTINE_DEPTH);
		if (deepest < depth)
			deepest = depth;
	}
	n->n--;
	n->depth[index] = deepest + 1;
	return deepest + 1;
}

void nest_check(const struct config *c, const bool *reached,
		struct arena *arena, struct findings *findings)
{
	struct nesting n = {
		.config = c,
		.arena = arena,
		.findings = findings,
		.depth = ARENA_ARRAY(arena, unsigned, c->n_routines),
		.path = ARENA_ARRAY(arena, const char *, c->n_routines),
	};

	for (size_t i = 0; i < c->n_routines; i++)
		if (reached[i])
			(void)look(&n, &c->routines[i]);
}

/* ---- steps ---- */

const struct step *nest_find_step(const struct config *c,
				  const struct routine *r,
				  bool (*is)(const struct step *s))
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const bool *reached = nest_reached(c, r->name, &arena);

	for (size_t i = 0; i < c->n_routines; i++)
		for (size_t k = 0; reached[i] && k < c->routines[i].n_steps;
		     k++)
			if (is(&c->routines[i].steps[k]))
				return &c->routines[i].steps[k];
	return NULL;
}

bool nest_has_approval(const struct config *c, const struct routine *r,
		       struct str name)
{
	struct str first = str_cut(&name, '/');

	for (size_t i = 0; r && i < r->n_steps; i++) {
		const struct step *s = &r->steps[i];

		if (!str_is(first, s->name))
			continue;
		return name.p ? nest_has_approval(c, routine_of(c, s), name)
			      : s->message != NULL;
	}
	return false;
}
