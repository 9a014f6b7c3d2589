#include "gate/prepare/prepare_cwd.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/place.h"
#include "gate/prepare/prepare_view.h"

/*
 * A grant shows its folder and what is beneath. One that was asked for shows
 * the folders above, too: relative names lead to it from there.
 */
static bool is_shown(const struct prepared *p, const char *dir)
{
	/* HOME may lie in a shared /tmp */
	bool is_hidden = view_hides(p, dir);

	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if ((!is_hidden && place_covers(g->path, dir)) ||
		    (g->what & GRANT_ASKED && place_covers(dir, g->path)))
			return true;
	}
	if (p->cwd_shown || is_hidden)
		return p->cwd_shown;
	return grants_cover(&p->gate->base, dir, ~0U) ||
	       (grants_near_base(dir) && gate_base_covers(p->gate, dir, ~0U));
}

/* Note a folder that is not seen: another one, private and empty, stands in
   its place or is where the child starts instead. */
static void note_hidden(struct prepared *p, const char *asked)
{
	struct launch *l = &p->launch;

	if (!view_hides(p, l->cwd))
		return;
	p->hidden_cwd = arena_strdup(&p->arena, asked);
	l->counted = l->cwd;
}

/* Look at the end into the private folder of the start, and into HOME: what is
   written there is lost, too. */
static void choose_counted(struct prepared *p)
{
	struct launch *l = &p->launch;
	bool has_home = p->home && view_hides(p, p->home);

	if (!l->counted && has_home)
		l->counted = p->home;
	else if (has_home && p->own_view && strcmp(l->counted, p->home) != 0)
		p->counted_home = p->home;
	/* without a view the gate itself looks into its folder */
	if (l->counted && p->own_view)
		l->left = p->home && strcmp(l->counted, p->home) == 0
				  ? LEFT_IN_HOME
				  : LEFT_IN_FOLDER;
}

/* The folder without links; NULL where there is none. */
static const char *real_folder(struct gate *g, const char *cwd)
{
	struct gate_seen *seen = &g->seen;
	char real[PATH_MAX];

	if (seen->cwd && strcmp(seen->cwd, cwd) == 0)
		return seen->real;
	if (!realpath(cwd, real))
		return NULL;
	seen->cwd = gate_keep_text(g, cwd);
	seen->real = gate_keep_text(g, real);
	return seen->real;
}

int prepare_cwd(struct prepared *p, struct err *err)
{
	const char *cwd = p->request->cwd;
	const char *real = cwd ? real_folder(p->gate, cwd) : NULL;

	p->launch.cwd = p->home ? p->home : "/";
	if (real && is_shown(p, real))
		p->launch.cwd = real;
	else if (cwd && p->request->cwd_required)
		return err_set(err, ERR_POLICY, "cwd %s: %s", cwd,
			       access(cwd, F_OK) < 0
				       ? "it does not exist"
				       : "it is not granted; to start there "
					 "add it to `read` (--read)");
	if (real)
		note_hidden(p, real);
	choose_counted(p);
	return 0;
}
