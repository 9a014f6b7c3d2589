#include "core/serve/web.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/address.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/dl.h"
#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/mcp/wire/http_fields.h"

/* Events that a client does not read, bytes: progress is left out then, and for
   others the stream is closed. */
#define WAITING_BYTES (1024 * 1024)
/* A message of this size is read, whatever others hold, bytes. */
#define SMALL_BYTES (64 * 1024)
/* Connections that wait for whole requests are looked at so often, seconds. */
#define SWEEP_S 5
#define META "io.modelcontextprotocol/"

#define FUNCTIONS(X)                         \
	X(MHD_start_daemon)                  \
	X(MHD_stop_daemon)                   \
	X(MHD_run)                           \
	X(MHD_get_timeout)                   \
	X(MHD_get_daemon_info)               \
	X(MHD_get_connection_info)           \
	X(MHD_set_connection_option)         \
	X(MHD_suspend_connection)            \
	X(MHD_resume_connection)             \
	X(MHD_lookup_connection_value)       \
	X(MHD_get_connection_values)         \
	X(MHD_create_response_from_buffer)   \
	X(MHD_create_response_from_callback) \
	X(MHD_add_response_header)           \
	X(MHD_queue_response)                \
	X(MHD_destroy_response)

static struct {
	FUNCTIONS(DL_MEMBER)
} mhd;
static const char *const names[] = {FUNCTIONS(DL_NAME)};
static struct dl library = DL("libmicrohttpd.so.12", names, mhd);

/* One that has a token of its own. */
struct web_client {
	const char *token;
	struct server_session newer; /* all its requests of the newer era */
	size_t n_sessions;	     /* of the older era */
	size_t held;		     /* bytes of its exchanges */
};

/* A session of the older era. */
struct web_session {
	struct web *web;
	struct web_client *client;
	struct web_session *next;
	struct server_session session;
	char id[33];
	uint64_t number; /* never used twice */
	uint64_t used_ns;
	struct exchange *stream; /* GET of the session; NULL: none is open */
};

/* Uses of a connection, those first that are given up first for others. */
enum link_use {
	LINK_UNKNOWN, /* has shown no token */
	LINK_KNOWN,   /* a request is awaited, or is read */
	LINK_STREAM,  /* carries what belongs to no call */
	LINK_BUSY,    /* a request is answered */
	LINK_OVER,    /* to be closed */
};

struct link {
	struct link *next;
	struct MHD_Connection *connection;
	int fd; /* of the library */
	enum link_use use;
	/* A whole request must be there by then; of a stream: when it began. */
	uint64_t until_ns;
	/* Of the last request: its client, and within it the session, or the
	   name that one of the newer era gives itself. */
	const struct web_client *client;
	bool is_newer;
	uint64_t within;
};

/* One HTTP request. */
struct exchange {
	struct web *web;
	struct MHD_Connection *connection;
	struct link *link;
	struct exchange *next;
	struct web_client *client;  /* NULL: no token was shown */
	struct web_session *of;	    /* NULL: of the newer era */
	struct server_session *fed; /* session that has its message */
	struct buf body, out;	    /* of the request; for the client */
	size_t sent;		    /* of .out */
	size_t held;		    /* of both, as .web counts them */
	struct loop_watch gone;	    /* the client closes the connection */
	unsigned status;	    /* of an answer that is a document */
	bool is_too_long, is_read;  /* the body, to its end */
	bool has_no_room;	    /* too much is held by others */
	bool is_double;		    /* a field of the head */
	bool is_stream, is_begun;   /* events; the reply has begun */
	bool is_done;		    /* nothing follows */
	bool is_suspended, is_closed;
};

struct web {
	struct web_options o;
	struct MHD_Daemon *daemon;
	struct loop_watch ready;
	struct loop_timer timer, sweep;
	struct web_client *clients; /* n_clients; a token each */
	size_t n_clients;
	struct web_session *sessions;
	size_t n_sessions;
	uint64_t last_session;
	struct exchange *exchanges;
	struct link *links;
	size_t held; /* bytes of all exchanges */
	char *url;
	const char *host; /* of .url, with the port */
	bool is_any;	  /* listens at every address */
	bool has_woken;	  /* since the library ran */
	bool is_ending;	  /* no request is read any more */
	struct arena arena;
};

/* ---- the library in the loop ---- */

static void plan(struct web *w)
{
	MHD_UNSIGNED_LONG_LONG ms;

	/* the library does not count those that were resumed within it */
	if (w->has_woken)
		ms = 0;
	if (w->has_woken || mhd.MHD_get_timeout(w->daemon, &ms) == MHD_YES)
		loop_timer_set(w->o.loop, &w->timer,
			       loop_now(w->o.loop) + ms * NS_PER_MS);
	else
		loop_timer_clear(w->o.loop, &w->timer);
}

