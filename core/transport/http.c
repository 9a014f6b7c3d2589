#include "core/transport/http.h"

#include <assert.h>
#include <dirent.h>
#include <sys/resource.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/transport/http_exchange.h"

/* Descriptors that are left for the rest of the program. */
#define RESERVED_FDS 64
#define CONNECT_MS 10000
/* Bytes of a document of metadata: those are small. */
#define FETCH_MAX (1024 * 1024)

/* ---- lists ---- */

static void link_last(struct http_list *list, struct http_exchange *x)
{
	x->prev = list->last;
	x->next = NULL;
	if (list->last)
		list->last->next = x;
	else
		list->first = x;
	list->last = x;
}

static struct http_exchange *take_first(struct http_list *list)
{
	struct http_exchange *x = list->first;

	if (!x)
		return NULL;
	list->first = x->next;
	if (x->next)
		x->next->prev = NULL;
	else
		list->last = NULL;
	return x;
}

static void unlink_from(struct http_list *list, struct http_exchange *x)
{
	if (x->prev)
		x->prev->next = x->next;
	else
		list->first = x->next;
	if (x->next)
		x->next->prev = x->prev;
	else
		list->last = x->prev;
}

/* ---- the life of an exchange ---- */

static void take_out(struct http_exchange *x)
{
	unlink_from(x->is_added ? &x->h->running : &x->h->queue, x);
}

/* Out of the loop and libcurl; the lists have forgotten it. */
static void detach_exchange(struct http_exchange *x)
{
	struct http *h = x->h;

	loop_timer_clear(h->loop, &x->idle);
	h->depth++;
	if (x->is_added)
		h->lib->curl_multi_remove_handle(h->multi, x->easy);
	if (x->easy)
		h->lib->curl_easy_cleanup(x->easy);
	h->depth--;
}

/* Free what was detached. */
static void free_exchange(struct http_exchange *x)
{
	http_headers_release(&x->headers);
	http_reader_release(&x->reader);
	if (x->content)
		mem_wipe(x->content, x->r.content.n);
	mem_wipe(x->url, strlen(x->url));
	free(x->content);
	free(x->lines);
	free(x->method);
	free(x->url);
	free(x->where);
	if (x->release)
		x->release(x->r.arg);
	free(x);
}

/* Of an exchange that is in no list. */
static void drop_exchange(struct http_exchange *x)
{
	detach_exchange(x);
	free_exchange(x);
}

/* Like drop_exchange(), and tell how it ended. */
static void finish_exchange(struct http_exchange *x)
{
	detach_exchange(x);
	x->r.end(x->r.arg, &x->end);
	free_exchange(x);
}

void http_give_up(struct http_exchange *x, enum http_end_kind kind,
		  const char *why)
{
	http_exchange_fail(x, kind, "%s", why);
	take_out(x);
	finish_exchange(x);
}

/* "host:port" of a URL, and the host in it without brackets. */
static void read_where(struct http_exchange *x)
{
	struct str rest = str_of(x->url), scheme = str_cut(&rest, ':');
	size_t n;

	x->is_https = str_is(scheme, "https");
	if (str_starts(rest, "//"))
		rest = (struct str){rest.p + 2, rest.n - 2};
	n = rest.n ? strcspn(rest.p, "/?#") : 0;
	x->where = mem_strndup(rest.p ? rest.p : "", n);
	x->host = (struct str){x->where, n};
	if (n && x->where[0] == '[') {
		x->host.p++;
		x->host.n = strcspn(x->host.p, "]");
	} else {
		x->host.n = strcspn(x->where, ":");
	}
}

/* Bytes on their way to the server are no silence, either. */
static void look_at_upload(struct http_exchange *x)
{
	curl_off_t uploaded = 0;

	x->h->lib->curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T,
				     &uploaded);
	if (uploaded != x->uploaded)
		x->last_ns = loop_now(x->h->loop);
	x->uploaded = uploaded;
}

