#include "gate/prepare/split.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Entries of one folder that can be granted one by one. */
#define SPLIT_ENTRIES 1024

static int split_entry(struct prepared *p, const struct split *s,
		       const char *path, unsigned what, struct err *err)
{
	enum split_entry e;
	struct stat st;

	if (lstat(path, &st) < 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	e = s->judge(p, path, &what);
	if (e == SPLIT_LEAVE_OUT)
		return 0;
	if (e == SPLIT_OPEN && S_ISDIR(st.st_mode))
		return split_folder(p, s, path, what, err);
	/* an entry that is closed to us is closed to the child */
	if (grants_open_entry(&p->grants, path, what, err) < 0 &&
	    err->sys != EACCES)
		return -1;
	return 0;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int split_folder(struct prepared *p, const struct split *s, const char *path,
		 unsigned what, struct err *err)
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
		if (is_dots(e->d_name))
			continue;
		if (++n > SPLIT_ENTRIES)
			r = err_set(err, ERR_LIMIT,
				    "%s: more than %d entries, granted one by "
				    "one because of what is %s in there; "
				    "namespaces (isolate) avoid that",
				    path, SPLIT_ENTRIES, s->because);
		else
			r = split_entry(p, s,
					arena_printf(&p->arena, "%s/%s",
						     path[1] ? path : "",
						     e->d_name),
					what, err);
	}
	closedir(dir);
	return r < 0 ? -1 : 0;
}
