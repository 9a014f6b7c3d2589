#include "core/client/kept_lists.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/digest.h"
#include "core/config/state_file.h"

#define SCHEMA "matins-list/1"
#define SUFFIX ".json"
#define SALT_BYTES 16
/* Rounds of the digest of secrets: a short one is not found at once by who
   has the file. About half a millisecond. */
#define ROUNDS 1000
/* However long a server says (CH-3). */
#define TTL_MAX_MS (UINT64_C(24) * 60 * 60 * 1000)

struct kept_lists {
	char *dir; /* owned; NULL: nothing is kept */
	char boot[64];
};

struct kept_lists *kept_lists_open(const char *state_dir)
{
	struct kept_lists *k = mem_zalloc(sizeof(*k));

	if (state_dir)
		k->dir = mem_printf("%s/lists", state_dir);
	return k;
}

void kept_lists_free(struct kept_lists *k)
{
	if (!k)
		return;
	free(k->dir);
	free(k);
}

/* NULL: nothing is kept. */
static char *path_of(const struct kept_lists *k, const struct kept_key *key)
{
	if (!k || !k->dir)
		return NULL;
	return mem_printf("%s/%s" SUFFIX, k->dir, key->hex);
}

/* ---- as whom ---- */

static void digest_secrets(const struct kept_key *key, struct str salt,
			   char ret[SHA256_HEX_BYTES])
{
	const bool any = key->secrets && key->secrets[0];
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, salt.p, salt.n);
	digest_number(&s, key->version);
	digest_vector(&s, key->secrets);
	sha256_end(&s, sum);
	for (int i = 0; any && i < ROUNDS; i++) {
		sha256_init(&s);
		sha256_add(&s, sum, sizeof(sum));
		sha256_end(&s, sum);
	}
	sha256_text(sum, ret);
}

static bool is_same(const struct kept_key *key, struct str file)
{
	AUTO(buf_release) struct buf salt = BUF_INIT(256);
	char hex[SHA256_HEX_BYTES];
	struct str v, given;

	if (!scan_get(file, "salt", &v) || !scan_string(v, &salt) ||
	    !scan_get(file, "as", &given))
		return false;
	digest_secrets(key, buf_str(&salt), hex);
	return scan_is(given, hex);
}

/* ---- when ---- */

/* Which start of the machine the monotonic clock counts from; "" unknown. */
static const char *boot_of(struct kept_lists *k)
{
	AUTO(buf_release) struct buf text = BUF_INIT(sizeof(k->boot) - 1);
	struct err ignored = ERR_INIT;
	struct str id;

	if (k->boot[0] || fd_read_file("/proc/sys/kernel/random/boot_id", &text,
				       &ignored) < 0)
		return k->boot;
	id = str_trim(buf_str(&text));
	memcpy(k->boot, id.p, id.n);
	return k->boot;
}

static bool number(struct str file, const char *name, int64_t *ret)
{
	struct str v;

	return scan_get(file, name, &v) && scan_int64(v, ret);
}

/* What is left of `ttl` since `then`; 0 also where `now` is before it. */
static uint64_t left(int64_t then, int64_t now, uint64_t ttl)
{
	uint64_t age;

	if (now < then)
		return 0;
	age = (uint64_t)now - (uint64_t)then;
	return age < ttl ? ttl - age : 0;
}

static int64_t wall_ms(struct clock *clock)
{
	return clock->wall_ns(clock) / (int64_t)NS_PER_MS;
}

static int64_t mono_ms(struct clock *clock)
{
	return (int64_t)(clock->now_ns(clock) / NS_PER_MS);
}

static uint64_t left_of(struct kept_lists *k, struct str file,
			struct clock *clock)
{
	const char *boot = boot_of(k);
	int64_t wall, mono, ttl;
	uint64_t by_wall, by_mono;
	struct str v;

