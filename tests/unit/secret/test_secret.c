#include "tests/unit/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/secret/scrub.h"
#include "core/secret/secret.h"
#include "tests/unit/heap_watch.h"

#ifndef MATINS_ASAN
/* Not written as a whole in the program, which would hold it, too. */
static const char *secret_value(void)
{
	static char value[32];

	for (size_t i = 0; i + 1 < sizeof(value); i++)
		value[i] = (char)('a' + (7 * i + 3) % 26);
	return value;
}
#endif

struct fixture {
	struct arena arena;
	struct buf value;
	struct err err;
	char path[64];
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.arena = ARENA_INIT,
			     .value = BUF_INIT(LIMIT_SECRET_BYTES),
			     .err = ERR_INIT,
			     .path = "/tmp/test_secret.XXXXXX"};
	close(mkstemp(f.path));
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	buf_wipe(&f->value);
	arena_release(&f->arena);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static int resolve(struct fixture *f, enum secret_source source,
		   const char *from)
{
	buf_clear(&f->value);
	return secret_resolve(source, from, NULL, &f->value, &f->err);
}

static int resolve_content(struct fixture *f, struct str content)
{
	assert_int_equal(
		fd_replace_file(f->path, content, 0600, false, &f->err), 0);
	return resolve(f, SECRET_FILE, f->path);
}

static void assert_unavailable(struct fixture *f, int result, const char *why)
{
	assert_int_equal(result, -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	if (!strstr(f->err.msg, why))
		fail_msg("%s is not in: %s", why, f->err.msg);
	assert_int_equal(f->value.n, 0);
}

TEST_IN(fixture, env, set, value)
{
	struct fixture *f = *state;

	setenv("TEST_SECRET", " as it is ", 1);
	assert_int_equal(resolve(f, SECRET_ENV, "TEST_SECRET"), 0);
	assert_string_equal(buf_cstr(&f->value), " as it is ");
}

TEST_IN(fixture, env, unset_or_empty, named)
{
	struct fixture *f = *state;

	unsetenv("TEST_SECRET");
	assert_unavailable(f, resolve(f, SECRET_ENV, "TEST_SECRET"),
			   "TEST_SECRET is not set");
	setenv("TEST_SECRET", "", 1);
	assert_unavailable(f, resolve(f, SECRET_ENV, "TEST_SECRET"),
			   "TEST_SECRET is empty");
}

TEST_IN(fixture, file, content, is_trimmed)
{
	struct fixture *f = *state;

	assert_int_equal(resolve_content(f, STR(" \n s3c ret\r\n\n")), 0);
	assert_string_equal(buf_cstr(&f->value), "s3c ret");
}

TEST_IN(fixture, file, no_credential, cause_without_value)
{
	struct fixture *f = *state;
	AUTO(mem_freep) char *big = mem_zalloc(LIMIT_SECRET_BYTES * 2);

	unlink(f->path);
	assert_unavailable(f, resolve(f, SECRET_FILE, f->path), "No such file");
	assert_unavailable(f, resolve(f, SECRET_FILE, "/tmp"),
			   "not a regular file");
	assert_unavailable(f, resolve_content(f, STR(" \n")), "is empty");
	assert_unavailable(f, resolve_content(f, STR("topsec\0ret")), "NUL");
	assert_null(strstr(f->err.msg, "topsec"));
	memset(big, 'x', LIMIT_SECRET_BYTES * 2);
	assert_int_equal(
		resolve_content(f, (struct str){big, LIMIT_SECRET_BYTES}), 0);
	assert_unavailable(
		f,
		resolve_content(f, (struct str){big, LIMIT_SECRET_BYTES + 1}),
		"longer than");
	assert_unavailable(
		f,
		resolve_content(f, (struct str){big, LIMIT_SECRET_BYTES * 2}),
		"too long");
}

/* Opening it must not wait for a writer. */
TEST_IN(fixture, file, fifo, is_refused)
{
	struct fixture *f = *state;

	unlink(f->path);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_unavailable(f, resolve(f, SECRET_FILE, f->path),
			   "not a regular file");
}

static int run_echo(void *arg, const char *line, struct buf *out,
		    struct err *err)
{
	(void)arg;
	if (!strcmp(line, "fail"))
		return err_set(err, ERR_LEASH, "not allowed");
	buf_adds(out, line);
	buf_adds(out, " \n");
	return 0;
}

TEST_IN(fixture, cmd, runner, trimmed_stdout_or_cause)
{
	struct fixture *f = *state;
	const struct secret_runner runner = {.run = run_echo};

	assert_int_equal(secret_resolve(SECRET_CMD, "pass show x", &runner,
					&f->value, &f->err),
			 0);
	assert_string_equal(buf_cstr(&f->value), "pass show x");
	buf_clear(&f->value);
	assert_unavailable(
		f,
		secret_resolve(SECRET_CMD, "fail", &runner, &f->value, &f->err),
		"`fail`: not allowed");
	assert_unavailable(f, resolve(f, SECRET_CMD, "x"), "cannot be run");
}

#ifndef MATINS_ASAN
/* The runner's output: all of it at once, as core/run gives it. */
static int run_value(void *arg, const char *line, struct buf *out,
		     struct err *err)
{
	(void)line;
	(void)err;
	return buf_adds(out, arg) == BUF_OK ? 0 : -1;
}

/* Everything that is done with a value, in pieces and in all its forms. */
static void use_value(struct str value)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scrub *s = scrub_new();
	struct scrub_stream st;

	assert_true(scrub_add(s, value));
	scrub_stream_init(&st, s);
	for (size_t i = 0; i < value.n; i++)
		scrub_stream_feed(&st, (struct str){value.p + i, 1}, &out);
	scrub_stream_end(&st, &out);
	assert_int_equal(st.hits, 1);
	buf_addf(&text, "\"x %.*s\"", STR_ARG(value));
	assert_int_equal(scrub_apply(s, buf_str(&text), &out), 1);
	assert_int_equal(scrub_json(s, buf_str(&text), &out), 1);
	buf_wipe(&text);
	buf_release(&out);
	scrub_free(s);
}

