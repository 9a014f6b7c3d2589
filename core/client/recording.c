#include "core/client/recording.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/report/canon.h"
#include "core/report/diff.h"

/* Bytes of either text that a difference shows, and of those before it. */
#define SHOWN 60
#define BEFORE 20
#define PARTS 4
/* Members that differ and are said. */
#define MEMBERS 3
/* Lines between two looks at whether to go on. */
#define LINES 4096

struct recorded {
	enum recorded_kind kind;
	struct str text; /* message or line; of LOST the object */
	/* For a replay alone: */
	struct str shape; /* of TO: shape() */
	struct str id;	  /* JSON of the id; {NULL, 0} without */
	bool is_request;  /* with an id */
	/* of FROM and LOST: the request that it waits for, and of an answer of
	   ours the question; index + 1, 0: none */
	size_t of;
	bool is_done;
	struct str live; /* of TO: id of the request in this run */
};

static const char *const kind_words[] = {
#define X(name, word) word,
	RECORDING_KINDS(X)
#undef X
};

static const char *const item_keys[] = {"to", "from", "lost"};

static bool is_message(struct str text)
{
	struct str v;

	return text.n && scan_document(text, NULL, &v, ERR_IGNORED) == 0 &&
	       scan_type(v) == SCAN_OBJECT;
}

/* ---- recording ---- */

static struct recorded *add_item(struct recording *r, enum recorded_kind kind,
				 struct str text)
{
	r->item = arena_grow(r->arena, r->item, r->n, sizeof(*r->item));
	r->item[r->n] = (struct recorded){.kind = kind, .text = text};
	return &r->item[r->n++];
}

void recording_note(struct recording *r, enum recorded_kind kind,
		    struct str text)
{
	(void)add_item(r, kind, arena_str(r->arena, text));
}

void recording_feed(struct recording *r, enum recorded_kind kind,
		    struct str bytes)
{
	struct buf *held = &r->held[kind];
	size_t at;

	while ((at = str_find(bytes, '\n')) < bytes.n) {
		buf_add(held, bytes.p, at);
		recording_note(r, kind, buf_str(held));
		buf_clear(held);
		bytes = str_skip(bytes, at + 1);
	}
	buf_add_str(held, bytes);
}

void recording_note_lost(struct recording *r, const struct transport_item *item)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&out);

	if (item->id.p)
		jw_kv_raw(&w, "id", item->id);
	jw_kv_int(&w, "loss", item->loss);
	jw_kv_bool(&w, "unknown", item->is_unknown);
	jw_kv_int(&w, "status", item->refusal.status);
	if (item->refusal.has_time)
		jw_kv_int(&w, "after_s", item->refusal.after_s);
	jw_kv_cstr(&w, "error", item->err.msg);
	jw_end(&w);
	recording_note(r, RECORDED_LOST, buf_str(&out));
}

void recording_end(struct recording *r, const struct transport_exit *end)
{
	bool is_itself = r->end.is_itself;

	if (r->held[RECORDED_FROM].n)
		recording_note(r, RECORDED_FROM,
			       buf_str(&r->held[RECORDED_FROM]));
	for (size_t i = 0; i < ARRAY_LEN(r->held); i++)
		buf_release(&r->held[i]);
	if (r->end.is_known || r->why)
		return;
	r->end = *end;
	r->end.is_known = true;
	r->end.is_itself |= is_itself;
	r->end.said = arena_str(r->arena, end->said);
	r->end.limits = arena_strlist(r->arena, &end->limits);
}

void recording_fail(struct recording *r, const struct err *why)
{
	struct err *kept = ARENA_NEW(r->arena, struct err);

	*kept = *why;
	r->why = kept;
}

/* ---- writing ---- */

