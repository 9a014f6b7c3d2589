#include "core/mcp/wire/sse.h"

#include <string.h>

/* Longer names of fields are not known. */
#define FIELD_BYTES 8
/* Digits of a time to wait, milliseconds: up to 115 days. */
#define RETRY_DIGITS 10

void sse_init(struct sse *p, size_t data_max)
{
	*p = (struct sse){
		.name = BUF_INIT(FIELD_BYTES),
		.value = BUF_INIT(SSE_ID_BYTES),
		.event = BUF_INIT(SSE_NAME_BYTES),
		/* each line has its LF, the last one does not count */
		.data = BUF_INIT(data_max < SIZE_MAX ? data_max + 1 : data_max),
		.id = BUF_INIT(SSE_ID_BYTES),
		.last_id = BUF_INIT(SSE_ID_BYTES),
	};
}

void sse_release(struct sse *p)
{
	buf_release(&p->name);
	buf_release(&p->value);
	buf_release(&p->event);
	buf_release(&p->data);
	buf_release(&p->id);
	buf_release(&p->last_id);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void begin_event(struct sse *p)
{
	buf_clear(&p->event);
	buf_release(&p->data);
	p->has_data = p->is_over = p->is_given = false;
}

static void begin_line(struct sse *p)
{
	p->state = SSE_AT_START;
	p->field = SSE_FIELD_OTHER;
	buf_clear(&p->name);
	buf_clear(&p->value);
}

void sse_again(struct sse *p)
{
	begin_event(p);
	begin_line(p);
	p->mark = 0;
	p->after_cr = false;
	buf_clear(&p->id);
	buf_add_str(&p->id, buf_str(&p->last_id));
}

/* ---- fields ---- */

static enum sse_field field_of(struct str name)
{
	static const struct {
		const char *name;
		enum sse_field field;
	} known[] = {
		{"data", SSE_FIELD_DATA},
		{"event", SSE_FIELD_EVENT},
		{"id", SSE_FIELD_ID},
		{"retry", SSE_FIELD_RETRY},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(name, known[i].name))
			return known[i].field;
	return SSE_FIELD_OTHER;
}

static void add_data(struct sse *p, struct str bytes)
{
	if (p->is_over)
		return;
	if (buf_add_str(&p->data, bytes) == BUF_OK)
		return;
	p->is_over = true;
	buf_release(&p->data);
}

static void add_value(struct sse *p, struct str bytes)
{
	switch (p->field) {
	case SSE_FIELD_DATA:
		add_data(p, bytes);
		break;
	case SSE_FIELD_EVENT:
		/* a name that was cut is unknown */
		bytes.n = least(bytes.n, p->event.max - p->event.n);
		buf_add_str(&p->event, bytes);
		break;
	case SSE_FIELD_ID:
	case SSE_FIELD_RETRY:
		if (buf_add_str(&p->value, bytes) == BUF_FULL)
			p->is_bad = true;
		break;
	case SSE_FIELD_OTHER:
		break;
	}
}

static void begin_value(struct sse *p, enum sse_field field)
{
	p->field = field;
	p->is_bad = false;
	if (field == SSE_FIELD_EVENT)
		buf_clear(&p->event);
}

static void end_field(struct sse *p)
{
	struct str value = buf_str(&p->value);
	uint64_t ms;

	switch (p->field) {
	case SSE_FIELD_DATA:
		p->has_data = true;
		add_data(p, STR("\n"));
		break;
	case SSE_FIELD_ID:
		if (p->is_bad || str_find(value, '\0') != value.n)
			break;
		buf_clear(&p->id);
		buf_add_str(&p->id, value);
		p->ids++;
		break;
	case SSE_FIELD_RETRY:
		if (p->is_bad || value.n > RETRY_DIGITS ||
		    !str_uint64(value, &ms))
			break;
		p->retry_ms = ms;
		p->has_retry = true;
		break;
	case SSE_FIELD_EVENT:
	case SSE_FIELD_OTHER:
		break;
	}
}

/* ---- lines ---- */

/* An empty line: the event is whole. */
static enum sse_result dispatch(struct sse *p, struct sse_event *ret)
{
	bool is_over = p->is_over;

	buf_clear(&p->last_id);
	buf_add_str(&p->last_id, buf_str(&p->id));
	if (!p->has_data) {
		begin_event(p);
		return SSE_NONE;
	}
	p->is_given = true;
	if (is_over)
		return SSE_OVER;
	ret->name = p->event.n ? buf_str(&p->event) : STR("message");
	ret->data = (struct str){buf_cstr(&p->data), p->data.n - 1};
	return SSE_EVENT;
}

static enum sse_result end_line(struct sse *p, struct sse_event *ret)
{
	bool is_empty = p->state == SSE_AT_START;

	if (p->state == SSE_IN_NAME)
		begin_value(p, field_of(buf_str(&p->name)));
	if (!is_empty)
		end_field(p);
	begin_line(p);
	return is_empty ? dispatch(p, ret) : SSE_NONE;
}

static void end_name(struct sse *p)
{
	/* nothing before the colon: a comment */
	begin_value(p, field_of(buf_str(&p->name)));
	p->state = SSE_AFTER_COLON;
}

static void add_name(struct sse *p, char c)
{
	p->state = SSE_IN_NAME;
	if (buf_addc(&p->name, c) == BUF_OK)
		return;
	/* an unknown name, whatever follows */
	buf_clear(&p->name);
	buf_addc(&p->name, '?');
}

/* The rest of the value that lies in `in`. */
static void take_value(struct sse *p, struct str *in)
{
	size_t n = 0;

	while (n < in->n && in->p[n] != '\n' && in->p[n] != '\r')
		n++;
	add_value(p, (struct str){in->p, n});
	in->p += n;
	in->n -= n;
}

/* Skip a byte order mark; other first bytes are text. */
static bool take_mark(struct sse *p, struct str *in)
{
	static const char mark[] = "\xef\xbb\xbf";

	while (p->mark < 3 && in->n) {
		if (in->p[0] != mark[p->mark]) {
			for (uint8_t i = 0; i < p->mark; i++)
				add_name(p, mark[i]);
			p->mark = 3;
			return true;
		}
		p->mark++;
		in->p++;
		in->n--;
	}
	return p->mark == 3;
}

static enum sse_result take_byte(struct sse *p, char c, struct sse_event *ret)
{
	bool was_cr = p->after_cr;

	p->after_cr = c == '\r';
	if (c == '\n' && was_cr)
		return SSE_NONE;
	if (c == '\n' || c == '\r')
		return end_line(p, ret);
	switch (p->state) {
	case SSE_AT_START:
	case SSE_IN_NAME:
		if (c == ':')
			end_name(p);
		else
			add_name(p, c);
		break;
	case SSE_AFTER_COLON:
		p->state = SSE_IN_VALUE;
		if (c != ' ')
			add_value(p, (struct str){&c, 1});
		break;
	case SSE_IN_VALUE:
		add_value(p, (struct str){&c, 1});
		break;
	}
	return SSE_NONE;
}

enum sse_result sse_next(struct sse *p, struct str *in, struct sse_event *ret)
{
	if (p->is_given)
		begin_event(p);
	if (!take_mark(p, in))
		return SSE_NONE;
	while (in->n) {
		enum sse_result got;
		char c;

		if (p->state == SSE_IN_VALUE)
			take_value(p, in);
		if (!in->n)
			break;
		c = *in->p++;
		in->n--;
		got = take_byte(p, c, ret);
		if (got != SSE_NONE)
			return got;
	}
	return SSE_NONE;
}
