#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/auth/account.h"
#include "core/auth/crypto.h"
#include "core/auth/store.h"
#include "core/base/text.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "tests/unit/heap_watch.h"
#include "tests/unit/temp_dir.h"

#define SECRET "the-very-secret-token"
#define JSON "{\"access_token\":\"" SECRET "\"}"

static const struct store_name one = {"https://a.example/mcp",
				      "https://as.example", NULL};
static const struct store_name other = {"https://b.example/mcp",
					"https://as.example", NULL};

/* A keyring of our own, which ends with us: that of a user namespace. */
static bool has_keyring;

static bool write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

static long keyctl_call(int operation, long a, long b)
{
	return syscall(SYS_keyctl, operation, a, b, 0, 0);
}

static long persistent(void)
{
	return keyctl_call(KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING);
}

static bool own_keyring(void)
{
	AUTO(mem_freep)
	char *users = mem_printf("%u %u 1", geteuid(), geteuid());
	AUTO(mem_freep)
	char *groups = mem_printf("%u %u 1", getegid(), getegid());

	return unshare(CLONE_NEWUSER) == 0 &&
	       write_map("/proc/self/uid_map", users) &&
	       write_map("/proc/self/setgroups", "deny") &&
	       write_map("/proc/self/gid_map", groups) && persistent() >= 0;
}

