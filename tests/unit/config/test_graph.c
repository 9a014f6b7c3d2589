/*
 * Graphs as rows of data: `text`, `dot`, `mermaid` and `json` of a routine,
 * whose keys stand behind the word; each line of the picture ends in ~.
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/config/graph.h"

static const struct routine *load(struct value_row *r)
{
	struct toml_value *root = ARENA_NEW(&r->arena, struct toml_value);
	struct config *config = ARENA_NEW(&r->arena, struct config);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct findings findings = {.n = 0};

	buf_addf(&text, "[routines.\"%s\"]\n%s\nsteps = [\n", r->part[0],
		 r->part[1]);
	/* of each step what is not as in all others */
	for (struct str rest = str_of(r->part[2]); rest.p;) {
		struct str one = str_trim(str_cut(&rest, ';'));
		struct str keys = one, name = str_cut(&keys, ' ');

		buf_addf(&text,
			 "{ name = \"%.*s\", type = \"script\", command = "
			 "\"x\"%s%.*s },\n",
			 STR_ARG(name), keys.n ? ", " : "", STR_ARG(keys));
	}
	buf_adds(&text, "]\n");
	if (toml_parse(&r->arena, buf_str(&text), root, &r->err) < 0 ||
	    routine_load(root, false, false, &r->arena, config, &findings) < 0)
		fail_msg("%s%s", r->err.msg, buf_cstr(&text));
	findings_release(&findings);
	return &config->routines[0];
}

static int print(struct value_row *r, const char *format)
{
	const struct routine *routine = load(r);
	const struct flow_step *flow = flow_make(routine, &r->arena, NULL);
	const struct graph_format *f = graph_formats;
	struct jw w;

	if (!format) {
		jw_init(&w, &r->out, false);
		jw_object(&w);
		graph_print_json(routine, flow, &w);
		jw_end(&w);
		return 0;
	}
	while (strcmp(f->name, format) != 0)
		f++;
	f->print(routine, flow, &r->out);
	for (size_t i = 0; i < r->out.n; i++)
		if (r->out.p[i] == '\n')
			r->out.p[i] = '~';
	return 0;
}

static int print_text(struct value_row *r)
{
	return print(r, "text");
}

static int print_dot(struct value_row *r)
{
	return print(r, "dot");
}

static int print_mermaid(struct value_row *r)
{
	return print(r, "mermaid");
}

static int print_json(struct value_row *r)
{
	return print(r, NULL);
}

static const struct value_reader READERS[] = {
	{"text", print_text},
	{"dot", print_dot},
	{"mermaid", print_mermaid},
	{"json", print_json},
};

TEST_VALUES(READERS, "tests/unit/config/values/graph.transcript");
