/* The filter with watching. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "gate/build/seccomp.h"
#include "gate/watch/watch.h"

/* Rows of one call stand together. */
static const struct {
	int nr;
	unsigned what;
} ROWS[] = {
#define WATCH(call, what, how, dir, path, more) \
	{SYS_##call, GATE_RECORD_##what},
#include "gate/watch/watch.def"
#undef WATCH
};

enum { N_ROWS = ARRAY_LEN(ROWS) };

static bool is_first_row(size_t i)
{
	return i == 0 || ROWS[i - 1].nr != ROWS[i].nr;
}

static struct sock_filter insn(uint16_t code, size_t jt, size_t jf, uint32_t k)
{
	return (struct sock_filter){code, (uint8_t)jt, (uint8_t)jf, k};
}

/*
 * Jumps are relative and forward, so a copy of a program works anywhere; each
 * copy loads what it looks at itself.
 */
static size_t put_choice(struct sock_filter *out, unsigned what, size_t skip)
{
	int nr[N_ROWS];
	size_t n = 0, k = 0;

	for (size_t i = 0; i < N_ROWS; i++)
		if (ROWS[i].what & what && is_first_row(i))
			nr[n++] = ROWS[i].nr;
	out[k++] = insn(BPF_LD | BPF_W | BPF_ABS, 0, 0,
			offsetof(struct seccomp_data, arch));
	out[k++] = insn(BPF_JMP | BPF_JEQ | BPF_K, 0, n + 1, SECCOMP_ARCH);
	out[k++] = insn(BPF_LD | BPF_W | BPF_ABS, 0, 0,
			offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++)
		out[k++] = insn(BPF_JMP | BPF_JEQ | BPF_K, n - i, 0,
				(uint32_t)nr[i]);
	out[k++] = insn(BPF_JMP | BPF_JA, 0, 0, (uint32_t)skip);
	return k;
}

static void put_watched(const struct sock_fprog *plain, struct sock_filter *out)
{
	for (size_t i = 0; i < plain->len; i++) {
		out[i] = plain->filter[i];
		if (out[i].code != (BPF_RET | BPF_K))
			continue;
		if (out[i].k == SECCOMP_RET_ALLOW)
			out[i].k = SECCOMP_RET_USER_NOTIF;
		else if (out[i].k == SECCOMP_RET_USER_NOTIF)
			out[i].k = SECCOMP_RET_ERRNO | EPERM;
	}
}

/*
 * Every profile allows exec with all arguments (test_watch.c), so the
 * watched half is short: every child has this filter. The half words of an
 * argument stand as in memory, the low one first.
 */
static bool watch_execs(const struct sock_fprog *plain, uint64_t cookie,
			struct arena *arena, struct sock_fprog *ret)
{
	const uint32_t half = offsetof(struct seccomp_data, args[5]);
	const uint16_t load = BPF_LD | BPF_W | BPF_ABS;
	const uint16_t equal = BPF_JMP | BPF_JEQ | BPF_K;
	const struct sock_filter own[] = {
		insn(load, 0, 0, half),
		insn(equal, 0, 3, (uint32_t)cookie),
		insn(load, 0, 0, half + 4),
		insn(equal, 0, 1, (uint32_t)(cookie >> 32)),
		insn(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW),
		insn(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF),
	};
	size_t skip = cookie ? 0 : ARRAY_LEN(own) - 1;
	size_t n_own = ARRAY_LEN(own) - skip, n;
	struct sock_filter *out =
		ARENA_ARRAY(arena, struct sock_filter,
			    N_ROWS + 4 + n_own + (size_t)plain->len);

	n = put_choice(out, GATE_RECORD_EXEC, n_own);
	memcpy(out + n, own + skip, n_own * sizeof(*out));
	n += n_own;
	memcpy(out + n, plain->filter, plain->len * sizeof(*out));
	n += plain->len;
	if (n > BPF_MAXINSNS)
		return false;
	*ret = (struct sock_fprog){(unsigned short)n, out};
	return true;
}

bool watch_filter(const struct sock_fprog *plain, unsigned what,
		  uint64_t cookie, struct arena *arena, struct sock_fprog *ret)
{
	/* numbers fit: the table is shorter than a jump is far */
	_Static_assert(N_ROWS < 250, "8 bits of a jump");
	struct sock_filter *out = ARENA_ARRAY(
		arena, struct sock_filter, N_ROWS + 4 + 2 * (size_t)plain->len);
	size_t n;

	if (what == GATE_RECORD_EXEC)
		return watch_execs(plain, cookie, arena, ret);
	n = put_choice(out, what, plain->len);
	put_watched(plain, out + n);
	n += plain->len;
	memcpy(out + n, plain->filter, plain->len * sizeof(*out));
	n += plain->len;
	if (n > BPF_MAXINSNS)
		return false;
	*ret = (struct sock_fprog){(unsigned short)n, out};
	return true;
}