static void run(void *arg)
{
	struct web *w = arg;

	w->has_woken = false;
	mhd.MHD_run(w->daemon);
	plan(w);
}

static void on_ready(void *arg, UNUSED uint32_t events)
{
	run(arg);
}

/* ---- connections ---- */

/* The library may miss the end of a connection that was reset: it notices then
   after the least time that it takes for idle. */
static void close_link(struct link *l)
{
	l->use = LINK_OVER;
	(void)shutdown(l->fd, SHUT_RDWR);
	(void)mhd.MHD_set_connection_option(l->connection,
					    MHD_CONNECTION_OPTION_TIMEOUT, 1U);
}

/* Close those whose client has gone in the middle of a request: the library
   does not notice an end that comes together with data. Returns how many. */
static size_t close_dead(const struct web *w)
{
	size_t n_closed = 0;
	char c;

	for (struct link *l = w->links; l; l = l->next) {
		ssize_t n;

		if (l->use >= LINK_STREAM)
			continue;
		n = recv(l->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
		if (n > 0 || (n < 0 && errno == EAGAIN))
			continue;
		close_link(l);
		n_closed++;
	}
	return n_closed;
}

static bool has_client(const struct link *l)
{
	return l->use != LINK_UNKNOWN && l->use != LINK_OVER;
}

/* Connections of the client of this one, of them those of its era, and of them
   those of its session or name: the most significant first. */
static uint64_t crowd_of(const struct web *w, const struct link *of)
{
	uint64_t client = 0, era = 0, within = 0;

	for (const struct link *l = w->links; l; l = l->next) {
		if (!has_client(l) || l->client != of->client)
			continue;
		client++;
		if (l->is_newer != of->is_newer)
			continue;
		era++;
		within += l->within == of->within;
	}
	return (client << 32) + (era << 16) + within;
}

/* The connection that is missed least: of the largest crowd. */
static struct link *least_missed(const struct web *w)
{
	struct link *found = NULL;
	uint64_t most = 0;

	for (struct link *l = w->links; l; l = l->next) {
		uint64_t crowd = has_client(l) ? crowd_of(w, l) : 0;

		if (!crowd || crowd < most ||
		    (found && crowd == most &&
		     (l->use > found->use || (l->use == found->use &&
					      l->until_ns >= found->until_ns))))
			continue;
		found = l;
		most = crowd;
	}
	return found;
}

/* Make room for others. */
static void bound_links(const struct web *w)
{
	size_t known = 0, unknown = 0;
	struct link *found = NULL;

	for (struct link *l = w->links; l; l = l->next) {
		known += has_client(l);
		if (l->use != LINK_UNKNOWN)
			continue;
		unknown++;
		if (!found || l->until_ns < found->until_ns)
			found = l;
	}
	if (known + unknown <= WEB_CONNECTIONS - WEB_SPARE || close_dead(w))
		return;
	if (unknown <= WEB_SPARE)
		found = least_missed(w);
	if (found)
		close_link(found);
}

static void use_link(struct exchange *x, enum link_use use, uint64_t wait_s)
{
	if (x->link->use == LINK_OVER)
		return;
	x->link->use = use;
	x->link->until_ns = loop_now(x->web->o.loop) + wait_s * NS_PER_S;
}

/* The connection carries a request of this session, or name. */
static void use_link_for(const struct exchange *x, uint64_t within)
{
	x->link->is_newer = !x->of;
	x->link->within = within;
}

static void on_connection(void *arg, struct MHD_Connection *c, void **own,
			  enum MHD_ConnectionNotificationCode how)
{
	struct web *w = arg;
	struct link *l = *own, **at = &w->links;
	const union MHD_ConnectionInfo *i;

	if (how == MHD_CONNECTION_NOTIFY_STARTED) {
		i = mhd.MHD_get_connection_info(
			c, MHD_CONNECTION_INFO_CONNECTION_FD);
		*own = l = mem_zalloc(sizeof(*l));
		*l = (struct link){
			.next = w->links,
			.connection = c,
			.fd = i ? i->connect_fd : -1,
			.until_ns =
				loop_now(w->o.loop) + WEB_PATIENCE_S * NS_PER_S,
		};
		w->links = l;
		bound_links(w);
		return;
	}
	*own = NULL;
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	free(l);
}

/* Count what a request holds. */
static void count(struct exchange *x)
{
	size_t now = x->body.n + x->out.n;

	x->web->held += now - x->held;
	if (x->client)
		x->client->held += now - x->held;
	x->held = now;
}

static bool is_full(const struct exchange *x, size_t more)
{
	return x->held + more > SMALL_BYTES &&
	       (x->web->held + more > WEB_HELD_BYTES ||
		x->client->held + more > WEB_HELD_EACH);
}

/* ---- waiting requests ---- */

static void wake(struct exchange *x)
{
	if (!x->is_suspended)
		return;
	x->is_suspended = false;
	loop_unwatch(x->web->o.loop, &x->gone);
	mhd.MHD_resume_connection(x->connection);
	x->web->has_woken = true;
	plan(x->web);
}

static void on_gone(void *arg, UNUSED uint32_t events)
{
	struct exchange *x = arg;

	x->is_closed = true;
	wake(x);
}

/* While it is suspended the library does not see that the client goes. */
static void wait_for_more(struct exchange *x)
{
	const union MHD_ConnectionInfo *i = mhd.MHD_get_connection_info(
		x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	mhd.MHD_suspend_connection(x->connection);
	x->is_suspended = true;
	if (i)
		(void)!loop_watch(x->web->o.loop, &x->gone, i->connect_fd,
				  EPOLLRDHUP, on_gone, x, ERR_IGNORED);
}

/* ---- replies ---- */

static enum MHD_Result queue(struct exchange *x, unsigned status,
			     struct MHD_Response *r, const char *type)
{
	enum MHD_Result ok;

	if (type)
		(void)mhd.MHD_add_response_header(r, "Content-Type", type);
	(void)mhd.MHD_add_response_header(r, "Cache-Control", "no-store");
	if (status == 401)
		(void)mhd.MHD_add_response_header(r, "WWW-Authenticate",
						  "Bearer");
	if (status == 405)
		(void)mhd.MHD_add_response_header(r, "Allow",
						  "GET, POST, DELETE");
	if (x->of && status < 400)
		(void)mhd.MHD_add_response_header(r, "Mcp-Session-Id",
						  x->of->id);
	ok = mhd.MHD_queue_response(x->connection, status, r);
	mhd.MHD_destroy_response(r);
	x->is_begun = true;
	return ok;
}

static enum MHD_Result reply(struct exchange *x, unsigned status,
			     struct str body)
{
	return queue(x, status,
		     mhd.MHD_create_response_from_buffer(body.n, (void *)body.p,
							 MHD_RESPMEM_MUST_COPY),
		     body.n ? "application/json" : NULL);
}

/* An error of JSON-RPC without a request that it could answer. */
static enum MHD_Result refuse(struct exchange *x, unsigned status, int64_t code,
			      const char *why)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	rpc_write_error(&out, NULL, code, why, (struct str){NULL, 0});
	return reply(x, status, buf_str(&out));
}

static ssize_t on_room(void *arg, UNUSED uint64_t at, char *room, size_t max)
{
	struct exchange *x = arg;
	struct str left = str_skip(buf_str(&x->out), x->sent);
	size_t n = left.n < max ? left.n : max;

	if (x->is_closed)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (!n && x->is_done)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!n) {
		wait_for_more(x);
		return 0;
	}
	memcpy(room, left.p, n);
	x->sent += n;
	if (x->sent == x->out.n) {
		buf_clear(&x->out);
		x->sent = 0;
		count(x);
	}
	return (ssize_t)n;
}