/* Add a text of any bytes as "key", or "key64" in Base64. */
static void put_text(const struct recording *r, struct jw *w, const char *key,
		     struct str text)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf coded = BUF_INIT(BUF_UNBOUNDED);

	scrub_apply(r->scrub, text, &clean);
	if (str_is_utf8(buf_str(&clean))) {
		jw_kv_str(w, key, buf_str(&clean));
		return;
	}
	base64_encode(BASE64_STANDARD, buf_str(&clean), &coded);
	jw_kv_str(w, arena_printf(r->arena, "%s64", key), buf_str(&coded));
}

static void put_item(const struct recording *r, struct jw *w,
		     const struct recorded *e)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (r->kind == RECORDING_PROGRAM || !is_message(e->text)) {
		put_text(r, w, item_keys[e->kind], e->text);
		return;
	}
	scrub_json(r->scrub, e->text, &clean);
	if (str_find(buf_str(&clean), '\n') < clean.n)
		scan_compact(buf_str(&clean), &line);
	jw_kv_raw(w, item_keys[e->kind], buf_str(line.n ? &line : &clean));
}

static void put_end(const struct recording *r, struct jw *w)
{
	const struct transport_exit *e = &r->end;

	jw_kv_object(w, "end");
	if (r->why) {
		put_text(r, w, "error", str_of(r->why->msg));
		jw_kv_cstr(w, "kind", err_word(r->why->kind));
		jw_end(w);
		return;
	}
	jw_kv_int(w, "exit", e->status);
	jw_kv_int(w, "signal", e->signal);
	put_text(r, w, "stderr", e->said);
	jw_kv_bool(w, "itself", e->is_itself);
	jw_kv_bool(w, "told", e->is_told);
	jw_kv_bool(w, "over", e->is_over);
	jw_kv_bool(w, "refused", e->is_refused);
	jw_kv_list(w, "limits", &e->limits);
	jw_end(w);
}

static void end_line(struct jw *w, struct buf *out)
{
	jw_end(w);
	buf_addc(out, '\n');
}

void recording_write(const struct recording *r, struct buf *out)
{
	struct jw w = jw_begin(out);

	jw_kv_cstr(&w, "schema", RECORDING_SCHEMA);
	jw_kv_cstr(&w, "name", r->name);
	jw_kv_int(&w, "nth", (int64_t)r->nth);
	jw_kv_int(&w, "start", (int64_t)r->start);
	jw_kv_cstr(&w, "kind", kind_words[r->kind]);
	if (r->run)
		jw_kv_int(&w, "run", (int64_t)r->run);
	jw_kv_raw(&w, "args", r->args);
	end_line(&w, out);
	for (size_t i = 0; i < r->n; i++) {
		w = jw_begin(out);
		put_item(r, &w, &r->item[i]);
		end_line(&w, out);
	}
	w = jw_begin(out);
	put_end(r, &w);
	end_line(&w, out);
}

/* ---- parts of a message that belong to this session ---- */

typedef const char *const place[PARTS];

static const place own[] = {
	{"params", "requestId"},
	{"params", "_meta", "progressToken"},
	{"params", "clientInfo"},
	{"params", "_meta", "io.modelcontextprotocol/clientInfo"},
};
static const place theirs[] = {
	{"id"},
	{"params", "progressToken"},
	{"params", "_meta", "io.modelcontextprotocol/subscriptionId"},
	{"result", "_meta", "io.modelcontextprotocol/subscriptionId"},
};

static struct str find(struct str message, place at)
{
	for (size_t i = 0; i < PARTS && at[i] && message.p; i++)
		message = scan_some(message, at[i]);
	return message;
}

/* Put another value in a place of a message that has one. */
static void put_in(struct buf *message, place at, struct str value)
{
	struct str all = buf_str(message), v = find(all, at);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (!v.p)
		return;
	buf_add(&out, all.p, (size_t)(v.p - all.p));
	buf_add_str(&out, value);
	buf_add_str(&out, str_skip(all, (size_t)(v.p + v.n - all.p)));
	buf_release(message);
	*message = out;
}