static void on_idle(void *arg)
{
	struct http_exchange *x = arg;
	struct loop *loop = x->h->loop;
	uint64_t due;

	look_at_upload(x);
	due = x->last_ns + x->r.idle_ms * NS_PER_MS;
	if (due > loop_now(loop)) {
		loop_timer_set(loop, &x->idle, due);
		return;
	}
	http_exchange_fail(x, HTTP_TIMEOUT, "nothing came for %llu ms",
			   (unsigned long long)x->r.idle_ms);
	take_out(x);
	finish_exchange(x);
}

struct http_exchange *http_start(struct http *h, const struct http_request *r,
				 void (*connected)(void *arg))
{
	struct http_exchange *x = mem_zalloc(sizeof(*x));

	x->h = h;
	x->r = *r;
	x->connected = connected;
	x->method = mem_strdup(r->method ? r->method : "GET");
	x->url = mem_strdup(r->url);
	read_where(x);
	if (r->content.p)
		x->content = mem_strndup(r->content.p, r->content.n);
	http_headers_copy(&x->headers, r->headers);
	x->reach = *r->reach;
	x->reader = (struct http_reader)HTTP_READER_INIT;
	x->idle = (struct loop_timer){.fire = on_idle, .arg = x};
	x->r.connect_ms = r->connect_ms ? r->connect_ms : CONNECT_MS;
	/* borrowed for this call only */
	x->r.method = x->r.url = NULL;
	x->r.headers = NULL;
	x->r.content.p = NULL;
	x->r.reach = NULL;
	link_last(&h->queue, x);
	loop_timer_set(h->loop, &h->kick, loop_now(h->loop));
	return x;
}

struct http_exchange *http_send(struct http *h, const struct http_request *r)
{
	return http_start(h, r, NULL);
}

void http_cancel(struct http_exchange *x)
{
	if (!x)
		return;
	if (!x->is_added || !x->h->depth) {
		take_out(x);
		drop_exchange(x);
		return;
	}
	/* libcurl is on the stack, and must not lose it under its feet */
	x->is_cancelled = true;
	x->h->has_cancelled = true;
	loop_timer_set(x->h->loop, &x->h->kick, loop_now(x->h->loop));
}

/* ---- the loop ---- */

static void conclude_exchange(struct http_exchange *x, CURLcode code)
{
	if (x->connected && code == CURLE_OK && !x->is_cancelled) {
		loop_timer_clear(x->h->loop, &x->idle);
		x->connected(x->r.arg);
		return;
	}
	take_out(x);
	if (x->is_cancelled) {
		drop_exchange(x);
	} else {
		http_exchange_conclude(x, code);
		finish_exchange(x);
	}
}

/* Conclude the exchanges that libcurl has finished. */
static void collect_done(struct http *h)
{
	const CURLMsg *m;
	char *x;
	int left;

	while ((m = h->lib->curl_multi_info_read(h->multi, &left))) {
		CURLcode code = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		h->lib->curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &x);
		conclude_exchange((struct http_exchange *)(void *)x, code);
	}
}

/* Nothing would ever be heard of them; libcurl is not on the stack. */
static void fail_deaf(struct http *h)
{
	struct http_exchange *x;

	if (!h->is_deaf)
		return;
	h->is_deaf = false;
	while ((x = take_first(&h->running))) {
		if (x->is_cancelled) {
			drop_exchange(x);
			continue;
		}
		http_exchange_fail(x, HTTP_BROKEN, "%s", h->deaf_err.msg);
		finish_exchange(x);
	}
}

static void drive_libcurl(struct http *h, curl_socket_t fd, int flags)
{
	int running;

	h->depth++;
	h->lib->curl_multi_socket_action(h->multi, fd, flags, &running);
	h->depth--;
	collect_done(h);
	if (!h->depth)
		fail_deaf(h);
}

/* One socket of libcurl's in the loop. */
struct socket_watch {
	struct loop_watch watch;
	struct http *h;
};

static void on_ready(void *arg, uint32_t events)
{
	struct socket_watch *s = arg;
	int flags = 0;

	if (events & (EPOLLIN | EPOLLHUP))
		flags |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		flags |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		flags |= CURL_CSELECT_ERR;
	drive_libcurl(s->h, s->watch.fd, flags);
}

static void forget_socket(struct http *h, curl_socket_t fd,
			  struct socket_watch *s)
{
	if (!s)
		return;
	loop_unwatch(h->loop, &s->watch);
	h->lib->curl_multi_assign(h->multi, fd, NULL);
	free(s);
}

