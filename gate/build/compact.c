#include "gate/build/compact.h"

#include <stdbool.h>
#include <linux/seccomp.h>

#include "core/base/mem.h"

/* The furthest that a condition can jump. */
#define JUMP_MAX 255
/* __X32_SYSCALL_BIT: from here on numbers are of no native call. */
#define X32_BIT UINT32_C(0x40000000)
#define NUMBER_MAX UINT32_C(0xffffffff)

/*
 * The program is written from its end to its beginning, so that the
 * target of each jump is there already. A place counts instructions from the
 * end.
 */
struct writer {
	const struct sock_filter *in;
	size_t n_in;
	struct sock_filter out[BPF_MAXINSNS]; /* from the end */
	size_t n;			      /* the last place written */
	size_t copied[BPF_MAXINSNS]; /* place of each instruction of `in`; 0 */
	bool failed;		     /* too long, or not understood */
};

/* Where a number ends: a verdict, or a part that looks at arguments. */
struct end {
	size_t at;	/* of `in` */
	uint32_t first; /* number that begins the range */
};

static size_t put(struct writer *w, struct sock_filter insn)
{
	if (w->n == BPF_MAXINSNS) {
		w->failed = true;
		return w->n;
	}
	w->out[w->n] = insn;
	return ++w->n;
}

/* Instructions between the next one written and a place. */
static size_t distance_to(const struct writer *w, size_t place)
{
	return w->n - place;
}

/* The next instruction will fall through to the place. */
static void continue_at(struct writer *w, size_t place)
{
	size_t far = distance_to(w, place);

	if (far)
		put(w, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
						    (uint32_t)far));
}

/*
 * The place, or a jump to it that a condition written next can reach; a
 * verdict is as short as a jump to it.
 */
static size_t in_reach(struct writer *w, size_t place)
{
	const struct sock_filter *to = &w->out[place ? place - 1 : 0];

	/* the other branch may need one, too */
	if (distance_to(w, place) < JUMP_MAX)
		return place;
	if (to->code == (BPF_RET | BPF_K))
		return put(w, *to);
	continue_at(w, place);
	return w->n;
}

static size_t put_condition(struct writer *w, uint16_t code, uint32_t k,
			    size_t yes, size_t no)
{
	yes = in_reach(w, yes);
	no = in_reach(w, no);
	return put(w, (struct sock_filter)BPF_JUMP(
			      code, k, (uint8_t)distance_to(w, yes),
			      (uint8_t)distance_to(w, no)));
}

/* Is a condition met? -1: this is none. */
static int is_met(const struct sock_filter *i, uint32_t a)
{
	switch (i->code) {
	case BPF_JMP | BPF_JEQ | BPF_K:
		return a == i->k;
	case BPF_JMP | BPF_JGT | BPF_K:
		return a > i->k;
	case BPF_JMP | BPF_JGE | BPF_K:
		return a >= i->k;
	case BPF_JMP | BPF_JSET | BPF_K:
		return (a & i->k) != 0;
	}
	return -1;
}

/* The value that was compared is not used any further. */
static bool forgets(const struct writer *w, size_t at)
{
	return at < w->n_in && (w->in[at].code == (BPF_RET | BPF_K) ||
				w->in[at].code == (BPF_LD | BPF_W | BPF_ABS));
}

/*
 * Half of an argument that is masked with 0 before it is compared decides
 * nothing. Follow the comparisons; `at` itself where this is none.
 */
static size_t skip_masked(const struct writer *w, size_t at)
{
	const struct sock_filter *in = w->in;
	size_t to = at + 2;

	if (to >= w->n_in || in[at].code != (BPF_LD | BPF_W | BPF_ABS) ||
	    in[at + 1].code != (BPF_ALU | BPF_AND | BPF_K) || in[at + 1].k)
		return at;
	while (to < w->n_in && is_met(&in[to], 0) >= 0)
		to += 1U + (is_met(&in[to], 0) ? in[to].jt : in[to].jf);
	return forgets(w, to) ? to : at;
}

/* The last of comparisons with k, k - 1, k - 2 and so on that lead to one
   place. */
static size_t run_end(const struct writer *w, size_t at)
{
	const uint16_t equal = BPF_JMP | BPF_JEQ | BPF_K;
	const struct sock_filter *in = w->in;
	size_t to = at + 1 + in[at].jt;

	for (;;) {
		size_t next = at + 1 + in[at].jf;

		if (in[at].code != equal || next >= w->n_in ||
		    in[next].code != equal || in[next].k + 1 != in[at].k ||
		    next + 1 + in[next].jt != to)
			return at;
		at = next;
	}
}

static size_t copy_from(struct writer *w, size_t at);

