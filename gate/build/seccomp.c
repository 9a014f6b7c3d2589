#include "gate/build/seccomp.h"

#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "core/base/dl.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/build/compact.h"
#include "gate/build/syscall_args.h"

/* __X32_SYSCALL_BIT; libseccomp's part of the program kills from here on */
#define X32_BIT UINT32_C(0x40000000)

/* ---- the library, loaded on first use: most runs build no filter ---- */

#define LIBRARY "libseccomp.so.2"

#define LIBRARY_FUNCTIONS(X)            \
	X(seccomp_syscall_resolve_name) \
	X(seccomp_init)                 \
	X(seccomp_release)              \
	X(seccomp_attr_set)             \
	X(seccomp_rule_add_array)       \
	X(seccomp_export_bpf)

struct library {
	LIBRARY_FUNCTIONS(DL_MEMBER)
};

/* NULL when it is not installed. */
static const struct library *library(void)
{
	static const char *const names[] = {LIBRARY_FUNCTIONS(DL_NAME)};
	static struct library functions;
	static struct dl dl = DL(LIBRARY, names, functions);

	return dl_load(&dl) ? &functions : NULL;
}

static int lacks_library(struct err *err)
{
	return err_set(err, ERR_PROTECTION,
		       "a system-call filter with added names needs " LIBRARY
		       ", which is not installed: apt-get install libseccomp2");
}

static int resolve_name(const char *name)
{
	const struct library *lib = library();

	return lib ? lib->seccomp_syscall_resolve_name(name) : __NR_SCMP_ERROR;
}

/* ---- tables ---- */

enum group {
#define GROUP(id, needs_ipc_namespace, help) GROUP_##id,
#include "gate/build/syscalls.def"
};

/* Bit set of groups, as profiles.def writes it. */
#define G(id) (UINT64_C(1) << GROUP_##id)

static const uint64_t PROFILE_GROUPS[] = {
#define PROFILE(id, name, groups, help) groups,
#include "gate/policy/profiles.def"
#undef PROFILE
};

static const bool NEEDS_IPC_NAMESPACE[] = {
#define GROUP(id, needs_ipc_namespace, help) needs_ipc_namespace,
#include "gate/build/syscalls.def"
};

enum how { HOW_ALLOW, HOW_ARGS, HOW_FIXED, HOW_NEVER };

/* Texts of the tables stand in them: pointers would be fixed up at each start,
   for rows that most runs never look at. */
struct call {
	char name[SYSCALL_NAME_BYTES];
	char kinds[SYSCALL_ARGS + 1];
	enum group group;
	enum how how;
	int number; /* of the table; 0 where libseccomp knows it */
};

static const struct call CALLS[] = {
#define SYSCALL(name, group, how, number, kinds) \
	{#name, kinds, GROUP_##group, HOW_##how, number},
#include "gate/build/syscalls.def"
};

#define N_CALLS ARRAY_LEN(CALLS)

/*
 * The number on this machine; negative when the machine has no such call
 * (libseccomp gives those of other architectures negative numbers).
 */
static int call_number(const struct call *c)
{
	int nr = resolve_name(c->name);

	return nr == __NR_SCMP_ERROR && c->number ? c->number : nr;
}

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < N_CALLS; i++)
		if (strcmp(CALLS[i].name, name) == 0)
			return &CALLS[i];
	return NULL;
}

static const struct call *find_number(int nr)
{
	for (size_t i = 0; nr >= 0 && i < N_CALLS; i++)
		if (call_number(&CALLS[i]) == nr)
			return &CALLS[i];
	return NULL;
}

const char *seccomp_call_name(int nr)
{
	const struct call *c = find_number(nr);

	return c ? c->name : NULL;
}

int seccomp_call_number(const char *name)
{
	const struct call *c = find_call(name);
	int nr = c ? call_number(c) : resolve_name(name);

	return nr < 0 ? -1 : nr;
}

