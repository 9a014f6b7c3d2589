/*
 * Sentences about what went wrong, and facts for reports. Neither says a
 * session id, an id of an event, or the query of a URL.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/transport/remote_inner.h"

/* Of what a server wrote into a refusal. */
#define QUOTE_BYTES 300

const char *post_name(const struct post *p)
{
	switch (p->kind) {
	case POST_LISTENER:
	case POST_EVENTS:
		return "GET";
	case POST_DELETE:
		return "DELETE";
	case POST_REQUEST:
	case POST_NOTICE:
		break;
	}
	return p->method && *p->method ? p->method : "an answer of ours";
}

static bool is_page(const struct post *p)
{
	struct str body = str_trim(buf_str(&p->reply.body));

	return str_is(buf_str(&p->reply.media_type), "text/html") ||
	       (body.n > 5 && (!strncasecmp(body.p, "<html", 5) ||
			       !strncasecmp(body.p, "<!doc", 5)));
}

/* What stands between the tags of its title; of the rest nobody reads. */
static struct str title_of(struct str page)
{
	static const char begin[] = "<title>";
	const char *at = NULL;

	for (size_t i = 0; !at && i + sizeof(begin) <= page.n; i++)
		if (!strncasecmp(page.p + i, begin, sizeof(begin) - 1))
			at = page.p + i + sizeof(begin) - 1;
	if (!at)
		return STR("");
	page = (struct str){at, page.n - (size_t)(at - page.p)};
	return str_trim((struct str){page.p, str_find(page, '<')});
}

/* The id of a session is a secret, also in the server's own words (HL-4). */
static bool names_session(const struct remote *r, struct str text)
{
	struct str id = buf_str(&r->session_id);

	return id.n && memmem(text.p, text.n, id.p, id.n);
}

static void quote(const struct post *p, struct buf *out)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);
	struct str text = str_trim(buf_str(&p->reply.body));

	if (is_page(p)) {
		buf_adds(out, ", a web page");
		text = title_of(text);
	}
	if (!text.n || names_session(p->remote, text))
		return;
	buf_add_cut(&cut, text, QUOTE_BYTES);
	buf_adds(out, ": ");
	log_visible(out, buf_str(&cut), false);
}

static bool is_beginning(const struct post *p)
{
	return p->method && (strcmp(p->method, "server/discover") == 0 ||
			     strcmp(p->method, "initialize") == 0);
}

/* Who begins and meets something else has mostly the wrong URL. */
static void ask_for_path(const struct post *p, struct buf *out)
{
	int status = p->reply.status;

	if (!is_beginning(p) || (status != 404 && status != 405 && !is_page(p)))
		return;
	buf_adds(out, "; is this the MCP endpoint?");
	if (!str_ends(p->remote->url.path, "/mcp"))
		buf_adds(out, " many end in /mcp");
}

static void add_retry_after(const struct post *p, struct buf *out)
{
	const struct http_head head = {
		.status = p->reply.status,
		.lines = buf_str(&p->reply.lines),
	};
	uint64_t seconds;
	struct str v;

	if (http_head_get(&head, "Retry-After", 0, &v) &&
	    str_uint64(v, &seconds))
		buf_addf(out, "; it asks to come again in %llu s",
			 (unsigned long long)seconds);
}

void post_say_status(const struct post *p, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf type = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&type, str_first(buf_str(&p->reply.media_type), 80), false);
	buf_addf(&text, "the server answered %s with HTTP status %d",
		 post_name(p), p->reply.status);
	if (type.n)
		buf_addf(&text, " (%s)", buf_cstr(&type));
	quote(p, &text);
	add_retry_after(p, &text);
	ask_for_path(p, &text);
	err_set(err, ERR_PEER, "%s", buf_cstr(&text));
}

void post_say_end(const struct post *p, const struct http_end *end,
		  struct err *err)
{
	const char *why = end->kind == HTTP_DONE
				  ? "the server closed the stream"
				  : end->err.msg;

	err_set(err, ERR_PEER, "no answer to %s from %s: %s", post_name(p),
		buf_cstr(&p->remote->where), why);
}

void post_say_unknown(const struct post *p, struct err *err)
{
	struct err before = *err;

	/* of what does nothing there is no outcome to know */
	if (p->kind == POST_REQUEST && !is_beginning(p) && !post_is_safe(p))
		err_set(err, before.kind, "%s; %s", before.msg,
			p->was_repeated
				? "it was refused before and sent once more, "
				  "and the outcome is unknown"
				: "the outcome is unknown, and it was not "
				  "repeated");
}

/* Where a person logs in; MCP's way to say that is a 401. */
static bool is_login(struct str where)
{
	static const char *const words[] = {"login", "signin", "sign-in",
					    "/sso",  "//sso",  "/oauth",
					    "/auth"};

	for (size_t w = 0; w < ARRAY_LEN(words); w++)
		if (memmem(where.p, where.n, words[w], strlen(words[w])))
			return true;
	return false;
}

void post_say_redirect(const struct post *p, struct str where, struct err *err)
{
	AUTO(buf_release) struct buf to = BUF_INIT(BUF_UNBOUNDED);

	/* a query may hold ids and keys */
	where = str_cut(&where, '?');
	log_visible(&to, str_first(where, QUOTE_BYTES), false);
	err_set(err, ERR_PEER,
		"the server answered %s with HTTP status %d: it points to "
		"\"%s\"; %s",
		post_name(p), p->reply.status, buf_cstr(&to),
		is_login(where)
			? "that looks like a login for browsers: give the "
			  "server a token or key as a header, or use the URL "
			  "that is for programs"
			: "if that is the server, use its URL");
}

/* They stay in their order. */
void remote_count_status(struct remote *r, int status)
{
	size_t i = 0;

	while (i < r->n_status && r->status[i].status < status)
		i++;
	if (i == r->n_status || r->status[i].status != status) {
		if (r->n_status == ARRAY_LEN(r->status))
			return;
		memmove(&r->status[i + 1], &r->status[i],
			(r->n_status++ - i) * sizeof(r->status[0]));
		r->status[i] = (struct remote_status){status, 0};
	}
	r->status[i].n++;
}

static void write_statuses(const struct remote *r, struct jw *w)
{
	char name[16];

	jw_key(w, "status");
	jw_object(w);
	for (size_t i = 0; i < r->n_status; i++) {
		snprintf(name, sizeof(name), "%d", r->status[i].status);
		jw_key(w, name);
		jw_uint(w, r->status[i].n);
	}
	jw_end(w);
}

void remote_facts(const struct transport *t, struct jw *w)
{
	const struct remote *r = (const struct remote *)t;

	jw_kv_str(w, "url", buf_str(&r->where));
	jw_key(w, "http");
	jw_object(w);
	jw_kv_cstr(w, "library", http_library());
	jw_kv_cstr(w, "transport", r->is_sse ? "http+sse" : "streamable-http");
	write_statuses(r, w);
	jw_key(w, "reconnects");
	jw_uint(w, r->reconnects);
	jw_key(w, "restored");
	jw_uint(w, r->restored);
	jw_kv_bool(w, "session", r->session > 0);
	jw_key(w, "oddities");
	jw_uint(w, r->oddities);
	jw_end(w);
}
