/* Runs, as the lines of the ledger tell of them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/report/ledger_lines.h"

/* End of the ledger that ledger_read() takes, bytes. */
#define READ_BYTES (64 * 1024 * 1024)

static const char *const state_names[] = {"running", "lost", "finished"};

const char *run_state_name(enum run_state s)
{
	return state_names[s];
}

bool ledger_run_is(const struct ledger_run *run, const char *routine,
		   const char *file)
{
	return (!routine || !strcmp(run->routine, routine)) &&
	       (!file || !*run->file || !strcmp(run->file, file));
}

/*
 * Report whether the process of a run lives, by boot, pid and start time.
 *
 * started  the JSON of a `started` line
 * boot     ledger_boot_id() of now
 */
static bool is_alive(struct str started, struct str boot)
{
	struct str value;
	uint64_t start;
	int64_t pid;

	if (!scan_get(started, "boot", &value) || value.n != boot.n + 2 ||
	    memcmp(value.p + 1, boot.p, boot.n))
		return false;
	if (!scan_get(started, "pid", &value) || !scan_int64(value, &pid) ||
	    !scan_get(started, "pid_start", &value) ||
	    !str_uint64(value, &start))
		return false;
	return start && ledger_process_start(pid) == start;
}

/* A run, and its `started` line while nothing says how it ended. */
struct found {
	struct ledger_run run;
	struct str started;
};

struct runs {
	struct found *item; /* owned */
	size_t n, cap;
	struct arena *arena;
};

static const char *text_of(struct str doc, const char *name,
			   struct arena *arena)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *copy = "";
	struct str value;

	if (scan_get(doc, name, &value) && scan_string(value, &text))
		copy = arena_strndup(arena, buf_cstr(&text), text.n);
	buf_release(&text);
	return copy;
}

static bool is_true(struct str doc, const char *name)
{
	struct str value;

	return scan_get(doc, name, &value) && scan_type(value) == SCAN_TRUE;
}

/* Read the text of clock_format(); 0: another text. */
static int64_t time_of(const char *text)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t ms;

	if (!end || strlen(end) != strlen(".123Z") || end[0] != '.' ||
	    end[4] != 'Z' || !str_uint64((struct str){end + 1, 3}, &ms))
		return 0;
	return (int64_t)timegm(&tm) * (int64_t)NS_PER_S +
	       (int64_t)(ms * NS_PER_MS);
}

static struct found *add_run(struct runs *r, const struct ledger_record *record)
{
	struct found *found;

	r->item = mem_grow(r->item, r->n + 1, &r->cap, sizeof(*r->item));
	found = &r->item[r->n++];
	*found = (struct found){
		.run =
			{
				.generation = record->generation,
				.routine = text_of(record->doc, "routine",
						   r->arena),
				.file = text_of(record->doc, "file", r->arena),
				.whole = is_true(record->doc, "whole"),
				.state = RUN_LOST,
				.started = "",
				.finished = "",
				.summary = "",
				.sha256 = "",
			},
	};
	return found;
}

/* From the end: a run mostly ends soon after it began. */
static struct found *find_run(struct runs *r, uint64_t generation)
{
	for (size_t i = r->n; i-- > 0;) {
		if (r->item[i].run.generation == generation)
			return &r->item[i];
		if (r->item[i].run.generation < generation)
			break;
	}
	return NULL;
}

static void add_started(struct runs *r, const struct ledger_record *record)
{
	struct found *found = add_run(r, record);

	found->started = record->doc;
	found->run.started = text_of(record->doc, "at", r->arena);
	found->run.started_ns = time_of(found->run.started);
}

static void add_finished(struct runs *r, const struct ledger_record *record)
{
	struct found *found = find_run(r, record->generation);
	struct ledger_run *run;
	struct str value;
	int64_t status;

	if (!found)
		found = add_run(r, record);
	run = &found->run;
	run->state = RUN_FINISHED;
	/* the run may have ended before its first step */
	run->whole = run->whole && is_true(record->doc, "whole");
	run->finished = text_of(record->doc, "at", r->arena);
	run->finished_ns = time_of(run->finished);
	run->summary = text_of(record->doc, "summary", r->arena);
	run->sha256 = text_of(record->doc, "sha256", r->arena);
	run->success = is_true(record->doc, "success");
	if (scan_get(record->doc, "exit", &value) && scan_int64(value, &status))
		run->exit_status = (int)status;
}

static void add_lines(struct runs *r, struct str text)
{
	struct ledger_record record;

	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (!ledger_read_record(line, &record))
			continue;
		if (record.started)
			add_started(r, &record);
		else
			add_finished(r, &record);
	}
}

/* The runs in the arena; those without an end are looked up in /proc. */
static struct ledger_run *settle(const struct runs *r)
{
	struct ledger_run *run = ARENA_ARRAY(r->arena, struct ledger_run, r->n);
	struct buf boot = BUF_INIT(64);

	ledger_boot_id(&boot);
	for (size_t i = 0; i < r->n; i++) {
		run[i] = r->item[i].run;
		if (run[i].state == RUN_LOST &&
		    is_alive(r->item[i].started, buf_str(&boot)))
			run[i].state = RUN_RUNNING;
	}
	buf_release(&boot);
	return run;
}

int ledger_read(struct ledger *l, struct arena *arena, struct ledger_run **ret,
		size_t *ret_n, struct err *err)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct runs runs = {.arena = arena};
	bool all;

	if (l->fd >= 0 &&
	    ledger_read_tail(l, READ_BYTES, &text, &all, err) < 0) {
		buf_release(&text);
		return -1;
	}
	add_lines(&runs, buf_str(&text));
	*ret = settle(&runs);
	*ret_n = runs.n;
	free(runs.item);
	buf_release(&text);
	return 0;
}
