#include "gate/cgroup/cgroup_find.h"

#include "gate/path/mounts.h"

static struct str without_slash(struct str s)
{
	while (s.n && s.p[s.n - 1] == '/')
		s.n--;
	return s;
}

bool cgroup_has_word(struct str list, char sep, const char *word)
{
	list = str_trim(list);
	while (list.n)
		if (str_is(str_cut(&list, sep), word))
			return true;
	return false;
}

uint64_t cgroup_find_count(struct str text, const char *name)
{
	uint64_t n;

	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (str_is(str_cut(&line, ' '), name) &&
		    str_uint64(str_trim(line), &n))
			return n;
	}
	return 0;
}

/* A part of a path that leads out of what is mounted. */
static bool climbs(struct str path)
{
	while (path.n)
		if (str_is(str_cut(&path, '/'), ".."))
			return true;
	return false;
}

/* The folder of a group, given the mount that shows it. */
static const char *folder(const struct mount *row, struct str group,
			  struct arena *arena)
{
	struct str root = without_slash(mounts_path(row->root, arena));
	struct str point = without_slash(mounts_path(row->point, arena));

	if (group.n < root.n || memcmp(group.p, root.p, root.n) != 0)
		return NULL;
	group = str_skip(group, root.n);
	if ((group.n && group.p[0] != '/') || climbs(group))
		return NULL;
	group = without_slash(group);
	return arena_printf(arena, "%.*s%.*s", STR_ARG(point), STR_ARG(group));
}

/*
 * Our group in one hierarchy: "4:cpu,memory:/path"; the unified one has no
 * controllers: "0::/path". A group whose folder is gone ends in " (deleted)".
 */
static bool find_group(struct str text, const char *controller, struct str *ret)
{
	while (text.n) {
		struct str line = str_cut(&text, '\n');
		struct str id = str_cut(&line, ':');
		struct str names = str_cut(&line, ':');
		bool is_it = controller
				     ? cgroup_has_word(names, ',', controller)
				     : str_is(id, "0") && !names.n;

		if (!is_it || !line.n || line.p[0] != '/' ||
		    str_ends(line, " (deleted)"))
			continue;
		*ret = line;
		return true;
	}
	return false;
}

static const char *find_v1(const struct mount *row, struct str cgroup,
			   const char *controller, struct arena *arena)
{
	struct str group;

	if (!cgroup_has_word(row->options, ',', controller) ||
	    !find_group(cgroup, controller, &group))
		return NULL;
	return folder(row, group, arena);
}

static void find_v2(const struct mount *row, struct str cgroup,
		    struct arena *arena, struct cgroup_places *ret)
{
	struct str group, point;

	if (!find_group(cgroup, NULL, &group))
		return;
	ret->unified = folder(row, group, arena);
	point = without_slash(mounts_path(row->point, arena));
	ret->unified_top = arena_strndup(arena, point.p, point.n);
}

void cgroup_find(struct str mountinfo, struct str cgroup, struct arena *arena,
		 struct cgroup_places *ret)
{
	struct mount row;

	*ret = (struct cgroup_places){NULL, NULL, NULL, NULL};
	while (mounts_next(&mountinfo, &row)) {
		if (str_is(row.type, "cgroup2") && !ret->unified)
			find_v2(&row, cgroup, arena, ret);
		if (!str_is(row.type, "cgroup"))
			continue;
		if (!ret->memory)
			ret->memory = find_v1(&row, cgroup, "memory", arena);
		if (!ret->pids)
			ret->pids = find_v1(&row, cgroup, "pids", arena);
	}
}