static size_t copy_condition(struct writer *w, size_t at)
{
	size_t last = run_end(w, at);
	const struct sock_filter *i = &w->in[at], *low = &w->in[last];
	size_t yes = copy_from(w, at + 1 + i->jt);
	size_t no = copy_from(w, last + 1 + low->jf);

	if (last == at)
		return put_condition(w, i->code, i->k, yes, no);
	yes = put_condition(w, BPF_JMP | BPF_JGE | BPF_K, low->k, yes, no);
	return put_condition(w, BPF_JMP | BPF_JGT | BPF_K, i->k, no, yes);
}

/* Copy a mask, with a comparison with 0 behind it as one instruction. */
static size_t copy_mask(struct writer *w, size_t at)
{
	const struct sock_filter *i = &w->in[at], *next = i + 1;
	size_t yes, no;

	if (at + 1 < w->n_in && next->code == (BPF_JMP | BPF_JEQ | BPF_K) &&
	    !next->k && forgets(w, at + 2 + next->jt) &&
	    forgets(w, at + 2 + next->jf)) {
		yes = copy_from(w, at + 2 + next->jf);
		no = copy_from(w, at + 2 + next->jt);
		return put_condition(w, BPF_JMP | BPF_JSET | BPF_K, i->k, yes,
				     no);
	}
	continue_at(w, copy_from(w, at + 1));
	return put(w, *i);
}

/* Copy what is reached from an instruction, each only once. */
static size_t copy_from(struct writer *w, size_t at)
{
	const struct sock_filter *i;

	if (at >= w->n_in) {
		w->failed = true;
		return w->n;
	}
	at = skip_masked(w, at);
	i = &w->in[at];
	if (w->copied[at] && (i->code != (BPF_RET | BPF_K) ||
			      distance_to(w, w->copied[at]) < JUMP_MAX))
		return w->copied[at];
	if (is_met(i, 0) >= 0) {
		w->copied[at] = copy_condition(w, at);
	} else if (i->code == (BPF_JMP | BPF_JA)) {
		w->copied[at] = copy_from(w, at + 1 + i->k);
	} else if (i->code == (BPF_RET | BPF_K)) {
		w->copied[at] = put(w, *i);
	} else if (i->code == (BPF_ALU | BPF_AND | BPF_K)) {
		w->copied[at] = copy_mask(w, at);
	} else if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
		continue_at(w, copy_from(w, at + 1));
		w->copied[at] = put(w, *i);
	} else {
		w->failed = true;
	}
	return w->copied[at];
}

/*
 * Run the program for a number, until it looks at an argument or ends; equal
 * verdicts are one place.
 */
static size_t find_end(struct writer *w, uint32_t arch, uint32_t nr)
{
	uint32_t a = 0;
	size_t at = 0;

	while (at < w->n_in) {
		const struct sock_filter *i = &w->in[at];

		if (i->code == (BPF_RET | BPF_K))
			break;
		if (is_met(i, a) >= 0) {
			at += is_met(i, a) ? i->jt : i->jf;
		} else if (i->code == (BPF_JMP | BPF_JA)) {
			at += i->k;
		} else if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
			if (i->k == offsetof(struct seccomp_data, nr))
				a = nr;
			else if (i->k == offsetof(struct seccomp_data, arch))
				a = arch;
			else
				return at;
		} else {
			break;
		}
		at++;
	}
	if (at >= w->n_in || w->in[at].code != (BPF_RET | BPF_K)) {
		w->failed = true;
		return 0;
	}
	for (size_t same = 0; same < at; same++)
		if (w->in[same].code == w->in[at].code &&
		    w->in[same].k == w->in[at].k)
			return same;
	return at;
}

/* Ranges of numbers up to `newest`; returns how many. */
static size_t find_ranges(struct writer *w, uint32_t arch, uint32_t newest,
			  struct end *range)
{
	size_t n = 0;

	for (uint32_t nr = 0; nr <= newest && !w->failed; nr++) {
		size_t at = find_end(w, arch, nr);

		if (!n || range[n - 1].at != at)
			range[n++] = (struct end){at, nr};
	}
	return n;
}

/* Does a range of [0, n) have one number, and an equal end on both sides? */
static bool is_lone(const struct end *range, size_t n, size_t i)
{
	return i && i + 1 < n && range[i].first + 1 == range[i + 1].first &&
	       range[i - 1].at == range[i + 1].at;
}

/* The boundary that halves the numbers [range[0].first, until), but beside a
   lone one only where there is no other. */
static size_t find_middle(const struct end *range, size_t n, uint32_t until)
{
	uint32_t width = until - range[0].first, best = NUMBER_MAX;
	uint32_t half = range[0].first + width / 2;
	size_t found = 1;

	for (size_t i = 1; i < n; i++) {
		uint32_t at = range[i].first;
		uint32_t off = at < half ? half - at : at - half;

		if (is_lone(range, n, i - 1) || is_lone(range, n, i))
			off += width;
		if (off < best) {
			best = off;
			found = i;
		}
	}
	return found;
}

