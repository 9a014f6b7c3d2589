#include "core/report/ledger_told.h"

#include "core/base/proc.h"
#include "core/base/scan.h"

/* End of the ledger that stories are first looked for in, bytes. */
#define STORY_BYTES (64 * 1024)

/* A `told` line that is further away is written again, and so, behind the
   beginning of a run, never as far as twice that. */
#define FAR_BYTES (4 * STORY_BYTES)

/* Lines about a routine, as they were met: the newest first. */
struct story {
	struct ledger_told told;
	uint64_t *closed; /* runs that ended, or whose loss was told */
	size_t n_closed;
	uint64_t first; /* generation of the first `told` line; 0: none */
	uint64_t until; /* bytes; there is no `told` line beyond. 0: unknown */
	struct story *next;
};

struct stories {
	struct ledger *l;
	struct arena *arena;
	const char *file;
	struct story *first;
	size_t n;
	struct buf boot;
};

static void close_run(struct stories *all, struct story *s, uint64_t generation)
{
	s->closed = arena_grow(all->arena, s->closed, s->n_closed,
			       sizeof(*s->closed));
	s->closed[s->n_closed++] = generation;
}

static bool is_closed(const struct story *s, uint64_t generation)
{
	for (size_t i = s->n_closed; i-- > 0;)
		if (s->closed[i] == generation)
			return true;
	return false;
}

static void add_told(struct stories *all, struct story *s,
		     const struct ledger_event *e)
{
	const char *state = ledger_event_text(e, "state", all->arena);
	struct str value;

	if (!s->told.generation) {
		s->told.generation = e->generation;
		s->told.state = state;
		if (scan_get(e->doc, "since", &value))
			(void)!str_uint64(value, &s->told.since);
	}
	if (!s->first || e->generation < s->first)
		s->first = e->generation;
	if (strcmp(state, "lost") == 0)
		close_run(all, s, e->generation);
}

static void add_started(struct stories *all, struct story *s,
			const struct ledger_event *e)
{
	struct ledger_told *told = &s->told;

	if (!scan_true(e->doc, "whole") || is_closed(s, e->generation))
		return;
	if (!all->boot.n)
		proc_boot_id(&all->boot);
	if (ledger_is_alive(e, buf_str(&all->boot)))
		return;
	told->lost = arena_grow(all->arena, told->lost, told->n_lost,
				sizeof(*told->lost));
	told->lost[told->n_lost++] = (struct ledger_lost){
		e->generation, ledger_event_text(e, "at", all->arena)};
}

static void add_event(struct stories *all, struct story *s,
		      const struct ledger_event *e)
{
	switch (e->kind) {
	case EVENT_TOLD:
		add_told(all, s, e);
		break;
	case EVENT_STARTED:
		add_started(all, s, e);
		break;
	case EVENT_FINISHED:
		close_run(all, s, e->generation);
		break;
	case EVENT_NOTIFIED:
		break;
	}
}

/* Find the story that a line belongs to; a new one where all are read. */
static struct story *story_of(struct stories *all, bool is_one,
			      const struct ledger_event *e)
{
	struct story *s;

	if (!ledger_event_has(e, "file", all->file))
		return NULL;
	for (s = all->first; s; s = s->next)
		if (ledger_event_has(e, "routine", s->told.routine))
			return s;
	if (is_one)
		return NULL;
	s = ARENA_NEW(all->arena, struct story);
	*s = (struct story){.next = all->first};
	s->told.routine = ledger_event_text(e, "routine", all->arena);
	all->first = s;
	all->n++;
	return s;
}

/* Read the end of the ledger, and for one story as much more as it takes. */
static int read_stories(struct stories *all, bool is_one, struct err *err)
{
	AUTO(ledger_lines_release) struct ledger_lines lines;
	struct ledger_event e;
	struct story *s;
	int r;

	ledger_lines_init(&lines, all->l);
	if (is_one)
		ledger_lines_only(&lines, all->first->told.routine, all->arena);
	while ((r = ledger_lines_next(&lines, &e, err)) > 0) {
		uint64_t passed = ledger_lines_passed(&lines);

		if (passed > STORY_BYTES &&
		    (!is_one || all->first->told.generation ||
		     (all->first->until && passed > all->first->until)))
			break;
		s = story_of(all, is_one, &e);
		if (!s)
			continue;
		if (e.kind == EVENT_TOLD && !s->told.generation)
			s->told.is_far = passed > FAR_BYTES;
		if (e.kind == EVENT_STARTED && !s->until &&
		    scan_true(e.doc, "whole") && is_closed(s, e.generation))
			s->until = passed + 2 * FAR_BYTES;
		add_event(all, s, &e);
		if (is_one)
			lines.most =
				s->told.generation ? STORY_BYTES : s->until;
	}
	buf_release(&all->boot);
	return r < 0 ? -1 : 0;
}

/* Keep lost runs since notices are told, the oldest first. */
static struct ledger_told end_story(struct story *s)
{
	struct ledger_told *told = &s->told;

	while (told->n_lost &&
	       (!s->first ||
		told->lost[told->n_lost - 1].generation < s->first))
		told->n_lost--;
	for (size_t i = 0; i < told->n_lost / 2; i++) {
		struct ledger_lost one = told->lost[i];

		told->lost[i] = told->lost[told->n_lost - 1 - i];
		told->lost[told->n_lost - 1 - i] = one;
	}
	return *told;
}

int ledger_told(struct ledger *l, const struct ledger_routine *which,
		struct arena *arena, struct ledger_told *ret, struct err *err)
{
	struct story s = {.told = {.routine = which->name}};
	struct stories all = {l, arena, which->file, &s, 1, BUF_INIT(64)};

	if (read_stories(&all, true, err) < 0)
		return -1;
	*ret = end_story(&s);
	return 0;
}

int ledger_told_near(struct ledger *l, const char *file, struct arena *arena,
		     struct ledger_told **ret, size_t *ret_n, struct err *err)
{
	struct stories all = {l, arena, file, NULL, 0, BUF_INIT(64)};

	if (read_stories(&all, false, err) < 0)
		return -1;
	*ret = ARENA_ARRAY(arena, struct ledger_told, all.n);
	*ret_n = 0;
	for (struct story *s = all.first; s; s = s->next)
		(*ret)[(*ret_n)++] = end_story(s);
	return 0;
}

int ledger_tell(struct ledger *l, const struct ledger_routine *which,
		const struct ledger_told *told, int64_t wall_ns,
		struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &line, false);
	ledger_event_begin(&w, EVENT_TOLD, told->generation, which, wall_ns);
	jw_kv_cstr(&w, "state", told->state);
	if (told->since)
		jw_kv_uint(&w, "since", told->since);
	jw_end(&w);
	return ledger_append(l, &line, err);
}