/* Tried by a child first: half a namespace would spoil all that follows. */
static bool can_have_keyring(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(own_keyring() ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* ---- one folder with a store in it ---- */

struct fixture {
	void *dir; /* as temp_dir.h has it */
	char *path;
	struct arena arena;
	struct err err;
	struct str got;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	if (temp_dir_make(&f->dir) < 0)
		return -1;
	f->path = mem_printf("%s/state/tokens", (char *)f->dir);
	*state = f;
	return 0;
}

/* From the first of these tests on all are in that namespace. */
static int setup_keyring(void **state)
{
	static bool is_tried;

	if (!is_tried)
		has_keyring = can_have_keyring() && own_keyring();
	is_tried = true;
	if (has_keyring)
		keyctl_call(KEYCTL_CLEAR, persistent(), 0);
	return setup(state);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int r = temp_dir_remove(&f->dir);

	arena_release(&f->arena);
	free(f->path);
	free(f);
	return r;
}

FIXTURE(keyring, setup_keyring, teardown);

FIXTURE(store, setup, teardown);

static struct store *open_store(struct fixture *f, enum store_key key)
{
	struct store *s = NULL;

	if (store_open(f->path, key, &s, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	return s;
}

static void write_one(struct fixture *f, enum store_key key)
{
	struct store *s = open_store(f, key);

	if (store_write(s, &one, STR(JSON), &f->err) < 0)
		fail_msg("%s", f->err.msg);
	store_free(s);
}

/* By another object, as another process would. */
static int read_one(struct fixture *f, enum store_key key)
{
	struct store *s = open_store(f, key);
	int r = store_read(s, &one, &f->arena, &f->got, &f->err);

	store_free(s);
	return r;
}

/* Every file but locks; the caller frees nothing. */
static const char *only_file(struct fixture *f, const char *end)
{
	AUTO(mem_freep)
	char *line =
		mem_printf("ls '%s' | grep '%s$' | head -n 1", f->path, end);
	FILE *p = popen(line, "re");
	char name[128] = "";

	if (!p || fscanf(p, "%127s", name) != 1)
		fail_msg("no file that ends in %s", end);
	pclose(p);
	return arena_printf(&f->arena, "%s/%s", f->path, name);
}

static void read_bytes(const char *path, struct buf *out)
{
	struct err err = ERR_INIT;

	assert_int_equal(fd_read_file(path, out, &err), 0);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* ---- folders ---- */

TEST_IN(store, open, new_folder, is_the_users_alone)
{
	struct fixture *f = *state;
	mode_t mask = umask(0);

	store_free(open_store(f, STORE_KEY_FILE));
	umask(mask);
	assert_int_equal(mode_of(f->path), 0700);
}

static void check_refused(struct fixture *f, const char *says)
{
	struct store *s = NULL;

	assert_int_equal(store_open(f->path, STORE_KEY_FILE, &s, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_POLICY);
	if (!strstr(f->err.msg, says))
		fail_msg("%s", f->err.msg);
	assert_null(s);
}

TEST_IN(store, open, folder_open_to_others, is_refused)
{
	static const mode_t modes[] = {0755, 0710, 0701, 0770, 0702};
	struct fixture *f = *state;

	store_free(open_store(f, STORE_KEY_FILE));
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		assert_int_equal(chmod(f->path, modes[i]), 0);
		check_refused(f, "chmod 700");
	}
}

TEST_IN(store, open, folder_that_is_a_link, is_refused)
{
	struct fixture *f = *state;
	AUTO(mem_freep) char *real = mem_printf("%s/real", (char *)f->dir);
	AUTO(mem_freep) char *above = mem_printf("%s/state", (char *)f->dir);

	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(mkdir(above, 0700), 0);
	assert_int_equal(symlink(real, f->path), 0);
	check_refused(f, "is a link");
}

TEST_IN(store, open, folder_of_another_user, is_refused)
{
	struct fixture *f = *state;

	free(f->path);
	f->path = mem_strdup(geteuid() ? "/" : f->dir);
	if (geteuid() == 0)
		assert_int_equal(chown(f->path, 65534, 65534), 0);
	check_refused(f, "belongs to uid");
	if (geteuid() == 0)
		assert_int_equal(chown(f->path, 0, 0), 0);
}

/* ---- documents ---- */

TEST_IN(store, read, nothing_there, is_no_error)
{
	struct fixture *f = *state;

	assert_int_equal(read_one(f, STORE_KEY_FILE), 1);
}

TEST_IN(store, write, then_read, is_the_same)
{
	struct fixture *f = *state;
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	const char *file;

	write_one(f, STORE_KEY_FILE);
	assert_int_equal(read_one(f, STORE_KEY_FILE), 0);
	assert_true(str_is(f->got, JSON));
	file = only_file(f, ".sealed");
	assert_int_equal(mode_of(file), 0600);
	read_bytes(file, &bytes);
	assert_null(memmem(bytes.p, bytes.n, SECRET, strlen(SECRET)));
	buf_release(&bytes);
}

TEST_IN(store, write, again, replaces_the_file)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_KEY_FILE);

	assert_int_equal(store_write(s, &one, STR("{\"a\":1}"), &f->err), 0);
	assert_int_equal(store_write(s, &one, STR("{\"a\":2}"), &f->err), 0);
	store_free(s);
	assert_int_equal(read_one(f, STORE_KEY_FILE), 0);
	assert_true(str_is(f->got, "{\"a\":2}"));
}

TEST_IN(store, names, server_and_issuer, are_apart)
{
	const struct store_name no_issuer = {one.server, "", NULL};
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_KEY_FILE);
	struct strlist list;

	assert_int_equal(store_write(s, &one, STR("1"), &f->err), 0);
	assert_int_equal(store_write(s, &no_issuer, STR("2"), &f->err), 0);
	assert_int_equal(store_write(s, &other, STR("3"), &f->err), 0);
	assert_int_equal(store_read(s, &no_issuer, &f->arena, &f->got, &f->err),
			 0);
	assert_true(str_is(f->got, "2"));
	assert_int_equal(store_list(s, &f->arena, &list, &f->err), 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(store_remove(s, &one, &f->err), 0);
	assert_int_equal(store_remove(s, &one, &f->err), 1);
	assert_int_equal(store_remove(s, &other, &f->err), 0);
	assert_int_equal(store_read(s, &one, &f->arena, &f->got, &f->err), 1);
	assert_int_equal(store_list(s, &f->arena, &list, &f->err), 0);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.item[0], one.server);
	store_free(s);
}

/* The key in a query is on disk in no form, and tells two servers apart. */
TEST_IN(store, account, key_in_the_query, has_no_key_of_the_query)
{
	static const char url[] = "https://a.example/mcp?key=in-the-query";
	static const char twin[] = "https://a.example/mcp?key=another-key";
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_KEY_FILE);
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	const struct owner owner = {.url = url, .grant = "authorization_code"};
	const struct owner stranger = {.url = twin,
				       .grant = "authorization_code"};
	struct account a = {0}, b;
	struct strlist list;
	struct owner found;

	account_set(&a.issuer, "https://as.example");
	account_set(&a.access_token, SECRET);
	assert_int_equal(account_save(s, &owner, &a, &f->err), 0);
	assert_int_equal(store_list(s, &f->arena, &list, &f->err), 0);
	assert_int_equal(list.n, 1);
	assert_null(strstr(list.item[0], "in-the-query"));
	read_bytes(only_file(f, "sealed"), &bytes);
	assert_null(memmem(bytes.p, bytes.n, "in-the-query", 12));
	assert_int_equal(account_load(s, &stranger, NULL, &b, &f->err), 1);
	/* by the URL, and by what is listed */
	assert_int_equal(account_load(s, &owner, NULL, &b, &f->err), 0);
	assert_string_equal(b.access_token, SECRET);
	account_release(&b);
	assert_true(owner_read(list.item[0], &f->arena, &found));
	assert_int_equal(account_load(s, &found, NULL, &b, &f->err), 0);
	account_release(&b);
	assert_int_equal(account_remove(s, &owner, &f->err), 0);
	account_release(&a);
	store_free(s);
}

TEST_IN(store, read, file_of_another_server, is_refused)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_KEY_FILE);
	const char *first, *second;

	assert_int_equal(store_write(s, &one, STR(JSON), &f->err), 0);
	first = only_file(f, ".sealed");
	assert_int_equal(
		rename(first, arena_printf(&f->arena, "%s.kept", first)), 0);
	assert_int_equal(store_write(s, &other, STR("{}"), &f->err), 0);
	second = only_file(f, ".sealed");
	assert_int_equal(rename(second, first), 0);
	assert_int_equal(store_read(s, &one, &f->arena, &f->got, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	assert_non_null(strstr(f->err.msg, "belongs to another server"));
	store_free(s);
}

TEST_IN(store, read, damaged, says_to_log_in_again)
{
	struct fixture *f = *state;
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	const char *file;

	write_one(f, STORE_KEY_FILE);
	file = only_file(f, ".sealed");
	read_bytes(file, &bytes);
	bytes.p[bytes.n - 1] ^= 1;
	assert_int_equal(
		fd_replace_file(file, buf_str(&bytes), 0600, false, &f->err),
		0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	assert_non_null(strstr(f->err.msg, "changed after it was sealed"));
	assert_non_null(strstr(f->err.msg, "matins auth login"));
	assert_int_equal(
		fd_replace_file(file, STR("cut"), 0600, false, &f->err), 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_non_null(strstr(f->err.msg, "not a file of tokens"));
	buf_release(&bytes);
}

TEST_IN(store, read, file_that_is_a_link_or_open, is_refused)
{
	struct fixture *f = *state;
	const char *file, *kept;

	write_one(f, STORE_KEY_FILE);
	file = only_file(f, ".sealed");
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_int_equal(f->err.kind, ERR_POLICY);
	assert_int_equal(chmod(file, 0600), 0);
	kept = arena_printf(&f->arena, "%s.kept", file);
	assert_int_equal(rename(file, kept), 0);
	assert_int_equal(symlink(kept, file), 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_int_equal(f->err.kind, ERR_POLICY);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_int_equal(f->err.kind, ERR_POLICY);
}

/* ---- the key in a file ---- */

TEST_IN(store, key_file, made_once, serves_all)
{
	struct fixture *f = *state;
	struct buf before = BUF_INIT(BUF_UNBOUNDED);
	struct buf after = BUF_INIT(BUF_UNBOUNDED);
	const char *key;
	struct store *s;

	write_one(f, STORE_KEY_FILE);
	key = only_file(f, "key");
	assert_int_equal(mode_of(key), 0600);
	read_bytes(key, &before);
	s = open_store(f, STORE_KEY_FILE);
	assert_int_equal(store_key_used(s), STORE_KEY_AUTO);
	assert_int_equal(store_write(s, &other, STR("{}"), &f->err), 0);
	assert_int_equal(store_key_used(s), STORE_KEY_FILE);
	store_free(s);
	read_bytes(key, &after);
	assert_string_equal(before.p, after.p);
	buf_wipe(&before);
	buf_wipe(&after);
}

TEST_IN(store, key_file, gone_or_another, is_told)
{
	struct fixture *f = *state;
	const char *key;

	write_one(f, STORE_KEY_FILE);
	key = only_file(f, "key");
	assert_int_equal(unlink(key), 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	assert_non_null(strstr(f->err.msg, "beside it and is gone"));
	assert_non_null(strstr(f->err.msg, "matins auth login"));
	/* a login makes another, and the old file is still told as lost */
	write_one(f, STORE_KEY_FILE);
	assert_int_equal(read_one(f, STORE_KEY_FILE), 0);
	assert_int_equal(fd_replace_file(key,
					 STR("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
					     "AAAAAAAAAAA\n"),
					 0600, false, &f->err),
			 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_non_null(strstr(f->err.msg, "is gone"));
}

TEST_IN(store, key_file, broken_or_open, is_refused)
{
	struct fixture *f = *state;
	const char *key;

	write_one(f, STORE_KEY_FILE);
	key = only_file(f, "key");
	assert_int_equal(chmod(key, 0640), 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_int_equal(f->err.kind, ERR_POLICY);
	assert_non_null(strstr(f->err.msg, "open to others"));
	assert_int_equal(
		fd_replace_file(key, STR("short\n"), 0600, false, &f->err), 0);
	assert_int_equal(read_one(f, STORE_KEY_FILE), -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
}

#ifndef MATINS_ASAN
/* Of the key and of what is sealed, when a store is written, read, closed. */
TEST_IN(store, heap, after_use, holds_no_secret)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct buf key = BUF_INIT(BUF_UNBOUNDED);

	write_one(f, STORE_KEY_FILE);
	read_bytes(only_file(f, "key"), &text);
	text.p[--text.n] = '\0'; /* the newline */
	assert_int_equal(
		base64_decode(BASE64_URL, buf_str(&text), &key, &f->err), 0);
	for (int i = 0; i < 3; i++) {
		/* one in eight has a NUL, where the watch would end */
		if (i == 1 && strlen(key.p) < CRYPTO_KEY_BYTES)
			continue;
		watched = i == 0 ? text.p : i == 1 ? key.p : SECRET;
		n_leaks = 0;
		write_one(f, STORE_KEY_FILE);
		assert_int_equal(read_one(f, STORE_KEY_FILE), 0);
		assert_int_equal(n_leaks, 0);
		free(mem_strdup(watched)); /* it would be seen */
		assert_int_equal(n_leaks, 1);
		watched = NULL;
	}
	buf_wipe(&text);
	buf_wipe(&key);
}
#endif

/* ---- the key in the kernel's keyring ---- */

TEST_IN(keyring, keyring, written, is_read_and_in_no_file)
{
	struct fixture *f = *state;
	AUTO(mem_freep) char *key = mem_printf("%s/key", f->path);

	if (!has_keyring)
		skip();
	write_one(f, STORE_KEY_KEYRING);
	assert_int_equal(access(key, F_OK), -1);
	assert_int_equal(read_one(f, STORE_KEY_KEYRING), 0);
	assert_true(str_is(f->got, JSON));
	/* what a file says counts, and not what is wanted for new ones */
	assert_int_equal(read_one(f, STORE_KEY_FILE), 0);
}

TEST_IN(keyring, keyring, gone, is_told_and_a_login_mends_it)
{
	struct fixture *f = *state;

	if (!has_keyring)
		skip();
	write_one(f, STORE_KEY_KEYRING);
	keyctl_call(KEYCTL_CLEAR, persistent(), 0);
	assert_int_equal(read_one(f, STORE_KEY_KEYRING), -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	assert_non_null(strstr(f->err.msg, "kernel's keyring and is gone"));
	assert_non_null(strstr(f->err.msg, "matins auth login"));
	assert_non_null(strstr(f->err.msg, "store_key = \"file\""));
	write_one(f, STORE_KEY_KEYRING);
	assert_int_equal(read_one(f, STORE_KEY_KEYRING), 0);
}

/* ---- which of them ---- */

TEST_IN(keyring, auto, no_bus, is_the_keyring_or_else_a_file)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_KEY_AUTO);

	assert_int_equal(store_write(s, &one, STR(JSON), &f->err), 0);
	if (has_keyring)
		assert_int_equal(store_key_used(s), STORE_KEY_KEYRING);
	else
		assert_in_range(store_key_used(s), STORE_KEY_KEYRING,
				STORE_KEY_FILE);
	store_free(s);
	assert_int_equal(read_one(f, STORE_KEY_AUTO), 0);
}

TEST_IN(store, auto, after_reading, stays_where_it_was)
{
	struct fixture *f = *state;
	struct store *s;

	write_one(f, STORE_KEY_FILE);
	s = open_store(f, STORE_KEY_AUTO);
	assert_int_equal(store_read(s, &one, &f->arena, &f->got, &f->err), 0);
	assert_int_equal(store_write(s, &one, STR(JSON), &f->err), 0);
	assert_int_equal(store_key_used(s), STORE_KEY_FILE);
	store_free(s);
}

TEST_IN(store, service, without_a_bus, is_reported)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_KEY_SERVICE);

	assert_int_equal(store_write(s, &one, STR(JSON), &f->err), -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	assert_non_null(strstr(f->err.msg, "DBUS_SESSION_BUS_ADDRESS"));
	store_free(s);
}

TEST_IN(store, key_words, found, are_themselves)
{
	enum store_key key;

	for (int i = 0; i < STORE_KEY_COUNT; i++) {
		assert_true(store_key_find(store_key_word(i), &key));
		assert_int_equal(key, i);
	}
	assert_false(store_key_find("tpm", &key));
}

/* ---- facts ---- */

TEST_IN(store, look, counts_files, by_place)
{
	struct fixture *f = *state;
	AUTO(mem_freep) char *bad = mem_printf("%s/x.sealed", f->path);
	struct store_facts facts;

	assert_int_equal(store_look(f->path, &facts, &f->err), 1);
	assert_int_equal(access(f->path, F_OK), -1);
	write_one(f, STORE_KEY_FILE);
	assert_int_equal(store_look(f->path, &facts, &f->err), 0);
	assert_int_equal(facts.files[STORE_KEY_FILE], 1);
	assert_int_equal(facts.n_broken, 0);
	assert_int_equal(fd_replace_file(bad, STR("?"), 0600, false, &f->err),
			 0);
	assert_int_equal(store_look(f->path, &facts, &f->err), 0);
	assert_int_equal(facts.n_broken, 1);
	assert_string_equal(facts.broken, "x.sealed: not a file of tokens");
	assert_int_equal(chmod(f->path, 0755), 0);
	assert_int_equal(store_look(f->path, &facts, &f->err), -1);
}

/* ---- locks ---- */

TEST_IN(store, lock, held, is_not_waited_for)
{
	struct fixture *f = *state;
	struct store *a = open_store(f, STORE_KEY_FILE);
	struct store *b = open_store(f, STORE_KEY_FILE);
	struct store_lock first = {-1}, second = {-1}, third = {-1};

	assert_int_equal(store_lock(a, one.server, &first, &f->err), 0);
	assert_int_equal(store_lock(b, one.server, &second, &f->err), 1);
	assert_int_equal(store_lock(b, other.server, &third, &f->err), 0);
	store_unlock(&first);
	assert_int_equal(store_lock(b, one.server, &second, &f->err), 0);
	store_unlock(&second);
	store_unlock(&third);
	store_unlock(&third);
	store_free(a);
	store_free(b);
}

static int begin_file(UNUSED void **state)
{
	unsetenv("DBUS_SESSION_BUS_ADDRESS");

	return 0;
}

TEST_FILE(begin_file, NULL);
