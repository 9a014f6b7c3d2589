/*
 * The document: what follows from its steps, the body of a step for people, and
 * the way back from JSON.
 */
#include "core/report/report.h"

#include "core/base/scan.h"

/* One word of a block in the human body: longer ones say nothing more. */
#define WORD_BYTES 300
/* Content that may be empty for people. */
#define EMPTY_BYTES 4096

const struct report_state REPORT_STATES[N_STATES] = {
#define STATE(name, word, says, success) [STATE_##name] = {word, says, success},
#include "core/report/states.def"
#undef STATE
};

const char *const REPORT_LACKS[N_LACKS] = {
	[LACKS_NOTHING] = "",
	[LACKS_CONTENT] = "content",
	[LACKS_ITEMS] = "items",
};

static const struct {
	const char *word;
	enum step_state state;
} reasons[] = {
	[REASON_NONE] = {"", STATE_OK},
#define REASON(name, word, state) [REASON_##name] = {word, STATE_##state},
#include "core/report/reasons.def"
#undef REASON
};

enum step_state report_reason_state(enum step_reason r)
{
	return reasons[r].state;
}

void report_step_set(struct report_step *s, enum step_reason reason,
		     struct str error)
{
	s->reason = reason;
	s->state = report_reason_state(reason);
	s->error = error;
}

const char *report_reason_name(enum step_reason r)
{
	return reasons[r].word;
}

bool report_step_success(const struct report_step *s)
{
	/* a step left out by hand is not a failure, even a required one */
	bool is_meant =
		s->reason == REASON_ONLY_FILTER || s->reason == REASON_DRY_RUN;

	return REPORT_STATES[s->state].success &&
	       (s->state != STATE_SKIPPED || !s->required || is_meant);
}

/* Count a success that a person should not take for one unseen. */
static void add_doubts(const struct report_step *s, struct report_counts *c)
{
	c->refused += s->refused;
	c->lacks[s->lacks]++;
}

struct report_counts report_count(const struct report *r)
{
	struct report_counts c = {0};

	for (size_t i = 0; i < r->n_steps; i++) {
		if (r->steps[i].not_begun) {
			c.not_begun++;
			continue;
		}
		if (r->steps[i].state == STATE_SKIPPED)
			c.skipped++;
		else
			c.ran++;
		if (!report_step_success(&r->steps[i]))
			c.failed++;
		else
			add_doubts(&r->steps[i], &c);
	}
	return c;
}

bool report_success(const struct report *r)
{
	struct report_counts c = report_count(r);

	if (c.failed || c.not_begun)
		return false;
	return c.ran > 0 || r->dry_run || r->allow_empty;
}

int report_exit_status(const struct report *r)
{
	return r->dry_run || report_success(r) ? 0 : 2;
}

char *report_summary(const struct report *r, struct arena *arena)
{
	struct report_counts c = report_count(r);
	bool nothing = c.ran == 0 && !r->dry_run;
	char *counts =
		arena_printf(arena, "%s: %zu ran, %zu skipped, %zu failed",
			     r->routine, c.ran, c.skipped, c.failed);
	const struct {
		size_t n;
		const char *word;
	} more[] = {{c.not_begun, "not begun"},
		    {c.refused, "with refusals"},
		    {c.lacks[LACKS_CONTENT], "without content"},
		    {c.lacks[LACKS_ITEMS], "without items"}};

	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		if (more[i].n)
			counts = arena_printf(arena, "%s, %zu %s", counts,
					      more[i].n, more[i].word);
	return nothing ? arena_printf(arena, "%s — nothing ran", counts)
		       : counts;
}

bool report_step_has_data(const struct report_step *s)
{
	return s->data.n || s->answer.content.n;
}