TEST_IN(fixture, sources, resolved_and_used, leave_nothing_on_the_heap)
{
	struct fixture *f = *state;
	const char *value = secret_value();
	struct secret_runner runner = {
		.run = run_value, .arg = (void *)(uintptr_t)secret_value()};

	setenv("TEST_SECRET", value, 1);
	watched = value;
	assert_int_equal(resolve(f, SECRET_ENV, "TEST_SECRET"), 0);
	use_value(buf_str(&f->value));
	buf_wipe(&f->value);
	assert_int_equal(resolve_content(f, str_of(value)), 0);
	use_value(buf_str(&f->value));
	buf_wipe(&f->value);
	assert_int_equal(
		secret_resolve(SECRET_CMD, "x", &runner, &f->value, &f->err),
		0);
	use_value(buf_str(&f->value));
	buf_wipe(&f->value);
	assert_int_equal(n_leaks, 0);

	/* and that this would be seen */
	free(strdup(value));
	assert_int_equal(n_leaks, 1);
	watched = NULL;
	unsetenv("TEST_SECRET");
}
#endif

static void assert_words(struct fixture *f, const char *line, const char *want)
{
	struct buf joined = BUF_INIT(BUF_UNBOUNDED);
	struct strlist words;

	if (secret_split_words(str_of(line), &f->arena, &words, &f->err) < 0)
		fail_msg("%s: %s", line, f->err.msg);
	for (size_t i = 0; i < words.n; i++)
		buf_addf(&joined, "<%s>", words.item[i]);
	assert_null(words.item[words.n]);
	assert_string_equal(buf_cstr(&joined), want);
	buf_release(&joined);
}

TEST_IN(fixture, split, quotes, as_a_shell)
{
	struct fixture *f = *state;

	assert_words(f, "a", "<a>");
	assert_words(f, "  pass\tshow  a/b\n", "<pass><show><a/b>");
	assert_words(f, "a 'b c' \"d e\" f\\ g", "<a><b c><d e><f g>");
	assert_words(f, "a'b'\"c\"d", "<abcd>");
	assert_words(f, "a '' \"\"", "<a><><>");
	assert_words(f, "'a\\b' \"a\\b\\\"\\\\\"", "<a\\b><a\\b\"\\>");
}

TEST_IN(fixture, split, shell_features, are_ordinary)
{
	struct fixture *f = *state;

	assert_words(f, "a $HOME `b` $(c) | d > e * ~ ; &",
		     "<a><$HOME><`b`><$(c)><|><d><>><e><*><~><;><&>");
}

TEST_IN(fixture, split, open_or_empty, error)
{
	struct fixture *f = *state;
	static const char *const bad[] = {"",	   "  ",  "a 'b",
					  "a \"b", "a\\", "\"a\\"};
	struct strlist words;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(secret_split_words(str_of(bad[i]), &f->arena,
						    &words, &f->err),
				 -1);
		assert_int_equal(f->err.kind, ERR_SYNTAX);
	}
	assert_int_equal(
		secret_split_words(STR("a\0b"), &f->arena, &words, &f->err),
		-1);
}
