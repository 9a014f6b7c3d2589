#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/cli/call_batch_inner.h"
#include "core/cli/put.h"
#include "core/cli/tool_say.h"

/* Memory of answers beyond this is given back when they are printed. */
#define KEEP_BYTES (1024 * 1024)

/* ---- slots ---- */

struct slot *batch_new_slot(struct batch *b)
{
	struct slot *s = b->spare ? b->spare : mem_alloc(sizeof(*s));

	b->spare = NULL;
	*s = (struct slot){
		.batch = b,
		.number = b->number,
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	*b->last = s;
	b->last = &s->next;
	b->n_slots++;
	b->n_open++;
	return s;
}

void batch_drop_first(struct batch *b)
{
	struct slot *s = b->first;

	b->first = s->next;
	if (!b->first)
		b->last = &b->first;
	b->n_slots--;
	buf_release(&s->out);
	free(b->spare);
	b->spare = s;
}

/* ---- answers ---- */

/* Where its answer goes; what is due need not be kept. */
static struct buf *out_of(struct slot *s)
{
	return s == s->batch->first ? &s->batch->out : &s->out;
}

void batch_finish(struct slot *s)
{
	buf_addc(out_of(s), '\n');
	batch_leave_set(s);
	s->done = true;
	s->batch->n_open--;
}

void batch_write_error(struct slot *s, const char *kind, const char *message)
{
	struct jw w;

	s->batch->counts.errors++;
	jw_init(&w, out_of(s), false);
	jw_object(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_kv_cstr(&w, "kind", kind);
	jw_kv_cstr(&w, "message", message);
	jw_kv_int(&w, "line", (int64_t)s->number);
	jw_end(&w);
	jw_end(&w);
}

static int check_result(struct slot *s, struct str result, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct tool_findings found;

	(void)!tool_check_result(s->check, result, &arena, &found);
	return tool_say(&found,
			s->batch->t->strict ? TOOL_STRICT : TOOL_NO_CHECK, err);
}

static void write_result(struct slot *s, struct str result)
{
	struct batch *b = s->batch;
	struct mcp_tool_result r = {0};
	struct err err;

	err_clear(&err);
	if (mcp_read_tool_result(result, client_server(b->t->client)->revision,
				 &r, &err) < 0) {
		batch_write_error(s, err_word(err.kind), err.msg);
	} else if (s->check && check_result(s, result, &err) < 0) {
		batch_write_error(s, err_word(err.kind), err.msg);
	} else {
		b->counts.tool_errors += r.is_error;
		scrub_json(b->t->scrub, result, out_of(s));
		content_save_all(b->o->files, r.content, false);
		if (r.is_error)
			target_hint_content(b->t, r.content);
	}
	mcp_tool_result_release(&r);
}

static void write_answer(struct slot *s, const struct client_event *e)
{
	struct target_answer a = {
		.outcome =
			e->type == CLIENT_ERROR ? TARGET_ERROR : TARGET_FAILED,
		.line = s->number,
	};

	if (e->type == CLIENT_ERROR) {
		a.kind = "rpc_error";
		a.code = e->of->code;
		a.message = e->of->message;
		a.data = e->of->data;
	} else {
		a.kind = report_reason_name(e->reason);
		a.message = str_of(e->sentence);
	}
	s->batch->counts.errors++;
	target_write_error(s->batch->t, &a, out_of(s));
	if (e->type == CLIENT_ERROR)
		target_hint(s->batch->t, a.message);
}

void batch_on_answer(void *arg, const struct client_event *e)
{
	struct slot *s = arg;

	switch (e->type) {
	case CLIENT_RESULT:
		/* one line, as it came but for white space between */
		if (memchr(e->of->result.p, '\n', e->of->result.n)) {
			AUTO(buf_release)
			struct buf line = BUF_INIT(BUF_UNBOUNDED);

			scan_compact(e->of->result, &line);
			write_result(s, buf_str(&line));
		} else {
			write_result(s, e->of->result);
		}
		batch_finish(s);
		break;
	case CLIENT_ERROR:
	case CLIENT_FAILED:
		write_answer(s, e);
		batch_finish(s);
		break;
	default:
		break;
	}
}

/* ---- output ---- */

int batch_flush(struct batch *b, struct err *err)
{
	int r;

	if (!b->out.n)
		return 0;
	live_clear(&b->t->live);
	r = put(buf_str(&b->out), PUT_JSON, err);
	buf_clear(&b->out);
	if (b->out.cap > KEEP_BYTES)
		buf_release(&b->out);
	return r;
}

/* Behind what is gathered; a long one is not copied. */
static void gather(struct batch *b, struct buf *kept)
{
	struct buf empty = b->out;

	if (b->out.n) {
		buf_add_str(&b->out, buf_str(kept));
	} else if (kept->n) {
		b->out = *kept;
		*kept = empty;
	}
}

int batch_take_due(struct batch *b, struct err *err)
{
	while (b->first && b->first->done) {
		struct buf *kept = &b->first->out;

		if (b->out.n + kept->n > PORTION_BYTES &&
		    batch_flush(b, err) < 0)
			return -1;
		gather(b, kept);
		batch_drop_first(b);
	}
	return 0;
}
