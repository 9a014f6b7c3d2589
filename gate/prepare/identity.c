#include "gate/prepare/identity.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gate/prepare/prepared.h"

#define NOBODY 65534

/* Read the file itself, as the child will: no plugins, no network. */
static bool find_user(const char *name, uid_t uid, struct arena *arena,
		      struct identity *ret)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *pw;
	bool found = false;

	while (f && !found && (pw = fgetpwent(f))) {
		found = name ? strcmp(pw->pw_name, name) == 0
			     : pw->pw_uid == uid;
		if (found)
			*ret = (struct identity){
				.name = arena_strdup(arena, pw->pw_name),
				.home = arena_strdup(arena, pw->pw_dir),
				.uid = pw->pw_uid,
				.gid = pw->pw_gid};
	}
	if (f)
		fclose(f);
	return found;
}

static struct identity self(struct gate *g)
{
	if (!g->self.name && !find_user(NULL, geteuid(), &g->arena, &g->self))
		g->self.name = arena_printf(&g->arena, "%u", geteuid());
	g->self.uid = geteuid();
	g->self.gid = getegid();
	return g->self;
}

const char *identity_home(struct gate *g)
{
	return self(g).home;
}

/*
 * Root of a user namespace cannot become a user who does not exist in it. Rows
 * of a map are: first number inside, first outside, how many.
 */
static bool is_mapped(const char *map, unsigned long id)
{
	FILE *f = fopen(map, "re");
	bool found = !f; /* a kernel without user namespaces */
	char line[128];

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *end;
		unsigned long first = strtoul(line, &end, 10);

		strtoul(end, &end, 10);
		found = id >= first && id - first < strtoul(end, NULL, 10);
	}
	if (f)
		fclose(f);
	return found;
}

static bool exists_here(const struct identity *id)
{
	return is_mapped("/proc/self/uid_map", id->uid) &&
	       is_mapped("/proc/self/gid_map", id->gid);
}

static struct identity nobody(struct gate *g)
{
	if (g->nobody.name)
		return g->nobody;
	if (!find_user("nobody", 0, &g->arena, &g->nobody))
		g->nobody = (struct identity){
			.name = "nobody", .uid = NOBODY, .gid = NOBODY};
	g->nobody.change = exists_here(&g->nobody);
	return g->nobody;
}

int prepare_identity(struct prepared *p, struct err *err)
{
	const char *user = p->policy.user;

	if (!p->gate->is_root) {
		p->id = self(p->gate);
		return 0;
	}
	if (!user) {
		p->id = nobody(p->gate);
		if (!p->id.change)
			identity_stay_root(p, "no other user exists in this "
					      "user namespace");
		return 0;
	}
	if (!find_user(user, 0, &p->arena, &p->id))
		return err_set(err, ERR_POLICY,
			       "user: no \"%s\" in /etc/passwd", user);
	if (!exists_here(&p->id))
		return err_set(
			err, ERR_POLICY,
			"user: \"%s\" (%u) does not exist in this user "
			"namespace; name one that does, or \"root\", who "
			"has no capabilities",
			user, p->id.uid);
	p->id.change = p->id.uid != 0;
	if (!p->id.change)
		p->id.why = "user = \"root\"";
	return 0;
}

void identity_stay_root(struct prepared *p, const char *why)
{
	p->id = self(p->gate);
	p->id.why = why;
}

/* want: 4 read, 2 write, 1 execute, as in one digit of a mode */
static bool may(const struct identity *id, const struct stat *st, unsigned want)
{
	unsigned shift = st->st_uid == id->uid	 ? 6
			 : st->st_gid == id->gid ? 3
						 : 0;

	return (st->st_mode >> shift & want) == want;
}

bool identity_may_use(const struct identity *id, const struct grant *g)
{
	bool is_dir = S_ISDIR(g->st.st_mode);
	unsigned want = 0;

	if (g->what & (GRANT_READ | GRANT_WRITE))
		want |= is_dir ? 5 : 4;
	if (g->what & GRANT_WRITES)
		want |= is_dir ? 3 : 2;
	if (g->what & GRANT_EXEC)
		want |= 1;
	return may(id, &g->st, want);
}

const char *identity_wall(const struct identity *id, const char *path,
			  struct arena *arena)
{
	for (size_t i = 1; path[0] && path[i]; i++) {
		const char *dir;
		struct stat st;

		if (path[i] != '/')
			continue;
		dir = arena_strndup(arena, path, i);
		if (stat(dir, &st) == 0 && !may(id, &st, 1))
			return dir;
	}
	return NULL;
}
