#include "core/client/eras.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/config/state_file.h"

#define SCHEMA "matins-eras/2"
/* ERAS_MAX rows need less. */
#define FILE_BYTES (256 * 1024)
/* A row: a key, and a letter for its era. */
#define KEY_BYTES (sizeof(((struct era_key *)NULL)->hex) - 1)
#define ROW_BYTES (KEY_BYTES + 1)

/* Rows stand one behind the other, in the file as well, so that a start has
   nothing to parse; the one learned last comes last. */
struct eras {
	char *path; /* owned; NULL: in memory only */
	struct buf rows;
	struct buf news; /* learned here, to be written in the end */
	bool loaded;
};

static const struct {
	enum session_era era;
	char letter;
} letters[] = {
	{SESSION_ERA_INITIALIZE, 'i'},
	{SESSION_ERA_PER_REQUEST, 'p'},
	{SESSION_ERA_PROBE, '-'},
};

/* Parts end in NUL, so that no two lists run together. */
static void add_text(struct sha256 *sum, const char *text)
{
	sha256_add(sum, text, strlen(text) + 1);
}

static void add_file(struct sha256 *sum, const char *path)
{
	char text[128];
	struct stat st;

	add_text(sum, path);
	if (stat(path, &st) < 0)
		return;
	snprintf(text, sizeof(text), "%ju %ju %jd.%09ld", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino, (intmax_t)st.st_mtim.tv_sec,
		 st.st_mtim.tv_nsec);
	add_text(sum, text);
}

static void end_key(struct era_key *ret, struct sha256 *sum)
{
	char hex[SHA256_HEX_BYTES];

	sha256_end_text(sum, hex);
	snprintf(ret->hex, sizeof(ret->hex), "%.*s", (int)KEY_BYTES, hex);
}

void eras_key(struct era_key *ret, const char *program, const char *const *argv,
	      const char *cwd)
{
	struct sha256 sum;

	sha256_init(&sum);
	add_file(&sum, program);
	add_text(&sum, cwd ? cwd : "");
	for (size_t i = 0; argv[i]; i++)
		add_text(&sum, argv[i]);
	end_key(ret, &sum);
}

void eras_key_url(struct era_key *ret, const char *url)
{
	struct sha256 sum;

	sha256_init(&sum);
	add_text(&sum, "url");
	add_text(&sum, url);
	end_key(ret, &sum);
}

/* ---- rows ---- */

static char *find(const struct buf *rows, const char *key)
{
	for (size_t at = 0; at < rows->n; at += ROW_BYTES)
		/* the first bytes nearly always tell them apart */
		if (memcmp(rows->p + at, key, sizeof(uint64_t)) == 0 &&
		    memcmp(rows->p + at, key, KEY_BYTES) == 0)
			return rows->p + at;
	return NULL;
}

static void remove_row(struct buf *rows, char *row)
{
	rows->n -= ROW_BYTES;
	memmove(row, row + ROW_BYTES, (size_t)(rows->p + rows->n - row));
}

/* Put as the newest; the oldest makes room. */
static void put(struct buf *rows, const char *key, char letter)
{
	char *known = find(rows, key);

	if (known)
		remove_row(rows, known);
	else if (rows->n == ERAS_MAX * ROW_BYTES)
		remove_row(rows, rows->p);
	buf_add(rows, key, KEY_BYTES);
	buf_addc(rows, letter);
}

/* ---- the file ---- */

/* A file that is not of this format counts as empty. */
static void load(const struct eras *e, struct buf *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(FILE_BYTES);
	const struct state_file file = {e->path, SCHEMA, FILE_BYTES};
	struct str v, rows;

	if (e->path && state_file_read(&file, &text, &v) &&
	    scan_get(v, "servers", &rows) && scan_type(rows) == SCAN_STRING)
		scan_string(rows, ret);
	if (ret->n % ROW_BYTES || ret->n > ERAS_MAX * ROW_BYTES)
		buf_clear(ret);
}

/* Write what was learned beside what other runs have learned since. */
static void save(const struct eras *e)
{
	AUTO(buf_release) struct buf rows = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct state_file file = {e->path, SCHEMA, FILE_BYTES};
	struct jw w;

	load(e, &rows);
	for (size_t at = 0; at < e->news.n; at += ROW_BYTES)
		put(&rows, e->news.p + at, e->news.p[at + KEY_BYTES]);
	w = jw_begin(&text);
	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_str(&w, "servers", buf_str(&rows));
	jw_end(&w);
	buf_addc(&text, '\n');
	state_file_write(&file, buf_str(&text));
}

/* ---- the memory ---- */

struct eras *eras_open(const char *state_dir)
{
	struct eras *e = mem_zalloc(sizeof(*e));

	e->rows = e->news = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	if (state_dir)
		e->path = mem_printf("%s/eras.json", state_dir);
	return e;
}

void eras_free(struct eras *e)
{
	if (!e)
		return;
	if (e->path && e->news.n)
		save(e);
	free(e->path);
	buf_release(&e->rows);
	buf_release(&e->news);
	free(e);
}

enum session_era eras_find(struct eras *e, const struct era_key *key)
{
	const char *row;

	if (!e)
		return SESSION_ERA_PROBE;
	if (!e->loaded)
		load(e, &e->rows);
	e->loaded = true;
	row = find(&e->rows, key->hex);
	for (size_t i = 0; row && i < ARRAY_LEN(letters); i++)
		if (letters[i].letter == row[KEY_BYTES])
			return letters[i].era;
	return SESSION_ERA_PROBE;
}

void eras_learn(struct eras *e, const struct era_key *key, enum session_era era)
{
	size_t i = 0;

	if (!e || eras_find(e, key) == era)
		return;
	while (letters[i].era != era)
		i++;
	put(&e->rows, key->hex, letters[i].letter);
	put(&e->news, key->hex, letters[i].letter);
}
