#include "core/run/step_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/tape.h"
#include "core/run/step_result.h"

/* Ceiling of the output of one command. */
#define OUTPUT_BYTES (16 * 1024 * 1024)

struct sync_work {
	struct step_run *step;
	int output; /* memory; owned */
	struct gate_again runs;
	struct loop_watch end;
};

/* ---- what it came to ---- */

/* "  + tool NAME" for each change of a server. */
static void add_changes(struct str server, struct buf *body)
{
	static const struct {
		const char *key, *sign;
	} kinds[] = {{"added", "+"}, {"updated", "~"}, {"deprecated", "-"}};

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		for (struct scan_iter it =
			     scan_over(scan_some(server, kinds[k].key));
		     scan_next(&it);) {
			buf_addf(body, "\n  %s ", kinds[k].sign);
			scan_string(scan_some(it.value, "kind"), body);
			buf_addc(body, ' ');
			scan_string(scan_some(it.value, "name"), body);
		}
}

/* One line of a server, and its changes or its failure. */
static void add_server(struct str server, struct buf *body, struct buf *failed)
{
	struct str why = scan_some(scan_some(server, "error"), "message");
	bool is_ok = str_is(scan_some(server, "ok"), "true");

	buf_adds(body, body->n ? "\n" : "");
	scan_string(scan_some(server, "name"), body);
	if (is_ok) {
		struct str tools = scan_some(server, "tools");

		buf_addf(body, ": %.*s tool%s", STR_ARG(tools),
			 str_is(tools, "1") ? "" : "s");
		add_changes(server, body);
		return;
	}
	buf_adds(body, ": ");
	scan_string(why, body);
	buf_adds(failed, failed->n ? "; " : "");
	scan_string(scan_some(server, "name"), failed);
	buf_adds(failed, ": ");
	scan_string(why, failed);
}

/* The sentence of a command that told nothing of servers. */
static struct str say_nothing(struct str doc, int status, struct arena *arena)
{
	struct str message = scan_some(scan_some(doc, "error"), "message");

	return message.p ? scan_decoded(message, SIZE_MAX, arena)
			 : str_of(arena_printf(arena,
					       "matins sync gave no answer, "
					       "and ended with status %d",
					       status));
}

struct judgement sync_judge(struct str said, int status, struct arena *arena)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf failed = BUF_INIT(BUF_UNBOUNDED);
	struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct judgement j = {.reason = REASON_NONE};
	struct str doc = STR("{}"), servers;
	struct jw w;

	(void)!scan_document(said, NULL, &doc, ERR_IGNORED);
	servers = scan_some(doc, "servers");
	if (!servers.p) {
		j.reason = REASON_EXIT_STATUS;
		j.error = say_nothing(doc, status, arena);
		return j;
	}
	w = jw_begin(&data);
	jw_kv_array(&w, "servers");
	for (struct scan_iter it = scan_over(servers); scan_next(&it);) {
		add_server(it.value, &body, &failed);
		/* no two runs share the time of its lists */
		jw_object(&w);
		jw_members(&w, it.value, "synced");
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	j.data = arena_buf(arena, &data);
	j.output = arena_str(arena, buf_str(&body));
	if (status && !failed.n)
		buf_addf(&failed, "matins sync ended with status %d", status);
	if (failed.n) {
		j.reason = REASON_EXIT_STATUS;
		j.error = arena_str(arena, buf_str(&failed));
	}
	return j;
}

/* ---- the process ---- */

static void on_end(void *arg, UNUSED uint32_t ready)
{
	AUTO(buf_release) struct buf said = BUF_INIT(OUTPUT_BYTES);
	struct sync_work *work = arg;
	struct step_run *s = work->step;
	struct err err = ERR_INIT;
	struct judgement j;
	int status;

	loop_unwatch(s->ctx->loop, &work->end);
	status = gate_again_wait(&work->runs);
	if (lseek(work->output, 0, SEEK_SET) < 0 ||
	    fd_read_all(work->output, &said, &err) < 0)
		step_fail(s, REASON_OUTPUT_LIMIT, "matins sync: %s",
			  *err.msg ? err.msg : "its output is lost");
	j = sync_judge(buf_str(&said), status, &s->arena);
	step_close(s, &j);
}

static int start(struct sync_work *work, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct step_run *s = work->step;
	const struct strlist *servers = &s->plan->step->servers;
	/* the bytes that the run has judged, and no others */
	const char *const words[] = {"matins",
				     "sync",
				     "--json",
				     "-c",
				     s->ctx->config->path,
				     "--sha256",
				     s->ctx->config->sha256};
	AUTO(fd_closep) int null = fd_open("/dev/null", O_RDWR, 0);
	struct strlist argv = {NULL, 0};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		list_add(&argv, &arena, words[i]);
	list_add_all(&argv, &arena, servers);
	list_add(&argv, &arena, NULL);
	work->output = memfd_create("sync", MFD_CLOEXEC);
	if (work->output < 0 || null < 0)
		return err_sys(err, errno, "descriptors of matins sync");
	if (gate_again_start(
		    argv.item,
		    (const int[4]){null, work->output, STDERR_FILENO, null},
		    &work->runs, err) < 0)
		return -1;
	return loop_watch(s->ctx->loop, &work->end, work->runs.pidfd, EPOLLIN,
			  on_end, work, err);
}

static void begin(struct step_run *s)
{
	struct sync_work *work = mem_zalloc(sizeof(*work));
	struct err err = ERR_INIT;

	*work = (struct sync_work){
		.step = s,
		.output = -1,
		.runs.pidfd = -1,
		.end.fd = -1,
	};
	s->work = work;
	if (tape_is_replay(s->ctx->tape))
		step_fail(s, REASON_REPLAY, "a sync is not recorded");
	else if (start(work, &err) == 0)
		return;
	else
		step_fail(s, REASON_INTERNAL, "%s", err.msg);
	step_close(s, NULL);
}

static void stop(struct step_run *s, UNUSED const char *why)
{
	const struct sync_work *work = s->work;

	gate_again_signal(&work->runs,
			  s->hurry == POOL_KILL ? SIGKILL : SIGTERM);
}

static void release(struct step_run *s)
{
	struct sync_work *work = s->work;

	if (!work)
		return;
	/* the loop may have ended before its steps are freed */
	if (s->ctx)
		loop_unwatch(s->ctx->loop, &work->end);
	if (work->runs.pid > 0) {
		gate_again_signal(&work->runs, SIGKILL);
		(void)gate_again_wait(&work->runs);
	}
	fd_closep(&work->output);
	free(work);
}

const struct step_doer sync_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
	.is_job = true,
};
