#include "core/mcp/wire/sse.h"

/* Ceiling of a line that is not data: a mark, "id: " and the longest id. */
#define LINE_BYTES (SSE_ID_BYTES + 8)
/* Digits of a time to wait, milliseconds: up to 115 days. */
#define RETRY_DIGITS 10

void sse_init(struct sse *p, size_t data_max)
{
	*p = (struct sse){
		.data_max = data_max,
		.is_first = true,
		.event = BUF_INIT(BUF_UNBOUNDED),
		.data = BUF_INIT(BUF_UNBOUNDED),
		.id = BUF_INIT(BUF_UNBOUNDED),
		.last_id = BUF_INIT(BUF_UNBOUNDED),
	};
}

void sse_release(struct sse *p)
{
	buf_release(&p->event);
	buf_release(&p->data);
	buf_release(&p->id);
	buf_release(&p->last_id);
}

static void set(struct buf *b, struct str value)
{
	buf_clear(b);
	buf_add_str(b, value);
}

static void begin_event(struct sse *p)
{
	buf_clear(&p->event);
	buf_release(&p->data);
	p->line = 0;
	p->has_data = p->is_over = p->is_given = false;
}

void sse_again(struct sse *p)
{
	begin_event(p);
	p->is_first = true;
	p->is_cut = p->after_cr = false;
	set(&p->id, buf_str(&p->last_id));
}

/* ---- lines ---- */

/* The line so far, without a byte order mark. */
static struct str line_of(const struct sse *p)
{
	struct str line = {buf_cstr(&p->data) + p->line, p->data.n - p->line};

	if (p->is_first && str_starts(line, "\xef\xbb\xbf"))
		line = str_skip(line, 3);
	return line;
}

/* Cut a line at its colon: the name of its field. *line becomes the value. */
static struct str cut_name(struct str *line)
{
	struct str name = str_cut(line, ':');

	if (str_starts(*line, " "))
		*line = str_skip(*line, 1);
	return name;
}

/* Throw the data of this event away where it is too much with this value. */
static bool is_too_much(struct sse *p, struct str value)
{
	if (!p->is_over && p->line + value.n <= p->data_max)
		return false;
	p->is_over = p->has_data = p->is_cut = true;
	buf_release(&p->data);
	p->line = 0;
	return true;
}

static void add_to_line(struct sse *p, struct str bytes)
{
	struct str line;

	if (p->is_cut)
		return;
	buf_add_str(&p->data, bytes);
	line = line_of(p);
	if (str_starts(line, "data:")) {
		(void)cut_name(&line);
		(void)is_too_much(p, line);
	} else if (p->data.n - p->line > LINE_BYTES) {
		p->data.n = p->line + LINE_BYTES;
		p->is_cut = true;
	}
}

static void keep_data(struct sse *p, struct str value)
{
	if (is_too_much(p, value))
		return;
	p->has_data = true;
	if (value.n)
		memmove(p->data.p + p->line, value.p, value.n);
	p->data.n = p->line + value.n;
	buf_addc(&p->data, '\n');
	p->line = p->data.n;
}

static void read_field(struct sse *p, struct str value)
{
	struct str name = cut_name(&value);
	uint64_t ms;

	if (str_is(name, "data")) {
		keep_data(p, value);
	} else if (str_is(name, "event")) {
		/* a name that was cut is unknown */
		if (value.n > SSE_NAME_BYTES)
			value.n = SSE_NAME_BYTES;
		set(&p->event, value);
	} else if (str_is(name, "id")) {
		if (value.n > SSE_ID_BYTES || str_find(value, '\0') != value.n)
			return;
		set(&p->id, value);
		p->ids++;
	} else if (str_is(name, "retry") && value.n <= RETRY_DIGITS &&
		   str_uint64(value, &ms)) {
		p->retry_ms = ms;
		p->has_retry = true;
	}
}

/* An empty line: the event is whole. */
static enum sse_result dispatch(struct sse *p, struct sse_event *ret)
{
	set(&p->last_id, buf_str(&p->id));
	if (!p->has_data) {
		begin_event(p);
		return SSE_NONE;
	}
	p->is_given = true;
	if (p->is_over)
		return SSE_OVER;
	ret->name = p->event.n ? buf_str(&p->event) : STR("message");
	ret->data = (struct str){p->data.p, p->data.n - 1};
	return SSE_EVENT;
}

static enum sse_result end_line(struct sse *p, struct sse_event *ret)
{
	struct str line = line_of(p);
	bool is_empty = !line.n && !p->is_cut;

	if (!is_empty)
		read_field(p, line);
	p->data.n = p->line;
	p->is_first = p->is_cut = false;
	return is_empty ? dispatch(p, ret) : SSE_NONE;
}

enum sse_result sse_next(struct sse *p, struct str *in, struct sse_event *ret)
{
	enum sse_result got = SSE_NONE;

	if (p->is_given)
		begin_event(p);
	while (got == SSE_NONE && in->n) {
		bool is_lf_of_cr = p->after_cr && in->p[0] == '\n';
		size_t n = 0;

		while (n < in->n && in->p[n] != '\n' && in->p[n] != '\r')
			n++;
		add_to_line(p, (struct str){in->p, n});
		p->after_cr = n < in->n && in->p[n] == '\r';
		if (n < in->n && !is_lf_of_cr)
			got = end_line(p, ret);
		n += n < in->n;
		*in = str_skip(*in, n);
	}
	return got;
}
