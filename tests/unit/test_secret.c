#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/secret/secret.h"

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

static void env__set__value(void **state)
{
	struct fixture *f = *state;

	setenv("TEST_SECRET", " as it is ", 1);
	assert_int_equal(resolve(f, SECRET_ENV, "TEST_SECRET"), 0);
	assert_string_equal(buf_cstr(&f->value), " as it is ");
}

static void env__unset_or_empty__named(void **state)
{
	struct fixture *f = *state;

	unsetenv("TEST_SECRET");
	assert_unavailable(f, resolve(f, SECRET_ENV, "TEST_SECRET"),
			   "TEST_SECRET is not set");
	setenv("TEST_SECRET", "", 1);
	assert_unavailable(f, resolve(f, SECRET_ENV, "TEST_SECRET"),
			   "TEST_SECRET is empty");
}

static void file__content__is_trimmed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(resolve_content(f, STR(" \n s3c ret\r\n\n")), 0);
	assert_string_equal(buf_cstr(&f->value), "s3c ret");
}

static void file__no_credential__cause_without_value(void **state)
{
	struct fixture *f = *state;
	AUTO(mem_freep) char *big = mem_zalloc(LIMIT_SECRET_BYTES * 2);

	assert_unavailable(f, resolve(f, SECRET_FILE, "/nonexistent/x"),
			   "No such file");
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
static void file__fifo__is_refused(void **state)
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

static void cmd__runner__trimmed_stdout_or_cause(void **state)
{
	struct fixture *f = *state;
	const struct secret_runner runner = {run_echo, NULL};

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

static void split__quotes__as_a_shell(void **state)
{
	struct fixture *f = *state;

	assert_words(f, "a", "<a>");
	assert_words(f, "  pass\tshow  a/b\n", "<pass><show><a/b>");
	assert_words(f, "a 'b c' \"d e\" f\\ g", "<a><b c><d e><f g>");
	assert_words(f, "a'b'\"c\"d", "<abcd>");
	assert_words(f, "a '' \"\"", "<a><><>");
	assert_words(f, "'a\\b' \"a\\b\\\"\\\\\"", "<a\\b><a\\b\"\\>");
}

static void split__shell_features__are_ordinary(void **state)
{
	struct fixture *f = *state;

	assert_words(f, "a $HOME `b` $(c) | d > e * ~ ; &",
		     "<a><$HOME><`b`><$(c)><|><d><>><e><*><~><;><&>");
}

static void split__open_or_empty__error(void **state)
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(env__set__value),
		TEST(env__unset_or_empty__named),
		TEST(file__content__is_trimmed),
		TEST(file__no_credential__cause_without_value),
		TEST(file__fifo__is_refused),
		TEST(cmd__runner__trimmed_stdout_or_cause),
		TEST(split__quotes__as_a_shell),
		TEST(split__shell_features__are_ordinary),
		TEST(split__open_or_empty__error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
