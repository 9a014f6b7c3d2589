#include "core/auth/store.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/auth/key_place.h"
#include "core/auth/owner.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

/* ---- the folder of tokens ---- */

/*
 * A folder that is the user's alone: opened once and judged, then used by
 * its descriptor, so that nothing on the way to it can be exchanged later.
 * Files in it are regular, the user's, mode 0600, and never links.
 */

/* Room for a name, ".", 16 hexadecimal digits and a NUL. */
#define NAME_BYTES 128

static int open_at(int dir, const char *name, int flags)
{
	int fd;

	do
		fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* Check owner and mode. */
static int judge(const struct stat *st, const char *name, const char *mode,
		 struct err *err)
{
	if (st->st_uid != geteuid())
		return err_set(err, ERR_POLICY,
			       "%s belongs to uid %u and not to uid %u, who "
			       "runs this; name another folder as token_store",
			       name, (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & 077)
		return err_set(err, ERR_POLICY,
			       "%s is open to others (mode %04o); others may "
			       "have read its contents: chmod %s it",
			       name, (unsigned)st->st_mode & 07777, mode);
	return 0;
}

/* returns  0; 1: there is none, and `make` is false. errors  as store_open() */
static int open_folder(const char *dir, bool make, int *ret, struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
	AUTO(fd_closep) int fd = fd_open(dir, flags, 0);
	struct stat st;

	if (fd < 0 && errno == ENOENT) {
		if (!make)
			return 1;
		if (fd_mkdirs(dir, 0700) < 0)
			return err_sys(err, errno, "make the folder %s", dir);
		fd = fd_open(dir, flags, 0);
	}
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR) &&
	    lstat(dir, &st) == 0 && S_ISLNK(st.st_mode))
		return err_set(err, ERR_POLICY,
			       "%s is a link; name the folder itself as "
			       "token_store",
			       dir);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", dir);
	if (judge(&st, dir, "700", err) < 0)
		return -1;
	*ret = fd_steal(&fd);
	return 0;
}

/*
 * Append a file, up to the ceiling of `out`.
 * returns 0; 1: there is none. errors  as above, ERR_LIMIT
 */
static int read_file(int dir, const char *name, struct buf *out,
		     struct err *err)
{
	/* not to hang on a pipe of that name */
	AUTO(fd_closep) int fd = open_at(dir, name, O_RDONLY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_POLICY, "%s is a link; remove it",
			       name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_POLICY, "%s is not a file; remove it",
			       name);
	if (judge(&st, name, "600", err) < 0)
		return -1;
	if (fd_read_all(fd, out, err) < 0)
		return err_wrap(err, "%s", name);
	return 0;
}

static int sync_folder(int dir, const char *name, struct err *err)
{
	return fsync(dir) == 0
		       ? 0
		       : err_sys(err, errno, "sync the folder of %s", name);
}

/*
 * Write a file whole, on disk before it has that name.
 * keeps  a file that is there stays, and 1 is returned
 */
