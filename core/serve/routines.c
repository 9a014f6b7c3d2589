#include "core/serve/routines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/config/params.h"
#include "core/config/references.h"
#include "core/mcp/wire/merged_name.h"
#include "core/report/render.h"
#include "core/schema/schema.h"
#include "core/server/tools.h"

#define WORDS_MAX 8

struct tool_row {
	const char *name, *title, *description;
	bool reads;
	const char *schema;
	const char *words[WORDS_MAX]; /* ends in NULL */
};

/* One of a routine gets its arguments on standard input. */
static const char *const routine_words[WORDS_MAX] = {
	"run", "{routine}", "--params", "-", "--json", "--events", "3"};

static const struct tool_row rows[] = {
#define TOOL(name, title, description, reads, schema, ...) \
	{name, title, description, reads, schema, {__VA_ARGS__}},
#include "core/serve/tools.def"
#undef TOOL
};

struct entry {
	struct tool_row row;
	const struct routine *routine; /* NULL: of tools.def */
	struct schema *schema;	       /* owned */
};

struct routines {
	const struct strlist *options;
	const char *file; /* of the configuration; real */
	struct workers *workers;
	struct arena arena;
	struct entry *entry;
	size_t n;
	struct strlist names;
};

/* One call while its command runs. */
struct job {
	struct routines *all;
	const struct entry *entry;
	struct server_call *call;
	struct worker *worker;
	size_t ended, told; /* steps; messages since the last one */
};

/* ---- the table ---- */

static void write_params(const struct toml_value *params, struct jw *w)
{
	const struct toml_member *m = params->table.member;
	const struct toml_member *end = m + params->table.n;

	jw_kv_object(w, "properties");
	for (; m < end; m++) {
		AUTO(buf_release) struct buf one = BUF_INIT(BUF_UNBOUNDED);

		toml_to_json(&m->value, &one);
		jw_kv_raw(w, m->key, buf_str(&one));
	}
	jw_end(w);
	jw_kv_array(w, "required");
	for (m = params->table.member; m < end; m++)
		if (!toml_get(&m->value, "default"))
			jw_cstr(w, m->key);
	jw_end(w);
}

/* Without declarations: what the steps refer to, of any type. */
static void write_inputs(const struct strlist *inputs, struct jw *w)
{
	jw_kv_object(w, "properties");
	for (size_t i = 0; i < inputs->n; i++)
		jw_kv_raw(w, inputs->item[i], STR("{}"));
	jw_end(w);
	jw_kv_array(w, "required");
	for (size_t i = 0; i < inputs->n; i++)
		jw_cstr(w, inputs->item[i]);
	jw_end(w);
}

/* JSON Schema of the parameters of a routine: an object of them. */
static const char *params_schema(const struct routine *r, struct arena *arena)
{
	const struct strlist inputs = references_inputs(r, arena);
	const bool takes_any = !r->params && list_has(&inputs, REFERENCES_ALL);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&out);

	jw_kv_cstr(&w, "type", "object");
	if (r->params)
		write_params(r->params, &w);
	else if (!takes_any)
		write_inputs(&inputs, &w);
	jw_kv_bool(&w, "additionalProperties", takes_any);
	jw_end(&w);
	return arena_strdup(arena, buf_cstr(&out));
}

static int add(struct routines *r, const struct tool_row *row,
	       const struct routine *routine, struct err *err)
{
	const struct schema_options options = {.draft = SCHEMA_2020_12};
	struct entry *e = &r->entry[r->n++];

	e->row = *row;
	e->routine = routine;
	list_add(&r->names, &r->arena, row->name);
	return schema_compile(str_of(row->schema), &options, &e->schema, err);
}

static int add_routine(struct routines *r, const struct routine *routine,
		       struct err *err)
{
	char name[MERGED_NAME_BYTES + 1];
	struct tool_row row = {
		.title = routine->name,
		.description =
			routine->description
				? routine->description
				: arena_printf(&r->arena, "Run the routine %s",
					       routine->name),
		.schema = params_schema(routine, &r->arena),
	};