/* Begin the reply, as soon as it is known what it is. */
static enum MHD_Result begin_reply(struct exchange *x)
{
	if (x->is_closed)
		return MHD_NO;
	if (x->is_stream)
		return queue(
			x, 200,
			mhd.MHD_create_response_from_callback(
				MHD_SIZE_UNKNOWN, 32 * 1024, on_room, x, NULL),
			"text/event-stream");
	if (x->is_done)
		return reply(x, x->status, buf_str(&x->out));
	wait_for_more(x);
	return MHD_YES;
}

static void add_event(struct exchange *x, struct str message)
{
	buf_adds(&x->out, "event: message\ndata: ");
	buf_add_str(&x->out, message); /* ends its line */
	buf_addc(&x->out, '\n');
}

/* Status of an answer in the newer era, by its error. */
static unsigned status_of(struct str message)
{
	struct rpc_message m;

	/* a message is proved without the newline behind it */
	if (rpc_read(str_trim(message), &m) != RPC_ERROR)
		return 200;
	return m.code == RPC_METHOD_NOT_FOUND ? 404
	       : m.code == RPC_INTERNAL_ERROR ? 200
					      : 400;
}

static void on_message(void *arg, const struct server_call *c,
		       struct str message, enum server_kind kind)
{
	struct web_session *of = arg;
	struct exchange *x = c ? c->to : of ? of->stream : NULL;

