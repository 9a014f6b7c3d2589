/*
 * Run the tests of a room; speaks TAP.
 *
 *	ROOM [PATTERN]           all tests, or those whose file or name holds
 *	                         PATTERN
 *	ROOM --list [PATTERN]    print their files and names
 *
 * Each file is a process of its own, so that signals, the environment and the
 * working directory are its own affair, and that a crash is told by the name
 * of the test in which it happened.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"

extern const struct test *__start_tests[], *__stop_tests[];

/* A test in one of its fixtures, with the sentence that is printed. */
struct run {
	const struct test *test;
	const struct test_fixture *fixture;
	const char *name;
	const char *script, *text; /* NULL, or of which file and what */
	char title[200];
};

static struct {
	const struct test_fixture *fixture; /* of the file, or NULL */
	struct run *run;
	size_t n, room;
} file;

/* Shared with the process of a file: how many of its tests have begun. */
static size_t *begun;

static int by_place(const void *a, const void *b)
{
	const struct test *x = *(const struct test *const *)a;
	const struct test *y = *(const struct test *const *)b;
	int files = strcmp(x->file, y->file);

	return files ? files : x->line - y->line;
}

/* "RW_52__no_id__is_dropped" as "RW-52: no id is dropped". */
static void write_title(struct run *r)
{
	const char *name = r->name;
	const char *variant = r->fixture ? r->fixture->variant : NULL;
	size_t word = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	size_t digits = word && name[word] == '_'
				? strspn(name + word + 1, "0123456789")
				: 0;
	char text[sizeof(r->title) - 30], *t = text;

	for (const char *p = name; *p && t < text + sizeof(text) - 1; p++) {
		if (*p != '_' || p[1] != '_')
			*t++ = *p == '_' ? ' ' : *p;
	}
	*t = '\0';
	if (digits && !strncmp(name + word + 1 + digits, "__", 2)) {
		text[word] = '-';
		word += 1 + digits;
		snprintf(r->title, sizeof(r->title), "%.*s:%s", (int)word, text,
			 text + word);
	} else {
		snprintf(r->title, sizeof(r->title), "%s", text);
	}
	if (variant) {
		size_t n = strlen(r->title);

		snprintf(r->title + n, sizeof(r->title) - n, " (%s)", variant);
	}
}

static bool is_picked(const struct run *r, const char *pattern)
{
	return !pattern || strstr(r->test->file, pattern) ||
	       strstr(r->name, pattern) || strstr(r->title, pattern) ||
	       (r->script && strstr(r->script, pattern));
}

static void *check_memory(void *p)
{
	if (!p) {
		puts("Bail out! no memory");
		exit(EXIT_FAILURE);
	}
	return p;
}

/* A test in each of its fixtures. */
static void add_runs(const struct run *one, const char *pattern)
{
	const struct test_fixture *f = one->test->fixture;

	do {
		struct run *r;

		if (file.n == file.room) {
			file.room = 2 * file.room + 64;
			file.run = check_memory(realloc(
				file.run, file.room * sizeof(*file.run)));
		}
		r = &file.run[file.n];
		*r = *one;
		r->fixture = f;
		write_title(r);
		file.n += is_picked(r, pattern);
		f = f ? f->next : NULL;
	} while (f);
}

/* Files of scripts that were read; kept until the end. */
static struct script {
	struct script *next;
	char *text;
	char path[];
} * scripts;

static struct script *read_script(const char *path)
{
	struct script *s =
		check_memory(calloc(1, sizeof(*s) + strlen(path) + 1));
	FILE *f = fopen(path, "r");
	size_t room = 0;

	memcpy(s->path, path, strlen(path));
	s->next = scripts;
	scripts = s;
	if (!f || getdelim(&s->text, &room, '\0', f) < 0) {
		printf("Bail out! %s cannot be read\n", path);
		exit(EXIT_FAILURE);
	}
	fclose(f);
	return s;
}

/* The tests of one script: each from its "== " to the next one. */
static void add_script(const struct test *t, struct script *s,
		       const char *pattern)
{
	char *next = strstr(s->text, "== ");

	while (next) {
		char *name = next + 3;
		char *text = name + strcspn(name, "\n");
		struct run one = {.test = t,
				  .name = name,
				  .script = s->path,
				  .text = *text ? text + 1 : text};

		*text = '\0';
		next = strstr(one.text, "\n== ");
		if (next)
			*++next = '\0';
		add_runs(&one, pattern);
	}
}