/* Append a message of ours without what is its session's own. */
static void shape(const struct recording *r, struct str message,
		  struct buf *out)
{
	buf_add_str(out, message);
	if (r->kind == RECORDING_PROGRAM)
		return;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		put_in(out, own[i], STR("0"));
	/* the id of an answer is the server's */
	if (scan_some(message, "method").p)
		put_in(out, theirs[0], STR("0"));
}

/* ---- reading ---- */

/* A text as put_text() and put_item() leave it; {NULL, 0}: there is none. */
static struct str get_text(const struct recording *r, struct str object,
			   const char *key)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct str v = scan_some(object, key);

	if (v.p && scan_type(v) == SCAN_STRING)
		return scan_decoded(v, SIZE_MAX, r->arena);
	if (v.p)
		return v;
	v = scan_text(object, arena_printf(r->arena, "%s64", key));
	if (!v.p ||
	    base64_decode(BASE64_STANDARD, scan_decoded(v, SIZE_MAX, r->arena),
			  &bytes, ERR_IGNORED) < 0)
		return (struct str){NULL, 0};
	return arena_str(r->arena, buf_str(&bytes));
}

static int64_t number(struct str object, const char *key)
{
	struct str v = scan_some(object, key);
	int64_t n;

	return v.p && scan_int64(v, &n) && n >= 0 ? n : 0;
}

