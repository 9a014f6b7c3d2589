/*
 * What no child sees, whatever is granted: the folders of kept tokens, where
 * the key that opens them may lie, too. An empty folder is put above each in
 * the view. Without a view a grant above becomes grants of its entries but
 * that one, since no Landlock rule takes away what another gives.
 */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/prepare/inner.h"

/* Entries of one folder that can be granted one by one. */
#define SPLIT_ENTRIES 1024
#define ACCESS \
	((unsigned)(GRANT_READ | GRANT_WRITE | GRANT_WRITE_ONLY | GRANT_EXEC))

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

/* Who names it in `read` or `write` hears that; other grants are dropped. */
static int judge(struct prepared *p, struct grant *g, struct err *err)
{
	const char *around = hidden_around(p, g->path);

	if (!around || !(g->what & ACCESS))
		return 0;
	if (g->what & (GRANT_BY(READ) | GRANT_BY(WRITE)))
		return err_set(err, ERR_POLICY,
			       "%s: %s holds what matins keeps for itself "
			       "(%s), which no program may see",
			       g->what & GRANT_BY(WRITE) ? "write" : "read",
			       g->path, around);
	list_add(&p->policy.capped, &p->arena,
		 arena_printf(&p->arena,
			      "\"%s\": dropped; what matins keeps for itself "
			      "is not for programs to see",
			      g->path));
	g->what = 0;
	return 0;
}

/* ---- in a view ---- */

static bool is_granted(const struct prepared *p, const char *path)
{
	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & ACCESS &&
		    place_covers(p->grants.grant[i].path, path))
			return true;
	return false;
}

static int hide_in_view(struct prepared *p, struct err *err)
{
	for (size_t i = 0; i < p->hidden.n; i++) {
		const char *path = p->hidden.item[i];

		/* one that is made later would be seen */
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

/* ---- without one ---- */

static int split(struct prepared *p, unsigned what, const char *path,
		 struct err *err);

static int split_entry(struct prepared *p, unsigned what, const char *path,
		       struct err *err)
{
	struct stat st;
	int r;

	if (lstat(path, &st) < 0 || hidden_around(p, path) ||
	    allow_has(closed_of(p), path) ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	if (S_ISDIR(st.st_mode) && is_above(p, path))
		return split(p, what, path, err);
	r = grants_open_entry(&p->grants, path, what, err);
	/* what is not for us is not for the child, either */
	return r < 0 && err->sys != EACCES ? -1 : 0;
}

static int split(struct prepared *p, unsigned what, const char *path,
		 struct err *err)
{
	const unsigned list =
		what & (GRANT_READ | GRANT_WRITE) ? GRANT_LIST : 0;
	DIR *dir = opendir(path);
	const struct dirent *e;
	int r, n = 0;

	if (!dir)
		return err_sys(err, errno, "%s", path);
	r = grants_open_entry(&p->grants, path, list, err);
	while (r == 0 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++n > SPLIT_ENTRIES)
			r = err_set(err, ERR_LIMIT,
				    "%s: more than %d entries, granted one by "
				    "one because of what is hidden in "
				    "there; namespaces (isolate) avoid that",
				    path, SPLIT_ENTRIES);
		else
			r = split_entry(p, what,
					arena_printf(&p->arena, "%s/%s",
						     path[1] ? path : "",
						     e->d_name),
					err);
	}
	closedir(dir);
	return r < 0 ? -1 : 0;
}

static int hide_from_rules(struct prepared *p, struct err *err)
{
	size_t n = p->grants.n;

	for (size_t i = 0; i < n; i++) {
		struct grant g = p->grants.grant[i];

		/* as an entry of a folder that was split before */
		if (allow_has(closed_of(p), g.path))
			p->grants.grant[i].what &= ~ACCESS;
		if (!(g.what & ACCESS) || !S_ISDIR(g.st.st_mode) ||
		    !is_above(p, g.path))
			continue;
		p->grants.grant[i].what &= ~ACCESS;
		if (split(p, g.what, g.path, err) < 0)
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
		if (is_granted(p, hide->item[i]))
			list_add(&p->hidden, &p->arena, hide->item[i]);
	if (!p->hidden.n && !closed_of(p)->n)
		return 0;
	if (p->own_view) {
		p->view.shut = *closed_of(p);
		return hide_in_view(p, err);
	}
	return hide_from_rules(p, err);
}