static int write_file(int dir, const char *name, struct str content, bool keeps,
		      struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	char tmp[NAME_BYTES];
	uint64_t random;
	int sys = 0;

	crypto_random(&random, sizeof(random));
	snprintf(tmp, sizeof(tmp), "%.100s.%016llx", name,
		 (unsigned long long)random);
	fd = open_at(dir, tmp, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return err_sys(err, errno, "create %s", tmp);
	/* umask may have taken from the mode */
	if (fchmod(fd, 0600) < 0 ||
	    fd_write_all(fd, content.p, content.n) < 0 || fsync(fd) < 0 ||
	    (keeps ? linkat(dir, tmp, dir, name, 0)
		   : renameat(dir, tmp, dir, name)) < 0)
		sys = errno;
	if (sys || keeps)
		unlinkat(dir, tmp, 0);
	if (sys == EEXIST && keeps)
		return 1;
	if (sys)
		return err_sys(err, sys, "write %s", name);
	return sync_folder(dir, name, err);
}

/* returns 0; 1: there is none */
static int remove_file(int dir, const char *name, struct err *err)
{
	if (unlinkat(dir, name, 0) == 0)
		return sync_folder(dir, name, err);
	return errno == ENOENT ? 1 : err_sys(err, errno, "remove %s", name);
}

/* ---- the key in a file beside the tokens, as one line of Base64 ---- */

#define KEY_FILE "key"
/*
 * More than such a line, so that its form is what is judged; and so little that
 * the buffer never grows and leaves a copy behind.
 */
#define KEY_FILE_MAX 256

static int file_find(int dir, UNUSED const unsigned char *id,
		     unsigned char ret[CRYPTO_KEY_BYTES], struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(KEY_FILE_MAX);
	AUTO(buf_wipe) struct buf key = BUF_INIT(KEY_FILE_MAX);
	int r = read_file(dir, KEY_FILE, &text, err);

	if (r)
		return r;
	if (base64_decode(BASE64_URL, str_trim(buf_str(&text)), &key, err) < 0)
		return err_set(err, ERR_CREDENTIAL,
			       "the file \"" KEY_FILE "\" beside the tokens is "
			       "damaged; remove it and log in again");
	if (key.n != CRYPTO_KEY_BYTES)
		return err_set(err, ERR_CREDENTIAL,
			       "the file \"" KEY_FILE "\" beside the tokens "
			       "holds %zu bytes and not %d; remove it and log "
			       "in again",
			       key.n, CRYPTO_KEY_BYTES);
	memcpy(ret, key.p, CRYPTO_KEY_BYTES);
	return 0;
}

static int file_keep(int dir, UNUSED const unsigned char *id,
		     const unsigned char key[CRYPTO_KEY_BYTES], struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	base64_encode(BASE64_URL,
		      (struct str){(const char *)key, CRYPTO_KEY_BYTES}, &text);
	buf_addc(&text, '\n');
	return write_file(dir, KEY_FILE, buf_str(&text), true, err) < 0 ? -1
									: 0;
}

static const struct key_place key_place_file = {file_find, file_keep};

/*
 * ---- the form of a file of tokens ----
 *
 * Head (not secret, and bound to the text, so that no file can stand in for
 * another's): magic "MATINSTK", version 1, where the key lies, two zeros, id
 * of the key, nonce, lengths of server, issuer and encrypted text; then these
 * three. Numbers are little-endian. The encrypted text ends in its tag.
 */

#define MAGIC "MATINSTK"
#define VERSION 1

/* Places of the head, bytes from its beginning. */
enum {
	AT_VERSION = 8,
	AT_KEY = 9,
	AT_ZERO = 10,
	AT_KEY_ID = 12,
	AT_NONCE = 20,
	AT_SERVER_N = 32,
	AT_ISSUER_N = 34,
	AT_SEALED_N = 36,
	HEAD_BYTES = 40,
};

static void find_id(const unsigned char key[CRYPTO_KEY_BYTES],
		    unsigned char ret[SEAL_ID_BYTES])
{
	static const char purpose[] = "id of a key of matins";
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, purpose, sizeof(purpose));
	sha256_add(&s, key, CRYPTO_KEY_BYTES);
	sha256_end(&s, sum);
	memcpy(ret, sum, SEAL_ID_BYTES);
	mem_wipe(&s, sizeof(s));
}

static void put_number(unsigned char *to, size_t bytes, size_t value)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static size_t get_number(const char *p, size_t bytes)
{
	size_t value = 0;

	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | (unsigned char)p[i];
	return value;
}

int seal_write(const struct seal *s, const unsigned char key[CRYPTO_KEY_BYTES],
	       struct str text, struct buf *out, struct err *err)
{
	unsigned char head[HEAD_BYTES] = MAGIC;
	AUTO(buf_release) struct buf bound = BUF_INIT(BUF_UNBOUNDED);

	assert(s->place != STORE_KEY_AUTO);
	if (text.n > SEAL_TEXT_MAX || s->server.n > SEAL_NAME_MAX ||
	    s->issuer.n > SEAL_NAME_MAX)
		return err_set(err, ERR_LIMIT,
			       "more than %d bytes to be kept, or an address "
			       "of more than %d",
			       SEAL_TEXT_MAX, SEAL_NAME_MAX);
	head[AT_VERSION] = VERSION;
	head[AT_KEY] = (unsigned char)s->place;
	find_id(key, head + AT_KEY_ID);
	crypto_random(head + AT_NONCE, CRYPTO_NONCE_BYTES);
	put_number(head + AT_SERVER_N, 2, s->server.n);
	put_number(head + AT_ISSUER_N, 2, s->issuer.n);
	put_number(head + AT_SEALED_N, 4, text.n + CRYPTO_TAG_BYTES);
	buf_add(&bound, head, sizeof(head));
	buf_add_str(&bound, s->server);
	buf_add_str(&bound, s->issuer);
	buf_add_str(out, buf_str(&bound));
	return crypto_seal(key, head + AT_NONCE, buf_str(&bound), text, out,
			   err);
}