int seccomp_newest(void)
{
	int newest = 0;

	for (size_t i = 0; i < N_CALLS; i++) {
		int nr = call_number(&CALLS[i]);

		newest = nr > newest ? nr : newest;
	}
	return newest;
}

/* ---- names that users add ---- */

static int unknown_name(const char *name, struct err *err)
{
	const char *names[N_CALLS];
	const char *near;

	for (size_t i = 0; i < N_CALLS; i++)
		names[i] = CALLS[i].name;
	near = str_nearest(str_of(name), names, N_CALLS);
	return err_set(err, ERR_POLICY,
		       "syscalls: there is no \"%s\" on this machine%s%s%s",
		       name, near ? "; did you mean \"" : "", near ? near : "",
		       near ? "\"?" : "");
}

static int check_name(const char *name, struct err *err)
{
	const struct call *c = find_call(name);

	if (c && c->how == HOW_NEVER)
		return err_set(err, ERR_POLICY,
			       "syscalls: \"%s\" cannot be allowed: a filter "
			       "cannot see what it does; programs fall back "
			       "to older calls",
			       name);
	if (c && c->how == HOW_FIXED)
		return err_set(err, ERR_POLICY,
			       "syscalls: \"%s\" is allowed by its arguments, "
			       "and naming it does not lift that%s",
			       name,
			       c->group == GROUP_NET ? "; use `net`" : "");
	if (!library())
		return lacks_library(err);
	if (seccomp_call_number(name) < 0)
		return unknown_name(name, err);
	return 0;
}

int seccomp_check_names(const struct strlist *names, struct err *err)
{
	for (size_t i = 0; i < names->n; i++)
		if (check_name(names->item[i], err) < 0)
			return -1;
	return 0;
}

/* ---- building ---- */

void seccomp_want_init(struct seccomp_want *want, const struct policy *p)
{
	*want = (struct seccomp_want){
		.profile = p->profile,
		.net = p->net,
		.net_udp = p->net_udp,
		.syscalls = p->syscalls,
	};
}

static void ctx_freep(scmp_filter_ctx *ctx)
{
	if (*ctx)
		library()->seccomp_release(*ctx);
}

struct build {
	const struct library *lib;
	scmp_filter_ctx ctx;
	const struct seccomp_want *want;
	struct err *err;
};

static bool in_profile(const struct seccomp_want *want, enum group g)
{
	return (want->ipc_namespace || !NEEDS_IPC_NAMESPACE[g]) &&
	       (!want->keep_attributes ||
		(g != GROUP_ATTR && g != GROUP_OWNER)) &&
	       PROFILE_GROUPS[want->profile] & UINT64_C(1) << g;
}

static bool holds(const struct seccomp_want *w, enum arg_when when)
{
	bool net = w->net != POLICY_NET_NONE, named = w->net_unix;
	bool seal = w->profile == PROFILE_STRICT || !w->memfd_noexec_sysctl;
	const bool is[] = {
		[WHEN_ALWAYS] = true,
		[WHEN_NET] = net,
		[WHEN_UDP] = net && w->net_udp,
		[WHEN_NOT_PORTS] = w->net != POLICY_NET_PORTS,
		[WHEN_UNIX] = named,
		[WHEN_NO_UNIX] = !named,
		[WHEN_SEAL] = seal,
		[WHEN_NO_SEAL] = !seal,
		[WHEN_OPEN] = w->profile == PROFILE_OPEN,
		[WHEN_NOT_OPEN] = w->profile != PROFILE_OPEN,
	};

	return is[when];
}

static int add_rule(struct build *b, uint32_t action, const char *name, int nr,
		    const struct scmp_arg_cmp *cmp, unsigned n)
{
	int r = b->lib->seccomp_rule_add_array(b->ctx, action, nr, n, cmp);

	if (r < 0)
		return err_sys(b->err, -r, "system-call filter: rule for %s",
			       name);
	return 0;
}