	if (!x || x->is_closed ||
	    (kind == SERVER_PROGRESS && x->out.n > WAITING_BYTES))
		return;
	if (is_full(x, message.n) ||
	    (kind == SERVER_MESSAGE && x->out.n > WAITING_BYTES)) {
		close_link(x->link);
		x->is_closed = true;
		wake(x);
		return;
	}
	if (kind == SERVER_ANSWER && !x->is_stream) {
		x->status = !message.n ? 202 : of ? 200 : status_of(message);
		buf_add_str(&x->out, message);
	} else if (message.n) {
		x->is_stream = true;
		add_event(x, message);
	}
	count(x);
	x->is_done = kind == SERVER_ANSWER && x != (of ? of->stream : NULL);
	wake(x);
}

/* ---- sessions ---- */

static void end_session(struct web_session *s)
{
	struct web_session **at = &s->web->sessions;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	s->web->n_sessions--;
	s->client->n_sessions--;
	for (struct exchange *x = s->web->exchanges; x; x = x->next) {
		if (x->of != s)
			continue;
		x->of = NULL;
		x->fed = NULL;
		x->is_closed |= !x->is_begun || x->is_stream;
		wake(x);
	}
	server_release(&s->session);
	free(s);
}

/* How much a session is in use: idle, with a stream, with open calls. */
static int use_of(const struct web_session *s)
{
	return s->session.n_calls ? 2 : s->stream ? 1 : 0;
}

/* The session of a client that is in use least, and of such the one that was
   idle longest; NULL: it has none. */
static struct web_session *idlest(const struct web *w,
				  const struct web_client *of)
{
	struct web_session *found = NULL;

	for (struct web_session *s = w->sessions; s; s = s->next)
		if (s->client == of && (!found || use_of(s) < use_of(found) ||
					(use_of(s) == use_of(found) &&
					 s->used_ns < found->used_ns)))
			found = s;
	return found;
}

/* End sessions that were idle too long, and calls of clients that are gone. */
static void sweep_sessions(struct web *w, uint64_t now)
{
	struct web_session *s = w->sessions, *next;

	for (; s; s = next) {
		const struct exchange *x = w->exchanges;

		next = s->next;
		while (x && x->of != s)
			x = x->next;
		if (!x && s->used_ns + WEB_IDLE_S * NS_PER_S < now)
			end_session(s);
		else if (!x && s->used_ns + WEB_GONE_S * NS_PER_S < now)
			server_drop(&s->session, NULL);
	}
}

static void on_sweep(void *arg)
{
	struct web *w = arg;
	uint64_t now = loop_now(w->o.loop);

	sweep_sessions(w, now);
	(void)close_dead(w);
	for (size_t i = 0; i < w->n_clients; i++)
		server_forget(&w->clients[i].newer, now,
			      WEB_INPUT_S * NS_PER_S);
	for (struct link *l = w->links; l; l = l->next)
		if (l->use < LINK_STREAM && l->until_ns < now)
			close_link(l);
	loop_timer_set(w->o.loop, &w->sweep, now + SWEEP_S * NS_PER_S);
}

/* End a session of the client that has the most, in favour of this one. False:
   that is this one, and all of its sessions have open calls. */
static bool make_room(const struct web *w, const struct web_client *wants)
{
	const struct web_client *of = wants;
	struct web_session *s;

	for (size_t i = 0; i < w->n_clients; i++)
		if (w->clients[i].n_sessions > of->n_sessions)
			of = &w->clients[i];
	s = idlest(w, of);
	if (of == wants && use_of(s) == 2)
		return false;
	end_session(s);
	return true;
}

static struct web_session *new_session(struct web *w, struct web_client *client)
{
	struct web_session *s;

	if (w->n_sessions >= WEB_SESSIONS && !make_room(w, client))
		return NULL;
	s = mem_zalloc(sizeof(*s));
	s->web = w;
	s->client = client;
	client->n_sessions++;
	s->number = ++w->last_session;
	s->next = w->sessions;
	w->sessions = s;
	w->n_sessions++;
	text_random(s->id, sizeof(s->id));
	server_init(&s->session, w->o.info, w->o.arg, on_message, s);
	s->session.client_key = client;
	return s;
}

/* ---- requests ---- */

static const char *header(const struct exchange *x, const char *name)
{
	return mhd.MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND,
					       name);
}

static const char *field(const void *to, const char *name)
{
	return header(to, name);
}

/* Session of the client that asks; one of another is none. */
static struct web_session *find_session(const struct exchange *x)
{
	const char *id = header(x, "Mcp-Session-Id");
	struct web_session *s = x->web->sessions;

	while (s && (!id || s->client != x->client || strcmp(s->id, id) != 0))
		s = s->next;
	return s;
}

/* Client that has the token; NULL: none has. No byte of a token is told by the
   time that it takes. */
static struct web_client *find_client(const struct exchange *x)
{
	const char *given = header(x, "Authorization");
	struct web_client *found = NULL;

