#include "core/auth/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/auth/folder.h"
#include "core/auth/key_place.h"
#include "core/auth/seal.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"

#define FILE_END ".sealed"
#define LOCK_END ".lock"
/* SHA-256 in hexadecimal, one of the ends, and a NUL. */
#define FILE_NAME_BYTES (SHA256_HEX_BYTES + sizeof(FILE_END) - 1)

struct store {
	char *dir; /* owned */
	int fd;	   /* of the folder */
	enum store_key wanted;
	enum store_key used; /* AUTO: no key was needed yet */
	/* The key of `used`, and its id. */
	unsigned char key[CRYPTO_KEY_BYTES], key_id[SEAL_ID_BYTES];
};

/* ---- words ---- */

static const char *const words[] = {
#define WORD_ROW(name, word) word,
	STORE_KEYS(WORD_ROW)
#undef WORD_ROW
};

const char *store_key_word(enum store_key key)
{
	return words[key];
}

bool store_key_find(const char *word, enum store_key *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i], word)) {
			*ret = (enum store_key)i;
			return true;
		}
	return false;
}

/* ---- open ---- */

void store_free(struct store *s)
{
	if (!s)
		return;
	fd_closep(&s->fd);
	mem_wipe(s->key, sizeof(s->key));
	free(s->dir);
	free(s);
}

static void store_freep(struct store **s)
{
	store_free(*s);
}

int store_open(const char *dir, enum store_key key, struct store **ret,
	       struct err *err)
{
	AUTO(store_freep) struct store *s = mem_zalloc(sizeof(*s));

	s->fd = -1;
	s->wanted = key;
	s->dir = mem_strdup(dir);
	if (crypto_load(err) < 0 || folder_open(dir, true, &s->fd, err) < 0)
		return -1;
	*ret = s;
	s = NULL;
	return 0;
}

enum store_key store_key_used(const struct store *s)
{
	return s->used;
}

/* ---- the key ---- */

/* In the order in which "auto" asks them. */
static const struct key_place *const places[] = {
	&key_place_service,
	&key_place_keyring,
	&key_place_file,
};

static const struct key_place *place_of(enum store_key key)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (places[i]->key == key)
			return places[i];
	return NULL;
}

static void use_key(struct store *s, enum store_key place,
		    unsigned char key[CRYPTO_KEY_BYTES])
{
	s->used = place;
	memcpy(s->key, key, CRYPTO_KEY_BYTES);
	mem_wipe(key, CRYPTO_KEY_BYTES);
	seal_key_id(s->key, s->key_id);
}

/* The reason to give when a key of this place is gone. */
static const char *loss_of(enum store_key place)
{
	switch (place) {
	case STORE_KEY_KEYRING:
		return "the key was in the kernel's keyring and is gone (a "
		       "reboot, or days without use)";
	case STORE_KEY_SERVICE:
		return "the key was in the desktop's secret service and is "
		       "gone";
	default:
		return "the key was in the file \"key\" beside it and is gone";
	}
}

/* A hint at the place where keys do not get lost. */
static const char *lasting_hint(enum store_key place)
{
	return place == STORE_KEY_KEYRING
		       ? "; store_key = \"file\" keeps the key across reboots"
		       : "";
}

static const char *shown_name(const struct store_name *name)
{
	return name->shown ? name->shown : name->server;
}

static int key_for(struct store *s, const struct store_name *name,
		   const struct seal *seal, struct err *err)
{
	const struct key_place *place = place_of(seal->head.key);
	unsigned char key[CRYPTO_KEY_BYTES];
	int r;

	if (s->used == place->key &&
	    !memcmp(s->key_id, seal->head.key_id, SEAL_ID_BYTES))
		return 0;
	r = place->find(s->fd, seal->head.key_id, key, err);
	if (r < 0)
		return err_wrap(err, "the tokens of %s", shown_name(name));
	if (r > 0)
		return err_set(err, ERR_CREDENTIAL,
			       "the tokens of %s: %s; log in again: matins "
			       "auth login%s",
			       shown_name(name), loss_of(place->key),
			       lasting_hint(place->key));
	use_key(s, place->key, key);
	return 0;
}

