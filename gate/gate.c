#include "gate/gate.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/policy/policy.h"
#include "gate/build/filters.h"
#include "gate/build/seccomp.h"
#include "gate/prepare/inner.h"

/* Size of a private place; memory is taken only for what is written. */
#define PLACE_BYTES (UINT64_C(512) << 20)

/* ---- the private places of this machine ---- */

bool gate_is_place(const struct gate *g, const char *path)
{
	for (size_t i = 0; i < g->n_places; i++)
		if (strcmp(g->place[i].path, path) == 0)
			return true;
	return false;
}

/* A folder at its own path, not a link to another one. */
static void add_place(struct gate *g, const char *path, unsigned mode)
{
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    gate_is_place(g, path))
		return;
	g->place[g->n_places++] = (struct setup_place){
		.path = path, .mode = mode, .bytes = PLACE_BYTES};
}

/* HOME must not be a folder that the system itself lives in. */
static bool is_private_home(const struct gate *g, const char *path)
{
	static const char *const system[] = {"/proc", "/dev", "/sys", "/usr"};

	for (size_t i = 0; i < g->base.n; i++)
		if (place_covers(path, g->base.grant[i].path) ||
		    place_covers(g->base.grant[i].path, path))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(system); i++)
		if (place_covers(path, system[i]) ||
		    place_covers(system[i], path))
			return false;
	return true;
}

