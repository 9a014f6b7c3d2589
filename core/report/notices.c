#include "core/report/notices.h"

#include "core/base/arena.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"

/* Lines of the file at most. */
#define NOTICES_MAX 512

/* "FILE SENTENCE", halves of their sums in hexadecimal */
#define SUM_BYTES 32
#define LINE_BYTES (SUM_BYTES + 1 + SUM_BYTES)

struct notices {
	struct arena arena;
	const char *path;	  /* NULL: nothing is kept */
	char file[SUM_BYTES + 1]; /* sum of the configuration's path */
	struct strlist others;	  /* lines of other files */
	struct strlist before, now;
};

static void add_sum(const char *text, char sum[SUM_BYTES + 1])
{
	char all[SHA256_HEX_BYTES];

	sha256_hex(str_of(text), all);
	memcpy(sum, all, SUM_BYTES);
	sum[SUM_BYTES] = '\0';
}

static void read_lines(struct notices *n)
{
	AUTO(buf_release)
	struct buf text = BUF_INIT(NOTICES_MAX * (LINE_BYTES + 1));
	struct err err = ERR_INIT;
	struct str rest;

	/* without the file, or with one that is too long, all is news */
	if (fd_read_regular(n->path, &text, &err) < 0)
		return;
	rest = buf_str(&text);
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');

		if (line.n == LINE_BYTES)
			list_add(str_starts(line, n->file) ? &n->before
							   : &n->others,
				 &n->arena,
				 arena_strndup(&n->arena, line.p, line.n));
	}
}

struct notices *notices_open(const char *state_dir, const char *file)
{
	struct notices *n = mem_zalloc(sizeof(*n));

	add_sum(file ? file : "", n->file);
	/* with -q nothing is said, and nothing may count as said */
	if (state_dir && log_level() >= LOG_NOTE) {
		n->path = arena_printf(&n->arena, "%s/notices", state_dir);
		read_lines(n);
	}
	return n;
}

bool notices_has_news(struct notices *n, const char *sentence)
{
	char sum[SUM_BYTES + 1];
	const char *line;

	add_sum(sentence, sum);
	line = arena_printf(&n->arena, "%s %s", n->file, sum);
	if (!list_has(&n->now, line))
		list_add(&n->now, &n->arena, line);
	return log_level() > LOG_NOTE || !list_has(&n->before, line);
}

static bool is_same(const struct strlist *a, const struct strlist *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!list_has(b, a->item[i]))
			return false;
	return a->n == b->n;
}

static void keep(const struct notices *n)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t all = n->others.n + n->now.n;
	struct err err = ERR_INIT;

	for (size_t i = all > NOTICES_MAX ? all - NOTICES_MAX : 0; i < all; i++)
		buf_addf(&text, "%s\n",
			 i < n->others.n ? n->others.item[i]
					 : n->now.item[i - n->others.n]);
	/* a notice that is said once more does no harm */
	(void)!fd_replace_file(n->path, buf_str(&text), 0600, false, &err);
}

void notices_close(struct notices *n, bool is_whole)
{
	if (!n)
		return;
	for (size_t i = 0; !is_whole && i < n->before.n; i++)
		if (!list_has(&n->now, n->before.item[i]))
			list_add(&n->now, &n->arena, n->before.item[i]);
	if (n->path && !is_same(&n->now, &n->before))
		keep(n);
	arena_release(&n->arena);
	free(n);
}