int seal_parse(struct str file, struct seal *ret, struct err *err)
{
	size_t server_n, issuer_n, sealed_n;
	const char *p = file.p;
	unsigned char place;

	if (file.n < HEAD_BYTES || memcmp(p, MAGIC, sizeof(MAGIC) - 1) != 0)
		return err_set(err, ERR_SYNTAX, "not a file of tokens");
	if (p[AT_VERSION] != VERSION)
		return err_set(err, ERR_SYNTAX,
			       "a newer matins wrote it (version %d)",
			       (unsigned char)p[AT_VERSION]);
	place = (unsigned char)p[AT_KEY];
	server_n = get_number(p + AT_SERVER_N, 2);
	issuer_n = get_number(p + AT_ISSUER_N, 2);
	sealed_n = get_number(p + AT_SEALED_N, 4);
	if (place <= STORE_KEY_AUTO || place > STORE_KEY_FILE ||
	    get_number(p + AT_ZERO, 2) != 0 || sealed_n < CRYPTO_TAG_BYTES ||
	    sealed_n > SEAL_TEXT_MAX + CRYPTO_TAG_BYTES ||
	    file.n != HEAD_BYTES + server_n + issuer_n + sealed_n)
		return err_set(err, ERR_SYNTAX, "damaged");
	*ret = (struct seal){
		.place = (enum store_key)place,
		.key_id = (const unsigned char *)p + AT_KEY_ID,
		.nonce = (const unsigned char *)p + AT_NONCE,
		.server = {p + HEAD_BYTES, server_n},
		.issuer = {p + HEAD_BYTES + server_n, issuer_n},
		.bound = {p, HEAD_BYTES + server_n + issuer_n},
		.sealed = {p + HEAD_BYTES + server_n + issuer_n, sealed_n},
		.text_bytes = sealed_n - CRYPTO_TAG_BYTES,
	};
	return 0;
}

int seal_open(const struct seal *s, const unsigned char key[CRYPTO_KEY_BYTES],
	      char *out, struct err *err)
{
	return crypto_open(key, s->nonce, s->bound, s->sealed, out, err);
}

/* ---- the store ---- */

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
	return str_choose(word, words, ARRAY_LEN(words), ret);
}

void store_free(struct store *s)
{
	if (!s)
		return;
	fd_closep(&s->fd);
	mem_wipe(s->key, sizeof(s->key));
	free(s->dir);
	free(s);
}

int store_open(const char *dir, enum store_key key, struct store **ret,
	       struct err *err)
{
	struct store *s;
	int fd;

	if (crypto_load(err) < 0 || open_folder(dir, true, &fd, err) < 0)
		return -1;
	s = mem_zalloc(sizeof(*s));
	s->fd = fd;
	s->wanted = key;
	s->dir = mem_strdup(dir);
	*ret = s;
	return 0;
}

enum store_key store_key_used(const struct store *s)
{
	return s->used;
}

/* ---- the key ---- */

/* Also the order in which "auto" asks them. */
static const struct {
	const struct key_place *place;
	const char *loss; /* the reason to give when a key there is gone */
	const char *hint; /* at the place where keys do not get lost */
} places[STORE_KEY_COUNT] = {
	[STORE_KEY_SERVICE] = {&key_place_service,
			       "the key was in the desktop's secret service "
			       "and is gone",
			       ""},
	[STORE_KEY_KEYRING] = {&key_place_keyring,
			       "the key was in the kernel's keyring and is "
			       "gone (a reboot, or days without use)",
			       "; store_key = \"file\" keeps the key across "
			       "reboots"},
	[STORE_KEY_FILE] = {&key_place_file,
			    "the key was in the file \"key\" beside it and is "
			    "gone",
			    ""},
};

/* Use the key of that id; NULL: of any. returns  0; 1: there is none */
static int find_key(struct store *s, enum store_key place,
		    const unsigned char *id, struct err *err)
{
	unsigned char key[CRYPTO_KEY_BYTES], found[SEAL_ID_BYTES];
	int r = places[place].place->find(s->fd, id, key, err);

	if (r == 0) {
		find_id(key, found);
		r = id && memcmp(id, found, sizeof(found)) != 0;
	}
	if (r == 0) {
		s->used = place;
		memcpy(s->key, key, sizeof(key));
		memcpy(s->key_id, found, sizeof(found));
	}
	mem_wipe(key, sizeof(key));
	return r;
}

