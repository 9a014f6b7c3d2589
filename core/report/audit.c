#include "core/report/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/base/user.h"
#include "core/report/audit_chain.h"

/* Read at once, backwards, where the last line is torn. */
#define BLOCK_BYTES 4096

struct audit {
	char *path; /* owned, as is the next */
	char *user;
	int fd;
	bool is_unsynced;
};

const char *audit_path(struct arena *arena)
{
	const char *dir = state_dir_find(arena);

	return dir ? arena_printf(arena, "%s/audit.jsonl", dir) : NULL;
}

/* Name of this user for the lines, else the number. */
static char *own_name(void)
{
	struct user user;

	if (user_find(NULL, user_self(), &user))
		return mem_printf("%.*s", STR_ARG(user.name));
	return mem_printf("%u", (unsigned)user_self());
}

int audit_open(struct audit **ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *path = audit_path(&arena);
	struct audit *a;
	int fd;

	if (!path)
		return err_set(err, ERR_SYS,
			       "no folder for the audit: set MATINS_STATE, "
			       "XDG_STATE_HOME or HOME");
	if (fd_mkdirs(state_dir_find(&arena), 0700) < 0)
		return err_sys(err, errno, "the state directory %s",
			       state_dir_find(&arena));
	if (state_dir_open(path, O_RDWR | O_APPEND | O_CREAT, &fd, err) < 0)
		return -1;
	*ret = a = mem_zalloc(sizeof(*a));
	a->path = mem_strdup(path);
	a->user = own_name();
	a->fd = fd;
	return 0;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	if (a->is_unsynced && fdatasync(a->fd) < 0) {
		/* `done` lines are on disk when the kernel writes them */
	}
	fd_closep(&a->fd);
	free(a->path);
	free(a->user);
	free(a);
}

void audit_new_id(char ret[AUDIT_ID_BYTES])
{
	text_random(ret, AUDIT_ID_BYTES);
}

static int read_at(const struct audit *a, char *room, size_t n, off_t at,
		   struct err *err)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(a->fd, room + got, n - got, at + (off_t)got);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return err_sys(err, r < 0 ? errno : EIO, "read %s",
				       a->path);
		got += (size_t)r;
	}
	return 0;
}

/*
 * Find the last whole line before `end`, which is behind a newline, or behind
 * torn bytes that are to be passed over.
 *
 * ret_hash  "": there is none
 */
static int last_hash(const struct audit *a, off_t end,
		     char ret_hash[SHA256_HEX_BYTES], struct err *err)
{
	char block[BLOCK_BYTES + AUDIT_HASH_BYTES + 1];

	ret_hash[0] = '\0';
	while (end > 0) {
		/* bytes that may end a line stand in the next block, too
		 */
		size_t n = end < (off_t)sizeof(block) ? (size_t)end
						      : sizeof(block);
		struct str text = {block, n}, hash;
		const char *nl;

		if (read_at(a, block, n, end - (off_t)n, err) < 0)
			return -1;
		while ((nl = memrchr(block, '\n', text.n))) {
			text.n = (size_t)(nl - block);
			hash = audit_hash(text);
			if (!hash.p)
				continue;
			memcpy(ret_hash, hash.p, hash.n);
			ret_hash[hash.n] = '\0';
			return 0;
		}
		end -= n == sizeof(block) ? BLOCK_BYTES : (off_t)n;
	}
	return 0;
}

/* Append all of a line or nothing of it. */
static int append(struct audit *a, struct buf *line, struct err *err)
{
	off_t size = lseek(a->fd, 0, SEEK_END);
	char hash[SHA256_HEX_BYTES], last = '\n';
	int saved;

	if (size < 0)
		return err_sys(err, errno, "%s", a->path);
	if (last_hash(a, size, hash, err) < 0 ||
	    (size && read_at(a, &last, 1, size - 1, err) < 0))
		return -1;
	audit_seal(line, hash);
	buf_addc(line, '\n');
	if ((last == '\n' || fd_write_all(a->fd, "\n", 1) == 0) &&
	    fd_write_all(a->fd, line->p, line->n) == 0)
		return 0;
	saved = errno;
	if (ftruncate(a->fd, size) < 0) {
		/* the next line begins behind the torn one */
	}
	return err_sys(err, saved, "write %s", a->path);
}

/* The members of a line but for the last two; the object stays open. */
static void print(const struct audit *a, const struct audit_entry *e,
		  struct buf *out)
{
	char time[CLOCK_TEXT_BYTES];
	struct jw w;

	clock_format(e->wall_ns, time);
	w = jw_begin(out);
	jw_kv_cstr(&w, "event", e->state ? "done" : "call");
	jw_kv_cstr(&w, "id", e->id);
	jw_kv_cstr(&w, "time", time);
	jw_kv_cstr(&w, "user", a->user);
	jw_kv_cstr(&w, "origin", e->origin);
	jw_kv_cstr(&w, "server", e->server);
	jw_kv_cstr(&w, "tool", e->tool);
	jw_kv_raw(&w, "args", e->args);
	jw_kv_cstr(&w, "args_sha256", e->args_sha256);
	if (e->state) {
		jw_kv_cstr(&w, "state", e->state);
		jw_kv_int(&w, "ms", (int64_t)e->ms);
	}
	jw_end(&w);
	out->n--; /* the brace comes behind the hash */
}

int audit_write(struct audit *a, const struct audit_entry *e, struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	int r;

	print(a, e, &line);
	while (flock(a->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return err_sys(err, errno, "lock %s", a->path);
	r = append(a, &line, err);
	while (flock(a->fd, LOCK_UN) < 0 && errno == EINTR)
		;
	a->is_unsynced = true;
	if (r < 0 || e->state)
		return r;
	/* let others write while the line goes to disk */
	if (fdatasync(a->fd) < 0)
		return err_sys(err, errno, "sync %s", a->path);
	a->is_unsynced = false;
	return 0;
}