	if (!given || strncasecmp(given, "Bearer ", 7) != 0)
		return NULL;
	given += 7;
	for (size_t i = 0; i < x->web->n_clients; i++) {
		const char *token = x->web->clients[i].token;
		size_t n = strlen(token);
		unsigned char differs = 0;

		if (strlen(given) != n)
			continue;
		for (size_t k = 0; k < n; k++)
			differs |= (unsigned char)(given[k] ^ token[k]);
		if (!differs)
			found = &x->web->clients[i];
	}
	return found;
}

/* Read the address of a host with or without a port. */
static bool read_host(const char *text, struct address *ret)
{
	const char *end = strrchr(text, ':');
	struct str host = str_of(text);

	if (end && !end[1 + strspn(end + 1, "0123456789")])
		host.n = (size_t)(end - text);
	if (host.n == 9 && !strncasecmp(text, "localhost", 9))
		return address_read(STR("127.0.0.1"), ret);
	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct str){host.p + 1, host.n - 2};
	return address_read(host, ret);
}

/* Is it this machine by a name that no other can have, or the address that we
   were told? An address is none that a page could have its own name lead to. */
static bool is_ours(const struct web *w, const char *text)
{
	struct address a;

	return !strcmp(text, w->host) ||
	       (read_host(text, &a) &&
		(w->is_any || address_class_of(&a) == ADDRESS_LOOPBACK));
}

/* Is a page of this machine, or of the host that was asked, the origin? */
static bool is_origin_ours(const struct web *w, const char *origin,
			   const char *host)
{
	struct address a;
	size_t n = !strncmp(origin, "http://", 7)    ? 7
		   : !strncmp(origin, "https://", 8) ? 8
						     : 0;

	origin += n;
	return n && (!strcmp(origin, w->host) || !strcasecmp(origin, host) ||
		     (read_host(origin, &a) &&
		      address_class_of(&a) == ADDRESS_LOOPBACK));
}

/* Stop at a field that is there twice with a meaning for us: who reads one of
   them may not be who reads the other. */
static enum MHD_Result is_single(void *arg, UNUSED enum MHD_ValueKind kind,
				 const char *name, const char *value)
{
	static const char *const judged[] = {"Host", "Origin", "Authorization"};
	struct exchange *x = arg;
	bool is_judged = !strncasecmp(name, "Mcp-", 4);

	for (size_t i = 0; i < ARRAY_LEN(judged); i++)
		is_judged |= !strcasecmp(name, judged[i]);
	x->is_double |= is_judged && header(x, name) != value;
	return x->is_double ? MHD_NO : MHD_YES;
}

/* Refuse a request by its head. 0: nothing stands against it. */
static unsigned judge_head(struct exchange *x, const char *path)
{
	const char *host = header(x, "Host"), *origin = header(x, "Origin");

	if (!host || !is_ours(x->web, host) ||
	    (origin && !is_origin_ours(x->web, origin, host)))
		return 403;
	x->client = find_client(x);
	if (!x->client)
		return 401;
	(void)mhd.MHD_get_connection_values(x->connection, MHD_HEADER_KIND,
					    is_single, x);
	if (x->is_double)
		return 400;
	return strcmp(path, "/mcp") ? 404 : 0;
}

/* Does a header say what the message does? */
static bool agrees(const struct exchange *x, const char *name, struct str value)
{
	const char *given = header(x, name);

	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);

	return given && value.p && scan_string(value, &text) &&
	       http_decode(str_of(given), &said) &&
	       str_eq(buf_str(&said), buf_str(&text));
}

/* Headers of the newer era repeat the message; those of the older era, which
   has no version in it, need not be there, but do not lie. */
static const char *judge_headers(const struct exchange *x, struct str message,
				 struct str version)
{
	const bool is_method = version.p || header(x, "Mcp-Method");
	const bool is_name = version.p || header(x, "Mcp-Name");
	struct str params = scan_some(message, "params");
	struct str method = scan_some(message, "method"), name;

	if (version.p && !agrees(x, "MCP-Protocol-Version", version))
		return "MCP-Protocol-Version is not that of params._meta";
	if (is_method && !agrees(x, "Mcp-Method", method))
		return "Mcp-Method is not the method of the message";
	name = scan_text(params,
			 scan_is(method, "resources/read") ? "uri" : "name");
	if ((scan_is(method, "tools/call") || scan_is(method, "prompts/get") ||
	     scan_is(method, "resources/read")) &&
	    name.p && is_name && !agrees(x, "Mcp-Name", name))
		return "Mcp-Name is not the name in params";
	return NULL;
}