/* One place's key for new files, made where there is none. */
static int key_of_place(struct store *s, const struct key_place *place,
			struct err *err)
{
	unsigned char key[CRYPTO_KEY_BYTES];
	int r = place->find(s->fd, NULL, key, err);

	if (r > 0) {
		crypto_random(key, sizeof(key));
		r = place->keep(s->fd, key, err);
		/* another process may have been first */
		if (r == 0)
			r = place->find(s->fd, NULL, key, err);
		if (r > 0)
			r = err_set(err, ERR_CREDENTIAL,
				    "the key that was just kept is gone (%s)",
				    store_key_word(place->key));
	}
	if (r == 0)
		use_key(s, place->key, key);
	mem_wipe(key, sizeof(key));
	return r;
}

/* The key of what was read before serves on, wherever "auto" found it. */
static int key_for_new(struct store *s, struct err *err)
{
	struct err ignored = ERR_INIT;

	if (s->wanted != STORE_KEY_AUTO)
		return s->used == s->wanted
			       ? 0
			       : key_of_place(s, place_of(s->wanted), err);
	if (s->used != STORE_KEY_AUTO)
		return 0;
	for (size_t i = 0; i + 1 < ARRAY_LEN(places); i++)
		if (key_of_place(s, places[i], &ignored) == 0)
			return 0;
	return key_of_place(s, places[ARRAY_LEN(places) - 1], err);
}

/* ---- files ---- */

static void file_name(const struct store_name *name, char ret[FILE_NAME_BYTES])
{
	AUTO(buf_release) struct buf both = BUF_INIT(BUF_UNBOUNDED);

	buf_add(&both, name->server, strlen(name->server) + 1);
	buf_adds(&both, name->issuer);
	sha256_hex(buf_str(&both), ret);
	memcpy(ret + SHA256_HEX_BYTES - 1, FILE_END, sizeof(FILE_END));
}

static int refuse_file(const struct store *s, const char *file,
		       const char *server, const char *why, struct err *err)
{
	return err_set(err, ERR_CREDENTIAL,
		       "%s/%s, the tokens of %s: %s; log in again: matins auth "
		       "login",
		       s->dir, file, server, why);
}

int store_read(struct store *s, const struct store_name *name,
	       struct arena *arena, struct str *ret, struct err *err)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(SEAL_FILE_MAX);
	struct err why = ERR_INIT;
	char file[FILE_NAME_BYTES];
	struct seal seal;
	char *text;
	int r;

	file_name(name, file);
	r = folder_read(s->fd, file, &bytes, err);
	if (r < 0)
		return err_wrap(err, "%s", s->dir);
	if (r > 0)
		return 1;
	if (seal_parse(buf_str(&bytes), &seal, &why) < 0)
		return refuse_file(s, file, shown_name(name), why.msg, err);
	if (!str_is(seal.head.server, name->server) ||
	    !str_is(seal.head.issuer, name->issuer))
		return refuse_file(s, file, shown_name(name),
				   "belongs to another server", err);
	if (key_for(s, name, &seal, err) < 0)
		return -1;
	text = arena_alloc(arena, seal_text_bytes(&seal) + 1);
	r = seal_open(&seal, s->key, text, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return refuse_file(s, file, shown_name(name),
				   "changed after it was sealed", err);
	*ret = (struct str){text, seal_text_bytes(&seal)};
	return 0;
}

int store_write(struct store *s, const struct store_name *name, struct str json,
		struct err *err)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct seal_head head = {
		.server = str_of(name->server),
		.issuer = str_of(name->issuer),
	};
	char file[FILE_NAME_BYTES];

	if (key_for_new(s, err) < 0)
		return err_wrap(err, "%s", s->dir);
	head.key = s->used;
	memcpy(head.key_id, s->key_id, sizeof(head.key_id));
	file_name(name, file);
	if (seal_write(&head, s->key, json, &bytes, err) < 0 ||
	    folder_replace(s->fd, file, buf_str(&bytes), err) < 0)
		return err_wrap(err, "%s", s->dir);
	return 0;
}

int store_remove(struct store *s, const struct store_name *name,
		 struct err *err)
{
	char file[FILE_NAME_BYTES];
	int r;

	file_name(name, file);
	r = folder_remove(s->fd, file, err);
	return r < 0 ? err_wrap(err, "%s", s->dir) : r;
}

/* ---- all of them ---- */

