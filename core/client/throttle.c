#include "core/client/throttle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/config/rate.h"

/* Other processes do not say when they give a turn back. */
#define POLL_NS (50 * NS_PER_MS)
/* Bytes of the file that are locked: the bucket, and a turn each. */
#define BUCKET_AT 0
#define TURNS_AT 4096
#define RECORD_BYTES 42

struct throttle {
	int fd;
	uint64_t rate_n, rate_ns; /* n 0: no rate */
	uint64_t at_once;	  /* 0: any */
	bool *held;		  /* by us; owned */
	enum throttle_bound bound;
};

uint64_t bucket_take(struct bucket *b, uint64_t rate_n, uint64_t rate_ns,
		     int64_t now_ns)
{
	const int64_t all = (int64_t)rate_ns;
	const int64_t longest =
		now_ns + THROTTLE_HOLD_MAX_S * (int64_t)NS_PER_S;
	int64_t each, full;

	/* a clock that was put back holds nothing for longer than it could */
	if (b->hold_ns > longest)
		b->hold_ns = longest;
	if (b->hold_ns > now_ns)
		return (uint64_t)(b->hold_ns - now_ns);
	if (!rate_n)
		return 0;
	each = all / (int64_t)rate_n;
	full = b->tat_ns > now_ns ? b->tat_ns : now_ns;
	if (full > now_ns + all)
		b->tat_ns = full = now_ns + all;
	if (full - now_ns > all - each)
		return (uint64_t)(full - now_ns - (all - each));
	b->tat_ns = full + each;
	return 0;
}

/* Wait for the lock of a byte, or take it where it is free. */
static int lock(const struct throttle *t, short type, off_t at, bool waits)
{
	struct flock l = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = at,
		.l_len = 1,
	};
	int r;

	do
		r = fcntl(t->fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &l);
	while (r < 0 && errno == EINTR);
	return r;
}

int throttle_open(const char *key, const char *rate, uint64_t at_once,
		  struct throttle **ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *dir = state_dir_find(&arena), *folder;
	char name[SHA256_HEX_BYTES];
	struct throttle *t;
	int fd;

	if (!dir)
		return err_set(err, ERR_SYS,
			       "no folder for `rate`: set MATINS_STATE, "
			       "XDG_STATE_HOME or HOME");
	folder = arena_printf(&arena, "%s/rates", dir);
	sha256_hex(str_of(key), name);
	if (fd_mkdirs(folder, 0700) < 0)
		return err_sys(err, errno, "%s", folder);
	if (state_dir_open(arena_printf(&arena, "%s/%.32s", folder, name),
			   O_RDWR | O_CREAT, &fd, err) < 0)
		return -1;
	*ret = t = mem_zalloc(sizeof(*t));
	t->fd = fd;
	t->at_once = at_once;
	t->held = mem_zalloc(at_once + 1);
	if (rate)
		(void)!rate_read(str_of(rate), &t->rate_n, &t->rate_ns);
	return 0;
}

void throttle_free(struct throttle *t)
{
	if (!t)
		return;
	fd_closep(&t->fd);
	free(t->held);
	free(t);
}

/* A damaged bucket counts as empty: nothing is gained by damage. */
static struct bucket read_bucket(const struct throttle *t, int64_t now_ns)
{
	struct bucket b = {0, 0};
	char text[RECORD_BYTES + 1] = "";
	ssize_t n = pread(t->fd, text, RECORD_BYTES, 0);
	struct str rest = {text, n > 0 ? (size_t)n : 0}, one;
	uint64_t tat, hold;

	if (n == 0)
		return b;
	one = str_cut(&rest, ' ');
	if (n == RECORD_BYTES && str_uint64(one, &tat) &&
	    str_uint64(str_trim(rest), &hold) && tat <= INT64_MAX &&
	    hold <= INT64_MAX)
		return (struct bucket){(int64_t)tat, (int64_t)hold};
	b.tat_ns = now_ns + (int64_t)t->rate_ns;
	return b;
}

static int write_bucket(const struct throttle *t, const struct bucket *b,
			struct err *err)
{
	char text[RECORD_BYTES + 1];

	snprintf(text, sizeof(text), "%020lld %020lld\n", (long long)b->tat_ns,
		 (long long)b->hold_ns);
	return pwrite(t->fd, text, RECORD_BYTES, 0) == RECORD_BYTES
		       ? 0
		       : err_sys(err, errno, "write the state of `rate`");
}

/* A turn that nobody has; -1: there is none. */
static int free_turn(struct throttle *t)
{
	for (uint64_t i = 0; i < t->at_once; i++)
		if (!t->held[i] &&
		    lock(t, F_WRLCK, TURNS_AT + (off_t)i, false) == 0) {
			t->held[i] = true;
			return (int)i;
		}
	return -1;
}

static int take(struct throttle *t, int64_t wall_ns, int *ret_slot,
		uint64_t *ret_wait_ns, struct err *err)
{
	struct bucket b = read_bucket(t, wall_ns);

	*ret_slot = -1;
	*ret_wait_ns = bucket_take(&b, t->rate_n, t->rate_ns, wall_ns);
	/* a bound that was put right counts from now, and not always anew */
	if (*ret_wait_ns) {
		t->bound = b.hold_ns > wall_ns ? THROTTLE_HOLD : THROTTLE_RATE;
		return write_bucket(t, &b, err);
	}
	if (t->at_once && (*ret_slot = free_turn(t)) < 0) {
		t->bound = THROTTLE_AT_ONCE;
		*ret_wait_ns = POLL_NS;
		return 0;
	}
	if (!t->rate_n || write_bucket(t, &b, err) == 0)
		return 0;
	throttle_give(t, *ret_slot);
	return -1;
}

int throttle_take(struct throttle *t, int64_t wall_ns, int *ret_slot,
		  uint64_t *ret_wait_ns, struct err *err)
{
	int r;

	if (lock(t, F_WRLCK, BUCKET_AT, true) < 0)
		return err_sys(err, errno, "lock the state of `rate`");
	r = take(t, wall_ns, ret_slot, ret_wait_ns, err);
	(void)!lock(t, F_UNLCK, BUCKET_AT, false);
	return r;
}

enum throttle_bound throttle_bound(const struct throttle *t)
{
	return t->bound;
}

void throttle_give(struct throttle *t, int slot)
{
	if (slot < 0)
		return;
	t->held[slot] = false;
	(void)!lock(t, F_UNLCK, TURNS_AT + slot, false);
}

void throttle_hold(struct throttle *t, int64_t wall_ns, uint64_t seconds)
{
	struct bucket b;

	if (seconds > THROTTLE_HOLD_MAX_S)
		seconds = THROTTLE_HOLD_MAX_S;
	if (lock(t, F_WRLCK, BUCKET_AT, true) < 0)
		return;
	b = read_bucket(t, wall_ns);
	b.hold_ns = wall_ns + (int64_t)(seconds * NS_PER_S);
	(void)!write_bucket(t, &b, ERR_IGNORED);
	(void)!lock(t, F_UNLCK, BUCKET_AT, false);
}
