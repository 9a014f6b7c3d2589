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

#define SCHEMA "matins-eras/1"
/* ERAS_MAX entries need less. */
#define FILE_BYTES (256 * 1024)

struct entry {
	struct era_key key;
	enum session_era era;
};

struct eras {
	char *path;	    /* owned; NULL: in memory only */
	struct entry *item; /* owned; the one learned last comes last */
	size_t n, cap;
	bool loaded;
};

static const char *era_word(enum session_era era)
{
	return era == SESSION_ERA_PER_REQUEST ? "per-request" : "initialize";
}

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
	unsigned char digest[SHA256_BYTES];

	sha256_end(sum, digest);
	sha256_text(digest, ret->hex);
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

struct eras *eras_open(const char *state_dir)
{
	struct eras *e = mem_zalloc(sizeof(*e));

	if (state_dir)
		e->path = mem_printf("%s/eras.json", state_dir);
	return e;
}

void eras_free(struct eras *e)
{
	if (!e)
		return;
	free(e->path);
	free(e->item);
	free(e);
}

static struct entry *find(struct eras *e, const struct era_key *key)
{
	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->item[i].key.hex, key->hex) == 0)
			return &e->item[i];
	return NULL;
}

static void forget(struct eras *e, struct entry *entry)
{
	size_t i = (size_t)(entry - e->item);

	memmove(entry, entry + 1, (--e->n - i) * sizeof(*entry));
}

/* Add as the newest; the oldest makes room. */
static void add(struct eras *e, const struct era_key *key, enum session_era era)
{
	if (e->n == ERAS_MAX)
		forget(e, &e->item[0]);
	e->item = mem_grow(e->item, e->n + 1, &e->cap, sizeof(*e->item));
	e->item[e->n++] = (struct entry){*key, era};
}

static void read_entry(struct eras *e, struct str v)
{
	static const enum session_era known[] = {SESSION_ERA_INITIALIZE,
						 SESSION_ERA_PER_REQUEST};
	struct era_key key = {""};
	struct str hex, era;

	if (!scan_get(v, "key", &hex) || !scan_get(v, "era", &era) ||
	    hex.n != sizeof(key.hex) + 1)
		return;
	memcpy(key.hex, hex.p + 1, sizeof(key.hex) - 1);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (scan_is(era, era_word(known[i])) && !find(e, &key))
			add(e, &key, known[i]);
}

/* A file that is not of this format counts as empty. */
static void load(struct eras *e)
{
	AUTO(buf_release) struct buf text = BUF_INIT(FILE_BYTES);
	const struct state_file file = {e->path, SCHEMA, FILE_BYTES};
	struct str v, list;

	e->loaded = true;
	if (!e->path)
		return;
	e->n = 0;
	if (!state_file_read(&file, &text, &v) ||
	    !scan_get(v, "servers", &list))
		return;
	for (struct scan_iter it = scan_over(list); scan_next(&it);)
		read_entry(e, it.value);
}

static void save(const struct eras *e)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct state_file file = {e->path, SCHEMA, FILE_BYTES};
	struct jw w;

	jw_init(&w, &text, false);
	jw_object(&w);
	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_array(&w, "servers");
	for (size_t i = 0; i < e->n; i++) {
		jw_object(&w);
		jw_kv_cstr(&w, "key", e->item[i].key.hex);
		jw_kv_cstr(&w, "era", era_word(e->item[i].era));
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(&text, '\n');
	state_file_write(&file, buf_str(&text));
}

enum session_era eras_find(struct eras *e, const struct era_key *key)
{
	struct entry *known;

	if (!e)
		return SESSION_ERA_PROBE;
	if (!e->loaded)
		load(e);
	known = find(e, key);
	return known ? known->era : SESSION_ERA_PROBE;
}

void eras_learn(struct eras *e, const struct era_key *key, enum session_era era)
{
	struct entry *known;

	if (!e || eras_find(e, key) == era)
		return;
	/* another run may have learned something since */
	load(e);
	known = find(e, key);
	if (known)
		forget(e, known);
	if (era != SESSION_ERA_PROBE)
		add(e, key, era);
	if (e->path)
		save(e);
}
