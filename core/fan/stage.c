#include "core/fan/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/fan/shard.h"

/* ---- what can be staged ---- */

static int find_rsync(struct arena *arena, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(65536);
	struct gate_said said = {.out = &out, .arena = arena};

	return gate_run_tool((const char *const[]){"rsync", "--version", NULL},
			     STR(""), &said, err);
}

int stage_judge(const struct stage *s, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	int r = fan_needs_claims(results_manifest(s->results), err);

	if (r < 0)
		return -1;
	if (r)
		return err_set(err, ERR_CONFIG,
			       "a step has idempotent = false, and that it "
			       "began must be seen by all machines at once: "
			       "share the folder of the plan instead of "
			       "--stage");
	if (!*s->folder || *s->folder == '~' || *s->folder == '-')
		return err_set(err, ERR_USAGE,
			       "--stage \"%s\": name a folder of the hosts; a "
			       "relative one lies in the home there",
			       s->folder);
	if (s->ssh_config && strchr(s->ssh_config, '\''))
		return err_set(err, ERR_USAGE,
			       "--ssh-config: rsync takes no path with a '");
	return find_rsync(&arena, err);
}

int stage_judge_host(const char *host, struct err *err)
{
	if (strpbrk(host, ":/[]"))
		return err_set(err, ERR_CONFIG,
			       "\"%s\" is no host for --stage: give it a name "
			       "without any of :/[] in ssh_config",
			       host);
	return 0;
}

static const char *name_of(const struct stage *s, const char *host,
			   struct arena *arena)
{
	return arena_printf(arena, "matins-%s-%s", s->tag, host);
}

const char *stage_dir(const struct stage *s, const char *host,
		      struct arena *arena)
{
	return arena_printf(arena, "%s/%s", s->folder, name_of(s, host, arena));
}

/* ---- keys of a shard ---- */

struct carry {
	const struct stage *s;
	const char *from; /* folder of what came back */
	struct buf names; /* of files to copy, a line each */
	uint64_t n_names;
	bool is_out;
};

static int each_key(struct carry *c, uint64_t shard,
		    int (*each)(struct carry *c, const char *key,
				struct err *err),
		    struct err *err)
{
	AUTO(results_close_inputs) struct results_inputs in = {.file = NULL};
	int more = results_open_inputs(c->s->results, shard, &in, err);

	if (more < 0)
		return -1;
	while ((more = results_next(&in, err)) > 0)
		if (each(c, in.key, err) < 0)
			return -1;
	return more;
}

/* Name the result of a key: out, one that is here; back, one that is not. */
static int add_name(struct carry *c, const char *key, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES_MAX);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_result r;

	if (results_look(c->s->results, key, &text, &arena, &r, err) < 0)
		return -1;
	if (r.state == FAN_TORN &&
	    results_take_away(c->s->results, key, FAN_TORN, err) < 0)
		return -1;
	if (c->is_out == (r.state == FAN_OK || r.state == FAN_FAILED)) {
		buf_addf(&c->names, "%s\n", fan_result_name(key).text);
		c->n_names++;
	}
	return 0;
}

static int take_one(struct carry *c, const char *key, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	return results_take_in(c->s->results,
			       arena_printf(&arena, "%s/%s.json", c->from, key),
			       key, err);
}

/* ---- copies ---- */

void stage_ssh(const char *config, struct arena *arena, struct strlist *ret)
{
	list_add(ret, arena, "ssh");
	if (config) {
		list_add(ret, arena, "-F");
		list_add(ret, arena, config);
	}
	list_add(ret, arena, "-oBatchMode=yes");
	list_add(ret, arena, "-oServerAliveInterval=15");
}

void stage_ssh_line(const char *config, const char *host, struct buf *line,
		    struct arena *arena, struct strlist *ret)
{
	stage_ssh(config, arena, ret);
	list_add(ret, arena, "--");
	list_add(ret, arena, host);
	list_add(ret, arena, buf_cstr(line));
	list_add(ret, arena, NULL);
}

/* Folder for what comes back of a shard, below that of the plan; of this submit
   alone, as two may copy the same shard at once. */
static const char *back_folder(const struct stage *s, uint64_t shard,
			       struct arena *arena)
{
	return arena_printf(arena, "staged/%s.%llu", s->tag,
			    (unsigned long long)shard);
}

static int open_names(struct str names, struct err *err)
{
	AUTO(fd_closep) int fd = memfd_create("names", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, names.p, names.n) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "names of results");
	return fd_steal(&fd);
}

