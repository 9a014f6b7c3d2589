#include "gate/prepare/parts.h"

#include <errno.h>
#include <sys/random.h>

#include "core/base/mem.h"
#include "gate/build/compact.h"
#include "gate/build/seccomp.h"

/* A filter that was built, kept for each want. */
struct gate_filter {
	struct gate_filter *next;
	struct seccomp_want want;     /* .syscalls owned by the gate's arena */
	struct seccomp_filter filter; /* empty where there is no listener */
	struct seccomp_filter without_listener;
};

/* ---- filters, each built once ---- */

static bool same_want(const struct seccomp_want *a,
		      const struct seccomp_want *b)
{
	if (a->profile != b->profile || a->net != b->net ||
	    a->net_udp != b->net_udp || a->net_unix != b->net_unix ||
	    a->ipc_namespace != b->ipc_namespace ||
	    a->keep_attributes != b->keep_attributes ||
	    a->memfd_noexec_sysctl != b->memfd_noexec_sysctl ||
	    a->syscalls.n != b->syscalls.n)
		return false;
	for (size_t i = 0; i < a->syscalls.n; i++)
		if (strcmp(a->syscalls.item[i], b->syscalls.item[i]) != 0)
			return false;
	return true;
}

/*
 * Copy a filter for a task that cannot have a listener: refused calls give
 * EPERM at once. Only the action differs, so libseccomp is not asked again.
 */
static void without_listener(const struct seccomp_filter *f,
			     struct seccomp_filter *ret)
{
	ret->n = f->n;
	ret->insn = mem_alloc(f->n * sizeof(*f->insn));
	memcpy(ret->insn, f->insn, f->n * sizeof(*f->insn));
	for (size_t i = 0; i < ret->n; i++)
		if (ret->insn[i].code == (BPF_RET | BPF_K) &&
		    ret->insn[i].k == SECCOMP_RET_USER_NOTIF)
			ret->insn[i].k = SECCOMP_RET_ERRNO | EPERM;
}

static int find_filter(struct gate *g, const struct seccomp_want *want,
		       const struct gate_filter **ret, struct err *err)
{
	struct gate_filter *f;

	for (f = g->filters; f; f = f->next)
		if (same_want(&f->want, want)) {
			*ret = f;
			return 0;
		}
	f = mem_zalloc(sizeof(*f));
	f->want = *want;
	f->want.syscalls = (struct strlist){NULL, 0};
	for (size_t i = 0; i < want->syscalls.n; i++)
		list_add(&f->want.syscalls, &g->arena,
			 arena_strdup(&g->arena, want->syscalls.item[i]));
	f->want.deny = SECCOMP_DENY_NOTIFY;
	if (filters_build(&f->want, &f->filter, err) == 0) {
		without_listener(&f->filter, &f->without_listener);
	} else {
		/* an old kernel cannot name what it refuses */
		f->want.deny = SECCOMP_DENY_ERRNO;
		if (filters_build(&f->want, &f->without_listener, err) < 0) {
			free(f);
			return -1;
		}
	}
	f->next = g->filters;
	g->filters = f;
	*ret = f;
	return 0;
}

void filters_release(struct gate *g)
{
	while (g->filters) {
		struct gate_filter *f = g->filters;

		g->filters = f->next;
		seccomp_filter_release(&f->filter);
		seccomp_filter_release(&f->without_listener);
		free(f);
	}
}

/* ---- the filter of a request ---- */

/*
 * Where the kernel has no right for socket files, each connection is judged,
 * those of the network as well: a filter cannot tell them apart. With single
 * ports that only the kernel watches, it must see who connects.
 */
static enum sockets_held choose_sockets(const struct prepared *p)
{
	if (p->policy.unix_own == POLICY_UNIX_NONE)
		return SOCKETS_NONE;
	if (p->gate->landlock_abi >= LANDLOCK_ABI_UNIX ||
	    p->policy.net == POLICY_NET_PORTS)
		return SOCKETS_PLAIN;
	return SOCKETS_JUDGED;
}

