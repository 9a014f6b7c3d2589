#include "gate/cgroup/cgroup_find.h"

/* Fields of a mountinfo row that count; proc_pid_mountinfo(5). */
struct row {
	struct str root, point, type, options;
};

/* The n-th field from here, 1 the next one. */
static struct str field(struct str *rest, int n)
{
	struct str s = {NULL, 0};

	while (n-- > 0)
		s = str_cut(rest, ' ');
	return s;
}

/* The optional fields between point and type end in "-". */
static bool parse_row(struct str line, struct row *ret)
{
	ret->root = field(&line, 4);
	ret->point = str_cut(&line, ' ');
	while (line.n)
		if (str_is(str_cut(&line, ' '), "-"))
			break;
	ret->type = str_cut(&line, ' ');
	ret->options = field(&line, 2);
	return ret->type.n && ret->point.n && ret->point.p[0] == '/';
}

static bool is_octal(struct str s)
{
	for (size_t i = 0; i < 3; i++)
		if (i >= s.n || s.p[i] < '0' || s.p[i] > '7')
			return false;
	return s.p[0] <= '3';
}

/* Blanks and backslashes of a path are written as "\040". */
static struct str unescape(struct str s, struct arena *arena)
{
	char *out = arena_alloc(arena, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		struct str code = {s.p + i + 1, s.n - i - 1};

		if (s.p[i] != '\\' || !is_octal(code)) {
			out[n++] = s.p[i];
			continue;
		}
		out[n++] = (char)((code.p[0] - '0') * 64 +
				  (code.p[1] - '0') * 8 + (code.p[2] - '0'));
		i += 3;
	}
	out[n] = '\0';
	return (struct str){out, n};
}

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

uint64_t cgroup_count(struct str text, const char *name)
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
static const char *folder(const struct row *row, struct str group,
			  struct arena *arena)
{
	struct str root = without_slash(unescape(row->root, arena));
	struct str point = without_slash(unescape(row->point, arena));

	if (group.n < root.n || memcmp(group.p, root.p, root.n) != 0)
		return NULL;
	group = (struct str){group.p + root.n, group.n - root.n};
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

static const char *find_v1(const struct row *row, struct str cgroup,
			   const char *controller, struct arena *arena)
{
	struct str group;

	if (!cgroup_has_word(row->options, ',', controller) ||
	    !find_group(cgroup, controller, &group))
		return NULL;
	return folder(row, group, arena);
}

static void find_v2(const struct row *row, struct str cgroup,
		    struct arena *arena, struct cgroup_places *ret)
{
	struct str group, point;

	if (!find_group(cgroup, NULL, &group))
		return;
	ret->unified = folder(row, group, arena);
	point = without_slash(unescape(row->point, arena));
	ret->unified_top = arena_strndup(arena, point.p, point.n);
}

void cgroup_find(struct str mountinfo, struct str cgroup, struct arena *arena,
		 struct cgroup_places *ret)
{
	*ret = (struct cgroup_places){NULL, NULL, NULL, NULL};
	while (mountinfo.n) {
		struct row row;

		if (!parse_row(str_cut(&mountinfo, '\n'), &row))
			continue;
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

/* The only controller of its hierarchy, or the hierarchy is somewhere else. */
static bool is_alone(struct str text, const char *controller)
{
	while (text.n) {
		struct str line = str_cut(&text, '\n');

		(void)!str_cut(&line, ':').n;
		if (str_is(str_cut(&line, ':'), controller))
			return true;
	}
	return false;
}

static const char *usual(const char *point, struct str group,
			 struct arena *arena)
{
	const struct row row = {.root = {"/", 1}, .point = str_of(point)};

	return folder(&row, group, arena);
}

bool cgroup_find_usual(struct str cgroup, bool is_unified, struct arena *arena,
		       struct cgroup_places *ret)
{
	struct cgroup_places at = {NULL, NULL, NULL, NULL};
	struct str group, memory, pids;
	bool has_memory = find_group(cgroup, "memory", &memory);
	bool has_pids = find_group(cgroup, "pids", &pids);

	if (is_unified) {
		if (has_memory || has_pids || !find_group(cgroup, NULL, &group))
			return false;
		at.unified = usual(CGROUP_USUAL, group, arena);
		at.unified_top = CGROUP_USUAL;
		if (!at.unified)
			return false;
	} else {
		if (!has_memory || !is_alone(cgroup, "memory") || !has_pids ||
		    !is_alone(cgroup, "pids"))
			return false;
		at.memory = usual(CGROUP_USUAL_MEMORY, memory, arena);
		at.pids = usual(CGROUP_USUAL_PIDS, pids, arena);
		if (!at.memory || !at.pids)
			return false;
	}
	*ret = at;
	return true;
}
