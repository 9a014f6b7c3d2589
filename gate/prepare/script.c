#include "gate/prepare/script.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/policy/shell_words.h"

/* A larger file is no script that a person wrote. */
#define SCRIPT_BYTES (256 * 1024)

/* Folders of what package managers fetched. */
static const char *const fetched[] = {"/node_modules/", "/site-packages/",
				      "/.cache/"};

static bool is_own(struct prepared *p, const char *path, const struct stat *st)
{
	struct stat readable = *st;

	/* a shell runs what it can read */
	readable.st_mode |= S_IXUSR;
	for (size_t i = 0; i < ARRAY_LEN(fetched); i++)
		if (strstr(path, fetched[i]))
			return false;
	return S_ISREG(st->st_mode) && st->st_size <= SCRIPT_BYTES &&
	       resolve_is_trusted(st->st_uid) &&
	       !resolve_judge(&readable, geteuid(), getegid()) &&
	       !prepared_is_written(p, path);
}

/* at  the file, O_PATH */
static struct strlist commands_of(struct prepared *p, int at, const char *path,
				  const struct stat *st)
{
	AUTO(buf_release) struct buf text = BUF_INIT(SCRIPT_BYTES);
	AUTO(fd_closep) int fd = -1;
	struct strlist none = {NULL, 0};
	char link[64];
	ssize_t n = 1;

	if (!is_own(p, path, st))
		return none;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	fd = fd_open(link, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	while (fd >= 0 && n > 0 && text.n < SCRIPT_BYTES) {
		n = read(fd, buf_room(&text, SCRIPT_BYTES - text.n),
			 SCRIPT_BYTES - text.n);
		text.n += n > 0 ? (size_t)n : 0;
	}
	return shell_words(buf_str(&text), &p->arena);
}

static struct strlist commands_at(struct prepared *p, const char *arg)
{
	const char *cwd = p->request->cwd;
	struct walk w = WALK_INIT;
	struct strlist words = {NULL, 0};

	if (arg[0] != '/')
		arg = cwd ? arena_printf(&p->arena, "%s/%s", cwd, arg) : NULL;
	if (arg && walk_open(arg, &p->arena, &w) == 0 && w.path)
		words = commands_of(p, w.fd, w.path, &w.st);
	walk_release(&w);
	return words;
}

struct strlist script_commands(struct prepared *p)
{
	const struct resolved_file *f = &p->program.file[0];
	struct strlist argv = {NULL, 0};
	size_t at;

	if (f->is_script)
		return commands_of(p, f->fd, f->path, &f->st);
	while (p->request->argv[argv.n])
		list_add(&argv, &p->arena, p->request->argv[argv.n]);
	at = programs_commands(f->asked, f->path, &argv);
	if (at)
		return shell_words(str_of(argv.item[at]), &p->arena);
	at = programs_script(f->asked, f->path, &argv);
	if (at)
		return commands_at(p, argv.item[at]);
	return (struct strlist){NULL, 0};
}

struct strlist script_started(struct prepared *p)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct resolved_file *f = &p->program.file[0];
	const char *const *argv = p->request->argv;

	if (f->is_script)
		return (struct strlist){NULL, 0};
	buf_adds(&line, resolve_basename(f->asked));
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		struct str rest = str_of(argv[i]);

		/* as one quoted word */
		buf_adds(&line, " '");
		while (rest.n) {
			buf_add_str(&line, str_cut(&rest, '\''));
			buf_adds(&line, rest.p ? "'\\''" : "");
		}
		buf_addc(&line, '\'');
	}
	return shell_words(buf_str(&line), &p->arena);
}
