#include "core/cli/browse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/open.h"
#include "core/config/paths.h"

#define KEEP_S (24 * 3600)

/* Remove the page of that name, and those that were opened a day ago. */
static void clean(const char *folder, const char *name)
{
	const int64_t now_s =
		clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S;
	AUTO(dir_closep) DIR *dir = opendir(folder);
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    !S_ISDIR(st.st_mode) &&
		    (!strcmp(entry->d_name, name) ||
		     now_s - st.st_mtime > KEEP_S))
			(void)!unlinkat(dirfd(dir), entry->d_name, 0);
}

/* A file of our own, in a folder that nobody else enters. */
static int open_own(const char *name, struct print_options *print,
		    struct arena *arena, struct err *err)
{
	const char *state = state_dir_find(arena);
	const char *folder =
		arena_printf(arena, "%s/pages", state ? state : "");
	struct stat st;

	if (!state)
		return err_set(err, ERR_SYS,
			       "no folder for the page: name a file, -o FILE");
	if (fd_mkdirs(folder, 0700) < 0 || lstat(folder, &st) < 0)
		return err_sys(err, errno, "%s", folder);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 0077)
		return err_set(err, ERR_SYS,
			       "%s is no folder of yours alone: remove it, or "
			       "name a file, -o FILE",
			       folder);
	clean(folder, name);
	return outfile_open(&print->output,
			    arena_printf(arena, "%s/%s", folder, name),
			    OUTFILE_OWN, err);
}

int browse_check(const struct args *args, struct print_options *print,
		 struct err *err)
{
	if (!args_has(args, "open"))
		return args_has(args, "browser")
			       ? err_set(err, ERR_USAGE,
					 "--browser needs --open")
			       : 0;
	if (strcmp(print->form, "text") != 0 &&
	    strcmp(print->form, "html") != 0)
		return err_set(err, ERR_USAGE,
			       "--open shows HTML; leave --%s out",
			       print->form);
	if (print->output.path && !print->output.name)
		return err_set(err, ERR_USAGE,
			       "--open shows a file, and %s is none: name "
			       "another one, -o FILE.html",
			       print->output.path);
	print->form = "html";
	return 0;
}

int browse_begin(const struct args *args, const char *name,
		 struct print_options *print, struct arena *arena,
		 struct err *err)
{
	return args_has(args, "open") && !print->output.path
		       ? open_own(name, print, arena, err)
		       : 0;
}

/* A list and a command with arguments are for xdg-open, which reads them. */
static bool is_program(const char *browser)
{
	return browser && !strpbrk(browser, ": %");
}

int browse_end(const struct args *args, const struct print_options *print,
	       struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *asked = args_get(args, "browser");
	const char *browser = env_text("BROWSER");
	const char *program = asked		    ? asked
			      : is_program(browser) ? browser
						    : "xdg-open";
	struct gate_wish wish = {.config = NULL};
	struct gate *gate;
	const char *path;
	int r;

	if (!args_has(args, "open"))
		return 0;
	path = path_resolve(print->output.path, NULL, &arena);
	if (!asked && !browser && !env_text("DISPLAY") &&
	    !env_text("WAYLAND_DISPLAY")) {
		log_note("there is no display here; the page is a file that "
			 "you can open elsewhere");
		return put(str_of(arena_printf(&arena, "%s\n", path)), PUT_TEXT,
			   err);
	}
	program = path_program(program, NULL, &arena);
	list_add(&wish.named, &arena, program);
	if (open_gate(&wish, &arena, &gate, err) < 0)
		return -1;
	r = gate_open_file(gate, program, path, err);
	gate_free(gate);
	return r < 0 ? err_wrap(err, "the page %s was not opened", path) : 0;
}