void report_step_data(struct jw *w, const struct report_step *s)
{
	const struct report_answer *a = &s->answer;
	bool is_pretty = w->pretty;

	if (s->data.n) {
		jw_raw(w, s->data);
		return;
	}
	/* JSON of a server is not indented */
	w->pretty = false;
	jw_object(w);
	jw_kv_cstr(w, "schema", MCP_CLIENT_SCHEMA);
	jw_kv_raw(w, "content", a->content);
	jw_kv_bool(w, "isError", a->is_error);
	if (a->structured.n)
		jw_kv_raw(w, "structuredContent", a->structured);
	jw_end(w);
	w->pretty = is_pretty;
}

/* A string of a block on one line, cut where it gets long. */
static void add_word(struct buf *out, struct str value)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	(void)!scan_string_cut(value, WORD_BYTES, &text);
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ')
			text.p[i] = ' ';
	buf_add_str(out, buf_str(&text));
}

void report_add_size(struct buf *out, uint64_t bytes)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
	size_t u = 0;

	while (bytes >= 1024 && u + 1 < ARRAY_LEN(unit)) {
		bytes = (bytes + 512) / 1024;
		u++;
	}
	buf_addf(out, ", %llu %s", (unsigned long long)bytes, unit[u]);
}

void report_add_duration(struct buf *out, uint64_t us)
{
	uint64_t s = us / 1000000;

	if (us < 100000)
		buf_addf(out, "%llu ms", (unsigned long long)us / 1000);
	else if (s < 60)
		buf_addf(out, "%.1f s", (double)us / 1e6);
	else if (s < 3600)
		buf_addf(out, "%llu min %llu s", (unsigned long long)s / 60,
			 (unsigned long long)s % 60);
	else
		buf_addf(out, "%llu h %llu min", (unsigned long long)s / 3600,
			 (unsigned long long)s / 60 % 60);
}

/* Bytes that so many characters of Base64 decode to. */
static uint64_t base64_bytes(struct str raw)
{
	struct str text = {raw.p + 1, raw.n - 2}; /* without the quotes */
	size_t comma = str_find(text, ',');

	/* some put a whole data URI here; only what is behind it counts */
	if (str_starts(text, "data:") && comma < text.n)
		text = str_skip(text, comma + 1);
	while (text.n && text.p[text.n - 1] == '=')
		text.n--;
	return (uint64_t)text.n * 3 / 4;
}

/* Members of the blocks that are shown as one line, "[type" + these + "]". */
static const struct {
	const char *type, *before, *name;
	enum { WORD, BASE64, TEXT } how;
} block_members[] = {
	{"image", " ", "mimeType", WORD},
	{"image", NULL, "data", BASE64},
	{"audio", " ", "mimeType", WORD},
	{"audio", NULL, "data", BASE64},
	{"resource", " ", "uri", WORD},
	{"resource", ", ", "mimeType", WORD},
	{"resource", NULL, "blob", BASE64},
	{"resource", NULL, "text", TEXT},
	{"resource_link", " ", "name", WORD},
	{"resource_link", " ", "uri", WORD},
};

static void add_block_line(struct buf *out, struct str block, struct str type)
{
	struct str object = block, value;

	buf_addc(out, '[');
	add_word(out, type);
	if (scan_is(type, "resource") && !scan_get(block, "resource", &object))
		object = STR("{}");
	for (size_t i = 0; i < ARRAY_LEN(block_members); i++) {
		if (!scan_is(type, block_members[i].type) ||
		    !scan_get(object, block_members[i].name, &value) ||
		    scan_type(value) != SCAN_STRING)
			continue;
		if (block_members[i].how != WORD) {
			report_add_size(out, block_members[i].how == BASE64
						     ? base64_bytes(value)
						     : value.n - 2);
			continue;
		}
		buf_adds(out, block_members[i].before);
		add_word(out, value);
	}
	buf_addc(out, ']');
}

/* Members that decide how a block is shown, found in one walk. */
struct block {
	struct str type; /* JSON string */
	struct str text; /* JSON string; n = 0: there is none */
};

