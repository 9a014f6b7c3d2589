#include "core/fan/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/report/escape.h"
#include "core/report/page.h"
#include "core/report/render.h"

const char *const FAN_FORMS[N_FAN_FORMS] = {".json", ".jsonl", ".md", ".html"};

/* Inputs that took longest, and reasons that are told apart. */
#define SLOWEST 10
#define REASONS 64
/* Bytes of an input or a sentence in a table. */
#define CELL_BYTES 200

struct slow {
	uint64_t index, us;
};

struct reason {
	char name[64];
	uint64_t n, first; /* index of the first */
	char error[CELL_BYTES + 4];
};

struct collector {
	const struct fan_collect *o;
	struct fan_collected *ret;
	struct slow slow[SLOWEST];
	size_t n_slow;
	struct reason reason[REASONS];
	size_t n_reasons;
	int body; /* rows, in a file without a name; owned */
	struct buf out, text;
};

/* One input and its result. */
struct row {
	uint64_t index;
	struct str input;
	struct fan_result r;
	struct str report; /* as it is shown */
};

/* ---- totals ---- */

static void add_slow(struct collector *c, const struct row *row)
{
	size_t at = c->n_slow < SLOWEST ? c->n_slow++ : SLOWEST;

	/* of equals the first one stays */
	for (; at && c->slow[at - 1].us < row->r.us; at--)
		if (at < SLOWEST)
			c->slow[at] = c->slow[at - 1];
	if (at < SLOWEST)
		c->slow[at] = (struct slow){row->index, row->r.us};
}

static void add_reason(struct collector *c, const struct row *row)
{
	struct str name = row->r.reason;
	struct reason *r = c->reason;
	size_t i = 0;

	while (i < c->n_reasons && !str_is(name, r[i].name))
		i++;
	/* the last one stands for all that have no place */
	if (i == REASONS)
		i--;
	if (i == c->n_reasons) {
		struct str e = str_first(row->r.error, CELL_BYTES);

		c->n_reasons++;
		r[i] = (struct reason){.first = row->index};
		snprintf(r[i].name, sizeof(r[i].name), "%.*s", STR_ARG(name));
		snprintf(r[i].error, sizeof(r[i].error), "%.*s", STR_ARG(e));
	}
	r[i].n++;
}

static void count(struct collector *c, const struct row *row)
{
	c->ret->total++;
	if (row->r.state == FAN_OK)
		c->ret->ok++;
	else if (row->r.state == FAN_FAILED)
		c->ret->failed++;
	else
		c->ret->missing++;
	if (row->r.state == FAN_FAILED)
		add_reason(c, row);
	if (row->r.state == FAN_OK || row->r.state == FAN_FAILED)
		add_slow(c, row);
}

static void write_totals(const struct collector *c, struct jw *w)
{
	const struct manifest *m = results_manifest(c->o->results);

	jw_kv_cstr(w, "schema", FAN_REPORT_SCHEMA);
	jw_kv_cstr(w, "routine", m->routine);
	jw_kv_int(w, "total", (int64_t)c->ret->total);
	jw_kv_int(w, "ok", (int64_t)c->ret->ok);
	jw_kv_int(w, "failed", (int64_t)c->ret->failed);
	jw_kv_int(w, "missing", (int64_t)c->ret->missing);
	jw_kv_array(w, "reasons");
	for (size_t i = 0; i < c->n_reasons; i++) {
		jw_object(w);
		jw_kv_cstr(w, "reason", c->reason[i].name);
		jw_kv_int(w, "n", (int64_t)c->reason[i].n);
		jw_kv_int(w, "first", (int64_t)c->reason[i].first);
		jw_kv_cstr(w, "error", c->reason[i].error);
		jw_end(w);
	}
	jw_end(w);
	if (c->o->is_golden)
		return;
	jw_kv_array(w, "slowest");
	for (size_t i = 0; i < c->n_slow; i++) {
		jw_object(w);
		jw_kv_int(w, "index", (int64_t)c->slow[i].index);
		jw_kv_int(w, "us", (int64_t)c->slow[i].us);
		jw_end(w);
	}
	jw_end(w);
}

/* ---- rows ---- */

static void row_json(const struct collector *c, const struct row *row,
		     struct buf *out)
{
	struct jw w;