	headed_name(ROUTINE_PREFIX, str_of(routine->name), name);
	row.name = arena_strdup(&r->arena, name);
	memcpy(row.words, routine_words, sizeof(row.words));
	if (add(r, &row, routine, err) < 0)
		return err_wrap(err, "parameters of routine %s", routine->name);
	return 0;
}

int routines_new(const struct config *config, const struct strlist *options,
		 struct workers *workers, struct routines **ret,
		 struct err *err)
{
	struct routines *r = mem_zalloc(sizeof(*r));
	int rc = 0;

	r->options = options;
	r->file = config->path;
	r->workers = workers;
	r->entry = ARENA_ARRAY(&r->arena, struct entry,
			       config->n_routines + ARRAY_LEN(rows));
	for (size_t i = 0; rc == 0 && i < config->n_routines; i++)
		rc = add_routine(r, &config->routines[i], err);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(rows); i++)
		rc = add(r, &rows[i], NULL, err);
	if (rc < 0)
		routines_free(r);
	else
		*ret = r;
	return rc;
}

void routines_free(struct routines *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		schema_free(r->entry[i].schema);
	arena_release(&r->arena);
	free(r);
}

const struct strlist *routines_names(const struct routines *r)
{
	return &r->names;
}

void routines_list(const struct routines *r, struct server_call *c,
		   struct jw *w)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct tool_row *row = &r->entry[i].row;

		jw_object(w);
		jw_kv_cstr(w, "name", row->name);
		if (server_is_since(c, "2025-06-18"))
			jw_kv_cstr(w, "title", row->title);
		jw_kv_cstr(w, "description", row->description);
		jw_kv_raw(w, "inputSchema", str_of(row->schema));
		server_write_annotations(c, w, row->title, row->reads);
		jw_end(w);
	}
}

/* ---- results ---- */

static void write_text(struct jw *w, struct str text)
{
	jw_kv_array(w, "content");
	jw_object(w);
	jw_kv_cstr(w, "type", "text");
	jw_kv_str(w, "text", text);
	jw_end(w);
	jw_end(w);
}

/* Answer with a text, and the object that it tells of; n = 0: there is none. */
static void answer(struct server_call *c, struct str text, struct str object,
		   bool is_error)
{
	struct jw *w = server_begin(c);

	write_text(w, text);
	if (object.n && c->revision->structured != MCP_STRUCTURED_NONE)
		jw_kv_raw(w, "structuredContent", object);
	jw_kv_bool(w, "isError", is_error);
	server_finish(c, false);
}

static void fail(struct server_call *c, const char *why)
{
	answer(c, str_of(why), (struct str){NULL, 0}, true);
}

/* A report as people read it; of other documents the JSON. */
static void write_readable(struct str json, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct report report;

	if (report_load(json, &arena, &report, ERR_IGNORED) == 0)
		render_find("text")->print(&report, &(struct render_options){0},
					   out);
	else
		buf_add_str(out, json);
}

static void on_done(void *arg, int status, struct str said)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct job *job = arg;
	struct server_call *c = job->call;
	bool runs = !job->entry->row.reads;
	struct str json, error;

	free(job);
	if (status < 0 || scan_document(said, NULL, &json, ERR_IGNORED) < 0 ||
	    scan_type(json) != SCAN_OBJECT) {
		buf_addf(&text, "matins gave no result (status %d)%s%.*s",
			 status, status < 0 ? ": " : "",
			 status < 0 ? (int)said.n : 0, said.p);
		fail(c, buf_cstr(&text));
		return;
	}
	if (scan_get(json, "error", &error)) {
		scan_string(scan_some(error, "message"), &text);
		answer(c, buf_str(&text), json, true);
		return;
	}
	write_readable(json, &text);
	answer(c, buf_str(&text), json, runs && status != 0);
}

/* ---- progress ---- */

/* Steps that have ended count; of notes between, each is a little more. */
static void tell(struct job *job, struct str step, struct str what)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t part = job->told * 1000 / (job->told + 10);
	char number[32];
	struct jw w = jw_begin(&out);

	scan_string(step, &text);
	buf_adds(&text, ": ");
	scan_string(what, &text);
	snprintf(number, sizeof(number), part ? "%zu.%03zu" : "%zu", job->ended,
		 part);
	jw_kv_raw(&w, "progress", str_of(number));
	jw_kv_int(&w, "total", (int64_t)job->entry->routine->n_steps);
	jw_kv_str(&w, "message", buf_str(&text));
	jw_end(&w);
	server_progress(job->call, buf_str(&out));
}