static int add_by_args(struct build *b, const struct call *c, int nr)
{
	for (size_t i = 0; i < ARRAY_LEN(ARG_RULES); i++) {
		const struct arg_rule *rule = &ARG_RULES[i];
		struct scmp_arg_cmp cmp[ARG_CMP_MAX];
		unsigned n = 0;

		if (strcmp(rule->call, c->name) != 0 ||
		    !holds(b->want, rule->when))
			continue;
		for (; n < ARG_CMP_MAX && rule->cmp[n].mask; n++)
			cmp[n] = (struct scmp_arg_cmp){
				.arg = rule->cmp[n].arg,
				.op = SCMP_CMP_MASKED_EQ,
				.datum_a = rule->cmp[n].mask,
				.datum_b = rule->cmp[n].value,
			};
		if (add_rule(b, SCMP_ACT_ALLOW, c->name, nr, cmp, n) < 0)
			return -1;
	}
	return 0;
}

static int add_call(struct build *b, const struct call *c)
{
	bool named = list_has(&b->want->syscalls, c->name);
	uint32_t action = SCMP_ACT_ALLOW;
	int nr = call_number(c);

	if (nr < 0)
		return 0; /* another architecture's */
	if (!named && c->group == GROUP_HIDDEN)
		action = SCMP_ACT_ERRNO(ENOSYS);
	else if (!named && !in_profile(b->want, c->group))
		return 0;
	else if (!named && c->how != HOW_ALLOW && c->how != HOW_NEVER)
		return add_by_args(b, c, nr);
	return add_rule(b, action, c->name, nr, NULL, 0);
}

static int add_all(struct build *b)
{
	const struct strlist *names = &b->want->syscalls;

	if (seccomp_check_names(names, b->err) < 0)
		return -1;
	for (size_t i = 0; i < N_CALLS; i++)
		if (add_call(b, &CALLS[i]) < 0)
			return -1;
	/* names that have no row, but that libseccomp knows */
	for (size_t i = 0; i < names->n; i++)
		if (!find_call(names->item[i]) &&
		    add_rule(b, SCMP_ACT_ALLOW, names->item[i],
			     seccomp_call_number(names->item[i]), NULL, 0) < 0)
			return -1;
	return 0;
}

/*
 * Numbers above the newest that has a row get ENOSYS, as from a kernel of
 * that age: EPERM there breaks the fall-backs of C libraries. These stand
 * before libseccomp's program, which goes on unchanged for everything else:
 * other architectures, and numbers with the x32 bit or above, are its own.
 */
static int export_filter(struct build *b, struct seccomp_filter *ret)
{
	const struct sock_filter prefix[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_ARCH, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)seccomp_newest(),
			 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (ENOSYS & SECCOMP_RET_DATA)),
	};
	AUTO(fd_closep) int fd = memfd_create("filter", MFD_CLOEXEC);
	AUTO(mem_freep) struct sock_filter *insn = NULL;
	struct stat st;
	size_t n;
	int r;

	if (fd < 0)
		return err_sys(b->err, errno, "system-call filter: memory");
	r = b->lib->seccomp_export_bpf(b->ctx, fd);
	if (r < 0)
		return err_sys(b->err, -r, "system-call filter: export");
	if (fstat(fd, &st) < 0)
		return err_sys(b->err, errno, "system-call filter: size");
	n = ARRAY_LEN(prefix) + (size_t)st.st_size / sizeof(*insn);
	if (n > BPF_MAXINSNS)
		return err_set(b->err, ERR_LIMIT,
			       "system-call filter: %zu instructions, the "
			       "kernel takes %d",
			       n, BPF_MAXINSNS);
	insn = mem_alloc(n * sizeof(*insn));
	memcpy(insn, prefix, sizeof(prefix));
	if (pread(fd, insn + ARRAY_LEN(prefix), (size_t)st.st_size, 0) !=
	    (ssize_t)st.st_size)
		return err_sys(b->err, EIO, "system-call filter: read back");
	*ret = (struct seccomp_filter){insn, (uint16_t)n};
	insn = NULL;
	return 0;
}