struct walk {
	/* A file; NULL when it is none that can be read, and why. */
	void (*take)(void *arg, const struct seal *seal, const char *file,
		     const char *why);
	void *arg;
};

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Reads from its beginning; NULL and errno. */
static DIR *open_list(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		fd_closep(&fd);
	return d;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, so that what is said of them does not change. */
static int list_files(int dir, struct arena *arena, struct strlist *ret,
		      struct err *err)
{
	AUTO(closedirp) DIR *d = open_list(dir);
	AUTO(mem_freep) const char **item = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;

	if (!d)
		return err_sys(err, errno, "list the tokens");
	while ((e = readdir(d))) {
		if (!str_ends(str_of(e->d_name), FILE_END))
			continue;
		item = mem_grow(item, n + 1, &cap, sizeof(*item));
		item[n++] = arena_strdup(arena, e->d_name);
	}
	*ret = (struct strlist){ARENA_ARRAY(arena, const char *, n + 1), n};
	if (n) {
		qsort(item, n, sizeof(*item), compare_names);
		memcpy(ret->item, item, n * sizeof(*item));
	}
	return 0;
}

static int walk_files(int dir, const struct walk *w, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct strlist files = {NULL, 0};
	int r = list_files(dir, &arena, &files, err);

	for (size_t i = 0; r == 0 && i < files.n; i++) {
		AUTO(buf_release) struct buf bytes = BUF_INIT(SEAL_FILE_MAX);
		struct err why = ERR_INIT;
		struct seal seal;
		int got = folder_read(dir, files.item[i], &bytes, &why);

		if (got > 0)
			continue; /* removed meanwhile */
		if (got == 0)
			got = seal_parse(buf_str(&bytes), &seal, &why);
		w->take(w->arg, got == 0 ? &seal : NULL, files.item[i],
			why.msg);
	}
	arena_release(&arena);
	return r;
}

struct servers {
	struct arena *arena;
	const char **item; /* in it */
	size_t n, cap;
};

static void take_server(void *arg, const struct seal *seal, const char *file,
			const char *why)
{
	struct servers *list = arg;
	const char **grown;

	(void)file;
	(void)why;
	if (!seal)
		return;
	for (size_t i = 0; i < list->n; i++)
		if (str_is(seal->head.server, list->item[i]))
			return;
	if (list->n == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 16;
		grown = ARENA_ARRAY(list->arena, const char *, list->cap);
		if (list->n)
			memcpy(grown, list->item, list->n * sizeof(*grown));
		list->item = grown;
	}
	list->item[list->n++] = arena_str(list->arena, seal->head.server).p;
}

int store_list(struct store *s, struct arena *arena, struct strlist *ret,
	       struct err *err)
{
	struct servers list = {.arena = arena};
	const struct walk walk = {take_server, &list};

	if (walk_files(s->fd, &walk, err) < 0)
		return err_wrap(err, "%s", s->dir);
	*ret = (struct strlist){list.item, list.n};
	return 0;
}

static void take_facts(void *arg, const struct seal *seal, const char *file,
		       const char *why)
{
	struct store_facts *facts = arg;

	if (seal)
		facts->files[seal->head.key]++;
	else if (!facts->n_broken++)
		snprintf(facts->broken, sizeof(facts->broken), "%s: %s", file,
			 why);
}

int store_look(const char *dir, struct store_facts *ret, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct store_facts facts = {0};
	const struct walk walk = {take_facts, &facts};
	int r = folder_open(dir, false, &fd, err);

	if (r)
		return r;
	if (walk_files(fd, &walk, err) < 0)
		return err_wrap(err, "%s", dir);
	*ret = facts;
	return 0;
}

/* ---- locks ---- */

int store_lock(struct store *s, const char *server, struct store_lock *ret,
	       struct err *err)
{
	char file[FILE_NAME_BYTES];
	int r;

	sha256_hex(str_of(server), file);
	memcpy(file + SHA256_HEX_BYTES - 1, LOCK_END, sizeof(LOCK_END));
	r = folder_lock(s->fd, file, &ret->fd, err);
	return r < 0 ? err_wrap(err, "%s", s->dir) : r;
}

void store_unlock(struct store_lock *lock)
{
	fd_closep(&lock->fd);
}