	if (c->o->form == FAN_JSON && row->index)
		buf_adds(out, ",\n");
	w = jw_begin(out);
	jw_kv_int(&w, "index", (int64_t)row->index);
	jw_kv_raw(&w, "input", row->input);
	jw_kv_cstr(&w, "state", FAN_STATES[row->r.state]);
	fan_kv_text(&w, "reason", row->r.reason);
	fan_kv_text(&w, "error", row->r.error);
	if (row->report.n && !c->o->is_golden)
		jw_kv_int(&w, "us", (int64_t)row->r.us);
	fan_kv_json(&w, "report", row->report);
	jw_end(&w);
	buf_adds(out, c->o->form == FAN_JSONL ? "\n" : "");
}

/* Sentence of a failure, or the output of the last step that has one. */
static struct str says(const struct row *row, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct report report;

	if (row->r.error.n || !row->report.n ||
	    report_load(row->report, arena, &report, ERR_IGNORED) < 0)
		return str_first(row->r.error, CELL_BYTES);
	for (size_t i = report.n_steps; i-- > 0 && !out.n;)
		report_step_output(&out, &report.steps[i]);
	return arena_str(arena, str_first(buf_str(&out), CELL_BYTES));
}

static void row_table(const struct collector *c, const struct row *row,
		      struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	void (*const text)(struct buf *, const char *, struct str) =
		c->o->form == FAN_MD ? escape_markdown : escape_html;
	const bool is_md = c->o->form == FAN_MD;
	const char *between = is_md ? " | " : "</td><td>";

	buf_addf(out, is_md ? "| %llu%s%s" : "<tr><td>%llu%s%s",
		 (unsigned long long)row->index, between,
		 FAN_STATES[row->r.state]);
	text(out, between, str_first(row->input, CELL_BYTES));
	text(out, between, row->r.reason);
	text(out, between, says(row, &arena));
	buf_adds(out, is_md ? " |\n" : "</td></tr>\n");
}

/* ---- the document ---- */

static void table_totals(const struct collector *c, struct buf *out)
{
	const bool is_md = c->o->form == FAN_MD;
	void (*const text)(struct buf *, const char *, struct str) =
		is_md ? escape_markdown : escape_html;
	const char *line = is_md ? "\n- " : "</p>\n<p>";

	text(out, is_md ? "# " : "<h1>",
	     str_of(results_manifest(c->o->results)->routine));
	buf_adds(out, is_md ? "\n\n" : "</h1>\n<p>");
	buf_addf(out, "%llu inputs: %llu ok, %llu failed, %llu missing",
		 (unsigned long long)c->ret->total,
		 (unsigned long long)c->ret->ok,
		 (unsigned long long)c->ret->failed,
		 (unsigned long long)c->ret->missing);
	buf_adds(out, is_md && c->n_reasons ? "\n" : "");
	for (size_t i = 0; i < c->n_reasons; i++) {
		const struct reason *r = &c->reason[i];

		text(out, line, str_of(r->name));
		buf_addf(out, ": %llu; first %llu: ", (unsigned long long)r->n,
			 (unsigned long long)r->first);
		text(out, "", str_of(r->error));
	}
	if (!c->o->is_golden && c->n_slow) {
		buf_addf(out,
			 "%s%sslowest: ", is_md && !c->n_reasons ? "\n" : "",
			 line);
		for (size_t i = 0; i < c->n_slow; i++) {
			buf_addf(out, "%s%llu", i ? ", " : "",
				 (unsigned long long)c->slow[i].index);
			buf_adds(out, " (");
			report_add_duration(out, c->slow[i].us);
			buf_adds(out, ")");
		}
	}
	buf_adds(out, is_md ? "\n\n| input | state | with | reason | says "
			      "|\n|---|---|---|---|---|\n"
			    : "</p>\n<table>\n<tr><th>input</th><th>state"
			      "</th><th>with</th><th>reason</th><th>says</th>"
			      "</tr>\n");
}