/* "the tokens of NAME", and the command that gets new ones. */
struct words {
	const char *shown, *login;
};

static struct words words_of(const struct store_name *name, struct arena *arena)
{
	if (!name->owner)
		return (struct words){name->server, "matins auth login"};
	return (struct words){owner_shown(name->owner, arena),
			      owner_command(name->owner, "login", arena)};
}

static int key_for(struct store *s, const struct store_name *name,
		   const struct seal *seal, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct words said;
	int r;

	if (s->used == seal->place &&
	    !memcmp(s->key_id, seal->key_id, SEAL_ID_BYTES))
		return 0;
	r = find_key(s, seal->place, seal->key_id, err);
	if (r == 0)
		return 0;
	said = words_of(name, &arena);
	if (r < 0)
		return err_wrap(err, "the tokens of %s", said.shown);
	return err_set(err, ERR_CREDENTIAL,
		       "the tokens of %s: %s; log in again: %s%s", said.shown,
		       places[seal->place].loss, said.login,
		       places[seal->place].hint);
}

/* A place's key for new files, made where there is none. */
static int key_of_place(struct store *s, enum store_key place, struct err *err)
{
	unsigned char key[CRYPTO_KEY_BYTES], id[SEAL_ID_BYTES];
	int r = find_key(s, place, NULL, err);

	if (r <= 0)
		return r;
	crypto_random(key, sizeof(key));
	find_id(key, id);
	r = places[place].place->keep(s->fd, id, key, err);
	mem_wipe(key, sizeof(key));
	/* another process may have been first */
	if (r == 0)
		r = find_key(s, place, NULL, err);
	return r <= 0 ? r
		      : err_set(err, ERR_CREDENTIAL,
				"the key that was just kept is gone (%s)",
				store_key_word(place));
}

/* The key of what was read before serves on, wherever "auto" found it. */
static int key_for_new(struct store *s, struct err *err)
{
	if (s->used != STORE_KEY_AUTO &&
	    (s->wanted == STORE_KEY_AUTO || s->used == s->wanted))
		return 0;
	if (s->wanted != STORE_KEY_AUTO)
		return key_of_place(s, s->wanted, err);
	for (int i = STORE_KEY_SERVICE; i < STORE_KEY_FILE; i++)
		if (key_of_place(s, (enum store_key)i, ERR_IGNORED) == 0)
			return 0;
	return key_of_place(s, STORE_KEY_FILE, err);
}

/* ---- files ---- */

static void name_file(const struct store_name *name, char ret[FILE_NAME_BYTES])
{
	AUTO(buf_release) struct buf both = BUF_INIT(BUF_UNBOUNDED);

	buf_add(&both, name->server, strlen(name->server) + 1);
	buf_adds(&both, name->issuer);
	sha256_hex(buf_str(&both), ret);
	memcpy(ret + SHA256_HEX_BYTES - 1, FILE_END, sizeof(FILE_END));
}

int store_read(struct store *s, const struct store_name *name,
	       struct arena *arena, struct str *ret, struct err *err)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(SEAL_FILE_MAX);
	struct err why = ERR_INIT;
	char file[FILE_NAME_BYTES], *text;
	struct words said;
	struct seal seal;
	int r;

	name_file(name, file);
	r = read_file(s->fd, file, &bytes, err);
	if (r)
		return r < 0 ? err_wrap(err, "%s", s->dir) : 1;
	if (seal_parse(buf_str(&bytes), &seal, &why) == 0) {
		if (!str_is(seal.server, name->server) ||
		    !str_is(seal.issuer, name->issuer)) {
			err_set(&why, ERR_SYNTAX, "belongs to another server");
		} else {
			if (key_for(s, name, &seal, err) < 0)
				return -1;
			text = arena_alloc(arena, seal.text_bytes + 1);
			r = seal_open(&seal, s->key, text, err);
			*ret = (struct str){text, seal.text_bytes};
			if (r <= 0)
				return r;
			err_set(&why, ERR_SYNTAX,
				"changed after it was sealed");
		}
	}
	said = words_of(name, arena);
	return err_set(err, ERR_CREDENTIAL,
		       "%s/%s, the tokens of %s: %s; log in again: %s", s->dir,
		       file, said.shown, why.msg, said.login);
}

