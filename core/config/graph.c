#include "core/config/graph.h"

#include <string.h>

#include "core/base/log.h"
#include "core/base/text.h"

/* ---- what waits for what ---- */

enum edge_kind {
	EDGE_NEEDS, /* the first must have ended ok */
	EDGE_WAITS, /* the first must have ended */
	EDGE_ORDER, /* the order of the file, and `after` */
};

struct edge {
	size_t from, to; /* steps; above them, points where edges meet */
	enum edge_kind kind;
};

struct graph {
	const struct routine *r;
	struct arena arena;
	struct edge *edge;
	size_t n, n_points;
	bool *is_waited_for; /* a step */
};

static void add_edge(struct graph *g, size_t from, size_t to,
		     enum edge_kind kind)
{
	g->edge = arena_grow(&g->arena, g->edge, g->n, sizeof(*g->edge));
	g->edge[g->n++] = (struct edge){from, to, kind};
	if (from < g->r->n_steps)
		g->is_waited_for[from] = true;
}

static bool is_by_needs(const struct routine *r)
{
	return r->order && strcmp(r->order, "needs") == 0;
}

/* Does it run beside the step before it? */
static bool is_beside(const struct routine *r, size_t i)
{
	return i && !is_by_needs(r) && r->steps[i].parallel &&
	       r->steps[i - 1].parallel && !r->steps[i].after;
}

/* Steps that begin together. */
struct group {
	size_t *step;
	size_t n;
};

/* All of a group come behind all of another; many to many meet in a point. */
static void join(struct graph *g, const struct group *from,
		 const struct group *to)
{
	size_t point = g->r->n_steps + g->n_points;

	if (from->n < 2 || to->n < 2) {
		for (size_t i = 0; i < from->n; i++)
			for (size_t k = 0; k < to->n; k++)
				add_edge(g, from->step[i], to->step[k],
					 EDGE_ORDER);
		return;
	}
	g->n_points++;
	for (size_t i = 0; i < from->n; i++)
		add_edge(g, from->step[i], point, EDGE_ORDER);
	for (size_t k = 0; k < to->n; k++)
		add_edge(g, point, to->step[k], EDGE_ORDER);
}

/* Steps in the order of the file, one group behind the other. */
static void add_order(struct graph *g)
{
	size_t *steps = ARENA_ARRAY(&g->arena, size_t, g->r->n_steps);
	struct group before = {steps, 0}, now = {steps, 0};

	for (size_t i = 0; i < g->r->n_steps; i++) {
		if (g->r->steps[i].after)
			continue;
		if (!is_beside(g->r, i)) {
			join(g, &before, &now);
			before = now;
			now = (struct group){before.step + before.n, 0};
		}
		now.step[now.n++] = i;
	}
	join(g, &before, &now);
}

/* Steps with `after` come behind all others, one behind the other. */
static void add_after(struct graph *g)
{
	struct group ends = {ARENA_ARRAY(&g->arena, size_t, g->r->n_steps), 0};

	for (size_t i = 0; i < g->r->n_steps; i++)
		if (!g->r->steps[i].after && !g->is_waited_for[i])
			ends.step[ends.n++] = i;
	for (size_t i = 0; i < g->r->n_steps; i++) {
		if (!g->r->steps[i].after)
			continue;
		join(g, &ends, &(struct group){&i, 1});
		ends.step[0] = i;
		ends.n = 1;
	}
}

static struct graph make_graph(const struct routine *r,
			       const struct flow_step *flow)
{
	struct graph g = {.r = r, .arena = ARENA_INIT};

	g.is_waited_for = ARENA_ARRAY(&g.arena, bool, r->n_steps);
	for (size_t i = 0; i < r->n_steps; i++)
		for (size_t k = 0; k < flow[i].n_waits; k++)
			add_edge(&g, flow[i].wait[k].step, i,
				 flow[i].wait[k].must_be_ok ? EDGE_NEEDS
							    : EDGE_WAITS);
	if (!is_by_needs(r))
		add_order(&g);
	add_after(&g);
	return g;
}

/* ---- texts ---- */

/* Further lines of a step, each behind `before`; without control characters. */
static void add_lines(const struct step *s, const char *before, struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!s->enabled)
		buf_addf(out, "%senabled = false", before);
	if (s->after)
		buf_addf(out, "%safter %s", before, s->after);
	if (s->foreach) {
		buf_addf(out, "%sforeach ", before);
		log_visible(out, str_of(s->foreach), false);
	}
	for (size_t i = 0; s->when && i < s->when->table.n; i++) {
		const struct toml_member *m = &s->when->table.member[i];

		buf_clear(&text);
		buf_addf(&text, "when %s = ", m->key);
		toml_to_json(&m->value, &text);
		buf_adds(out, before);
		log_visible(out, buf_str(&text), false);
	}
}

/* "a, b" of the steps that are waited for in one way. */
static void add_waits(const struct routine *r, const struct flow_step *f,
		      bool must_be_ok, const char *label, struct buf *out)
{
	const char *between = label;

	for (size_t i = 0; i < f->n_waits; i++) {
		if (f->wait[i].must_be_ok != must_be_ok)
			continue;
		buf_adds(out, between);
		log_visible(out, str_of(r->steps[f->wait[i].step].name), false);
		between = ", ";
	}
}

static void print_text(const struct routine *r, const struct flow_step *flow,
		       struct buf *out)
{
	log_visible(out, str_of(r->name), false);
	buf_adds(out, is_by_needs(r)
			      ? ": each step as soon as its needs have ended\n"
			      : ": one step after the other\n");
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct step *s = &r->steps[i];