/* Lone numbers in a range that is compared with each of them; more than that
   are halved before. */
#define LONE_MAX 2

static bool is_compared(const struct end *range, size_t n)
{
	bool all = n % 2 && n / 2 <= LONE_MAX;

	for (size_t i = 1; all && i < n; i += 2)
		all = is_lone(range, n, i);
	return all;
}

static size_t put_tree(struct writer *w, const struct end *range, size_t n,
		       uint32_t until)
{
	size_t mid, above, below;

	if (w->failed)
		return w->n;
	if (is_compared(range, n)) {
		below = copy_from(w, range[0].at);
		for (size_t i = 1; i < n; i += 2)
			below = put_condition(w, BPF_JMP | BPF_JEQ | BPF_K,
					      range[i].first,
					      copy_from(w, range[i].at), below);
		return below;
	}
	mid = find_middle(range, n, until);
	above = put_tree(w, range + mid, n - mid, until);
	below = put_tree(w, range, mid, range[mid].first);
	return put_condition(w, BPF_JMP | BPF_JGE | BPF_K, range[mid].first,
			     above, below);
}

static void put_program(struct writer *w, const struct end *range, size_t n,
			uint32_t arch, uint32_t newest)
{
	size_t other = find_end(w, ~arch, 0), yes, no, known;

	/* -1 is how a tracer skips a call */
	yes = copy_from(w, find_end(w, arch, NUMBER_MAX));
	no = copy_from(w, find_end(w, arch, X32_BIT));
	yes = put_condition(w, BPF_JMP | BPF_JEQ | BPF_K, NUMBER_MAX, yes, no);
	no = copy_from(w, find_end(w, arch, newest + 1));
	no = put_condition(w, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, yes, no);
	known = put_tree(w, range, n, newest + 1);
	known = put_condition(w, BPF_JMP | BPF_JGT | BPF_K, newest, no, known);
	continue_at(w, known);
	known = put(w, (struct sock_filter)BPF_STMT(
			       BPF_LD | BPF_W | BPF_ABS,
			       offsetof(struct seccomp_data, nr)));
	no = copy_from(w, other);
	put_condition(w, BPF_JMP | BPF_JEQ | BPF_K, arch, known, no);
	put(w,
	    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					 offsetof(struct seccomp_data, arch)));
}

size_t compact_filter(const struct sock_filter *in, size_t n, uint32_t arch,
		      uint32_t newest, struct sock_filter **ret)
{
	AUTO(mem_freep) struct writer *w = NULL;
	AUTO(mem_freep) struct end *range = NULL;
	size_t n_ranges;

	if (!n || n > BPF_MAXINSNS || newest >= BPF_MAXINSNS)
		return 0;
	w = mem_zalloc(sizeof(*w));
	range = mem_alloc((newest + 1) * sizeof(*range));
	w->in = in;
	w->n_in = n;
	n_ranges = find_ranges(w, arch, newest, range);
	if (!w->failed)
		put_program(w, range, n_ranges, arch, newest);
	if (w->failed || w->n >= n)
		return 0;
	*ret = mem_alloc(w->n * sizeof(**ret));
	for (size_t i = 0; i < w->n; i++)
		(*ret)[i] = w->out[w->n - 1 - i];
	return w->n;
}

/* Instructions that look at the architecture and load the number, where a
   filter begins with them and ends for another one at once; else 0. */
static size_t head_of(const struct sock_fprog *f, uint32_t arch)
{
	const uint16_t load = BPF_LD | BPF_W | BPF_ABS;
	const struct sock_filter *in = f->filter;

	return f->len > 3 && in[0].code == load &&
			       in[0].k == offsetof(struct seccomp_data, arch) &&
			       in[1].code == (BPF_JMP | BPF_JEQ | BPF_K) &&
			       in[1].k == arch && !in[1].jt &&
			       2U + in[1].jf < f->len &&
			       in[2U + in[1].jf].code == (BPF_RET | BPF_K) &&
			       in[2].code == load &&
			       in[2].k == offsetof(struct seccomp_data, nr)
		       ? 3
		       : 0;
}

size_t compact_prepend(const struct sock_filter *front, size_t n, uint32_t arch,
		       const struct sock_fprog *plain, struct sock_filter *ret)
{
	size_t done = head_of(plain, arch), rest = plain->len - done;
	const struct sock_filter head[COMPACT_HEAD] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch, 1, 0),
		done ? plain->filter[2U + plain->filter[1].jf]
		     : (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
						    (uint32_t)n + 1),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};

	memcpy(ret, head, sizeof(head));
	memcpy(ret + COMPACT_HEAD, front, n * sizeof(*ret));
	memcpy(ret + COMPACT_HEAD + n, plain->filter + done,
	       rest * sizeof(*ret));
	return COMPACT_HEAD + n + rest;
}