	if (!number(file, "wall_ms", &wall) ||
	    !number(file, "mono_ms", &mono) || !number(file, "ttl_ms", &ttl) ||
	    !scan_get(file, "boot", &v) || ttl <= 0 ||
	    (uint64_t)ttl > TTL_MAX_MS || wall < 0 || mono < 0)
		return 0;
	by_wall = left(wall, wall_ms(clock), (uint64_t)ttl);
	if (!*boot || !scan_is(v, boot))
		return by_wall;
	by_mono = left(mono, mono_ms(clock), (uint64_t)ttl);
	return by_wall < by_mono ? by_wall : by_mono;
}

/* ---- files ---- */

bool kept_lists_find(struct kept_lists *k, const struct kept_key *key,
		     struct clock *clock, struct buf *text,
		     struct str *ret_pages, uint64_t *ret_left_ms)
{
	AUTO(mem_freep) char *path = path_of(k, key);
	const struct state_file f = {path, SCHEMA, KEPT_LIST_BYTES};
	struct str file, pages;
	uint64_t ms;

	if (!path || !state_file_read(&f, text, &file) || !is_same(key, file) ||
	    !scan_get(file, "pages", &pages) || scan_type(pages) != SCAN_ARRAY)
		return false;
	ms = left_of(k, file, clock);
	if (!ms)
		return false;
	*ret_pages = pages;
	*ret_left_ms = ms;
	return true;
}

struct oldest {
	size_t n;
	char name[256]; /* of the one longest not written */
	struct timespec at;
};

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
				      : a->tv_nsec < b->tv_nsec;
}

static void look_at(struct oldest *o, int dir, const char *name)
{
	struct stat st;

	if (!str_ends(str_of(name), SUFFIX) ||
	    strlen(name) >= sizeof(o->name) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!o->n++ || is_before(&st.st_mtim, &o->at)) {
		memcpy(o->name, name, strlen(name) + 1);
		o->at = st.st_mtim;
	}
}

/* Room for one more. */
static void prune(const struct kept_lists *k)
{
	DIR *dir = opendir(k->dir);
	struct oldest o = {.n = 0};
	const struct dirent *d;

	if (!dir)
		return;
	while ((d = readdir(dir)))
		look_at(&o, dirfd(dir), d->d_name);
	if (o.n >= KEPT_LISTS_MAX)
		(void)!unlinkat(dirfd(dir), o.name, 0);
	closedir(dir);
}

static bool make_salt(char ret[2 * SALT_BYTES + 1])
{
	unsigned char salt[SALT_BYTES];

	if (getrandom(salt, sizeof(salt), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(salt))
		return false;
	for (size_t i = 0; i < sizeof(salt); i++)
		snprintf(ret + 2 * i, 3, "%02x", salt[i]);
	return true;
}

void kept_lists_put(struct kept_lists *k, const struct kept_key *key,
		    struct clock *clock, uint64_t ttl_ms, struct str pages)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(mem_freep) char *path = path_of(k, key);
	const struct state_file f = {path, SCHEMA, KEPT_LIST_BYTES};
	char salt[2 * SALT_BYTES + 1], hex[SHA256_HEX_BYTES];
	struct jw w;

	if (!path || !make_salt(salt))
		return;
	if (!ttl_ms || pages.n > KEPT_LIST_BYTES) {
		kept_lists_forget(k, key);
		return;
	}
	digest_secrets(key, str_of(salt), hex);
	jw_init(&w, &text, false);
	jw_object(&w);
	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_cstr(&w, "salt", salt);
	jw_kv_cstr(&w, "as", hex);
	jw_kv_cstr(&w, "boot", boot_of(k));
	jw_kv_int(&w, "mono_ms", mono_ms(clock));
	jw_kv_int(&w, "wall_ms", wall_ms(clock));
	jw_kv_int(&w, "ttl_ms",
		  (int64_t)(ttl_ms < TTL_MAX_MS ? ttl_ms : TTL_MAX_MS));
	jw_kv_raw(&w, "pages", pages);
	jw_end(&w);
	buf_addc(&text, '\n');
	if (access(path, F_OK) < 0)
		prune(k);
	state_file_write(&f, buf_str(&text));
}

void kept_lists_forget(struct kept_lists *k, const struct kept_key *key)
{
	AUTO(mem_freep) char *path = path_of(k, key);

	if (path)
		(void)!unlink(path);
}