int store_write(struct store *s, const struct store_name *name, struct str json,
		struct err *err)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct seal seal = {
		.server = str_of(name->server),
		.issuer = str_of(name->issuer),
	};
	char file[FILE_NAME_BYTES];

	name_file(name, file);
	if (key_for_new(s, err) < 0)
		return err_wrap(err, "%s", s->dir);
	seal.place = s->used;
	return seal_write(&seal, s->key, json, &bytes, err) < 0 ||
			       write_file(s->fd, file, buf_str(&bytes), false,
					  err) < 0
		       ? err_wrap(err, "%s", s->dir)
		       : 0;
}

int store_remove(struct store *s, const struct store_name *name,
		 struct err *err)
{
	char file[FILE_NAME_BYTES];
	int r;

	name_file(name, file);
	r = remove_file(s->fd, file, err);
	return r < 0 ? err_wrap(err, "%s", s->dir) : r;
}

/* ---- all of them ---- */

static int is_sealed(const struct dirent *e)
{
	return str_ends(str_of(e->d_name), FILE_END);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Take each file in the order of names, so that sentences about them are
 * reproducible. take() gets seal NULL and a reason when the file cannot be
 * read.
 */
static int walk_files(int dir,
		      void (*take)(void *arg, const struct seal *seal,
				   const char *file, const char *why),
		      void *arg, struct err *err)
{
	struct dirent **file;
	int n = scandirat(dir, ".", &file, is_sealed, compare_names);

	if (n < 0)
		return err_sys(err, errno, "list the tokens");
	for (int i = 0; i < n; i++) {
		AUTO(buf_release) struct buf bytes = BUF_INIT(SEAL_FILE_MAX);
		struct err why = ERR_INIT;
		struct seal seal;
		int r = read_file(dir, file[i]->d_name, &bytes, &why);
		bool is_gone = r == 1; /* removed meanwhile */
		bool is_seal =
			r == 0 && seal_parse(buf_str(&bytes), &seal, &why) == 0;

		if (!is_gone)
			take(arg, is_seal ? &seal : NULL, file[i]->d_name,
			     why.msg);
		free(file[i]);
	}
	free(file);
	return 0;
}

struct servers {
	struct arena *arena;
	struct strlist list; /* in it */
};

static void take_server(void *arg, const struct seal *seal,
			UNUSED const char *file, UNUSED const char *why)
{
	struct servers *s = arg;
	const char *server = seal ? arena_str(s->arena, seal->server).p : NULL;

	if (server && !list_has(&s->list, server))
		list_add(&s->list, s->arena, server);
}

int store_list(struct store *s, struct arena *arena, struct strlist *ret,
	       struct err *err)
{
	struct servers servers = {.arena = arena};

	if (walk_files(s->fd, take_server, &servers, err) < 0)
		return err_wrap(err, "%s", s->dir);
	*ret = servers.list;
	return 0;
}

static void take_facts(void *arg, const struct seal *seal, const char *file,
		       const char *why)
{
	struct store_facts *facts = arg;

	if (seal)
		facts->files[seal->place]++;
	else if (!facts->n_broken++)
		snprintf(facts->broken, sizeof(facts->broken), "%s: %s", file,
			 why);
}

int store_look(const char *dir, struct store_facts *ret, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct store_facts facts = {0};
	int r = open_folder(dir, false, &fd, err);

	if (r)
		return r;
	if (walk_files(fd, take_facts, &facts, err) < 0)
		return err_wrap(err, "%s", dir);
	*ret = facts;
	return 0;
}

/* ---- locks ---- */

/* The file stays, and is locked until its descriptor is closed. */
int store_lock(struct store *s, const char *server, struct store_lock *ret,
	       struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	char file[FILE_NAME_BYTES];

	sha256_hex(str_of(server), file);
	memcpy(file + SHA256_HEX_BYTES - 1, LOCK_END, sizeof(LOCK_END));
	fd = open_at(s->fd, file, O_RDWR | O_CREAT);
	if (fd < 0) {
		err_sys(err, errno, "%s", file);
		return err_wrap(err, "%s", s->dir);
	}
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return 1;
		if (errno == EINTR)
			continue;
		err_sys(err, errno, "lock %s", file);
		return err_wrap(err, "%s", s->dir);
	}
	ret->fd = fd_steal(&fd);
	return 0;
}

void store_unlock(struct store_lock *lock)
{
	fd_closep(&lock->fd);
}
