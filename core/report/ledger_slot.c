#include "core/report/ledger_slot.h"

#include <errno.h>
#include <fcntl.h>

#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/report/ledger_runs.h"

/* Ceiling of the file of a slot. */
#define FILE_BYTES (64 * 1024)

static char *slot_path(const struct ledger *l,
		       const struct ledger_routine *which)
{
	/* a name holds no slash, so the pair is unambiguous */
	AUTO(mem_freep)
	char *routine = mem_printf("%s/%s", which->file, which->name);
	char name[SHA256_HEX_BYTES];

	sha256_hex(str_of(routine), name);
	return mem_printf("%s/slots/%.32s", ledger_dir(l), name);
}

/* Read the file of a slot; false: there is none, or it is torn. */
static bool read_slot(const char *path, struct buf *text,
		      struct ledger_event *ret)
{
	AUTO(fd_closep) int fd = -1;

	return state_dir_open(path, O_RDONLY, &fd, ERR_IGNORED) == 0 &&
	       fd_read_all(fd, text, ERR_IGNORED) == 0 &&
	       ledger_event_read(str_trim(buf_str(text)), ret);
}

/*
 * Look into the file alone.
 *
 * returns  whether it says all: the run of the slot, or that the last one that
 *	    ran is an earlier one
 */
static bool find_kept(const struct ledger *l,
		      const struct ledger_routine *which, uint64_t *ret)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(mem_freep) char *path = slot_path(l, which);
	AUTO(buf_release) struct buf text = BUF_INIT(FILE_BYTES);
	AUTO(buf_release) struct buf boot = BUF_INIT(64);
	struct ledger_event e;
	int order;

	if (!read_slot(path, &text, &e))
		return false;
	/* times of one form: the later one is the greater text */
	order = strcmp(ledger_event_text(&e, "slot", &arena), which->slot);
	if (order == 0)
		proc_boot_id(&boot);
	if (order == 0 &&
	    (e.kind == EVENT_FINISHED || ledger_is_alive(&e, buf_str(&boot))))
		*ret = e.generation;
	return order < 0 || *ret;
}

/* Is the run alive, or did it end, and not before its first step? */
static bool has_begun(const struct ledger_run *run)
{
	return run->state != RUN_LOST &&
	       (run->state != RUN_FINISHED || run->whole);
}

int ledger_find_slot(struct ledger *l, const struct ledger_routine *which,
		     int64_t since_ns, uint64_t *ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(ledger_walk_release) struct ledger_walk w;
	const struct ledger_run *run;
	int r = 0;

	ledger_walk_init(&w, l, &arena);
	w.since_ns = since_ns;
	*ret = 0;
	if (find_kept(l, which, ret))
		return 0;
	while (!*ret && (r = ledger_walk_next(&w, &run, err)) > 0)
		if (has_begun(run) && !strcmp(run->slot, which->slot) &&
		    !strcmp(run->routine, which->name) &&
		    !strcmp(run->file, which->file))
			*ret = run->generation;
	return r < 0 ? -1 : 0;
}

int ledger_keep_slot(struct ledger *l, const struct ledger_routine *which,
		     uint64_t generation, enum ledger_event_kind kind,
		     int64_t wall_ns, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(mem_freep) char *folder = mem_printf("%s/slots", ledger_dir(l));
	AUTO(mem_freep) char *path = slot_path(l, which);
	AUTO(buf_release) struct buf text = BUF_INIT(FILE_BYTES);
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct ledger_event old;
	struct jw w;

	/* times of one form: the later one is the greater text */
	if (read_slot(path, &text, &old) &&
	    strcmp(ledger_event_text(&old, "slot", &arena), which->slot) > 0)
		return 0;
	jw_init(&w, &line, false);
	ledger_event_begin(&w, kind, generation, which, wall_ns);
	if (kind == EVENT_STARTED)
		ledger_add_process(&w);
	jw_end(&w);
	buf_addc(&line, '\n');
	if (fd_mkdirs(folder, 0700) < 0)
		return err_sys(err, errno, "%s", folder);
	return fd_replace_file(path, buf_str(&line), 0600, true, err);
}