/* By their id, then by their place. */
static int by_id(const void *one, const void *two)
{
	const struct recorded_request *a = one, *b = two;
	int order = a->id.n == b->id.n	? memcmp(a->id.p, b->id.p, a->id.n)
		    : a->id.n < b->id.n ? -1
					: 1;

	return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

/* Put the requests of each side in the order of their ids. */
static void sort_requests(struct recording *r)
{
	for (size_t kind = 0; kind < ARRAY_LEN(r->requests); kind++) {
		struct recorded_requests *all = &r->requests[kind];

		for (size_t i = 0; i < r->n; i++) {
			const struct recorded *e = &r->item[i];

			if (e->kind != kind || !e->is_request)
				continue;
			all->item = arena_grow(r->arena, all->item, all->n,
					       sizeof(*all->item));
			all->item[all->n++] =
				(struct recorded_request){e->id, i};
		}
		if (all->n)
			qsort(all->item, all->n, sizeof(*all->item), by_id);
	}
}

/* The request of that kind and id that came last; index + 1, 0: none. */
static size_t last_of(const struct recording *r, size_t before,
		      enum recorded_kind kind, struct str id)
{
	const struct recorded_requests *all = &r->requests[kind];
	const struct recorded_request wanted = {id, before};
	size_t low = 0, high = all->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_id(&all->item[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && str_eq(all->item[low - 1].id, id)
		       ? all->item[low - 1].at + 1
		       : 0;
}

/* Find what an item waits for; last  the request of ours before it */
static size_t cause_of(const struct recording *r, const struct recorded *e,
		       size_t last)
{
	size_t before = (size_t)(e - r->item), of = 0;
	struct str id = {NULL, 0};

	if (r->kind == RECORDING_PROGRAM)
		return before ? 1 : 0;
	if (e->kind == RECORDED_TO)
		return !e->is_request && e->id.p
			       ? last_of(r, before, RECORDED_FROM, e->id)
			       : 0;
	for (size_t i = e->is_request; i < ARRAY_LEN(theirs) && !id.p; i++)
		if (is_message(e->text))
			id = find(e->text, theirs[i]);
	if (id.p)
		of = last_of(r, before, RECORDED_TO, id);
	return of ? of : last;
}

/* Find what each waits for, once all are known. */
static void find_causes(struct recording *r)
{
	size_t last = 0;

	sort_requests(r);
	for (size_t i = 0; i < r->n; i++) {
		struct recorded *e = &r->item[i];

		e->of = cause_of(r, e, last);
		if (e->kind == RECORDED_TO && e->is_request)
			last = i + 1;
	}
}

static int read_item(struct recording *r, enum recorded_kind kind,
		     struct str text, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	bool is_text = r->kind == RECORDING_PROGRAM;
	struct recorded *e;

	if (is_text ? kind == RECORDED_LOST || (kind == RECORDED_TO && r->n)
		    : kind != RECORDED_FROM && !is_message(text))
		return err_set(err, ERR_REPLAY, "no message");
	e = add_item(r, kind, text);
	if (!is_text && is_message(text)) {
		e->id = scan_some(text, "id");
		e->is_request = e->id.p && scan_some(text, "method").p;
	}
	if (kind == RECORDED_TO) {
		shape(r, text, &out);
		e->shape = arena_str(r->arena, buf_str(&out));
	}
	return 0;
}

static int read_head(struct recording *r, struct str v, struct err *err)
{
	struct str kind = scan_text(v, "kind"), schema = scan_text(v, "schema");

	r->name = scan_decoded(scan_text(v, "name"), SIZE_MAX, r->arena).p;
	r->args = scan_some(v, "args");
	r->nth = (uint64_t)number(v, "nth");
	r->start = (uint64_t)number(v, "start");
	r->run = (uint64_t)number(v, "run");
	while (r->kind < RECORDING_RUN && !scan_is(kind, kind_words[r->kind]))
		r->kind++;
	if (!scan_is(schema, RECORDING_SCHEMA))
		return err_set(err, ERR_REPLAY,
			       "this matins reads \"" RECORDING_SCHEMA
			       "\", not %.*s: record it again with --record",
			       STR_ARG(schema.p ? str_first(schema, SHOWN)
						: STR("this")));
	if (scan_is(kind, kind_words[r->kind]) && r->args.p &&
	    scan_type(r->args) == SCAN_ARRAY)
		return 0;
	return err_set(err, ERR_REPLAY, "no kind, or no arguments");
}

/* Nothing started: read why. */
static void read_failure(struct recording *r, struct str end, struct str text)
{
	static const enum err_kind kinds[] = {
		ERR_NOT_FOUND,	ERR_LEASH,    ERR_POLICY, ERR_PROTECTION,
		ERR_CREDENTIAL, ERR_DEADLINE, ERR_PIN,	  ERR_SYS,
	};
	struct err why = ERR_INIT;
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(kinds) &&
	       !scan_is(scan_text(end, "kind"), err_word(kinds[i])))
		i++;
	err_set(&why, kinds[i], "%.*s", STR_ARG(text));
	recording_fail(r, &why);
}

static int read_end(struct recording *r, struct str v, struct err *err)
{
	struct str end = scan_some(v, "end"), error;

	if (!end.p || scan_type(end) != SCAN_OBJECT)
		return err_set(err, ERR_REPLAY,
			       "neither to, from, lost nor end");
	error = get_text(r, end, "error");
	if (error.p) {
		read_failure(r, end, error);
		return 0;
	}
	r->end = (struct transport_exit){
		.is_known = true,
		.status = (int)(number(end, "exit") & 0xff),
		.signal = (int)(number(end, "signal") & 0x7f),
		.said = get_text(r, end, "stderr"),
		.is_itself = scan_true(end, "itself"),
		.is_told = scan_true(end, "told"),
		.is_over = scan_true(end, "over"),
		.is_refused = scan_true(end, "refused"),
	};
	for (struct scan_iter it = scan_over(scan_some(end, "limits"));
	     scan_next(&it);)
		list_add(&r->end.limits, r->arena,
			 scan_decoded(it.value, SIZE_MAX, r->arena).p);
	return 0;
}

static int read_line(struct recording *r, struct str v, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(item_keys); i++) {
		struct str text = get_text(r, v, item_keys[i]);

		if (text.p)
			return read_item(r, (enum recorded_kind)i, text, err);
	}
	return read_end(r, v, err);
}

static bool has_ended(const struct recording *r)
{
	return r->end.is_known || r->why;
}

int recording_read(struct str text, struct arena *arena, bool (*stops)(void),
		   struct recording **list, struct err *err)
{
	struct recording *r = NULL;
	unsigned line = 1;

	while (*list)
		list = &(*list)->next;
	for (; text.n; line++) {
		bool is_head = !r || has_ended(r);
		struct str v;

		if (line % LINES == 0 && stops())
			return err_set(err, ERR_REPLAY, "interrupted");
		if (is_head) {
			r = *list = ARENA_NEW(arena, struct recording);
			*r = (struct recording){.arena = arena};
			list = &r->next;
		}
		if (scan_document(str_cut(&text, '\n'), NULL, &v, err) < 0 ||
		    (is_head ? read_head : read_line)(r, v, err) < 0)
			return err_wrap(err, "line %u", line);
		if (has_ended(r))
			find_causes(r);
	}
	return !r || has_ended(r)
		       ? 0
		       : err_set(err, ERR_REPLAY, "the recording is cut off");
}

/* ---- messages of ours ---- */

static void skip_done(struct recording *r)
{
	while (r->first < r->n && r->item[r->first].is_done)
		r->first++;
}

/* "at byte 5: … was recorded, now it is …", for texts. */
static void say_bytes(struct str then, struct str now, struct buf *out)
{
	size_t at = 0, from;

	while (at < then.n && at < now.n && then.p[at] == now.p[at])
		at++;
	from = at > BEFORE ? at - BEFORE : 0;
	while (from && ((unsigned char)then.p[from] & 0xc0) == 0x80)
		from--;
	buf_addf(out, "at byte %zu: ", at);
	buf_add_cut(out, str_skip(then, from), SHOWN);
	buf_adds(out, " was recorded, now it is ");
	buf_add_cut(out, str_skip(now, from), SHOWN);
}

static void say_value(const struct jdoc *j, const char *none, struct buf *out)
{
	AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

	if (j)
		canon_compact(j, &value);
	buf_add_cut(out, j ? buf_str(&value) : str_of(none), SHOWN);
}

/* "$.params.arguments.text was "a", and is "b" now", for each member; false:
   there are none */
static bool say_members(struct str then, struct str now, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jdoc *old, *new;
	struct diff d;

	if (jdoc_parse(then, &arena, &old, ERR_IGNORED) < 0 ||
	    jdoc_parse(now, &arena, &new, ERR_IGNORED) < 0 ||
	    old->type != new->type || !old->n)
		return false;
	diff_reports(old, new, NULL, &arena, &d);
	for (size_t i = 0; i < d.n && i < MEMBERS; i++) {
		buf_adds(out, i ? "; " : "");
		diff_path(d.shown[i], NULL, out);
		buf_adds(out, " was ");
		say_value(d.shown[i]->old, "not there", out);
		buf_adds(out, ", and is ");
		say_value(d.shown[i]->new, "not there", out);
		buf_adds(out, " now");
	}
	if (d.n > MEMBERS)
		buf_addf(out, "; and %zu more", d.n - MEMBERS);
	return d.n;
}

void recording_say(struct str then, struct str now, struct buf *out)
{
	if (!say_members(then, now, out))
		say_bytes(then, now, out);
	buf_adds(out, "; if that is meant, record it again with --record");
}

/* Append "tools/call" "say": a request, and of which tool it is. */
static void say_request(struct str message, struct buf *out)
{
	struct str method = scan_some(message, "method"), name = {NULL, 0};

	if (method.p)
		name = scan_text(scan_some(message, "params"), "name");
	buf_addf(out, "%.*s%s%.*s",
		 STR_ARG(method.p ? method : STR("an answer")),
		 name.p ? " of " : "", STR_ARG(name));
}

static void say_difference(const struct recording *r, struct str message,
			   struct str now, struct buf *why)
{
	bool is_text = r->kind == RECORDING_PROGRAM;
	AUTO(buf_release) struct buf its = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf request = BUF_INIT(BUF_UNBOUNDED);
	const struct recorded *like = NULL;

	if (is_text)
		buf_adds(&request, "the input");
	else
		say_request(message, &request);
	for (size_t i = r->n; i-- > 0;) {
		const struct recorded *e = &r->item[i];

		if (e->kind != RECORDED_TO || e->is_done)
			continue;
		buf_clear(&its);
		if (!is_text)
			say_request(e->text, &its);
		if (is_text || str_eq(buf_str(&its), buf_str(&request)))
			like = e;
	}
	buf_addf(why, "%s differs from the recording%s", buf_cstr(&request),
		 like ? ": "
		      : ", which has no more of it: record it again "
			"with --record");
	if (like)
		recording_say(like->shape, now, why);
}

/* Find a message of ours; `now` gets its shape. NULL: there is none. */
static struct recorded *find_like(struct recording *r, struct str message,
				  struct buf *now)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	(r->kind == RECORDING_PROGRAM ? scrub_apply
				      : scrub_json)(r->scrub, message, &clean);
	shape(r, buf_str(&clean), now);
	skip_done(r);
	for (size_t i = r->first; i < r->n; i++)
		if (r->item[i].kind == RECORDED_TO && !r->item[i].is_done &&
		    str_eq(r->item[i].shape, buf_str(now)))
			return &r->item[i];
	return NULL;
}