/* The filter of a child that has no pairs either. */
static void refuse_pairs(struct prepared *p, struct sock_fprog *f,
			 uint32_t deny)
{
	struct sock_filter pairs[SOCKETS_INSNS];
	size_t n = sockets_filter(SOCKETS_NONE, deny, pairs);
	struct sock_filter *out = ARENA_ARRAY(&p->arena, struct sock_filter,
					      COMPACT_HEAD + n + f->len);

	if (!f->len)
		return;
	n = compact_prepend(pairs, n, SECCOMP_ARCH, f, out);
	*f = (struct sock_fprog){(unsigned short)n, out};
}

/* Without a listener nothing can be recorded, and the start says so. */
static void watch_calls(struct prepared *p)
{
	const struct gate_policy *asked = p->request->policy;
	struct sock_fprog watched;

	p->asked_records = p->request->record;
	if (asked && asked->record_exec)
		p->asked_records |= GATE_RECORD_EXEC;
	/* rules of programs hold for every exec of the tree, and those that
	   are refused are named */
	p->watches = p->asked_records | GATE_RECORD_EXEC |
		     (p->n_unseen ? GATE_RECORD_LOOKS : 0U);
	/* no program can know the cookie; guesses are watched each time */
	if (p->for_start && p->watches == GATE_RECORD_EXEC &&
	    getrandom(&p->launch.exec_cookie, sizeof(p->launch.exec_cookie),
		      GRND_NONBLOCK) < 0)
		p->launch.exec_cookie = 0;
	if (p->watches && p->launch.filter.len &&
	    watch_filter(&p->launch.filter, p->watches, p->launch.exec_cookie,
			 p->sockets, &p->arena, &watched)) {
		p->launch.filter = watched;
		return;
	}
	p->watches = 0;
	if (p->sockets == SOCKETS_NONE)
		refuse_pairs(p, &p->launch.filter, SECCOMP_RET_USER_NOTIF);
	else
		p->sockets = SOCKETS_PLAIN;
}

/*
 * Only the filter can keep a child that stays root from changing modes, and
 * it cannot tell files apart: where something may be written, programs such
 * as git must be able to change modes.
 */
static bool keeps_attributes(const struct prepared *p)
{
	return !p->own_view && !p->id.uid && !p->policy.user &&
	       !p->policy.write.n && !p->policy.write_only.n;
}

int prepare_filter(struct prepared *p, struct err *err)
{
	const struct gate_filter *f;
	struct seccomp_want want;

	p->keep_attributes = keeps_attributes(p);
	seccomp_want_init(&want, &p->policy);
	p->sockets = choose_sockets(p);
	want.net_unix = p->sockets == SOCKETS_PLAIN &&
			p->gate->landlock_abi >= LANDLOCK_ABI_UNIX;
	want.ipc_namespace = p->own_view;
	want.keep_attributes = p->keep_attributes;
	want.memfd_noexec_sysctl = p->own_view && p->gate->ns.memfd_noexec;
	if (find_filter(p->gate, &want, &f, err) < 0)
		return -1;
	p->launch.filter = (struct sock_fprog){f->filter.n, f->filter.insn};
	p->launch.filter_errno = (struct sock_fprog){f->without_listener.n,
						     f->without_listener.insn};
	if (p->sockets == SOCKETS_NONE)
		refuse_pairs(p, &p->launch.filter_errno,
			     SECCOMP_RET_ERRNO | EPERM);
	watch_calls(p);
	p->launch.asks_sockets =
		p->sockets == SOCKETS_JUDGED && policy_has_own_net(&p->policy);
	/* `require` of notify: better no start than refusals without a name */
	if (p->policy.mechanisms_required & POLICY_BIT(MECHANISM_NOTIFY) &&
	    f->filter.n)
		p->launch.filter_errno.len = 0;
	return 0;
}