static void begin_document(const struct collector *c, struct buf *out)
{
	struct jw w;

	switch (c->o->form) {
	case FAN_JSON:
		w = jw_begin(out);
		write_totals(c, &w);
		buf_adds(out, ",\"items\":[\n");
		break;
	case FAN_JSONL:
		w = jw_begin(out);
		write_totals(c, &w);
		jw_end(&w);
		buf_adds(out, "\n");
		break;
	case FAN_HTML:
		page_begin(str_of(results_manifest(c->o->results)->routine),
			   out);
		table_totals(c, out);
		break;
	default:
		table_totals(c, out);
	}
}

static void end_document(const struct collector *c, struct buf *out)
{
	if (c->o->form == FAN_JSON)
		buf_adds(out, "\n]}\n");
	if (c->o->form != FAN_HTML)
		return;
	buf_adds(out, "</table>\n");
	page_end(out);
}

static void print(const void *arg, struct buf *out)
{
	const struct collector *c = arg;
	char bytes[65536];
	ssize_t n;

	begin_document(c, out);
	for (off_t at = 0; (n = pread(c->body, bytes, sizeof(bytes), at)) > 0;
	     at += n)
		buf_add(out, bytes, (size_t)n);
	end_document(c, out);
}

/* ---- from input to input ---- */

/* A report as shown: without what varies for golden. */
static struct str shown(const struct collector *c, const struct row *row,
			struct arena *arena)
{
	static const struct render_options golden = {.view = VIEW_GOLDEN};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct report report;

	if (!c->o->is_golden || !row->r.report.n ||
	    report_load(row->r.report, arena, &report, ERR_IGNORED) < 0)
		return row->r.report;
	render_find("json")->print(&report, &golden, &out);
	return arena_str(arena, str_trim(buf_str(&out)));
}

static int flush_rows(struct collector *c, struct err *err)
{
	if (fd_write_all(c->body, c->out.p, c->out.n) < 0)
		return err_sys(err, errno, "write the report");
	buf_clear(&c->out);
	return 0;
}

static int add_row(struct collector *c, const struct results_inputs *in,
		   struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct row row = {.index = c->ret->total, .input = in->input};

	if (results_look(c->o->results, in->key, &c->text, &arena, &row.r,
			 err) < 0)
		return -1;
	row.report = shown(c, &row, &arena);
	count(c, &row);
	(c->o->form == FAN_JSON || c->o->form == FAN_JSONL
		 ? row_json
		 : row_table)(c, &row, &c->out);
	return c->out.n < 65536 ? 0 : flush_rows(c, err);
}

static int add_rows(struct collector *c, struct err *err)
{
	AUTO(results_close_inputs) struct results_inputs in = {.file = NULL};
	int more = results_open_inputs(c->o->results, RESULTS_ALL, &in, err);

	if (more < 0)
		return -1;
	while ((more = results_next(&in, err)) > 0)
		if (add_row(c, &in, err) < 0)
			return -1;
	return more < 0 ? -1 : flush_rows(c, err);
}

/* A file without a name, beside the report. */
static int open_body(const struct fan_collect *o, struct err *err)
{
	const char *dir = o->out->folder.path ? o->out->folder.path
					      : results_dir(o->results);
	int fd = fd_open(dir, O_TMPFILE | O_RDWR, 0600);
	AUTO(mem_freep) char *name = mem_printf("%s/.collect.XXXXXX", dir);

	/* NFS has no such files */
	if (fd < 0) {
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			(void)!unlink(name);
	}
	return fd < 0 ? err_sys(err, errno, "%s", dir) : fd;
}

int fan_collect(const struct fan_collect *o, struct fan_collected *ret,
		struct err *err)
{
	struct collector *c = mem_zalloc(sizeof(*c));
	const struct fd_text text = {.print = print, .arg = c};
	int r;

	*ret = (struct fan_collected){.total = 0};
	c->o = o;
	c->ret = ret;
	c->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	c->text = (struct buf)BUF_INIT(LIMIT_MESSAGE_BYTES_MAX);
	r = c->body = open_body(o, err);
	if (r >= 0)
		r = add_rows(c, err);
	if (r == 0)
		r = outfile_write(o->out, &text, err);
	fd_closep(&c->body);
	buf_release(&c->out);
	buf_release(&c->text);
	free(c);
	ret->exit_status = ret->missing ? 3 : ret->failed ? 2 : 0;
	return r;
}