bool recording_take(struct recording *r, struct str message, struct buf *why)
{
	AUTO(buf_release) struct buf now = BUF_INIT(BUF_UNBOUNDED);
	struct recorded *e = find_like(r, message, &now);

	if (!e) {
		say_difference(r, message, buf_str(&now), why);
		return false;
	}
	e->is_done = true;
	/* lines that waited for this one may be said now */
	r->at = r->first;
	if (e->is_request)
		e->live = arena_str(r->arena, scan_some(message, "id"));
	return true;
}

/* ---- messages of the server ---- */

/* Append the text with the ids of this run. */
static void put_live(const struct recording *r, const struct recorded *e,
		     struct buf *out)
{
	size_t before = (size_t)(e - r->item), of;

	buf_add_str(out, e->text);
	if (r->kind == RECORDING_PROGRAM || !is_message(e->text))
		return;
	/* the id of a request is the server's */
	for (size_t i = e->is_request; i < ARRAY_LEN(theirs); i++) {
		struct str id = find(e->text, theirs[i]);

		of = id.p ? last_of(r, before, RECORDED_TO, id) : 0;
		if (of && r->item[of - 1].live.n)
			put_in(out, theirs[i], r->item[of - 1].live);
	}
}

static void set_lost(struct recording *r, const struct recorded *e,
		     struct transport_item *ret)
{
	struct str v = e->text, why = get_text(r, v, "error");

