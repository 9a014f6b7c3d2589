#include "core/secret/secret.h"

#include <errno.h>
#include <fcntl.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

static int unavailable(struct err *err, const char *what, const char *why)
{
	return err_set(err, ERR_CREDENTIAL, "%s %s", what, why);
}

/* Copies of a value lie in one block, not in what growing leaves behind. */
static int give(struct str value, const char *what, struct buf *out,
		struct err *err)
{
	char *room;

	if (!value.n)
		return unavailable(err, what, "is empty");
	if (str_find(value, '\0') < value.n)
		return unavailable(err, what, "contains the character NUL");
	room = value.n <= LIMIT_SECRET_BYTES ? buf_room(out, value.n) : NULL;
	if (!room)
		return err_set(
			err, ERR_CREDENTIAL,
			"%s is longer than %d KiB, too long for a credential",
			what, LIMIT_SECRET_BYTES / 1024);
	return buf_add_str(out, value) == BUF_OK ? 0 : -1;
}

static int open_file(const char *path, const struct secret_runner *runner,
		     int *ret_fd, struct err *err)
{
	struct err why = ERR_INIT;
	bool is_ours = runner && runner->open;
	/* a FIFO must not make us wait for its writer */
	AUTO(fd_closep)
	int fd = is_ours ? runner->open(runner->arg, path, &why)
			 : fd_open(path, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 && is_ours && !why.sys)
		return err_set(err, ERR_CREDENTIAL, "file %s", why.msg);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, ERR_CREDENTIAL, "file %s: %s", path,
			       strerror(fd < 0 && is_ours ? why.sys : errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_CREDENTIAL,
			       "file %s: not a regular file", path);
	*ret_fd = fd_steal(&fd);
	return 0;
}

static int resolve_file(const char *path, const struct secret_runner *runner,
			struct buf *out, struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(LIMIT_SECRET_BYTES + 1024);
	AUTO(fd_closep) int fd = -1;
	AUTO(mem_freep) char *what = mem_printf("file %s", path);
	struct err cause = ERR_INIT;

	if (open_file(path, runner, &fd, err) < 0)
		return -1;
	/* all of it at once, so that nothing is moved and left behind */
	if (!buf_room(&text, text.max))
		return unavailable(err, what, "has no room");
	if (fd_read_all(fd, &text, &cause) < 0)
		return cause.kind == ERR_LIMIT
			       ? unavailable(err, what, "is too long")
			       : err_set(err, ERR_CREDENTIAL, "%s: %s", what,
					 cause.msg);
	return give(str_trim(buf_str(&text)), what, out, err);
}

static int resolve_cmd(const char *line, const struct secret_runner *runner,
		       struct buf *out, struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(LIMIT_SECRET_BYTES);
	AUTO(mem_freep) char *what = mem_printf("command `%s`", line);

	if (!runner)
		return unavailable(err, what, "cannot be run here");
	if (!buf_room(&text, text.max))
		return unavailable(err, what, "has no room");
	if (runner->run(runner->arg, line, &text, err) < 0) {
		err->kind = ERR_CREDENTIAL;
		return err_wrap(err, "%s", what);
	}
	return give(str_trim(buf_str(&text)), what, out, err);
}

int secret_resolve(enum secret_source source, const char *from,
		   const struct secret_runner *runner, struct buf *out,
		   struct err *err)
{
	const char *value;
	char what[256];

	switch (source) {
	case SECRET_ENV:
		value = getenv(from);
		snprintf(what, sizeof(what), "variable %s", from);
		if (!value)
			return unavailable(err, what, "is not set");
		return give(str_of(value), what, out, err);
	case SECRET_FILE:
		return resolve_file(from, runner, out, err);
	case SECRET_CMD:
		return resolve_cmd(from, runner, out, err);
	}
	return err_set(err, ERR_INTERNAL, "unknown source of credentials");
}

/* ---- command lines ---- */

static const char blanks[] = " \t\n\r";

/*
 * One word from *at on, to the first blank outside of quotes.
 * returns  0, or -1 with an open quote
 */
static int next_word(struct str line, size_t *at, struct buf *word,
		     struct err *err)
{
	char quote = 0;
	size_t i = *at;

	for (; i < line.n && (quote || !memchr(blanks, line.p[i], 4)); i++) {
		char c = line.p[i];

		if (!quote && (c == '"' || c == '\'')) {
			quote = c;
		} else if (c == quote) {
			quote = 0;
		} else if (c == '\\' && quote != '\'' &&
			   /* inside "…" (POSIX shell, 2.2.3) */
			   (!quote || (i + 1 < line.n &&
				       memchr("\"\\$`\n", line.p[i + 1], 5)))) {
			if (++i == line.n)
				return err_set(err, ERR_SYNTAX,
					       "a backslash at the end");
			buf_addc(word, line.p[i]);
		} else {
			buf_addc(word, c);
		}
	}
	if (quote)
		return err_set(err, ERR_SYNTAX, "a quote %c is not closed",
			       quote);
	*at = i;
	return 0;
}

int secret_split_words(struct str line, struct arena *arena,
		       struct strlist *ret, struct err *err)
{
	AUTO(buf_release) struct buf word = BUF_INIT(BUF_UNBOUNDED);
	struct strlist words = {NULL, 0};
	size_t at = 0;

	if (str_find(line, '\0') < line.n)
		return err_set(err, ERR_SYNTAX, "contains the character NUL");
	/* at most every second byte begins a word */
	words.item = ARENA_ARRAY(arena, const char *, line.n / 2 + 2);
	for (;;) {
		while (at < line.n && memchr(blanks, line.p[at], 4))
			at++;
		if (at == line.n)
			break;
		buf_clear(&word);
		if (next_word(line, &at, &word, err) < 0)
			return -1;
		words.item[words.n++] =
			arena_strndup(arena, buf_cstr(&word), word.n);
	}
	if (!words.n)
		return err_set(err, ERR_SYNTAX, "empty command line");
	*ret = words;
	return 0;
}
