#include "gate/prepare/prepare_hidden.h"

#include <unistd.h>

#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/prepare/split.h"

/* Files that a trace leaves shut. */
static const struct strlist *closed_of(const struct prepared *p)
{
	static const struct strlist none;

	return p->request->policy ? &p->request->policy->closed : &none;
}

static const char *hidden_around(const struct prepared *p, const char *path)
{
	const struct strlist *hide = &p->gate->config.hide;

	for (size_t i = 0; i < hide->n; i++)
		if (place_covers(hide->item[i], path))
			return hide->item[i];
	return NULL;
}

static bool is_above(const struct prepared *p, const char *path)
{
	const struct strlist *lists[] = {&p->gate->config.hide, closed_of(p)};

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < lists[k]->n; i++)
			if (place_covers(path, lists[k]->item[i]))
				return true;
	return false;
}

/* Refuse a path of `read` or `write`; drop a grant that has other reasons. */
static int judge(struct prepared *p, struct grant *g, struct err *err)
{
	const char *around = hidden_around(p, g->path);

	if (!around || !(g->what & GRANT_ACCESS))
		return 0;
	if (g->what & (GRANT_BY(READ) | GRANT_BY(WRITE)))
		return err_set(err, ERR_POLICY,
			       "%s: %s holds what matins keeps for itself "
			       "(%s), which no program may see",
			       g->what & GRANT_BY(WRITE) ? "write" : "read",
			       g->path, around);
	prepared_cap(p,
		     "\"%s\": dropped; what matins keeps for itself is not "
		     "for programs to see",
		     g->path);
	g->what = 0;
	return 0;
}

/* ---- in a view ---- */

static int hide_in_view(struct prepared *p, struct err *err)
{
	for (size_t i = 0; i < p->hidden.n; i++) {
		const char *path = p->hidden.item[i];

		/* a folder that is made later would be seen */
		if (prepared_make_folder(p, path, err) < 0)
			return -1;
		if (access(path, F_OK) == 0)
			*prepared_add_place(p, path) =
				(struct setup_place){.path = path,
						     .mode = 0555,
						     .is_readonly = true};
	}
	return 0;
}

/* ---- without a view ---- */

static enum split_entry judge_entry(const struct prepared *p, const char *path,
				    UNUSED unsigned *what)
{
	if (hidden_around(p, path) || allow_has(closed_of(p), path))
		return SPLIT_LEAVE_OUT;
	return is_above(p, path) ? SPLIT_OPEN : SPLIT_GRANT;
}

static int hide_from_rules(struct prepared *p, struct err *err)
{
	static const struct split split = {"hidden", judge_entry};
	size_t n = p->grants.n;

	for (size_t i = 0; i < n; i++) {
		struct grant g = p->grants.grant[i];

		/* an entry of a folder that was split before */
		if (allow_has(closed_of(p), g.path))
			p->grants.grant[i].what &= ~(unsigned)GRANT_ACCESS;
		if (!(g.what & GRANT_ACCESS) || !S_ISDIR(g.st.st_mode) ||
		    !is_above(p, g.path))
			continue;
		p->grants.grant[i].what &= ~(unsigned)GRANT_ACCESS;
		if (split_folder(p, &split, g.path, g.what, err) < 0)
			return err_wrap(err, "grants");
	}
	return 0;
}

int prepare_hidden(struct prepared *p, struct err *err)
{
	const struct strlist *hide = &p->gate->config.hide;

	for (size_t i = 0; i < p->grants.n; i++)
		if (judge(p, &p->grants.grant[i], err) < 0)
			return -1;
	for (size_t i = 0; i < hide->n; i++)
		if (grants_cover(&p->grants, hide->item[i], GRANT_ACCESS))
			list_add(&p->hidden, &p->arena, hide->item[i]);
	if (!p->hidden.n && !closed_of(p)->n)
		return 0;
	if (p->own_view) {
		p->view.shut = *closed_of(p);
		return hide_in_view(p, err);
	}
	return hide_from_rules(p, err);
}