static struct block read_block(struct str value)
{
	struct block b = {STR("\"unknown\""), {NULL, 0}};
	struct scan_iter it;

	scan_iter_init(&it, value);
	while (it.is_object && scan_next(&it)) {
		bool is_string = scan_type(it.value) == SCAN_STRING;

		if (scan_is(it.key, "type"))
			b.type = is_string ? it.value : STR("\"unknown\"");
		else if (scan_is(it.key, "text"))
			b.text = is_string ? it.value : (struct str){NULL, 0};
	}
	return b;
}

void report_mcp_output(struct buf *out, struct str content)
{
	bool any = false;

	for (struct scan_iter it = scan_over(content); scan_next(&it);) {
		struct block b = read_block(it.value);

		if (any)
			buf_addc(out, '\n');
		any = true;
		if (!b.text.n || !scan_is(b.type, "text") ||
		    !scan_string(b.text, out))
			add_block_line(out, it.value, b.type);
	}
}

static void count_bytes(void *arg, struct str bytes)
{
	*(bool *)arg |= bytes.n > 0;
}

/* Something that a person can read, without making all of it. */
static bool says_something(struct str content)
{
	bool any = false;
	const struct buf_sink sink = {count_bytes, &any};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	out.sink = &sink;
	report_mcp_output(&out, content);
	buf_drain(&out);
	return any;
}

/* JSON of a text that shows nothing: blanks, as they are or escaped. */
static bool is_blank(struct str text)
{
	static const char *const blanks[] = {" ", "\\n", "\\r", "\\t"};
	size_t i = 0;

	for (text = str_skip(text, 1); text.n > 1 && i < ARRAY_LEN(blanks);)
		if (str_starts(text, blanks[i])) {
			text = str_skip(text, strlen(blanks[i]));
			i = 0;
		} else {
			i++;
		}
	return text.n <= 1;
}

bool report_answer_is_empty(struct str content, struct str structured)
{
	/* longer blanks were meant: a large answer is not walked once more */
	if (content.n > EMPTY_BYTES ||
	    (structured.n && scan_type(structured) != SCAN_NULL))
		return false;
	for (struct scan_iter it = scan_over(content); scan_next(&it);) {
		struct block b = read_block(it.value);

		if (!b.text.n || !scan_is(b.type, "text") || !is_blank(b.text))
			return false;
	}
	return true;
}

void report_step_output(struct buf *out, const struct report_step *s)
{
	const struct report_answer *a = &s->answer;

	if (s->output.n || !a->content.n)
		buf_add_str(out, s->output);
	else if (a->structured.n && !says_something(a->content))
		/* a person should see what a machine gets */
		buf_add_str(out, a->structured);
	else
		report_mcp_output(out, a->content);
}

/* ---- read back ---- */

/* The decoded string of a member, "" when absent; in the arena. */
static struct str load_str(struct str object, const char *name,
			   struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str value, copy = {NULL, 0};

	if (scan_get(object, name, &value) && scan_string(value, &text))
		copy = arena_str(arena, buf_str(&text));
	return copy;
}

static const char *load_cstr(struct str object, const char *name,
			     struct arena *arena)
{
	struct str s = load_str(object, name, arena);

	return s.p ? s.p : "";
}

static struct str load_raw(struct str object, const char *name)
{
	struct str value = {NULL, 0};

	(void)!scan_get(object, name, &value);
	return value;
}

static bool load_state(struct str step, enum step_state *ret)
{
	struct str value;

	if (!scan_get(step, "state", &value))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(REPORT_STATES); i++) {
		*ret = (enum step_state)i;
		if (scan_is(value, REPORT_STATES[i].word))
			return true;
	}
	return false;
}

static bool load_reason(struct str step, enum step_state state,
			enum step_reason *ret)
{
	struct str value;