		buf_addc(out, '\n');
		log_visible(out, str_of(s->name), false);
		buf_adds(out, " (");
		log_visible(out, str_of(s->type), false);
		buf_adds(out, is_beside(r, i) ? ")\n    beside the step before"
					      : ")");
		add_waits(r, &flow[i], true, "\n    needs ", out);
		add_waits(r, &flow[i], false, "\n    waits for ", out);
		add_lines(s, "\n    ", out);
	}
	buf_addc(out, '\n');
}

/* ---- pictures ---- */

/* A string of dot, in which the text is one. */
static void add_dot_string(struct buf *out, struct str text)
{
	buf_addc(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"' || text.p[i] == '\\')
			buf_addc(out, '\\');
		if (text.p[i] == '\n')
			buf_adds(out, "\\n");
		else
			buf_addc(out, text.p[i]);
	}
	buf_addc(out, '"');
}

/* A label of mermaid, which reads HTML, entities, Markdown and directives in
   it: all but plain characters become numbers. */
static void add_mermaid_string(struct buf *out, struct str text)
{
	buf_addc(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '\n')
			buf_adds(out, "<br>");
		else if (c >= 0x80 || text_is_alpha(text.p[i]) ||
			 text_is_digit(text.p[i]) || strchr(" -.,:/=", c))
			buf_addc(out, text.p[i]);
		else
			buf_addf(out, "#%u;", c);
	}
	buf_addc(out, '"');
}

/* A language of pictures. */
struct picture {
	const char *begin, *end;
	const char *node[2];  /* before and behind the label */
	const char *point;    /* behind its name */
	const char *arrow[3]; /* by kind of edge */
	const char *style[3]; /* behind the edge */
	void (*add_string)(struct buf *out, struct str text);
};

/* Texts are without control characters, but for newlines between lines. */
static void draw(const struct picture *p, const struct routine *r,
		 const struct flow_step *flow, struct buf *out)
{
	AUTO(buf_release) struct buf label = BUF_INIT(BUF_UNBOUNDED);
	struct graph g = make_graph(r, flow);

	buf_adds(out, p->begin);
	for (size_t i = 0; i < r->n_steps; i++) {
		buf_clear(&label);
		log_visible(&label, str_of(r->steps[i].name), false);
		buf_addc(&label, '\n');
		log_visible(&label, str_of(r->steps[i].type), false);
		add_lines(&r->steps[i], "\n", &label);
		buf_addf(out, "\ts%zu%s", i, p->node[0]);
		p->add_string(out, buf_str(&label));
		buf_addf(out, "%s\n", p->node[1]);
	}
	for (size_t i = 0; i < g.n_points; i++)
		buf_addf(out, "\ts%zu%s\n", r->n_steps + i, p->point);
	for (size_t i = 0; i < g.n; i++) {
		const struct edge *e = &g.edge[i];

		buf_addf(out, "\ts%zu %s s%zu%s\n", e->from, p->arrow[e->kind],
			 e->to, p->style[e->kind]);
	}
	buf_adds(out, p->end);
	arena_release(&g.arena);
}

static void print_dot(const struct routine *r, const struct flow_step *flow,
		      struct buf *out)
{
	static const struct picture dot = {
		.begin = "digraph {\n\trankdir=LR;\n\tnode [shape=box];\n",
		.end = "}\n",
		.node = {" [label=", "];"},
		.point = " [shape=point];",
		.arrow = {"->", "->", "->"},
		.style = {";", " [style=dashed];", " [style=dotted];"},
		.add_string = add_dot_string,
	};

	draw(&dot, r, flow, out);
}

static void print_mermaid(const struct routine *r, const struct flow_step *flow,
			  struct buf *out)
{
	static const struct picture mermaid = {
		.begin = "flowchart LR\n",
		.end = "",
		.node = {"[", "]"},
		.point = "(( ))",
		.arrow = {"-->", "-. ended .->", "-.->"},
		.style = {"", "", ""},
		.add_string = add_mermaid_string,
	};

	draw(&mermaid, r, flow, out);
}

const struct graph_format graph_formats[] = {
	{"text", print_text},
	{"dot", print_dot},
	{"mermaid", print_mermaid},
	{NULL, NULL},
};

/* ---- data ---- */

static void write_step(const struct routine *r, const struct flow_step *f,
		       size_t i, struct jw *w)
{
	AUTO(buf_release) struct buf when = BUF_INIT(BUF_UNBOUNDED);
	const struct step *s = &r->steps[i];

	jw_object(w);
	jw_kv_cstr(w, "name", s->name);
	jw_kv_cstr(w, "type", s->type);
	jw_kv_bool(w, "enabled", s->enabled);
	jw_kv_bool(w, "beside_previous", is_beside(r, i));
	jw_kv_array(w, "waits");
	for (size_t k = 0; k < f->n_waits; k++) {
		jw_object(w);
		jw_kv_cstr(w, "step", r->steps[f->wait[k].step].name);
		jw_kv_bool(w, "must_be_ok", f->wait[k].must_be_ok);
		jw_end(w);
	}
	jw_end(w);
	jw_kv_opt(w, "after", s->after);
	jw_kv_opt(w, "foreach", s->foreach);
	if (s->when) {
		toml_to_json(s->when, &when);
		jw_kv_raw(w, "when", buf_str(&when));
	}
	jw_end(w);
}

void graph_print_json(const struct routine *r, const struct flow_step *flow,
		      struct jw *w)
{
	jw_kv_cstr(w, "routine", r->name);
	jw_kv_cstr(w, "order", is_by_needs(r) ? "needs" : "file");
	jw_kv_array(w, "steps");
	for (size_t i = 0; i < r->n_steps; i++)
		write_step(r, &flow[i], i, w);
	jw_end(w);
}
