/*
 * Whose tokens are whose: a server's name, a client and a URL; and what a
 * version left that knew the URL only.
 */

#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/auth/account.h"
#include "core/base/text.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "tests/unit/auth/old_store.h"
#include "tests/unit/temp_dir.h"

#define PERSON "authorization_code"
#define ROBOT "client_credentials"
#define URL OLD_STORE_URL
#define ISSUER "https://login.example"

static const struct owner alice = {
	.name = "alice", .url = URL, .grant = PERSON};
static const struct owner bob = {.name = "bob", .url = URL, .grant = PERSON};
static const struct owner given = {.url = URL, .grant = PERSON};
static const struct owner robot = {
	.name = "alice", .url = URL, .grant = ROBOT, .client = "ci"};

struct fixture {
	void *dir; /* as temp_dir.h has it */
	char *path;
	struct store *store;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	if (temp_dir_make(&f->dir) < 0)
		return -1;
	f->path = mem_printf("%s/tokens", (char *)f->dir);
	*state = f;
	return mkdir(f->path, 0700) < 0 ||
	       store_open(f->path, STORE_KEY_FILE, &f->store, &f->err) < 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int r = temp_dir_remove(&f->dir);

	store_free(f->store);
	free(f->path);
	free(f);
	return r;
}

FIXTURE(store, setup, teardown);

/* What `owner` has: its token, or NULL. In a static place. */
static const char *token_of(struct fixture *f, const struct owner *owner)
{
	static char token[64];
	struct account a;
	int r = account_load(f->store, owner, NULL, &a, &f->err);

	if (r < 0)
		fail_msg("%s", f->err.msg);
	if (r > 0)
		return NULL;
	snprintf(token, sizeof(token), "%s",
		 a.access_token ? a.access_token : "");
	account_release(&a);
	return token;
}

#define HAS(f, owner, token)                           \
	do {                                           \
		const char *_has = token_of(f, owner); \
		assert_non_null(_has);                 \
		assert_string_equal(_has, token);      \
	} while (0)
#define HAS_NOTHING(f, owner) assert_null(token_of(f, owner))

