#include "gate/gate.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "gate/build/seccomp.h"
#include "gate/gate_child.h"
#include "gate/prepare/places.h"
#include "gate/prepare/prepare.h"
#include "gate/prepare/prepare_filter.h"
#include "gate/prepare/probe.h"

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

/* Resolve the links of a path, as far as it exists. */
static const char *resolve_existing(const char *path, struct arena *arena)
{
	for (size_t n = strlen(path); n > 1; n--) {
		const char *real;

		if (path[n] && path[n] != '/')
			continue;
		real = resolve_links(arena_strndup(arena, path, n), arena);
		if (real)
			return arena_printf(arena, "%s%s", real, path + n);
	}
	return path;
}

/*
 * Grants have no links in them, so the paths that they are compared with must
 * have none.
 *
 * keep  keep the paths as they are named, too
 */
static void resolve_list(struct gate *g, struct strlist *list, bool keep)
{
	struct strlist all = {NULL, 0};

	for (size_t i = 0; i < list->n; i++) {
		const char *path = list->item[i];
		const char *real = resolve_existing(path, &g->arena);

		if (keep)
			list_add(&all, &g->arena, path);
		if (!keep || strcmp(real, path) != 0)
			list_add(&all, &g->arena, real);
	}
	*list = all;
}

/* Probe: with a NULL program the kernel answers EFAULT if filters are
 * supported. */
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

/* Opened files are known by their paths, which only /proc tells. */
static int check_proc(struct err *err)
{
	if (access("/proc/self/fd", F_OK) == 0)
		return 0;
	return err_set(err, ERR_PROTECTION,
		       "/proc is not mounted, and opened files are known by "
		       "it; mount -t proc proc /proc");
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
	places_find(g);
	resolve_list(g, &g->config.protect, true);
	resolve_list(g, &g->config.absent, true);
	resolve_list(g, &g->config.hide, false);
	resolve_list(g, &g->config.written, false);
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

void gate_free(struct gate *g)
{
	if (!g)
		return;
	while (g->children)
		gate_child_end(g->children);
	filters_release(g);
	for (size_t i = 0; i < g->n_idmaps; i++)
		fd_closep(&g->idmap[i].fd);
	grants_release(&g->base);
	cgroups_close(&g->cgroups);
	private_close(&g->private_dirs);
	arena_release(&g->arena);
	free(g);
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
		gate_keep_facts(g, p.facts, g->facts);
		prepared_release(&p);
		g->has_facts = true;
	}
	return g->facts;
}
