/*
 * Writes the table of gate/build/filters.c: the filter of every variant, made
 * by libseccomp on the machine that builds the program.
 *
 *	filters >filters.inc
 *
 * Equal programs are written once. They refuse with EPERM; the listener is
 * put in when one is taken out.
 */
#include <errno.h>

#include "gate/build/seccomp.h"

/* Filter of a variant; `at` counts instructions of the whole table. */
struct made {
	struct seccomp_filter filter;
	size_t at;
	bool is_repeat;
};

static bool is_same(const struct seccomp_filter *a,
		    const struct seccomp_filter *b)
{
	return a->n == b->n &&
	       memcmp(a->insn, b->insn, a->n * sizeof(*a->insn)) == 0;
}

/* Place variant `v` behind those before it; *end is where the table ends. */
static void place_filter(struct made *made, int v, size_t *end)
{
	for (int i = 0; i < v; i++)
		if (is_same(&made[i].filter, &made[v].filter)) {
			made[v].at = made[i].at;
			made[v].is_repeat = true;
			return;
		}
	made[v].at = *end;
	*end += made[v].filter.n;
}

static int make_all(struct made *made, struct err *err)
{
	size_t end = 0;

	for (int v = 0; v < N_VARIANTS; v++) {
		struct seccomp_want want;

		variant_want(v, &want);
		want.deny = SECCOMP_DENY_ERRNO;
		if (seccomp_build(&want, &made[v].filter, err) < 0)
			return -1;
		place_filter(made, v, &end);
	}
	return 0;
}

static void print_instructions(const struct made *made)
{
	puts("static const struct sock_filter INSTRUCTIONS[] = {");
	for (int v = 0; v < N_VARIANTS; v++) {
		const struct seccomp_filter *f = &made[v].filter;

		for (size_t i = 0; i < f->n && !made[v].is_repeat; i++)
			printf("{%#x,%u,%u,%#x},%c", f->insn[i].code,
			       f->insn[i].jt, f->insn[i].jf, f->insn[i].k,
			       i % 4 == 3 || i + 1 == f->n ? '\n' : ' ');
	}
	puts("};");
}

static void print_places(const struct made *made)
{
	puts("static const struct stored STORED[] = {");
	for (int v = 0; v < N_VARIANTS; v++)
		printf("{%zu, %u},\n", made[v].at, made[v].filter.n);
	puts("};");
}

int main(void)
{
	static struct made made[N_VARIANTS];
	struct err err = ERR_INIT;
	int status = EXIT_SUCCESS;

	if (make_all(made, &err) < 0) {
		fprintf(stderr, "filters: %s\n", err.msg);
		status = EXIT_FAILURE;
	} else {
		print_instructions(made);
		print_places(made);
	}
	for (int v = 0; v < N_VARIANTS; v++)
		seccomp_filter_release(&made[v].filter);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "filters: %s\n", strerror(errno));
		status = EXIT_FAILURE;
	}
	return status;
}