/* A number for the name that a client of the newer era gives itself. */
static uint64_t name_of(struct str message)
{
	struct str meta = scan_some(scan_some(message, "params"), "_meta");
	struct str name = scan_some(scan_some(meta, META "clientInfo"), "name");
	uint64_t number = 0;

	for (size_t i = 0; i < name.n; i++)
		number = number * 31 + (unsigned char)name.p[i];
	return number;
}

static enum MHD_Result feed(struct exchange *x, struct server_session *s,
			    struct str message, bool is_request)
{
	struct web_session *of = x->of;

	x->fed = s;
	use_link_for(x, x->of ? x->of->number : name_of(message));
	server_message(s, message, x);
	/* initialize was refused */
	if (x->of && !s->revision) {
		x->of = NULL;
		x->fed = NULL;
		end_session(of);
	}
	if (!is_request)
		return reply(x, 202, STR(""));
	return begin_reply(x);
}

static enum MHD_Result post_newer(struct exchange *x, struct str message,
				  struct str version, bool is_request)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct rpc_message m;
	/* without a version the session refuses it */
	const char *why = is_request && version.p
				  ? judge_headers(x, message, version)
				  : NULL;

	if (scan_is(scan_some(message, "method"), "subscriptions/listen"))
		use_link(x, LINK_STREAM, 0);
	if (!why)
		return feed(x, &x->client->newer, message, is_request);
	(void)rpc_read(message, &m);
	rpc_write_error(&out, &m.id, MCP_HEADER_MISMATCH, why,
			(struct str){NULL, 0});
	return reply(x, 400, buf_str(&out));
}

static enum MHD_Result post(struct exchange *x)
{
	const char *id = header(x, "Mcp-Session-Id");
	const char *revision = header(x, "MCP-Protocol-Version");
	struct str message, meta, version = {NULL, 0};
	struct rpc_message m = {.type = RPC_REQUEST};
	const struct mcp_revision *r;
	struct err err = ERR_INIT;
	const char *why;
	bool is_request;

	if (x->has_no_room)
		return refuse(x, 503, RPC_INTERNAL_ERROR,
			      "other requests hold all the memory that there "
			      "is for them");
	if (x->is_too_long)
		return refuse(x, 413, RPC_INVALID_REQUEST,
			      "the message is too long");
	if (scan_document(buf_str(&x->body), NULL, &message, &err) < 0)
		return refuse(x, 400, RPC_PARSE_ERROR, err.msg);
	if (scan_type(message) == SCAN_OBJECT)
		is_request = rpc_read(message, &m) == RPC_REQUEST ||
			     m.type == RPC_INVALID;
	else
		is_request = true;
	if (m.type == RPC_REQUEST && scan_get_some(m.params, "_meta", &meta))
		version = scan_some(meta, META "protocolVersion");
	/* the newer era has no sessions; its heads are judged with an id, too
	 */
	if (version.p)
		return post_newer(x, message, version, is_request);
	if (!id && is_request && scan_type(message) == SCAN_OBJECT &&
	    scan_is(m.method, "initialize")) {
		x->of = new_session(x->web, x->client);
		if (!x->of)
			return refuse(x, 503, RPC_INTERNAL_ERROR,
				      "too many sessions are open");
	} else if (id) {
		x->of = find_session(x);
		if (!x->of)
			return refuse(x, 404, RPC_INVALID_REQUEST,
				      "there is no such session");
		r = revision ? mcp_revision_find(str_of(revision)) : NULL;
		if (revision && (!r || r->era != MCP_ERA_INITIALIZE))
			return refuse(x, 400, RPC_INVALID_REQUEST,
				      "MCP-Protocol-Version is none that a "
				      "session has");
		why = judge_headers(x, message, version);
		if (why)
			return refuse(x, 400, RPC_INVALID_REQUEST, why);
	} else {
		return post_newer(x, message, version, is_request);
	}
	x->of->used_ns = loop_now(x->web->o.loop);
	return feed(x, &x->of->session, message, is_request);
}

/* The stream of a session for what belongs to no request. */
static enum MHD_Result get(struct exchange *x)
{
	const char *id = header(x, "Mcp-Session-Id");

	x->of = find_session(x);
	if (!id)
		return refuse(x, 405, RPC_INVALID_REQUEST,
			      "a stream belongs to a session");
	if (!x->of)
		return refuse(x, 404, RPC_INVALID_REQUEST,
			      "there is no such session");
	if (x->of->stream)
		return refuse(x, 409, RPC_INVALID_REQUEST,
			      "the session has a stream already");
	x->of->stream = x;
	x->is_stream = true;
	use_link_for(x, x->of->number);
	use_link(x, LINK_STREAM, 0);
	buf_adds(&x->out, ": open\n\n");
	return begin_reply(x);
}

static enum MHD_Result delete_session(struct exchange *x)
{
	const char *id = header(x, "Mcp-Session-Id");
	struct web_session *s = find_session(x);

