#include "gate/prepare/parts.h"

#include "gate/policy/package.h"
#include "gate/policy/recipes.h"
#include "gate/policy/shell_words.h"

bool data_is(const struct gate_request *request, size_t at)
{
	return request->from_data && request->from_data[at];
}

static struct strlist words_of(struct prepared *p)
{
	const struct gate_request *r = p->request;
	struct strlist words = {NULL, 0};

	list_add(&words, &p->arena, r->program);
	for (size_t i = 1; r->argv[0] && r->argv[i]; i++)
		list_add(&words, &p->arena, r->argv[i]);
	return words;
}

/* at  0: there is nothing to refuse */
static int refuse(size_t at, const char *program, struct err *err)
{
	if (!at)
		return 0;
	return err_set(err, ERR_POLICY,
		       "argument %zu comes from data and would decide what %s "
		       "runs; write that word in the routine, and pass the "
		       "value behind it: args = [\"-c\", \"echo \\\"$1\\\"\", "
		       "\"sh\", \"$steps.NAME.output\"]",
		       at, resolve_basename(program));
}

/* ---- launchers of packages ---- */

static bool has(const struct strlist *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->item[i] == word)
			return true;
	return false;
}

/* The first argument from data that is not the package's own; 0: none. */
static size_t package_decided(const char *asked, const struct strlist *argv,
			      const bool *data, struct arena *arena)
{
	const struct package_tool *tool = programs_tool(asked, NULL);
	struct package_asked a = {.n = 0};
	size_t at = 1;

	if (!tool)
		return 0;
	/* `npm install`, `bun x.js` and the like are read as any launcher */
	if (!package_read(asked, NULL, argv, arena, &a) &&
	    programs_is_launcher(asked))
		return programs_decided(asked, NULL, argv, data);
	while (at < argv->n && (!data[at] || has(&a.args, argv->item[at])))
		at++;
	return at < argv->n ? at : 0;
}

int prepare_data_package(struct prepared *p, struct err *err)
{
	const struct gate_request *r = p->request;
	struct strlist argv;

	if (!r->from_data)
		return 0;
	argv = words_of(p);
	return refuse(
		package_decided(r->program, &argv, r->from_data, &p->arena),
		r->program, err);
}

/* ---- programs that start others ---- */

static bool is_starter(const char *path)
{
	for (const struct recipe *r = RECIPES; r->name; r++)
		if (r->finds == RECIPE_STARTED &&
		    programs_is_one(r->programs, path))
			return true;
	return false;
}