/* As the flow does it: a client that is registered, or the configured one. */
static void keep(struct fixture *f, const struct owner *owner,
		 const char *client, const char *token)
{
	struct account a = {.is_registered = !client};

	account_set(&a.issuer, ISSUER);
	account_set(&a.client_id, client ? client : "registered-2");
	account_set(&a.access_token, token);
	if (account_save(f->store, owner, &a, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	account_release(&a);
}

/* ---- texts ---- */

TEST(owner, as_text, is_read_back)
{
	static const struct owner row[] = {
		{.name = "alice", .url = URL, .grant = PERSON},
		{.name = "", .url = URL, .grant = PERSON},
		{.name = NULL, .url = URL, .grant = PERSON},
		{.name = "a b=c 3 d",
		 .url = URL,
		 .grant = PERSON,
		 .client = "x"},
		{.name = "n", .url = URL, .grant = ROBOT, .client = "a b=\nc"},
		{.name = "=", .url = URL "?k", .grant = ROBOT, .client = "=n"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		const char *client = row[i].client ? row[i].client : "";
		const char *text = owner_text(&row[i], client, &arena), *last;
		struct owner o;

		assert_null(strstr(text, "?k"));
		assert_true(owner_read(text, &arena, &o));
		assert_string_equal(owner_text(&o, client, &arena), text);
		assert_int_equal(o.name != NULL, row[i].name != NULL);
		assert_string_equal(o.client ? o.client : "", client);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
				owner_text(&row[k],
					   row[k].client ? row[k].client : "",
					   &arena),
				text);
		last = arena_printf(&arena, OWNER_LAST "%s", text);
		assert_true(owner_is_last(last));
		assert_false(owner_is_last(text));
		assert_true(owner_read(last, &arena, &o));
		assert_string_equal(o.name ? o.name : "?",
				    row[i].name ? row[i].name : "?");
		o = row[i];
		o.grant = NULL; /* an old entry has the URL alone */
		assert_false(
			owner_read(owner_text(&o, "", &arena), &arena, &o));
		assert_null(o.grant);
	}
	arena_release(&arena);
}

/* ---- who sees what ---- */

TEST_IN(store, tokens, of_two_servers_of_one_url, are_apart)
{
	struct fixture *f = *state;

	keep(f, &alice, NULL, "alice's");
	HAS(f, &alice, "alice's");
	HAS_NOTHING(f, &bob);
	HAS_NOTHING(f, &given);
	keep(f, &bob, NULL, "bob's");
	keep(f, &given, NULL, "the URL's");
	HAS(f, &alice, "alice's");
	HAS(f, &bob, "bob's");
	HAS(f, &given, "the URL's");
	/* one that is forgotten takes no other with it */
	assert_int_equal(account_remove(f->store, &bob, &f->err), 0);
	HAS_NOTHING(f, &bob);
	HAS(f, &alice, "alice's");
	HAS(f, &given, "the URL's");
	assert_int_equal(account_remove(f->store, &given, &f->err), 0);
	HAS(f, &alice, "alice's");
}

TEST_IN(store, token, of_a_client_without_a_person, overwrites_no_login)
{
	struct owner same = robot;
	struct fixture *f = *state;

	keep(f, &alice, NULL, "alice's");
	keep(f, &robot, "ci", "the robot's");
	HAS(f, &alice, "alice's");
	HAS(f, &robot, "the robot's");
	/* nor where a person uses the same client */
	same.grant = PERSON;
	keep(f, &same, "ci", "a person's");
	HAS(f, &robot, "the robot's");
	HAS(f, &same, "a person's");
	assert_int_equal(account_remove(f->store, &robot, &f->err), 0);
	HAS(f, &same, "a person's");
}

TEST_IN(store, client, not_configured, is_the_last_one_used)
{
	struct owner x = alice, y = alice;
	struct fixture *f = *state;

	x.client = "x";
	y.client = "y";
	keep(f, &alice, NULL, "registered");
	keep(f, &x, "x", "of x");
	HAS(f, &alice, "of x");
	HAS_NOTHING(f, &y);
	keep(f, &y, "y", "of y");
	HAS(f, &x, "of x");
	HAS(f, &alice, "of y");
	/* what is renewed of it stays its own */
	keep(f, &alice, "y", "of y again");
	HAS(f, &y, "of y again");
	assert_int_equal(account_remove(f->store, &alice, &f->err), 0);
	HAS_NOTHING(f, &y);
	HAS_NOTHING(f, &alice);
	HAS(f, &x, "of x");
}

TEST_IN(store, server, renamed, has_to_log_in_again)
{
	struct owner renamed = alice;
	struct fixture *f = *state;

	renamed.name = "alicia";
	renamed.takes_old = true;
	keep(f, &alice, NULL, "alice's");
	HAS_NOTHING(f, &renamed);
	/* and has it back under its old name */
	HAS(f, &alice, "alice's");
}

/* ---- what an earlier version left ---- */

static int setup_old(void **state)
{
	struct fixture *f;

	if (setup(state) != 0)
		return -1;
	f = *state;
	for (size_t i = 0; i < ARRAY_LEN(old_store); i++) {
		AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
		char *path = mem_printf("%s/%s", f->path, old_store[i].name);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		free(path);
		if (base64_decode(BASE64_STANDARD, str_of(old_store[i].base64),
				  &bytes, &f->err) < 0 ||
		    fd_write_all(fd, bytes.p, bytes.n) < 0 || close(fd) < 0)
			return -1;
	}
	return 0;
}

FIXTURE(old_tokens, setup_old, teardown);

static struct owner only(const struct owner *o)
{
	struct owner taker = *o;

	taker.takes_old = true;
	return taker;
}

/* As at the first use of a server. */
static bool adopts(struct fixture *f, const struct owner *owner)
{
	struct account a;
	int r = account_load(f->store, owner, NULL, &a, &f->err);

	if (r > 0)
		return false;
	assert_int_equal(r, 0);
	if (account_adopt(f->store, owner, &a, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	account_release(&a);
	return true;
}

TEST_IN(old_tokens, old_tokens, of_the_only_server_of_the_url, are_its_own)
{
	struct owner a = only(&alice), b = only(&bob), g = only(&given);
	struct fixture *f = *state;

	HAS(f, &a, "access-of-alice");
	assert_true(adopts(f, &a));
	HAS(f, &alice, "access-of-alice");
	/* from then on nobody else's, in whichever configuration */
	HAS_NOTHING(f, &b);
	HAS_NOTHING(f, &g);
	assert_int_equal(account_remove(f->store, &a, &f->err), 0);
	HAS_NOTHING(f, &a);
}

TEST_IN(old_tokens, old_tokens, of_a_url_that_two_servers_have, are_nobodys)
{
	struct fixture *f = *state;

	assert_false(adopts(f, &alice));
	assert_false(adopts(f, &bob));
	/* a new login does not need them, and leaves them alone */
	keep(f, &alice, NULL, "new");
	HAS(f, &alice, "new");
	HAS_NOTHING(f, &bob);
}

TEST_IN(old_tokens, old_tokens, of_a_url_that_is_given, are_its_own)
{
	struct owner g = only(&given);
	struct fixture *f = *state;

	assert_true(adopts(f, &g));
	HAS(f, &given, "access-of-alice");
	HAS_NOTHING(f, &alice);
}

TEST_IN(old_tokens, old_tokens, of_another_client_or_grant, are_not_taken)
{
	struct owner x = only(&alice), r = only(&robot);
	struct fixture *f = *state;

	x.client = "x";
	assert_false(adopts(f, &x));
	assert_false(adopts(f, &r));
	/* by the client that they were got for */
	x.client = "registered-1";
	assert_true(adopts(f, &x));
}

TEST_IN(old_tokens, old_tokens, of_no_owner, go_with_a_logout_of_the_url)
{
	struct owner url_only = {.url = URL, .takes_old = true};
	struct owner g = only(&given);
	struct fixture *f = *state;

	HAS(f, &url_only, "access-of-alice");
	keep(f, &alice, NULL, "alice's");
	keep(f, &given, "x", "the URL's");
	(void)!account_remove(f->store, &g, &f->err);
	HAS_NOTHING(f, &url_only);
	HAS_NOTHING(f, &given);
	HAS(f, &alice, "alice's");
}

TEST_IN(old_tokens, old_tokens, two_processes_at_once, one_has_them)
{
	struct owner a = only(&alice), b = only(&bob);
	struct fixture *f = *state;
	struct account first, second;

	assert_int_equal(account_load(f->store, &a, NULL, &first, &f->err), 0);
	assert_int_equal(account_load(f->store, &b, NULL, &second, &f->err), 0);
	assert_int_equal(account_adopt(f->store, &a, &first, &f->err), 0);
	assert_int_equal(account_adopt(f->store, &b, &second, &f->err), 0);
	assert_string_equal(first.access_token, "access-of-alice");
	assert_string_equal(first.refresh_token, "refresh-of-alice");
	assert_null(second.access_token);
	HAS_NOTHING(f, &bob);
	account_release(&first);
	account_release(&second);
}