	if (!s)
		return refuse(x, id ? 404 : 400, RPC_INVALID_REQUEST,
			      "there is no such session");
	end_session(s);
	return reply(x, 200, STR(""));
}

static enum MHD_Result begin(struct exchange *x, const char *path)
{
	static const char *const whys[] = {
		[0] = "a field of the head is there twice",
		[1] = "a bearer token is needed: see what the server printed",
		[3] = "Host or Origin is not of this machine",
		[4] = "MCP is served at /mcp",
	};
	unsigned status = judge_head(x, path);

	if (status)
		return refuse(x, status, RPC_INVALID_REQUEST,
			      whys[status - 400]);
	x->link->client = x->client;
	use_link(x, LINK_KNOWN, WEB_BODY_S);
	return MHD_YES;
}

static struct exchange *new_exchange(struct web *w, struct MHD_Connection *c)
{
	struct exchange *x = mem_zalloc(sizeof(*x));

	*x = (struct exchange){
		.web = w,
		.connection = c,
		.link = mhd.MHD_get_connection_info(
				   c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
				->socket_context,
		.next = w->exchanges,
		.body = BUF_INIT(LIMIT_SERVER_BYTES),
		.out = BUF_INIT(BUF_UNBOUNDED),
		.gone.fd = -1,
	};
	w->exchanges = x;
	return x;
}

static void add_body(struct exchange *x, struct str data)
{
	x->has_no_room |= is_full(x, data.n);
	if (!x->has_no_room && !x->is_too_long)
		x->is_too_long = buf_add(&x->body, data.p, data.n) == BUF_FULL;
	else
		buf_release(&x->body);
	count(x);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c,
				  const char *path, const char *method,
				  UNUSED const char *version, const char *data,
				  size_t *n, void **own)
{
	struct web *w = arg;
	struct exchange *x = *own;

	if (w->is_ending)
		return MHD_NO;
	if (!x) {
		*own = x = new_exchange(w, c);
		return begin(x, path);
	}
	if (x->is_begun)
		return MHD_YES;
	if (*n) {
		add_body(x, (struct str){data, *n});
		*n = 0;
		return MHD_YES;
	}
	/* called again when there is something to reply */
	if (x->is_read)
		return begin_reply(x);
	x->is_read = true;
	use_link(x, LINK_BUSY, 0);
	if (!strcmp(method, "POST"))
		return post(x);
	if (!strcmp(method, "GET"))
		return get(x);
	if (!strcmp(method, "DELETE"))
		return delete_session(x);
	return refuse(x, 405, RPC_INVALID_REQUEST, "use POST, GET or DELETE");
}

static void on_completed(void *arg, UNUSED struct MHD_Connection *c, void **own,
			 UNUSED enum MHD_RequestTerminationCode how)
{
	struct web *w = arg;
	struct exchange *x = *own, **at = &w->exchanges;

	if (!x)
		return;
	*own = NULL;
	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
	loop_unwatch(w->o.loop, &x->gone);
	if (x->link->use != LINK_UNKNOWN)
		use_link(x, LINK_KNOWN, WEB_PATIENCE_S);
	if (x->of)
		x->of->used_ns = loop_now(w->o.loop);
	if (x->of && x->of->stream == x)
		x->of->stream = NULL;
	if (x->fed)
		server_drop(x->fed, x);
	buf_release(&x->body);
	buf_release(&x->out);
	count(x);
	free(x);
}

/* ---- from the beginning to the end ---- */

/* errors  ERR_USAGE */
static int read_address(const char *text, struct address_socket *ret,
			struct err *err)
{
	const char *colon = strrchr(text, ':');
	struct str host = {text, colon ? (size_t)(colon - text) : 0};
	struct address a;
	uint64_t port = 0;

	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct str){host.p + 1, host.n - 2};
	if (!colon || !str_uint64(str_of(colon + 1), &port) ||
	    port > UINT16_MAX || !address_read(host, &a))
		return err_set(err, ERR_USAGE,
			       "--http: \"%s\" is no address with a port; use "
			       "for example 127.0.0.1:8765",
			       text);
	*ret = address_socket(&a, (uint16_t)port);
	return 0;
}

