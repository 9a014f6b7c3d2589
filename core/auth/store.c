#include "core/auth/store.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/auth/key_place.h"
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

/* Whose it is and who else may look at it. */
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
			       "%s is open to others (mode %04o); what lies "
			       "there may be known already: chmod %s it",
			       name, (unsigned)st->st_mode & 07777, mode);
	return 0;
}

/*
 * ret     a descriptor; the caller closes it
 * returns 0; 1: there is none, and `make` is false
 * errors  ERR_POLICY  a link, another user's, or open to others; says what
 *		       to do
 *	   ERR_SYS
 */
static int folder_open(const char *dir, bool make, int *ret, struct err *err)
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
static int folder_read(int dir, const char *name, struct buf *out,
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

/* A file of a name that is nobody's yet, on disk. */
static int write_new(int dir, const char *name, struct str content,
		     char tmp[NAME_BYTES], struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	unsigned char random[8];
	int sys;

	crypto_random(random, sizeof(random));
	snprintf(tmp, NAME_BYTES, "%.100s.", name);
	for (size_t i = 0, at = strlen(tmp); i < sizeof(random); i++, at += 2)
		snprintf(tmp + at, NAME_BYTES - at, "%02x", random[i]);
	fd = open_at(dir, tmp, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return err_sys(err, errno, "create %s", tmp);
	/* umask may have taken from it */
	if (fchmod(fd, 0600) == 0 &&
	    fd_write_all(fd, content.p, content.n) == 0 && fsync(fd) == 0)
		return 0;
	sys = errno;
	unlinkat(dir, tmp, 0);
	return err_sys(err, sys, "write %s", name);
}

/* Write it whole, on disk before it has that name. */
static int folder_replace(int dir, const char *name, struct str content,
			  struct err *err)
{
	char tmp[NAME_BYTES];

	if (write_new(dir, name, content, tmp, err) < 0)
		return -1;
	if (renameat(dir, tmp, dir, name) < 0) {
		int sys = errno;

		unlinkat(dir, tmp, 0);
		return err_sys(err, sys, "write %s", name);
	}
	return fsync(dir) < 0
		       ? err_sys(err, errno, "sync the folder of %s", name)
		       : 0;
}

/* Like folder_replace(), but keep a file that exists. returns  0; 1: kept */
static int folder_create(int dir, const char *name, struct str content,
			 struct err *err)
{
	char tmp[NAME_BYTES];
	int sys;

	if (write_new(dir, name, content, tmp, err) < 0)
		return -1;
	sys = linkat(dir, tmp, dir, name, 0) < 0 ? errno : 0;
	unlinkat(dir, tmp, 0);
	if (sys == EEXIST)
		return 1;
	if (sys)
		return err_sys(err, sys, "write %s", name);
	return fsync(dir) < 0
		       ? err_sys(err, errno, "sync the folder of %s", name)
		       : 0;
}

/* returns 0; 1: there is none */
static int folder_remove(int dir, const char *name, struct err *err)
{
	if (unlinkat(dir, name, 0) == 0)
		return fsync(dir) < 0 ? err_sys(err, errno,
						"sync the folder of %s", name)
				      : 0;
	return errno == ENOENT ? 1 : err_sys(err, errno, "remove %s", name);
}

/*
 * Lock a file that stays, made where it is missing; until *ret is closed.
 * Never waits. returns 0; 1: another process has it
 */
static int folder_lock(int dir, const char *name, int *ret, struct err *err)
{
	AUTO(fd_closep) int fd = open_at(dir, name, O_RDWR | O_CREAT);

	if (fd < 0)
		return err_sys(err, errno, "%s", name);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return 1;
		if (errno != EINTR)
			return err_sys(err, errno, "lock %s", name);
	}
	*ret = fd_steal(&fd);
	return 0;
}

/* ---- the key in a file beside the tokens ---- */

#define NAME "key"
/*
 * More than such a line, so that its form is what is judged; and so little that
 * the buffer never grows and leaves a copy behind.
 */
#define FILE_MAX 256

static int file_find(int dir, const unsigned char *id,
		     unsigned char ret[CRYPTO_KEY_BYTES], struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(FILE_MAX);
	AUTO(buf_wipe) struct buf key = BUF_INIT(FILE_MAX);
	int r = folder_read(dir, NAME, &text, err);

	if (r)
		return r;
	if (base64_decode(BASE64_URL, str_trim(buf_str(&text)), &key, err) < 0)
		return err_set(err, ERR_CREDENTIAL,
			       "the file \"" NAME "\" beside the tokens is "
			       "damaged; remove it and log in again");
	if (key.n != CRYPTO_KEY_BYTES)
		return err_set(err, ERR_CREDENTIAL,
			       "the file \"" NAME "\" beside the tokens holds "
			       "%zu bytes and not %d; remove it and log in "
			       "again",
			       key.n, CRYPTO_KEY_BYTES);
	return seal_key_take((unsigned char *)key.p, id, ret);
}

static int file_keep(int dir, const unsigned char key[CRYPTO_KEY_BYTES],
		     struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	base64_encode(BASE64_URL,
		      (struct str){(const char *)key, CRYPTO_KEY_BYTES}, &text);
	buf_addc(&text, '\n');
	return folder_create(dir, NAME, buf_str(&text), err) < 0 ? -1 : 0;
}

static const struct key_place key_place_file = {STORE_KEY_FILE, file_find,
						file_keep};

/* ---- the form of a file of tokens ---- */

/*
 * The form of a file of tokens.
 *
 *	seal_write(&head, key, text, &file, err);
 *
 *	if (seal_parse(file, &s, err) < 0) ...	not such a file
 *	key = ... the one that s.head.key and s.head.key_id name ...
 *	seal_open(&s, key, text, err);
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

void seal_key_id(const unsigned char key[CRYPTO_KEY_BYTES],
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

int seal_key_take(const unsigned char key[CRYPTO_KEY_BYTES],
		  const unsigned char *id, unsigned char ret[CRYPTO_KEY_BYTES])
{
	unsigned char found[SEAL_ID_BYTES];

	seal_key_id(key, found);
	if (id && memcmp(id, found, sizeof(found)) != 0)
		return 1;
	memcpy(ret, key, CRYPTO_KEY_BYTES);
	return 0;
}

static void put_number(unsigned char *to, size_t bytes, uint32_t value)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get_number(const char *p, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | (unsigned char)p[i];
	return value;
}

int seal_write(const struct seal_head *head,
	       const unsigned char key[CRYPTO_KEY_BYTES], struct str text,
	       struct buf *out, struct err *err)
{
	unsigned char fixed[HEAD_BYTES] = {0};
	AUTO(buf_release) struct buf bound = BUF_INIT(BUF_UNBOUNDED);

	assert(head->key != STORE_KEY_AUTO);
	if (text.n > SEAL_TEXT_MAX || head->server.n > SEAL_NAME_MAX ||
	    head->issuer.n > SEAL_NAME_MAX)
		return err_set(err, ERR_LIMIT,
			       "more than %d bytes to be kept, or an address "
			       "of more than %d",
			       SEAL_TEXT_MAX, SEAL_NAME_MAX);
	memcpy(fixed, MAGIC, sizeof(MAGIC) - 1);
	fixed[AT_VERSION] = VERSION;
	fixed[AT_KEY] = (unsigned char)head->key;
	memcpy(fixed + AT_KEY_ID, head->key_id, SEAL_ID_BYTES);
	crypto_random(fixed + AT_NONCE, CRYPTO_NONCE_BYTES);
	put_number(fixed + AT_SERVER_N, 2, (uint32_t)head->server.n);
	put_number(fixed + AT_ISSUER_N, 2, (uint32_t)head->issuer.n);
	put_number(fixed + AT_SEALED_N, 4,
		   (uint32_t)(text.n + CRYPTO_TAG_BYTES));
	buf_add(&bound, fixed, sizeof(fixed));
	buf_add_str(&bound, head->server);
	buf_add_str(&bound, head->issuer);
	buf_add_str(out, buf_str(&bound));
	return crypto_seal(key, fixed + AT_NONCE, buf_str(&bound), text, out,
			   err);
}

static int refuse_damaged(struct err *err)
{
	return err_set(err, ERR_SYNTAX, "damaged");
}

int seal_parse(struct str file, struct seal *ret, struct err *err)
{
	size_t server_n, issuer_n, sealed_n;
	struct seal s = {0};

	if (file.n < HEAD_BYTES ||
	    memcmp(file.p, MAGIC, sizeof(MAGIC) - 1) != 0)
		return err_set(err, ERR_SYNTAX, "not a file of tokens");
	if (file.p[AT_VERSION] != VERSION)
		return err_set(err, ERR_SYNTAX,
			       "a newer matins wrote it (version %d)",
			       (unsigned char)file.p[AT_VERSION]);
	s.head.key = (enum store_key)(unsigned char)file.p[AT_KEY];
	server_n = get_number(file.p + AT_SERVER_N, 2);
	issuer_n = get_number(file.p + AT_ISSUER_N, 2);
	sealed_n = get_number(file.p + AT_SEALED_N, 4);
	if (s.head.key <= STORE_KEY_AUTO || s.head.key > STORE_KEY_FILE ||
	    get_number(file.p + AT_ZERO, 2) != 0 ||
	    sealed_n < CRYPTO_TAG_BYTES ||
	    sealed_n > SEAL_TEXT_MAX + CRYPTO_TAG_BYTES ||
	    file.n != HEAD_BYTES + server_n + issuer_n + sealed_n)
		return refuse_damaged(err);
	memcpy(s.head.key_id, file.p + AT_KEY_ID, SEAL_ID_BYTES);
	s.nonce = (const unsigned char *)file.p + AT_NONCE;
	s.head.server = (struct str){file.p + HEAD_BYTES, server_n};
	s.head.issuer = (struct str){file.p + HEAD_BYTES + server_n, issuer_n};
	s.bound = (struct str){file.p, HEAD_BYTES + server_n + issuer_n};
	s.sealed = (struct str){file.p + s.bound.n, sealed_n};
	*ret = s;
	return 0;
}

size_t seal_text_bytes(const struct seal *s)
{
	return s->sealed.n - CRYPTO_TAG_BYTES;
}

int seal_open(const struct seal *s, const unsigned char key[CRYPTO_KEY_BYTES],
	      char *out, struct err *err)
{
	return crypto_open(key, s->nonce, s->bound, s->sealed, out, err);
}

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