static void on_event(void *arg, struct str line)
{
	struct job *job = arg;
	struct str json, step, state, note;

	if (scan_document(line, NULL, &json, ERR_IGNORED) < 0)
		return;
	step = scan_text(json, "step");
	state = scan_text(json, "state");
	note = scan_text(json, "note");
	if (!step.p)
		return;
	if (state.p && !memchr(step.p, '/', step.n)) {
		job->ended++;
		job->told = 0;
		tell(job, step, state);
	} else if (note.p && job->told < 1000) {
		job->told++;
		tell(job, step, note);
	}
}

/* ---- calls ---- */

/* Append what a word of the table stands for; "" for nothing. */
static const char *fill(const struct routines *r, const struct entry *e,
			const char *word, struct str args, struct arena *arena)
{
	size_t n = strlen(word);
	struct str rest = {word + 1, n - 2}, name, value;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (word[0] != '{')
		return word;
	name = str_cut(&rest, ':');
	if (str_is(name, ".file"))
		return r->file;
	if (e->routine && str_is(name, "routine"))
		return e->routine->name;
	value = scan_named(args, name);
	if (!value.p)
		return rest.p ? arena_strndup(arena, rest.p, rest.n) : NULL;
	/* an integer of the schema may be spelled 1e0 */
	if (scan_type(value) == SCAN_NUMBER)
		buf_addf(&text, "%.0f",
			 strtod(arena_strndup(arena, value.p, value.n), NULL));
	else if (!scan_string(value, &text))
		buf_add_str(&text, value);
	return arena_buf(arena, &text).p;
}

/* Sentences about arguments that do not fit; NULL: they do. In `arena`. */
static const char *judge(const struct entry *e, struct str args,
			 struct arena *arena)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result found = {.n = 0};
	struct err err = ERR_INIT;

	if (schema_validate(e->schema, args, arena, &found, &err) < 0)
		return arena_strdup(arena, err.msg);
	for (size_t i = 0; i < found.n; i++) {
		buf_adds(&out, i ? "\n" : "arguments: ");
		schema_violation_print(&found.item[i], &out);
	}
	return found.n ? arena_buf(arena, &out).p : NULL;
}

static void on_gone(struct server_call *c)
{
	struct job *job = c->work;

	worker_stop(job->worker);
	free(job);
}

static void start(struct routines *r, const struct entry *e,
		  struct server_call *c, struct str args)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *why = judge(e, args, &arena);
	struct strlist words = {NULL, 0};
	struct str params;
	struct job *job;

	if (why) {
		fail(c, why);
		return;
	}
	for (size_t i = 0; i < WORDS_MAX && e->row.words[i]; i++) {
		const char *word = fill(r, e, e->row.words[i], args, &arena);

		if (word)
			list_add(&words, &arena, word);
	}
	for (size_t i = 0; i < r->options->n; i++)
		list_add(&words, &arena, r->options->item[i]);
	if (!e->routine && !scan_get(args, "params", &params))
		params = STR("{}");
	job = mem_zalloc(sizeof(*job));
	*job = (struct job){.all = r, .entry = e, .call = c};
	c->work = job;
	c->gone = on_gone;
	job->worker = worker_start(
		r->workers, &(struct work){
				    .words = &words,
				    .input = e->routine ? args : params,
				    .client = c->s->client_key,
				    .session = c->s,
				    .name = c->client,
				    .event = e->routine ? on_event : NULL,
				    .done = on_done,
				    .arg = job,
			    });
}

bool routines_call(struct routines *r, struct server_call *c, struct str name,
		   struct str args)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!str_is(name, r->entry[i].row.name))
			continue;
		if (server_brings_answers(c))
			server_refuse_answers(c);
		else
			start(r, &r->entry[i], c, args);
		return true;
	}
	return false;
}