/* Listen, and keep the address as it is then: with the port. */
static int listen_at(struct web *w, int *ret, struct err *err)
{
	const int on = 1;
	char text[ADDRESS_TEXT_BYTES];
	struct address_socket at;
	struct address a;
	bool is_v6;

	if (read_address(w->o.address, &at, err) < 0)
		return -1;
	*ret = socket(at.any.sa_family,
		      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*ret < 0 ||
	    setsockopt(*ret, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    /* for all that it accepts: a stream whose client is gone
	       without a word ends */
	    setsockopt(*ret, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) < 0 ||
	    bind(*ret, &at.any, at.bytes) < 0 || listen(*ret, 128) < 0 ||
	    getsockname(*ret, &at.any, &at.bytes) < 0 ||
	    !address_of(&at.any, &a))
		return err_sys(err, errno, "--http %s", w->o.address);
	is_v6 = at.any.sa_family == AF_INET6;
	w->is_any = is_v6 ? IN6_IS_ADDR_UNSPECIFIED(&at.v6.sin6_addr)
			  : at.v4.sin_addr.s_addr == INADDR_ANY;
	address_text(&a, text);
	w->url = mem_printf("http://%s%s%s:%u/mcp", is_v6 ? "[" : "", text,
			    is_v6 ? "]" : "",
			    ntohs(is_v6 ? at.v6.sin6_port : at.v4.sin_port));
	w->host = arena_strndup(&w->arena, w->url + 7, strlen(w->url) - 11);
	return 0;
}

static void say_nothing(UNUSED void *arg, UNUSED const char *text,
			UNUSED va_list args)
{
}

static int start(struct web *w, struct err *err)
{
	const union MHD_DaemonInfo *i;
	int fd = -1;

	if (!dl_load(&library))
		return err_set(err, ERR_UNKNOWN,
			       "--http needs libmicrohttpd, which is not "
			       "installed: apt-get install libmicrohttpd12");
	if (listen_at(w, &fd, err) < 0) {
		fd_closep(&fd);
		return -1;
	}
	w->daemon = mhd.MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, on_request, w, MHD_OPTION_EXTERNAL_LOGGER,
		say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)WEB_PATIENCE_S,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, w,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, w, MHD_OPTION_END);
	if (!w->daemon) {
		fd_closep(&fd);
		return err_sys(err, errno, "--http %s", w->o.address);
	}
	i = mhd.MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!i)
		return err_set(err, ERR_SYS, "--http: no epoll");
	return loop_watch(w->o.loop, &w->ready, i->epoll_fd, EPOLLIN, on_ready,
			  w, err);
}

static void init_client(struct web *w, struct web_client *c, const char *token)
{
	c->token = token;
	server_init(&c->newer, w->o.info, w->o.arg, on_message, NULL);
	c->newer.state = SERVER_ALONE;
	c->newer.is_shared = true;
	c->newer.field = field;
	c->newer.client_key = c;
}

int web_new(const struct web_options *o, struct web **ret, struct err *err)
{
	struct web *w = mem_zalloc(sizeof(*w));

	*w = (struct web){
		.o = *o,
		.ready.fd = -1,
		.timer = {.fire = run, .arg = w},
		.sweep = {.fire = on_sweep, .arg = w},
	};
	w->n_clients = o->tokens.n;
	w->clients = ARENA_ARRAY(&w->arena, struct web_client, w->n_clients);
	for (size_t i = 0; i < w->n_clients; i++)
		init_client(w, &w->clients[i], o->tokens.item[i]);
	if (start(w, err) < 0) {
		web_free(w);
		return -1;
	}
	on_sweep(w);
	plan(w);
	*ret = w;
	return 0;
}

void web_free(struct web *w)
{
	struct web_session *s, *next;

	if (!w)
		return;
	w->is_ending = true;
	for (s = w->sessions; s; s = next) {
		next = s->next;
		end_session(s);
	}
	for (size_t i = 0; i < w->n_clients; i++)
		server_release(&w->clients[i].newer);
	for (struct exchange *x = w->exchanges; x; x = x->next) {
		x->fed = NULL;
		x->is_closed = true;
		wake(x);
	}
	if (w->daemon) {
		mhd.MHD_run(w->daemon);
		mhd.MHD_stop_daemon(w->daemon);
	}
	loop_unwatch(w->o.loop, &w->ready);
	loop_timer_clear(w->o.loop, &w->timer);
	loop_timer_clear(w->o.loop, &w->sweep);
	free(w->url);
	arena_release(&w->arena);
	free(w);
}

const char *web_url(const struct web *w)
{
	return w->url;
}

void web_changed(struct web *w, const char *notice)
{
	for (size_t i = 0; i < w->n_clients; i++)
		server_changed(&w->clients[i].newer, notice);
	for (struct web_session *s = w->sessions; s; s = s->next)
		server_changed(&s->session, notice);
}

bool web_updated(struct web *w, struct str watched, struct str uri)
{
	bool is_watched = false;

	for (size_t i = 0; i < w->n_clients; i++)
		is_watched |=
			server_updated(&w->clients[i].newer, watched, uri);
	for (struct web_session *s = w->sessions; s; s = s->next)
		is_watched |= server_updated(&s->session, watched, uri);
	return is_watched;
}
