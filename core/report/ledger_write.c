/* A run takes its generation, and says how it ended. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/jw.h"
#include "core/base/sha256.h"
#include "core/report/ledger_inner.h"
#include "core/report/store.h"

/* Of a report are summed up, and then written, at a time. */
#define PORTION (256 * 1024)

static void common_fields(struct jw *w, const char *event, uint64_t generation,
			  const struct ledger_routine *which, int64_t wall_ns)
{
	char at[CLOCK_TEXT_BYTES];

	clock_format(wall_ns, at);
	jw_object(w);
	jw_kv_cstr(w, "event", event);
	jw_key(w, "generation");
	jw_uint(w, generation);
	jw_kv_cstr(w, "routine", which->name);
	jw_kv_cstr(w, "file", which->file);
	jw_kv_bool(w, "whole", which->whole);
	jw_kv_cstr(w, "at", at);
}

static void started_line(struct buf *line, uint64_t generation,
			 const struct ledger_routine *which, int64_t wall_ns)
{
	struct buf boot = BUF_INIT(64);
	struct jw w;

	ledger_boot_id(&boot);
	jw_init(&w, line, false);
	common_fields(&w, "started", generation, which, wall_ns);
	jw_kv_int(&w, "pid", getpid());
	jw_key(&w, "pid_start");
	jw_uint(&w, ledger_process_start(getpid()));
	jw_kv_str(&w, "boot", buf_str(&boot));
	jw_end(&w);
	buf_release(&boot);
}

int ledger_start(struct ledger *l, const struct ledger_routine *which,
		 int64_t wall_ns, uint64_t *ret_generation, struct err *err)
{
	struct buf line = BUF_INIT(BUF_UNBOUNDED);
	uint64_t generation;
	int status;

	if (ledger_lock(l->fd, LOCK_EX) < 0)
		return err_sys(err, errno, "lock %s/ledger.jsonl", l->dir);
	status = ledger_last_generation(l, &generation, err);
	if (status == 0) {
		started_line(&line, ++generation, which, wall_ns);
		status = ledger_append(l, &line, err);
	}
	ledger_lock(l->fd, LOCK_UN);
	buf_release(&line);
	/* others may take theirs while this one goes to disk */
	if (status < 0 || ledger_sync(l, err) < 0)
		return -1;
	*ret_generation = generation;
	return 0;
}

static void finished_line(struct buf *line, uint64_t generation,
			  const struct ledger_end *end, const char *sha256)
{
	struct jw w;

	jw_init(&w, line, false);
	common_fields(&w, "finished", generation, &end->which, end->wall_ns);
	jw_kv_cstr(&w, "summary", end->summary);
	jw_kv_bool(&w, "success", end->success);
	jw_kv_int(&w, "exit", end->exit_status);
	if (*sha256)
		jw_kv_cstr(&w, "sha256", sha256);
	jw_end(&w);
}

/* ---- the report ---- */

/* A report on its way to the disk, and its sum. */
struct summed {
	const struct fd_text *text;
	struct sha256 *sum;
};

/* In portions, which need not come from far away twice. */
static void sum_up(void *arg, struct str bytes)
{
	void *const *both = arg;

	while (bytes.n) {
		struct str some = {bytes.p,
				   bytes.n < PORTION ? bytes.n : PORTION};

		sha256_add(both[0], some.p, some.n);
		buf_add_str(both[1], some);
		bytes.p += some.n;
		bytes.n -= some.n;
	}
}

static void print_summed(const void *arg, struct buf *out)
{
	const struct summed *s = arg;
	void *both[] = {s->sum, out};
	const struct buf_sink sink = {sum_up, both};
	struct buf pieces = BUF_INIT(BUF_UNBOUNDED);

	sha256_init(s->sum);
	pieces.sink = &sink;
	s->text->print(s->text->arg, &pieces);
	buf_drain(&pieces);
	buf_release(&pieces);
}

static void drop_bytes(UNUSED void *arg, UNUSED struct str bytes)
{
}

static int store(const struct ledger *l, const char *file, uint64_t generation,
		 const struct fd_text *report, uint64_t keep_runs,
		 char ret_hex[SHA256_HEX_BYTES], struct err *err)
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 sum;
	struct summed summed = {report, &sum};
	const struct fd_text text = {print_summed, &summed};
	const struct buf_sink drop = {drop_bytes, NULL};
	struct buf nowhere = {.max = BUF_UNBOUNDED, .sink = &drop};

	/* where none is kept it is not printed there */
	sha256_init(&sum);
	if (!keep_runs)
		print_summed(&summed, &nowhere);
	buf_release(&nowhere);
	if (store_put(l->dir, file, generation, &text, keep_runs, err) < 0)
		return -1;
	sha256_end(&sum, digest);
	sha256_text(digest, ret_hex);
	return 0;
}

int ledger_finish(struct ledger *l, uint64_t generation,
		  const struct ledger_end *end, const struct fd_text *report,
		  uint64_t keep_runs, struct err *err)
{
	struct buf line = BUF_INIT(BUF_UNBOUNDED);
	char sha256[SHA256_HEX_BYTES] = "";
	struct err append_err = ERR_INIT;
	int stored = 0, status;

	if (report)
		stored = store(l, end->which.file, generation, report,
			       keep_runs, sha256, err);
	finished_line(&line, generation, end, sha256);
	if (ledger_lock(l->fd, LOCK_EX) < 0) {
		buf_release(&line);
		return err_sys(err, errno, "lock %s/ledger.jsonl", l->dir);
	}
	status = ledger_append(l, &line, &append_err);
	ledger_lock(l->fd, LOCK_UN);
	buf_release(&line);
	if (status == 0)
		status = ledger_sync(l, &append_err);
	if (status < 0)
		*err = append_err;
	return status < 0 ? status : stored;
}
