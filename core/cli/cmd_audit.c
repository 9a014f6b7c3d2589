/* `matins audit`: calls of tools as they were recorded, and their chain. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/report/audit.h"
#include "core/report/audit_chain.h"
#include "core/report/ledger_event.h"

const struct option options_audit[] = {
	{"verify", 0, NULL, "check that no line was changed or taken out"},
	{"since", 0, "7d|2026-11-01", "only lines since then"},
	{"json", 0, NULL, "print one JSON document"},
	{0},
};

/* Bytes of one reading, and written at once. */
#define CHUNK_BYTES 65536

struct auditor {
	const char *path;
	bool verifies;
	int64_t since_ns; /* 0: all */
	struct arena *arena;
	struct audit_chain chain;
	uint64_t n_shown, n_wrong, n_torn, n_calls, n_done;
	struct page page;
};

/* ---- one line ---- */

static void add_member(struct str line, const char *name, struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (scan_string(scan_some(line, name), &text))
		log_visible(out, buf_str(&text), false);
}

/* "2026-11-23T13:00:00.000Z  call  mail.read [\"id\"]  routine r/a" */
static void show(struct auditor *a, struct str line)
{
	struct buf *out = &a->page.out;
	bool is_done = scan_is(scan_some(line, "event"), "done");
	struct str ms = scan_some(line, "ms");

	add_member(line, "time", out);
	buf_adds(out, is_done ? "  done  " : "  call  ");
	add_member(line, "server", out);
	buf_addc(out, '.');
	add_member(line, "tool", out);
	buf_addc(out, ' ');
	if (is_done) {
		add_member(line, "state", out);
		buf_addf(out, " %.*s ms", STR_ARG(ms));
	} else {
		log_visible(out, scan_some(line, "args"), false);
	}
	buf_adds(out, "  ");
	add_member(line, "origin", out);
	buf_adds(out, "  ");
	add_member(line, "user", out);
	buf_addc(out, '\n');
}

static void verify(struct auditor *a, struct str line)
{
	static const char *const says[] = {
		[AUDIT_TORN] = "is torn: a process or the machine ended while "
			       "it was written, or somebody added it",
		[AUDIT_CHANGED] = "is not as it was written",
		[AUDIT_APART] = "does not follow the line before: one was "
				"changed, added or taken out",
	};
	enum audit_verdict v = audit_take(&a->chain, line);

	if (v == AUDIT_WHOLE)
		return;
	a->n_torn += v == AUDIT_TORN;
	a->n_wrong += v != AUDIT_TORN;
	if (a->page.is_json) {
		jw_object(&a->page.w);
		jw_kv_int(&a->page.w, "line", (int64_t)a->chain.n);
		jw_kv_bool(&a->page.w, "torn", v == AUDIT_TORN);
		jw_kv_cstr(&a->page.w, "message", says[v]);
		jw_end(&a->page.w);
	} else {
		buf_addf(&a->page.out, "%s:%llu: the line %s\n", a->path,
			 (unsigned long long)a->chain.n, says[v]);
	}
}

static void take(struct auditor *a, struct str line)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str doc;
	bool is_json = scan_document(line, NULL, &doc, ERR_IGNORED) == 0 &&
		       scan_type(doc) == SCAN_OBJECT;
	struct str time;

	if (a->verifies)
		verify(a, line);
	if (!is_json)
		return;
	a->n_calls += scan_is(scan_some(doc, "event"), "call");
	a->n_done += scan_is(scan_some(doc, "event"), "done");
	time = scan_decoded(scan_some(doc, "time"), CLOCK_TEXT_BYTES, &arena);
	if (a->verifies ||
	    (a->since_ns && ledger_event_ns(arena_strndup(
				    &arena, time.p, time.n)) < a->since_ns))
		return;
	a->n_shown++;
	if (a->page.is_json)
		jw_raw(&a->page.w, doc);
	else
		show(a, doc);
}

/* ---- all lines ---- */

static int read_lines(struct auditor *a, int fd, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t seen = 0; /* bytes without a newline */

	/* no line is half written meanwhile */
	while (flock(fd, LOCK_SH) < 0 && errno == EINTR)
		;
	for (;;) {
		char *room = buf_room(&text, CHUNK_BYTES), *nl;
		ssize_t r = read(fd, room, CHUNK_BYTES);
		size_t at = 0;

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(err, errno, "read %s", a->path);
		if (!r)
			break;
		text.n += (size_t)r;
		while ((nl = memchr(text.p + seen, '\n', text.n - seen))) {
			take(a, (struct str){text.p + at,
					     (size_t)(nl - text.p) - at});
			at = seen = (size_t)(nl - text.p) + 1;
		}
		buf_drop(&text, at);
		seen = text.n;
	}
	/* no newline: it is being written, or was torn */
	if (text.n)
		take(a, buf_str(&text));
	return 0;
}

static int finish(struct auditor *a, struct err *err)
{
	uint64_t open = a->n_calls > a->n_done ? a->n_calls - a->n_done : 0;

	if (a->page.is_json) {
		jw_end(&a->page.w);
		if (a->verifies) {
			jw_kv_bool(&a->page.w, "whole", !a->n_wrong);
			jw_kv_int(&a->page.w, "lines", (int64_t)a->chain.n);
			jw_kv_int(&a->page.w, "without_end", (int64_t)open);
			jw_kv_cstr(&a->page.w, "last", a->chain.last);
		}
	} else if (a->verifies) {
		buf_addf(&a->page.out,
			 "%s: %llu lines, %llu torn, %llu wrong; %llu calls "
			 "without an end; the last hash is %s\n",
			 a->path, (unsigned long long)a->chain.n,
			 (unsigned long long)a->n_torn,
			 (unsigned long long)a->n_wrong,
			 (unsigned long long)open,
			 *a->chain.last ? a->chain.last : "none");
	} else if (!a->n_shown) {
		log_note("no calls are recorded%s; audit = true of a server "
			 "records its calls",
			 a->since_ns ? " since then" : "");
	}
	return page_put(&a->page, err) < 0 ? -1 : a->n_wrong != 0;
}

/* 1: the chain is broken. */
int cmd_audit(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(fd_closep) int fd = -1;
	struct auditor a = {
		.path = audit_path(&arena),
		.verifies = args_has(args, "verify"),
		.arena = &arena,
	};
	const char *since = args_get(args, "since");
	int r = 0;

	if (since && !past_since(since, clock_system()->wall_ns(clock_system()),
				 &a.since_ns))
		return args_bad("since", since,
				"an age such as 7d, or a day such as "
				"2026-11-01",
				err);
	if (a.path && state_dir_open(a.path, O_RDONLY, &fd, err) < 0 &&
	    err->sys != ENOENT)
		return -1;
	page_open(&a.page, args);
	if (a.page.is_json)
		jw_kv_array(&a.page.w, a.verifies ? "findings" : "calls");
	if (fd >= 0)
		r = read_lines(&a, fd, err);
	if (r == 0)
		r = finish(&a, err);
	page_release(&a.page);
	return r;
}