struct strlist data_started(struct prepared *p)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct gate_request *r = p->request;

	buf_adds(&line, resolve_basename(p->program.file[0].asked));
	for (size_t i = 1; r->argv[0] && r->argv[i]; i++) {
		struct str rest =
			str_of(data_is(r, i) ? DATA_WORD : r->argv[i]);

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

/* The program that is started may decide by its own arguments. */
static size_t started_decided(struct prepared *p, const struct strlist *argv)
{
	const bool *data = p->request->from_data;
	const struct strlist started = data_started(p);
	bool is_named = list_has(&started, DATA_WORD);

	for (size_t i = 1; i < argv->n; i++) {
		const struct strlist rest = {argv->item + i, argv->n - i};
		const char *name = rest.item[0];
		size_t at;

		if (data[i] && is_named)
			return i;
		if (data[i] || !list_has(&started, name))
			continue;
		at = package_decided(name, &rest, data + i, &p->arena);
		if (!at)
			at = programs_decided(name, NULL, &rest, data + i);
		if (at)
			return i + at;
	}
	return 0;
}

/* ---- programs whose arguments are code, or a command ---- */

/* Programs that start what their arguments say, beside those of the recipe. */
static const char STARTERS[] =
	"busybox capsh chrt chroot dbus-run-session doas ex flock gdb ld.so "
	"ld-linux-x86-64.so ld-linux-aarch64.so nsenter nvim parallel prlimit "
	"run-parts runuser rview rvim script setarch setpriv strace su sudo "
	"taskset toybox uclampset unshare vi view vim vimdiff watch";
/* Programs whose arguments are commands of their own, which start others or
   write files; a database reads such ones from its input, too. */
static const char RUNS_WORDS[] =
	"awk dd ed gawk gmake m4 make mawk nawk psql sed sqlite sqlite3";
static const char RUNS_INPUT[] = "ed gdb m4 psql sqlite sqlite3";
/* Programs without an end of options. */
static const char NO_DASHES[] = "expr ps test [";
static const char TAR[] = "bsdtar gtar tar";
static const char TAR_RUNS[] =
	"-I -F --use-compress-program --to-command --checkpoint-action "
	"--info-script --new-volume-script --rsh-command --rmt-command";

/* Programs that run a file that -f names. */
static const char RUNS_FILE[] = "awk bc gawk gmake make mawk nawk sed";
static const char FILE_OPTIONS[] = "--file --makefile --exec --include";

static bool is_of(const char *names, const struct resolved_file *f)
{
	return programs_is_one(names, f->asked) ||
	       programs_is_one(names, f->path);
}

static bool is_cluster(const char *arg)
{
	return arg[0] == '-' && arg[1] && arg[1] != '-';
}

/* Is the next argument what tar runs? In its old style, "cIf", any may be. */
static bool tar_runs_next(const struct strlist *argv, size_t at)
{
	const char *first = argv->item[1], *before = argv->item[at - 1];

	return str_has_word(TAR_RUNS, str_of(before)) ||
	       (is_cluster(before) &&
		strchr("IF", before[strlen(before) - 1])) ||
	       (*first != '-' && (at == 1 || strpbrk(first, "IF")));
}

#define BLANKS " \t\n\r\f\v"

/* Would <> of perl open it as a pipe, or as a file to write? Code behind -e, -n
   and -p read operands so. */
static bool is_perl_open(const char *arg)
{
	size_t n;

	arg += strspn(arg, BLANKS);
	n = strlen(arg);
	while (n && strchr(BLANKS, arg[n - 1]))
		n--;
	return n && (strchr("<>|+", *arg) || arg[n - 1] == '|');
}

/* Does it find what it runs in its standard input: -f -? */
static bool runs_stdin(const struct strlist *argv)
{
	for (size_t i = 1; i < argv->n; i++) {
		const char *arg = argv->item[i], *value = strchr(arg, '=');
		const char *next = i + 1 < argv->n ? argv->item[i + 1] : "";
		struct str name = str_first(
			str_of(arg), value ? (size_t)(value - arg) : SIZE_MAX);

		if (is_cluster(arg) && strpbrk(arg, "fEi"))
			value = strpbrk(arg, "fEi");
		else if (!str_has_word(FILE_OPTIONS, name))
			continue;
		if (programs_is_stdin(value && value[1] ? value + 1 : next))
			return true;
	}
	return false;
}

/* Would the program take this argument for what it runs or does? */
static bool is_taken(const struct resolved_file *f, const struct strlist *argv,
		     size_t at)
{
	const char *arg = argv->item[at];

	if (is_of(NO_DASHES, f))
		return *arg && strchr("-(!,", *arg);
	if (is_of("perl", f))
		return is_perl_open(arg);
	if (is_of(TAR, f))
		return arg[0] == '-' || tar_runs_next(argv, at);
	return is_starter(f->asked) || is_starter(f->path) ||
	       is_of(STARTERS, f) || is_of(RUNS_WORDS, f);
}

static int judge_commands(const struct prepared *p, const struct strlist *argv,
			  struct err *err)
{
	const struct resolved_file *f = &p->program.file[0];
	const struct gate_request *r = p->request;
	const char *name = resolve_basename(f->asked);

	if (r->data_may_start)
		return 0;
	for (size_t i = 1; r->from_data && i < argv->n; i++)
		if (r->from_data[i] && is_taken(f, argv, i))
			return err_set(
				err, ERR_POLICY,
				"argument %zu comes from data and would decide "
				"what %s runs or does; pass it to sh behind a "
				"script of your own (args = [\"-c\", \"…"
				"\\\"$1\\\"\", \"sh\", "
				"\"$steps.NAME.output\"]), "
				"or write args_from_data = \"allow\"",
				i, name);
	if (r->input_from_data &&
	    (is_starter(f->asked) || is_starter(f->path) ||
	     is_of(STARTERS, f) || is_of(RUNS_INPUT, f) ||
	     (is_of(RUNS_FILE, f) && runs_stdin(argv))))
		return err_set(err, ERR_POLICY,
			       "standard input comes from data, and what %s "
			       "starts or reads could run it; name the program "
			       "itself in `command`, or write args_from_data = "
			       "\"allow\"",
			       name);
	return 0;
}

/* ---- the program ---- */

static int judge_input(const struct prepared *p, const struct strlist *argv,
		       struct err *err)
{
	const struct resolved_file *f = &p->program.file[0];

	if (!p->request->input_from_data ||
	    !programs_reads_input(f->asked, f->path, argv))
		return 0;
	return err_set(err, ERR_POLICY,
		       "standard input comes from data, and %s runs it as a "
		       "program; name a script, or -c with its code, in `args`",
		       resolve_basename(f->asked));
}

int prepare_data(struct prepared *p, struct err *err)
{
	const struct resolved_file *f = &p->program.file[0];
	const struct gate_request *r = p->request;
	struct strlist argv;
	size_t at = 0;

	/* arguments of a script belong to the script */
	if ((!r->from_data && !r->input_from_data) || p->program.prefix.n)
		return 0;
	argv = words_of(p);
	if (r->from_data)
		at = programs_decided(f->asked, f->path, &argv, r->from_data);
	if (r->from_data && !at &&
	    (is_starter(f->asked) || is_starter(f->path)))
		at = started_decided(p, &argv);
	if (refuse(at, f->asked, err) < 0 || judge_commands(p, &argv, err) < 0)
		return -1;
	return judge_input(p, &argv, err);
}