	*ret = REASON_NONE;
	if (!scan_get(step, "reason", &value))
		return true;
	for (size_t i = REASON_NONE + 1; i < ARRAY_LEN(reasons); i++) {
		*ret = (enum step_reason)i;
		if (reasons[i].state == state &&
		    scan_is(value, reasons[i].word))
			return true;
	}
	return false;
}

static void load_advice(struct str step, struct arena *arena,
			struct report_step *ret)
{
	struct report_advice *all;
	struct str value;

	if (!scan_get(step, "advice", &value) || scan_type(value) != SCAN_ARRAY)
		return;
	all = ARENA_ARRAY(arena, struct report_advice, scan_count(value));
	for (struct scan_iter it = scan_over(value); scan_next(&it);)
		if (scan_type(it.value) == SCAN_OBJECT)
			all[ret->n_advice++] = (struct report_advice){
				.text = load_str(it.value, "text", arena),
				.toml = load_str(it.value, "toml", arena),
			};
	ret->advice = all;
}

static int load_step(struct str value, size_t index, struct arena *arena,
		     struct report_step *ret, struct err *err)
{
	struct report_step s = {
		.name = load_cstr(value, "step_name", arena),
		.type = load_cstr(value, "step_type", arena),
		.error = load_str(value, "error", arena),
		.said = load_str(value, "said", arena),
		.output = load_str(value, "output", arena),
		.data = load_raw(value, "data"),
		.run = load_raw(value, "run"),
	};

	if (scan_type(value) != SCAN_OBJECT || !load_state(value, &s.state))
		return err_set(err, ERR_COMPARE,
			       "step_results[%zu] has no known state", index);
	if (!load_reason(value, s.state, &s.reason) ||
	    report_reason_state(s.reason) != s.state)
		return err_set(err, ERR_COMPARE,
			       "step_results[%zu] has no reason that belongs "
			       "to its state",
			       index);
	load_advice(value, arena, &s);
	s.required = s.state == STATE_SKIPPED && !scan_true(value, "success");
	s.refused = scan_true(value, "refused");
	while (s.state == STATE_OK && s.lacks < N_LACKS &&
	       !scan_is(scan_some(value, "lacks"), REPORT_LACKS[s.lacks]))
		s.lacks++;
	s.lacks %= N_LACKS;
	s.not_begun = s.reason == REASON_CANCELLED &&
		      scan_get(value, "begun", &(struct str){NULL, 0});
	*ret = s;
	return 0;
}

int report_load(struct str text, struct arena *arena, struct report *ret,
		struct err *err)
{
	struct str doc, value;
	struct report r = {0};
	size_t n;

	if (scan_document(text, NULL, &doc, err) < 0)
		return -1;
	if (!scan_get(doc, "schema", &value) || !scan_is(value, REPORT_SCHEMA))
		return err_set(err, ERR_COMPARE,
			       "not a document of schema " REPORT_SCHEMA);
	if (!scan_get(doc, "step_results", &value) ||
	    scan_type(value) != SCAN_ARRAY)
		return err_set(err, ERR_COMPARE,
			       "the report has no step_results");
	n = scan_count(value);
	if (n > LIMIT_STEPS)
		return err_set(err, ERR_LIMIT, "%zu steps; at most %d", n,
			       LIMIT_STEPS);
	r.steps = ARENA_ARRAY(arena, struct report_step, n);
	for (struct scan_iter it = scan_over(value); scan_next(&it);
	     r.n_steps++)
		if (load_step(it.value, r.n_steps, arena, &r.steps[r.n_steps],
			      err) < 0)
			return -1;
	r.routine = load_cstr(doc, "routine", arena);
	r.dry_run = scan_true(doc, "dry_run");
	r.run = load_raw(doc, "run");
	if (scan_get(doc, "generation", &value) &&
	    !str_uint64(value, &r.generation))
		return err_set(err, ERR_COMPARE, "generation must be a number");
	r.allow_empty = scan_true(doc, "success") && !report_count(&r).ran;
	*ret = r;
	return 0;
}