int stage_start(const struct stage *s, const char *host, uint64_t shard,
		bool is_back, struct gate_again *ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct carry c = {
		.s = s, .names = BUF_INIT(BUF_UNBOUNDED), .is_out = !is_back};
	const char *dir = results_dir(s->results);
	const char *here = arena_printf(&arena, "%s/", dir);
	const char *there = arena_printf(&arena, "%s:%s/", host,
					 stage_dir(s, host, &arena));
	struct strlist ssh = {NULL, 0};
	const char *size = arena_printf(&arena, "--max-size=%lld",
					(long long)LIMIT_MESSAGE_BYTES_MAX);
	int null, names = -1, r;

	stage_ssh(s->ssh_config, &arena, &ssh);
	if (is_back) {
		here = arena_printf(&arena, "%s/%s/", dir,
				    back_folder(s, shard, &arena));
	} else {
		buf_adds(&c.names, ".\nmanifest.json\ninputs.jsonl\n");
	}
	r = each_key(&c, shard, add_name, err);
	if (r == 0)
		r = names = open_names(buf_str(&c.names), err);
	buf_release(&c.names);
	if (r < 0)
		return -1;
	null = fd_open("/dev/null", O_RDWR, 0);
	r = gate_start_tool(
		(const char *const[]){
			"rsync", "-ts", "--chmod=D700,F600",
			is_back ? "--no-relative" : "--relative",
			"--ignore-missing-args", "--files-from=-",
			/* a host that is silent, or sends what is no result */
			"--timeout=120", is_back ? size : "--times", "-e",
			/* rsync takes words in quotes, as a shell does */
			arena_printf(&arena, "'%s'",
				     list_join(&ssh, "' '", &arena)),
			"--", is_back ? there : here, is_back ? here : there,
			NULL},
		(const int[3]){names, null, s->said}, ret, err);
	fd_closep(&names);
	fd_closep(&null);
	return r;
}

int stage_take(const struct stage *s, uint64_t shard, uint64_t *ret_missing,
	       struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct carry c = {.s = s,
			  .from = back_folder(s, shard, &arena),
			  .names = BUF_INIT(BUF_UNBOUNDED)};
	uint64_t dropped = 0;
	int r = each_key(&c, shard, take_one, err);

	if (r == 0)
		r = results_commit(s->results, true, &dropped, err);
	if (r == 0)
		r = each_key(&c, shard, add_name, err);
	buf_release(&c.names);
	*ret_missing = c.n_names;
	(void)!rmdir(
		arena_printf(&arena, "%s/%s", results_dir(s->results), c.from));
	return r;
}

/* ---- marks ---- */

static const char *mark_path(const struct stage *s, const char *name,
			     struct arena *arena)
{
	return arena_printf(arena, "%s/staged/%s", results_dir(s->results),
			    name);
}

/* Is it the mark of a folder of a host, in our FOLDER, whose submit is gone? */
static bool is_left(const struct stage *s, const char *host, const char *name)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf folder = BUF_INIT(PATH_MAX);
	AUTO(fd_closep) int fd = -1;

	if (strncmp(name, "matins-", 7) != 0 ||
	    strspn(name + 7, "0123456789abcdef") != sizeof(s->tag) - 1 ||
	    name[6 + sizeof(s->tag)] != '-' ||
	    strcmp(name + 7 + sizeof(s->tag), host) != 0)
		return false;
	fd = fd_open(mark_path(s, name, &arena), O_RDWR | O_NOFOLLOW, 0);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	       fd_read_all(fd, &folder, ERR_IGNORED) == 0 &&
	       str_is(buf_str(&folder), s->folder);
}

int stage_mark(const struct stage *s, struct stage_there *there,
	       struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *path =
		mark_path(s, name_of(s, there->host, &arena), &arena);

	there->mark = fd_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	/* without its text nobody takes it for one */
	if (there->mark < 0 || flock(there->mark, LOCK_EX) < 0 ||
	    fd_write_all(there->mark, s->folder, strlen(s->folder)) < 0)
		return err_sys(err, errno, "%s", path);
	return 0;
}

int stage_clean(const struct stage *s, struct stage_there *there, bool is_end,
		struct arena *arena, struct gate_again *ret, struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const char *staged = mark_path(s, "", arena);
	AUTO(fd_closep) int null = fd_open("/dev/null", O_RDWR, 0);
	struct strlist ssh = {NULL, 0};
	struct dirent *entry;
	DIR *dir;

	if (null < 0)
		return err_sys(err, errno, "/dev/null");
	(void)!mkdir(staged, 0700);
	dir = opendir(staged);
	if (!dir)
		return err_sys(err, errno, "%s", staged);
	there->folder.n = 0;
	while ((entry = readdir(dir)))
		if (is_left(s, there->host, entry->d_name))
			list_add(&there->folder, arena,
				 arena_strdup(arena, entry->d_name));
	closedir(dir);
	if (is_end)
		list_add(&there->folder, arena, name_of(s, there->host, arena));
	buf_adds(&line, "cd ");
	text_add_word(&line, s->folder);
	buf_adds(&line, " || exit 74; rm -rf --");
	for (size_t i = 0; i < there->folder.n; i++) {
		buf_addc(&line, ' ');
		text_add_word(&line, there->folder.item[i]);
	}
	stage_ssh_line(s->ssh_config, there->host, &line, arena, &ssh);
	return gate_start_tool(ssh.item, (const int[3]){null, null, s->said},
			       ret, err);
}

void stage_cleaned(const struct stage *s, struct stage_there *there)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < there->folder.n; i++)
		(void)!unlink(mark_path(s, there->folder.item[i], &arena));
}
