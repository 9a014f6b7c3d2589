#include "core/base/jw.h"
#include "core/report/render_parts.h"

static void write_text(void *arg, struct str piece)
{
	jw_text(arg, piece);
}

/* Output may be as long as the data: it is made while it is written. */
static void print_output(struct jw *w, const struct report_step *s)
{
	const struct buf_sink sink = {write_text, w};
	struct buf pieces = BUF_INIT(BUF_UNBOUNDED);

	pieces.sink = &sink;
	jw_text_begin(w);
	report_step_output(&pieces, s);
	buf_drain(&pieces);
	jw_text_end(w);
	buf_release(&pieces);
}

static void print_step(struct jw *w, const struct report_step *s,
		       const struct render_options *o)
{
	jw_object(w);
	jw_kv_cstr(w, "step_name", s->name);
	jw_kv_cstr(w, "step_type", s->type);
	jw_kv_bool(w, "success", report_step_success(s));
	jw_kv_bool(w, "skipped", s->state == STATE_SKIPPED);
	jw_key(w, "output");
	print_output(w, s);
	jw_kv_cstr(w, "state", report_state_name(s->state));
	if (s->state != STATE_OK) {
		jw_kv_str(w, "error", s->error);
		jw_kv_cstr(w, "reason", report_reason_name(s->reason));
	}
	if (s->not_begun)
		jw_kv_bool(w, "begun", false);
	if (report_step_has_data(s)) {
		jw_key(w, "data");
		report_step_data(w, s);
	}
	if (s->run.n && o->view == VIEW_FULL)
		jw_kv_raw(w, "run", s->run);
	jw_end(w);
}

void render_json(const struct report *r, const struct render_options *o,
		 struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct jw w;

	jw_init(&w, out, o->pretty);
	jw_object(&w);
	jw_kv_cstr(&w, "schema", REPORT_SCHEMA);
	if (o->view == VIEW_FULL) {
		jw_key(&w, "generation");
		jw_uint(&w, r->generation);
	}
	jw_kv_cstr(&w, "routine", r->routine);
	jw_kv_bool(&w, "dry_run", r->dry_run);
	jw_kv_bool(&w, "success", report_success(r));
	jw_kv_cstr(&w, "summary", report_summary(r, &arena));
	jw_kv_array(&w, "step_results");
	for (size_t i = 0; i < r->n_steps; i++)
		print_step(&w, &r->steps[i], o);
	jw_end(&w);
	if (r->run.n && o->view == VIEW_FULL)
		jw_kv_raw(&w, "run", r->run);
	jw_end(&w);
	buf_addc(out, '\n');
	arena_release(&arena);
}

static void value_or_null(struct jw *w, const struct report_step *s)
{
	if (s && report_step_has_data(s))
		report_step_data(w, s);
	else
		jw_null(w);
}

void render_data(const struct report *r, const struct render_options *o,
		 struct buf *out)
{
	struct jw w;

	jw_init(&w, out, o->pretty);
	if (o->single) {
		value_or_null(&w, r->n_steps ? &r->steps[0] : NULL);
	} else {
		jw_object(&w);
		for (size_t i = 0; i < r->n_steps; i++) {
			jw_key(&w, r->steps[i].name);
			value_or_null(&w, &r->steps[i]);
		}
		jw_end(&w);
	}
	buf_addc(out, '\n');
}
