#include "core/doctor/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/auth/store.h"
#include "core/base/fd.h"
#include "core/base/state_dir.h"
#include "core/report/ledger_runs.h"

#define KEY_IN_FILE_REMEDY                                                    \
	"keep backups from that folder; where there is a keyring, "           \
	"store_key = \"keyring\" or \"secret-service\" and a new login take " \
	"the key out of it"

/* Bytes that a run surely needs there. */
#define ROOM_BYTES (64 * 1024)

/* Write into a file without a name; a file system that has none of these is
   believed. returns  0, or -1 and errno */
static int has_room(const char *folder)
{
	static const char zeros[ROOM_BYTES];
	AUTO(fd_closep)
	int fd = fd_open(folder, O_WRONLY | O_TMPFILE, 0600);

	if (fd < 0)
		return errno == ENOSPC || errno == EDQUOT || errno == EROFS ? -1
									    : 0;
	return fd_write_all(fd, zeros, sizeof(zeros));
}

/*
 * Report whether a run could be recorded in a folder. Creates nothing.
 *
 * returns  0, *ret_there says whether the folder exists; -1 and errno
 */
static int can_record(const char *dir, struct arena *arena, bool *ret_there)
{
	const char *file = arena_printf(arena, "%s/ledger.jsonl", dir);
	char *at = arena_strdup(arena, dir);
	char *slash;

	if (access(file, F_OK) == 0 && access(file, R_OK | W_OK) < 0)
		return -1;
	*ret_there = access(dir, F_OK) == 0;
	/* the nearest folder above that exists decides */
	while (access(at, F_OK) < 0) {
		if (errno != ENOENT)
			return -1;
		slash = strrchr(at, '/');
		if (!slash)
			return -1;
		slash[slash == at] = '\0';
	}
	return access(at, W_OK | X_OK) < 0 ? -1 : has_room(at);
}

/* A schedule runs each time once, which the ledger tells. A disk that became
   full was meant to be written. */
static bool is_needed(const struct doctor *d, const struct err *err)
{
	return d->options->unattended || err->sys == ENOSPC ||
	       err->sys == EDQUOT;
}

static void look_at_ledger(struct doctor *d)
{
	struct ledger *l = NULL;
	struct err err = ERR_INIT;
	bool there = false;
	int r = ledger_open_read(d->state, &l, &err);

	if (r == 0 && can_record(ledger_dir(l), d->arena, &there) < 0)
		r = err_sys(&err, errno, "%s", ledger_dir(l));
	if (r == 0)
		doctor_add(d, "state", ledger_dir(l), CHECK_OK, "", "%s",
			   there ? "runs are recorded here"
				 : "runs will be recorded here; the first "
				   "creates it");
	else
		doctor_add(d, "state", d->state ? d->state : "state directory",
			   is_needed(d, &err) ? CHECK_FAILED : CHECK_WARNING,
			   err.sys == ENOSPC || err.sys == EDQUOT
				   ? "make room there"
				   : "set MATINS_STATE to a folder that you "
				     "can write",
			   "runs are not recorded%s: %s",
			   is_needed(d, &err) ? ", and schedules cannot run"
					      : "",
			   err.msg);
	ledger_free(l);
}

/* "2 encrypted by a key in a file beside them" and so on. */
static const char *places(const struct store_facts *facts, struct arena *arena)
{
	static const char *const where[STORE_KEY_COUNT] = {
		[STORE_KEY_SERVICE] = "the desktop's secret service",
		[STORE_KEY_KEYRING] =
			"the kernel's keyring, which forgets it at a reboot "
			"or after days without use",
		[STORE_KEY_FILE] = "a file beside them",
	};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < STORE_KEY_COUNT; i++)
		if (facts->files[i])
			buf_addf(&out, "%s%zu encrypted by a key in %s",
				 out.n ? ", " : "", facts->files[i], where[i]);
	return arena_strdup(arena, out.n ? buf_cstr(&out) : "none is kept yet");
}

/* Add one row about a folder of tokens, unless there is no such folder; no key
   is asked for. */
static void look_at_tokens(struct doctor *d, const char *dir)
{
	struct store_facts facts;
	struct err err = ERR_INIT;
	bool in_file;
	int r;

	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->check[i].area, "tokens") &&
		    !strcmp(d->check[i].name, dir))
			return;
	r = store_look(dir, &facts, &err);
	in_file = r == 0 && facts.files[STORE_KEY_FILE] > 0;
	if (r < 0)
		doctor_add(d, "tokens", dir, CHECK_FAILED,
			   "mend that, or name another folder as token_store",
			   "%s", err.msg);
	else if (r == 0 && facts.n_broken)
		doctor_add(
			d, "tokens", dir, CHECK_WARNING,
			"remove it and log in to its server again: matins auth "
			"login NAME",
			"%zu cannot be used: %s", facts.n_broken, facts.broken);
	else if (r == 0)
		doctor_add(d, "tokens", dir, in_file ? CHECK_WARNING : CHECK_OK,
			   KEY_IN_FILE_REMEDY, "%s", places(&facts, d->arena));
}

void doctor_look_at_state(struct doctor *d)
{
	const struct config *c = d->config;

	look_at_ledger(d);
	if (d->state)
		look_at_tokens(d, state_dir_tokens(d->state, d->arena));
	for (size_t i = 0; c && i < c->n_servers; i++)
		if (c->servers[i].auth.token_store)
			look_at_tokens(d, c->servers[i].auth.token_store);
}