/* NULL: there is none, or it is none that could be anybody's own. */
static const char *real_home(struct gate *g, const char *home)
{
	AUTO(mem_freep)
	char *real = home && home[0] == '/' ? realpath(home, NULL) : NULL;
	struct stat st;

	if (!real || lstat(real, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    !is_private_home(g, real))
		return NULL;
	return arena_strdup(&g->arena, real);
}

static void find_places(struct gate *g)
{
	const char *home = getenv("HOME");
	const char *passwd;

	add_place(g, "/tmp", 01777);
	add_place(g, "/var/tmp", 01777);
	add_place(g, "/dev/shm", 01777);
	g->home_path = real_home(g, home);
	if (g->home_path) {
		g->home = arena_strdup(&g->arena, home);
		add_place(g, g->home_path, 0700);
		list_add(&g->homes, &g->arena, g->home_path);
	}
	/* $HOME is what the caller says, and keys lie where they lie */
	passwd = real_home(g, identity_home(g));
	if (passwd && !allow_has(&g->homes, passwd))
		list_add(&g->homes, &g->arena, passwd);
}

void gate_probe(struct gate *g)
{
	if (g->probed)
		return;
	g->probed = true;
	ns_probe(g->place, g->n_places, g->config.state_dir, &g->ns);
}

void gate_probe_again(struct gate *g)
{
	ns_forget(g->config.state_dir);
	g->probed = g->has_facts = g->view_failed = false;
	gate_probe(g);
}

/* ---- the policy ---- */

int gate_policy_check(const struct gate_policy *p, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct policy ignored;

	if (policy_resolve(p, NULL, &arena, &ignored, err) < 0)
		return -1;
	return seccomp_check_names(&p->syscalls, err);
}

/* ---- the gate ---- */

/* A path by where it really lies, as far as it exists. */
static const char *really(const char *path, struct arena *arena)
{
	size_t n = strlen(path);

	for (; n > 1; n--) {
		AUTO(mem_freep) char *real = NULL;

		if (path[n] && path[n] != '/')
			continue;
		real = realpath(arena_strndup(arena, path, n), NULL);
		if (real)
			return arena_printf(arena, "%s%s", real, path + n);
	}
	return path;
}

/* Grants are known by where they lie, so what is protected must be, too. */
static void protect_really(struct gate *g, struct strlist *list)
{
	struct strlist all = {NULL, 0};

	for (size_t i = 0; i < list->n; i++) {
		const char *path = list->item[i];
		const char *real = really(path, &g->arena);

		list_add(&all, &g->arena, path);
		if (strcmp(real, path) != 0)
			list_add(&all, &g->arena, real);
	}
	*list = all;
}

/* Grants have no links in them. */
static void lie_really(struct gate *g, struct strlist *list)
{
	struct strlist all = {NULL, 0};

	for (size_t i = 0; i < list->n; i++)
		list_add(&all, &g->arena, really(list->item[i], &g->arena));
	*list = all;
}

/* A filter that cannot be read is refused for that, where one could be had. */
static int check_filter(struct err *err)
{
	if (kernel_seccomp(SECCOMP_SET_MODE_FILTER, 0, NULL) < 0 &&
	    errno == EFAULT)
		return 0;
	if (errno == ENOSYS || errno == EINVAL)
		return err_set(err, ERR_PROTECTION,
			       "this kernel has no system-call filter "
			       "(CONFIG_SECCOMP_FILTER, Linux 3.17); nothing "
			       "is started without one");
	return err_set(err, ERR_PROTECTION,
		       "no system-call filter can be installed here: %s; "
		       "nothing is started without one: start matins outside "
		       "of the sandbox that forbids it",
		       strerror(errno));
}

/* What was opened is known by where it lies, which only /proc tells. */
static int check_proc(struct err *err)
{
	if (access("/proc/self/fd", F_OK) == 0)
		return 0;
	return err_set(err, ERR_PROTECTION,
		       "there is no /proc here, by which opened files are "
		       "known; mount -t proc proc /proc");
}

int gate_new(const struct gate_config *config, struct gate **ret_gate,
	     struct err *err)
{
	struct gate *g;

	if (check_filter(err) < 0 || check_proc(err) < 0)
		return -1;
	g = mem_zalloc(sizeof(*g));
	g->config = *config;
	g->private_dirs = (struct private_dirs)PRIVATE_INIT;
	g->base = (struct grants)GRANTS_INIT(&g->arena);
	g->is_root = geteuid() == 0;
	g->landlock_abi = landlock_abi();
	if (grants_open_base(&g->base, err) < 0) {
		gate_free(g);
		return -1;
	}
	find_places(g);
	protect_really(g, &g->config.protect);
	protect_really(g, &g->config.absent);
	lie_really(g, &g->config.hide);
	lie_really(g, &g->config.written);
	if (g->landlock_abi < 1)
		gate_probe(g);
	if (g->landlock_abi < 1 && !g->ns.available) {
		err_set(err, ERR_PROTECTION,
			"neither Landlock (%s) nor namespaces (%s; %s)",
			mechanism_remedy(MECHANISM_LANDLOCK), g->ns.why,
			ns_remedy(&g->ns));
		gate_free(g);
		return -1;
	}
	*ret_gate = g;
	return 0;
}

static void free_filters(struct gate *g)
{
	while (g->filters) {
		struct gate_filter *f = g->filters;

		g->filters = f->next;
		seccomp_filter_release(&f->filter);
		seccomp_filter_release(&f->without_listener);
		free(f);
	}
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	while (g->children)
		gate_child_end(g->children);
	free_filters(g);
	for (size_t i = 0; i < g->n_idmaps; i++)
		fd_closep(&g->idmap[i].fd);
	grants_release(&g->base);
	cgroups_close(&g->cgroups);
	private_close(&g->private_dirs);
	arena_release(&g->arena);
	free(g);
}

/* ---- filters, each built once ---- */

static bool same_want(const struct seccomp_want *a,
		      const struct seccomp_want *b)
{
	if (a->profile != b->profile || a->net != b->net ||
	    a->net_udp != b->net_udp || a->net_unix != b->net_unix ||
	    a->ipc_namespace != b->ipc_namespace ||
	    a->memfd_noexec_sysctl != b->memfd_noexec_sysctl ||
	    a->syscalls.n != b->syscalls.n)
		return false;
	for (size_t i = 0; i < a->syscalls.n; i++)
		if (strcmp(a->syscalls.item[i], b->syscalls.item[i]) != 0)
			return false;
	return true;
}

/*
 * The same filter for a task that cannot have a listener: refused calls give
 * EPERM at once. Only the action differs, so nothing is built again.
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

int gate_filter(struct gate *g, const struct seccomp_want *want,
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

const char *gate_text(struct gate *g, const char *text)
{
	for (size_t i = 0; i < g->texts.n; i++)
		if (strcmp(g->texts.item[i], text) == 0)
			return g->texts.item[i];
	list_add(&g->texts, &g->arena, arena_strdup(&g->arena, text));
	return g->texts.item[g->texts.n - 1];
}

/* ---- questions ---- */

int gate_check(struct gate *gate, const struct gate_request *request,
	       struct err *err)
{
	struct prepared p;
	int r = prepare_by(gate, request, false, prepare_until(request), &p,
			   err);

	prepared_release(&p);
	return r;
}

int gate_resolve(struct gate *gate, const struct gate_request *request,
		 struct gate_program *ret, struct err *err)
{
	struct prepared p;
	int r = prepare_by(gate, request, false, prepare_until(request), &p,
			   err);

	if (r == 0) {
		const struct resolved *o = &p.program;

		*ret = (struct gate_program){
			.path = mem_strdup(o->file[0].path)};
		if (o->file[0].is_script)
			ret->interpreter = mem_strdup(o->file[o->exec].path);
		if (p.installation)
			ret->installation = mem_strdup(p.installation);
	}
	prepared_release(&p);
	return r;
}

void gate_program_release(struct gate_program *p)
{
	free(p->path);
	free(p->interpreter);
	free(p->installation);
	*p = (struct gate_program){.path = NULL};
}

const struct gate_fact *gate_protections(struct gate *g, size_t *ret_n)
{
	*ret_n = N_GUARANTEES;
	if (!g->has_facts) {
		struct prepared p;

		prepare_default(g, &p);
		for (int i = 0; i < N_GUARANTEES; i++) {
			g->facts[i] = p.facts[i];
			g->facts[i].how = gate_text(g, p.facts[i].how);
			if (p.facts[i].remedy)
				g->facts[i].remedy =
					gate_text(g, p.facts[i].remedy);
		}
		prepared_release(&p);
		g->has_facts = true;
	}
	return g->facts;
}
