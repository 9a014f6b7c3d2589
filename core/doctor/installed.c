#include "core/doctor/installed.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/base/user.h"
#include "core/report/crontab.h"
#include "gate/gate.h"

int installed_tool(const char *const argv[], struct str input,
		   struct arena *arena, struct buf *out, struct err *err)
{
	struct gate_said said = {.out = out, .arena = arena};

	if (gate_run_tool(argv, input, &said, err) < 0)
		return -1;
	if (said.status == 0)
		return 0;
	return err_set(err, ERR_SYS, "%s %s: %.*s", argv[0], argv[1],
		       STR_ARG(said.error.n ? said.error : STR("failed")));
}

int installed_crontab(struct arena *arena, struct buf *out, struct err *err)
{
	static const char *const argv[] = {"crontab", "-l", NULL};

	if (installed_tool(argv, STR(""), arena, out, err) == 0)
		return 0;
	if (err->kind == ERR_SYS && strstr(err->msg, "no crontab for")) {
		err_clear(err);
		return 0;
	}
	return -1;
}

const char *installed_unit(const struct schedule *s, enum unit_file which,
			   struct arena *arena)
{
	const char *xdg = env_text("XDG_CONFIG_HOME"), *home = env_text("HOME");
	const char *name = unit_file_name(s, which, arena);

	if (xdg && *xdg == '/')
		return arena_printf(arena, "%s/systemd/user/%s", xdg, name);
	return arena_printf(arena, "%s/.config/systemd/user/%s",
			    home ? home : "", name);
}

bool installed_lingers(struct arena *arena)
{
	struct user self;

	return !user_find(NULL, user_self(), &self) ||
	       access(arena_printf(arena, "/var/lib/systemd/linger/%.*s",
				   STR_ARG(self.name)),
		      F_OK) == 0;
}

bool installed_has_cron(void)
{
	static const char *const names[] = {"cron\n", "crond\n", "fcron\n",
					    "busybox\n", "bcron-sched\n"};
	DIR *dir = opendir("/proc");
	bool is_there = !dir || access("/proc/1/comm", R_OK) < 0;
	struct dirent *e;

	while (dir && !is_there && (e = readdir(dir))) {
		AUTO(buf_release) struct buf comm = BUF_INIT(BUF_UNBOUNDED);
		char path[sizeof("/proc//comm") + sizeof(e->d_name)];

		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		if (*e->d_name < '1' || *e->d_name > '9' ||
		    fd_read_file(path, &comm, ERR_IGNORED) < 0)
			continue;
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			is_there |= str_is(buf_str(&comm), names[i]);
	}
	if (dir)
		closedir(dir);
	return is_there;
}

static int read_crontab(struct installed *in, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(INSTALLED_BYTES);

	if (in->crontab.p)
		return 0;
	if (installed_crontab(in->arena, &all, err) < 0)
		return -1;
	in->crontab = arena_str(in->arena, buf_str(&all));
	return 0;
}

/* Append the units; `all` gets them without their names. */
static int read_units(const struct installed *in, const struct schedule *s,
		      struct buf *all, struct buf *out, struct err *err)
{
	for (enum unit_file i = 0; i < UNIT_FILES; i++) {
		const char *path = installed_unit(s, i, in->arena);
		const size_t before = all->n;

		if (fd_read_regular(path, all, err) < 0)
			return -1;
		buf_addf(out, "# %s\n%s%s", path, buf_cstr(all) + before,
			 i ? "" : "\n");
	}
	return 0;
}

static int read_lines(struct installed *in, const struct schedule *s,
		      struct buf *all, struct err *err)
{
	size_t n;

	if (read_crontab(in, err) < 0)
		return -1;
	crontab_pick(s->id, in->crontab, true, all);
	n = crontab_count(buf_str(all));
	if (n > s->catches_up)
		return 0;
	return err_set(err, ERR_UNKNOWN,
		       "the crontab has %s of %s any more: `matins schedule "
		       "remove %s`, then add it",
		       n ? "not both lines" : "no line", s->routine,
		       s->routine);
}

int installed_read(struct installed *in, const struct schedule *s,
		   struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(INSTALLED_BYTES);
	char sum[SHA256_HEX_BYTES];
	int r = s->unit ? read_units(in, s, &all, out, err)
			: read_lines(in, s, &all, err);

	if (!s->unit)
		buf_add_str(out, buf_str(&all));
	if (r < 0 || !s->sum)
		return r;
	sha256_hex(buf_str(&all), sum);
	if (strcmp(sum, s->sum) == 0)
		return 0;
	return err_set(err, ERR_DIFFERS,
		       "what starts %s was changed since it was added: "
		       "`matins schedule remove %s`, then add it",
		       s->routine, s->routine);
}

int installed_check(struct installed *in, const struct schedule *s,
		    struct err *err)
{
	if (s->unit)
		return 0;
	return read_crontab(in, err) < 0 ? -1
					 : crontab_check(in->crontab, s->id,
							 env_text("HOME"), err);
}

const char *installed_times(struct installed *in, const struct schedule *s,
			    struct schedule_times *ret)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	schedule_times(s, clock_system()->wall_ns(clock_system()), ret);
	/* where it cannot be read the doctor says why */
	if (installed_read(in, s, &out, &err) == 0 ||
	    (err.kind == ERR_SYS && err.sys != ENOENT))
		return *ret->next ? arena_strdup(in->arena, ret->next)
				  : "never";
	*ret->next = '\0';
	if (err.kind == ERR_DIFFERS)
		return "unknown (what starts it was changed)";
	return s->unit	       ? "never (its timer is gone)"
	       : s->catches_up ? "never (a line of the crontab is gone)"
			       : "never (its line of the crontab is gone)";
}
