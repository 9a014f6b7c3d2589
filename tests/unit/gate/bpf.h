/*
 * Filters to ask, and an interpreter of classic BPF, as much of it as filters
 * use: what a filter says of a call, without a kernel. Include it after test.h.
 */
#ifndef TESTS_BPF_H
#define TESTS_BPF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "gate/build/seccomp.h"

struct bpf_machine {
	const struct seccomp_data *data;
	uint32_t a;
	size_t pc;
};

static inline uint32_t bpf_load(const struct seccomp_data *d, uint32_t offset)
{
	uint32_t word;

	assert_true(offset % 4 == 0 && offset + 4 <= sizeof(*d));
	memcpy(&word, (const char *)d + offset, 4);
	return word;
}

static inline void bpf_jump(struct bpf_machine *m, const struct sock_filter *in,
			    bool taken)
{
	m->pc += 1 + (taken ? in->jt : in->jf);
}

/* One instruction; true when it was the last. */
static inline bool bpf_step(struct bpf_machine *m, const struct sock_filter *in,
			    uint32_t *ret_action)
{
	switch (in->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		m->a = bpf_load(m->data, in->k);
		m->pc++;
		return false;
	case BPF_ALU | BPF_AND | BPF_K:
		m->a &= in->k;
		m->pc++;
		return false;
	case BPF_JMP | BPF_JA:
		m->pc += 1 + in->k;
		return false;
	case BPF_JMP | BPF_JEQ | BPF_K:
		bpf_jump(m, in, m->a == in->k);
		return false;
	case BPF_JMP | BPF_JGT | BPF_K:
		bpf_jump(m, in, m->a > in->k);
		return false;
	case BPF_JMP | BPF_JGE | BPF_K:
		bpf_jump(m, in, m->a >= in->k);
		return false;
	case BPF_JMP | BPF_JSET | BPF_K:
		bpf_jump(m, in, m->a & in->k);
		return false;
	case BPF_RET | BPF_K:
		*ret_action = in->k;
		return true;
	}
	fail_msg("instruction %#x is not known here", in->code);
	return true;
}

static inline uint32_t bpf_run(const struct seccomp_filter *f,
			       const struct seccomp_data *data)
{
	struct bpf_machine m = {.data = data};
	uint32_t action = 0;

	do
		assert_true(m.pc < f->n);
	while (!bpf_step(&m, &f->insn[m.pc], &action));
	return action;
}

/* A filter of a test, released at the end of its block. */
#define AUTO_FILTER(name)            \
	AUTO(seccomp_filter_release) \
	struct seccomp_filter name = SECCOMP_FILTER_INIT

/* Anew, where `f` was built before. */
static inline void bpf_build(const struct seccomp_want *w,
			     struct seccomp_filter *f)
{
	struct err err = ERR_INIT;

	seccomp_filter_release(f);
	if (seccomp_build(w, f, &err) < 0)
		fail_msg("%s", err.msg);
}

/* xorshift64: the same numbers in each run */
static inline uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#endif