static int set_attr(struct build *b, enum scmp_filter_attr attr, uint32_t value)
{
	int r = b->lib->seccomp_attr_set(b->ctx, attr, value);

	if (r < 0)
		return err_sys(b->err, -r, "system-call filter: attribute %d",
			       (int)attr);
	return 0;
}

int seccomp_build_plain(const struct seccomp_want *want,
			struct seccomp_filter *ret_filter, struct err *err)
{
	bool notify = want->deny == SECCOMP_DENY_NOTIFY;
	uint32_t deny = notify ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EPERM);
	const struct library *lib = library();
	AUTO(ctx_freep)
	scmp_filter_ctx ctx = lib ? lib->seccomp_init(deny) : NULL;
	struct build b = {.lib = lib, .ctx = ctx, .want = want, .err = err};

	if (!lib)
		return lacks_library(err);
	if (!ctx)
		return err_set(err, ERR_PROTECTION,
			       "system-call filter: this kernel lacks %s",
			       notify ? "the listener (Linux 5.5)"
				      : "seccomp filters");
	/* 2: a binary tree, a third of the time to install */
	if (set_attr(&b, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0 ||
	    set_attr(&b, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
		return -1;
	if (add_all(&b) < 0)
		return -1;
	return export_filter(&b, ret_filter);
}

int seccomp_build(const struct seccomp_want *want,
		  struct seccomp_filter *ret_filter, struct err *err)
{
	struct sock_filter *insn = NULL;
	size_t n;

	if (seccomp_build_plain(want, ret_filter, err) < 0)
		return -1;
	n = compact_filter(ret_filter->insn, ret_filter->n, SECCOMP_ARCH,
			   (uint32_t)seccomp_newest(), &insn);
	if (n) {
		free(ret_filter->insn);
		*ret_filter = (struct seccomp_filter){insn, (uint16_t)n};
	}
	return 0;
}

void seccomp_filter_release(struct seccomp_filter *f)
{
	free(f->insn);
	*f = (struct seccomp_filter)SECCOMP_FILTER_INIT;
}

/* ---- the wants of the table ---- */

/* Single ports come without datagrams, everything else with them. */
static const struct {
	enum policy_net net;
	bool udp, named;
} NETS[N_VARIANT_NETS] = {
	{POLICY_NET_NONE, false, false}, {POLICY_NET_PORTS, false, false},
	{POLICY_NET_ALL, true, false},	 {POLICY_NET_NONE, false, true},
	{POLICY_NET_PORTS, false, true}, {POLICY_NET_ALL, true, true},
};

/* The sysctl comes with an own view, whose mounts are read-only. */
static const struct {
	bool ipc, keeps_attributes, noexec;
} VIEWS[N_VARIANT_VIEWS] = {
	{false, false, false},
	{false, true, false},
	{true, false, false},
	{true, false, true},
};

void variant_want(int variant, struct seccomp_want *ret)
{
	int view = variant % N_VARIANT_VIEWS, rest = variant / N_VARIANT_VIEWS;
	int net = rest % N_VARIANT_NETS;

	assert(variant >= 0 && variant < N_VARIANTS);
	*ret = (struct seccomp_want){
		.profile = (enum policy_profile)(rest / N_VARIANT_NETS),
		.net = NETS[net].net,
		.net_udp = NETS[net].udp,
		.net_unix = NETS[net].named,
		.ipc_namespace = VIEWS[view].ipc,
		.keep_attributes = VIEWS[view].keeps_attributes,
		.memfd_noexec_sysctl = VIEWS[view].noexec,
		.deny = SECCOMP_DENY_NOTIFY,
	};
}

/* ---- what would allow it ---- */

/* An ordinary TCP or UDP socket, which `net` governs. */
static bool is_inet_socket(const struct seccomp_data *d)
{
	uint32_t family = (uint32_t)d->args[0];
	uint32_t type = (uint32_t)d->args[1] & TYPE;
	uint32_t proto = (uint32_t)d->args[2];

	if (family != AF_INET && family != AF_INET6)
		return false;
	if (type == SOCK_STREAM)
		return proto == 0 || proto == IPPROTO_TCP;
	return type == SOCK_DGRAM && (proto == 0 || proto == IPPROTO_UDP);
}

void seccomp_allow(const struct seccomp_data *data, const char **ret_key,
		   const char **ret_value)
{
	const struct call *c;

	if (!library() || data->arch != SECCOMP_ARCH)
		return;
	c = find_number(data->nr);
	if (!c)
		return;
	if (c->group == GROUP_NET && is_inet_socket(data)) {
		*ret_key = "net";
		*ret_value = "all";
	} else if (c->how == HOW_ALLOW || c->how == HOW_ARGS) {
		*ret_key = "syscalls";
		*ret_value = c->name;
	}
}

/* ---- a refused call as people read it ---- */

/* The longest text of a table and its NUL. */
#define SHOW_BYTES 28

/* Texts in place: see struct call of seccomp.c. */
struct value_name {
	char kind;
	uint32_t value;
	char name[SHOW_BYTES];
};

static const struct value_name NAMES[] = {
#define SHOW_NAME(kind, value, name) {kind, (uint32_t)(value), name},
#include "gate/build/syscall_show.def"
};

static const char *name_of(char kind, uint32_t value)
{
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		if (NAMES[i].kind == kind && NAMES[i].value == value)
			return NAMES[i].name;
	return NULL;
}

/* Named bits joined by |, what is left over in hexadecimal. */
static void add_bits(struct buf *out, char kind, uint32_t value)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		const struct value_name *n = &NAMES[i];

		if (n->kind != kind || !(value & n->value))
			continue;
		buf_addf(out, "%s%s", any ? "|" : "", n->name);
		value &= ~n->value;
		any = true;
	}
	if (value || !any)
		buf_addf(out, "%s%#x", any ? "|" : "", value);
}