static int on_socket(UNUSED CURL *easy, curl_socket_t fd, int what, void *arg,
		     void *per_socket)
{
	struct socket_watch *s = per_socket;
	struct http *h = arg;
	uint32_t events = 0;

	if (what == CURL_POLL_REMOVE) {
		forget_socket(h, fd, s);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	if (s) {
		loop_rewatch(h->loop, &s->watch, events);
		return 0;
	}
	s = mem_zalloc(sizeof(*s));
	s->h = h;
	err_clear(&h->deaf_err);
	if (loop_watch(h->loop, &s->watch, fd, events, on_ready, s,
		       &h->deaf_err) < 0) {
		/* an error here would end the use of libcurl for good */
		free(s);
		h->is_deaf = true;
		return 0;
	}
	h->lib->curl_multi_assign(h->multi, fd, s);
	return 0;
}

static void on_timer(void *arg)
{
	drive_libcurl(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer_set(UNUSED CURLM *multi, long ms, void *arg)
{
	struct http *h = arg;

	if (ms < 0)
		loop_timer_clear(h->loop, &h->timer);
	else
		loop_timer_set(h->loop, &h->timer,
			       loop_now(h->loop) + (uint64_t)ms * NS_PER_MS);
	return 0;
}

/* Give one to libcurl that was taken from the queue. */
static void begin_exchange(struct http *h, struct http_exchange *x)
{
	if (!http_exchange_prepare(x)) {
		finish_exchange(x);
		return;
	}
	link_last(&h->running, x);
	x->is_added = true;
	x->last_ns = loop_now(h->loop);
	if (x->r.idle_ms)
		loop_timer_set(h->loop, &x->idle,
			       x->last_ns + x->r.idle_ms * NS_PER_MS);
	h->depth++;
	h->lib->curl_multi_add_handle(h->multi, x->easy);
	h->depth--;
}

static void drop_cancelled(struct http *h)
{
	struct http_exchange *next;

	h->has_cancelled = false;
	for (struct http_exchange *x = h->running.first; x; x = next) {
		next = x->next;
		if (!x->is_cancelled)
			continue;
		take_out(x);
		drop_exchange(x);
	}
}

static void on_kick(void *arg)
{
	struct http_exchange *x;
	struct http *h = arg;

	if (h->has_cancelled)
		drop_cancelled(h);
	while ((x = take_first(&h->queue)))
		begin_exchange(h, x);
	collect_done(h);
}

/* ---- authorities ---- */

/* A folder of authorities is of use when its files are named by hashes. */
static bool is_hashed(const char *folder)
{
	DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = strspn(entry->d_name, "0123456789abcdef") == 8 &&
			entry->d_name[8] == '.';
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Authorities beside those of the system: the folder of the system is looked
 * into as needed, which is faster than reading its one large file each time.
 * Where there is no such folder, the large file and ours become one text.
 * file  NULL: none beside
 */
static int load_trust(struct http *h, const char *file, struct err *err)
{
	const curl_version_info_data *version = h->lib->version;

	if (is_hashed(version->capath))
		h->ca_folder = version->capath;
	if (!file)
		return 0;
	if (!h->ca_folder && version->cainfo) {
		if (fd_read_file(version->cainfo, &h->authorities, err) < 0)
			return -1;
		buf_addc(&h->authorities, '\n');
	}
	if (fd_read_file(file, &h->authorities, err) < 0)
		return -1;
	if (!memmem(buf_cstr(&h->authorities), h->authorities.n,
		    "-----BEGIN CERTIFICATE-----", 27))
		return err_set(err, ERR_SYNTAX, "%s: no certificate in PEM",
			       file);
	return 0;
}

/* ---- all of it ---- */

/* Idle connections are closed before this many are open. */
static long connections_max(uint32_t wanted)
{
	struct rlimit files;

	if (wanted)
		return (long)wanted;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 ||
	    files.rlim_cur < 2 * RESERVED_FDS)
		return RESERVED_FDS;
	if (files.rlim_cur > 100000)
		return 100000;
	return (long)files.rlim_cur - RESERVED_FDS;
}

static bool set_up_multi(struct http *h, uint32_t connections)
{
	bool is_set = true;

	h->multi = h->lib->curl_multi_init();
	if (!h->multi)
		return false;
#define SET(option, value) \
	(is_set &=         \
	 h->lib->curl_multi_setopt(h->multi, option, value) == CURLM_OK)
	SET(CURLMOPT_SOCKETFUNCTION, on_socket);
	SET(CURLMOPT_SOCKETDATA, h);
	SET(CURLMOPT_TIMERFUNCTION, on_timer_set);
	SET(CURLMOPT_TIMERDATA, h);
	SET(CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
	SET(CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_max(connections));
#undef SET
	return is_set;
}

int http_new(const struct http_options *options, struct http **ret,
	     struct err *err)
{
	const struct curl *lib = curl_library(err);
	struct http *h;

	if (!lib)
		return -1;
	h = mem_zalloc(sizeof(*h));
	h->lib = lib;
	h->loop = options->loop;
	h->authorities = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	h->user_agent = mem_strdup(options->user_agent);
	h->timer = (struct loop_timer){.fire = on_timer, .arg = h};
	h->kick = (struct loop_timer){.fire = on_kick, .arg = h};
	if (load_trust(h, options->ca_file, err) < 0) {
		http_free(h);
		return -1;
	}
	if (!set_up_multi(h, options->connections_max)) {
		http_free(h);
		return err_set(err, ERR_UNKNOWN, "%s could not be set up",
			       curl_library_text());
	}
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	struct http_exchange *x;

	if (!h)
		return;
	assert(!h->depth);
	while ((x = take_first(&h->queue)))
		drop_exchange(x);
	while ((x = take_first(&h->running)))
		drop_exchange(x);
	if (h->multi)
		h->lib->curl_multi_cleanup(h->multi);
	loop_timer_clear(h->loop, &h->timer);
	loop_timer_clear(h->loop, &h->kick);
	buf_release(&h->authorities);
	free(h->user_agent);
	free(h);
}

const char *http_library(void)
{
	return curl_library_text();
}

/* ---- small documents ---- */

struct fetch {
	void (*done)(void *arg, const struct http_fetched *f);
	void *arg;
	struct buf body, lines, media_type; /* owned; may hold tokens */
	struct http_head head;		    /* slices of the two before */
};

static void fetch_on_head(void *arg, const struct http_head *head)
{
	struct fetch *f = arg;

	f->head = *head;
	buf_add_str(&f->lines, head->lines);
	buf_add_str(&f->media_type, head->media_type);
	f->head.lines = buf_str(&f->lines);
	f->head.media_type = buf_str(&f->media_type);
}

static bool fetch_on_body(void *arg, struct str bytes)
{
	struct fetch *f = arg;

	buf_add_str(&f->body, bytes);
	return true;
}

static void fetch_on_end(void *arg, const struct http_end *end)
{
	struct http_fetched fetched = {.end = *end};
	struct fetch *f = arg;

	if (end->kind == HTTP_DONE) {
		fetched.status = f->head.status;
		fetched.head = &f->head;
		fetched.body = buf_str(&f->body);
	}
	f->done(f->arg, &fetched);
}

static void fetch_release(void *arg)
{
	struct fetch *f = arg;

	buf_wipe(&f->body);
	buf_wipe(&f->lines);
	buf_release(&f->media_type);
	free(f);
}

struct http_exchange *http_fetch(struct http *h, const struct http_request *r,
				 void (*done)(void *arg,
					      const struct http_fetched *f),
				 void *arg)
{
	struct fetch *f = mem_zalloc(sizeof(*f));
	struct http_request own = *r;
	struct http_exchange *x;

	f->done = done;
	f->arg = arg;
	f->body = f->lines = f->media_type =
		(struct buf)BUF_INIT(BUF_UNBOUNDED);
	own.head = fetch_on_head;
	own.body = fetch_on_body;
	own.end = fetch_on_end;
	own.arg = f;
	own.body_max = r->body_max ? r->body_max : FETCH_MAX;
	x = http_start(h, &own, NULL);
	x->release = fetch_release;
	return x;
}