	*ret = (struct transport_item){
		.type = TRANSPORT_LOST,
		.loss = (enum transport_loss)(number(v, "loss") %
					      (TRANSPORT_TOO_LONG + 1)),
		.is_unknown = scan_true(v, "unknown"),
		.refusal = {.status = (int)(number(v, "status") % 1000),
			    .has_time = scan_some(v, "after_s").p != NULL,
			    .after_s = number(v, "after_s")},
	};
	if (e->id.p && e->of)
		ret->id = r->item[e->of - 1].live;
	err_set(&ret->err, ERR_PEER, "%.*s", STR_ARG(why));
}

bool recording_next(struct recording *r, struct transport_item *ret,
		    struct buf *out)
{
	for (; r->at < r->n; r->at++) {
		struct recorded *e = &r->item[r->at];
		bool waits = e->of && !r->item[e->of - 1].is_done;

		if (e->is_done)
			continue;
		/* an answer of ours comes before what follows it */
		if (e->kind == RECORDED_TO && e->of && !waits)
			return false;
		if (e->kind == RECORDED_TO || waits)
			continue;
		e->is_done = true;
		*ret = (struct transport_item){.type = TRANSPORT_MESSAGE};
		if (e->kind == RECORDED_LOST)
			set_lost(r, e, ret);
		else
			put_live(r, e, out);
		return true;
	}
	return false;
}

bool recording_is_over(struct recording *r)
{
	skip_done(r);
	return r->first == r->n && r->end.is_itself;
}