/* The tests that the files of a row hold. */
static void add_scripts(const struct test *t, const char *pattern)
{
	glob_t found;

	if (glob(t->scripts, 0, NULL, &found) != 0) {
		printf("Bail out! there is no %s\n", t->scripts);
		exit(EXIT_FAILURE);
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_script(t, read_script(found.gl_pathv[i]), pattern);
	globfree(&found);
}

static void free_scripts(void)
{
	while (scripts) {
		struct script *s = scripts;

		scripts = s->next;
		free(s->text);
		free(s);
	}
}

/* The tests of one file, in their order; returns how many rows it has. */
static size_t read_file_rows(const struct test *const *row, size_t n,
			     const char *pattern)
{
	size_t rows = 0;

	file.fixture = NULL;
	file.n = 0;
	for (; rows < n && !strcmp(row[rows]->file, row[0]->file); rows++) {
		const struct test *t = row[rows];

		if (t->play)
			add_scripts(t, pattern);
		else if (t->name)
			add_runs(&(struct run){.test = t, .name = t->name},
				 pattern);
		else
			file.fixture = t->fixture;
	}
	return rows;
}

static struct run *running(void)
{
	return &file.run[*begun - 1];
}

static int set_up(void **state)
{
	const struct test_fixture *f;

	++*begun;
	f = running()->fixture;
	return f && f->set_up ? f->set_up(state) : 0;
}

static void run_one(void **state)
{
	const struct run *r = running();
	const struct test *t = r->test;

	if (t->play)
		t->play(r->script, r->name, r->text);
	else if (t->run)
		t->run();
	else
		t->run_in(state);
}

static int tear_down(void **state)
{
	const struct test_fixture *f = running()->fixture;

	return f && f->tear_down ? f->tear_down(state) : 0;
}

/* The process of a file; returns its exit status. */
static int run_group(void)
{
	struct CMUnitTest *tests = calloc(file.n, sizeof(*tests));
	int failed;

	if (!tests)
		return EXIT_FAILURE;
	for (size_t i = 0; i < file.n; i++)
		tests[i] = (struct CMUnitTest){.name = file.run[i].title,
					       .test_func = run_one,
					       .setup_func = set_up,
					       .teardown_func = tear_down};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = _cmocka_run_group_tests(
		file.run[0].test->file, tests, file.n,
		file.fixture ? file.fixture->set_up : NULL,
		file.fixture ? file.fixture->tear_down : NULL);
	free(tests);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Run the tests of the file that was read; returns an exit status. */
static int run_file(void)
{
	const char *name = file.run[0].test->file;
	double start = seconds();
	int status;
	pid_t pid;

	*begun = 0;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(run_group());
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		printf("Bail out! %s has no process\n", name);
		return EXIT_FAILURE;
	}
	if (WIFSIGNALED(status)) {
		printf("\nnot ok %zu - %s\n# %s: ended by signal %d\n", *begun,
		       *begun ? running()->title : "set-up of the file", name,
		       WTERMSIG(status));
		return EXIT_FAILURE;
	}
	if (WEXITSTATUS(status))
		printf("# %s: exit status %d\n", name, WEXITSTATUS(status));
	printf("# TIME %.2f %s\n", seconds() - start, name);
	return WEXITSTATUS(status);
}

static void list_file(void)
{
	for (size_t i = 0; i < file.n; i++)
		printf("%s %s\n", file.run[i].test->file, file.run[i].name);
}

int main(int argc, char **argv)
{
	size_t n = (size_t)(__stop_tests - __start_tests), total = 0;
	const struct test **row = calloc(n, sizeof(struct test *));
	bool list = argc > 1 && !strcmp(argv[1], "--list");
	const char *pattern = argc > 1 + list ? argv[1 + list] : getenv("PICK");
	int worst = 0;

	/* times are shown in the time zone of the reader */
	setenv("TZ", "UTC", 1);
	begun = mmap(NULL, sizeof(*begun), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!row || begun == MAP_FAILED)
		return EXIT_FAILURE;
	memcpy(row, __start_tests, n * sizeof(*row));
	qsort(row, n, sizeof(*row), by_place);
	for (size_t i = 0; i < n;) {
		i += read_file_rows(row + i, n - i, pattern);
		total += file.n;
		if (file.n && list)
			list_file();
		else if (file.n) {
			int status = run_file();

			worst = status > worst ? status : worst;
		}
	}
	if (!total && !list)
		puts("1..0 # SKIP no test has this name");
	free_scripts();
	munmap(begun, sizeof(*begun));
	free(file.run);
	free(row);
	return worst;
}