static void add_arg(struct buf *out, char kind, uint64_t arg)
{
	uint32_t low = (uint32_t)arg;
	const char *name;

	switch (kind) {
	case '.':
		buf_adds(out, "...");
		break;
	case 'd':
		buf_addf(out, "%d", (int)low);
		break;
	case 'o':
		buf_addf(out, "0%o", low);
		break;
	case 'c':
		/* the lowest byte is the signal that the end sends */
		add_bits(out, kind, low & ~UINT32_C(0xff));
		break;
	default:
		name = name_of(kind, kind == 't' ? low & TYPE : low);
		if (name)
			buf_adds(out, name);
		else
			buf_addf(out, "%#x", kind == 't' ? low & TYPE : low);
		if (kind == 't' && low & SOCK_CLOEXEC)
			buf_adds(out, "|SOCK_CLOEXEC");
		if (kind == 't' && low & SOCK_NONBLOCK)
			buf_adds(out, "|SOCK_NONBLOCK");
	}
}

void seccomp_describe(const struct seccomp_data *data, struct buf *out)
{
	const struct call *c = find_number(data->nr);
	const char *kinds = c ? c->kinds : "";
	size_t n = *kinds ? strlen(kinds) : ARRAY_LEN(data->args);

	if (c)
		buf_addf(out, "%s(", c->name);
	else
		buf_addf(out, "syscall_%d(", data->nr);
	/* of a call without kinds all in hexadecimal, without zeroes at the
	   end */
	while (!*kinds && n && !data->args[n - 1])
		n--;
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_adds(out, ", ");
		if (*kinds)
			add_arg(out, kinds[i], data->args[i]);
		else
			buf_addf(out, "%#llx",
				 (unsigned long long)data->args[i]);
	}
	buf_addc(out, ')');
}
