/*
 * The desktop's secret service, played by a child at the other end of a
 * socket: what it answers, and everything that it may not answer.
 */
#include "tests/unit/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "core/auth/key_place.h"
#include "core/base/mem.h"
#include "tests/unit/temp_dir.h"

#define ITEM "/org/freedesktop/secrets/collection/login/1"

enum play {
	PLAY_WELL,
	PLAY_LOCKED,	    /* what there is cannot be read */
	PLAY_PROMPT,	    /* a person would have to unlock it */
	PLAY_NOTHING_THERE, /* a bus without such a service */
	PLAY_GARBAGE,	    /* a secret that is no key */
	PLAY_WRONG_TYPES,
	PLAY_MUTE, /* a bus that takes calls and answers none */
	PLAY_DEAF, /* a socket where nobody speaks */
};

/* ---- the child ---- */

struct desktop {
	enum play play;
	bool has_item;
	char secret[256], id[64];
};

static int take_item(struct desktop *d, sd_bus_message *m)
{
	const void *bytes;
	const char *name, *id;
	size_t n;

	if (sd_bus_message_enter_container(m, 'a', "{sv}") < 0)
		return -EBADMSG;
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		if (sd_bus_message_read(m, "s", &name) < 0)
			return -EBADMSG;
		if (strcmp(name, "org.freedesktop.Secret.Item.Attributes")) {
			sd_bus_message_skip(m, "v");
		} else if (sd_bus_message_read(m, "v", "a{ss}", 2, NULL, NULL,
					       NULL, &id) >= 0) {
			snprintf(d->id, sizeof(d->id), "%s", id);
		}
		sd_bus_message_exit_container(m);
	}
	sd_bus_message_exit_container(m);
	if (sd_bus_message_enter_container(m, 'r', "oayays") < 0 ||
	    sd_bus_message_skip(m, "oay") < 0 ||
	    sd_bus_message_read_array(m, 'y', &bytes, &n) < 0 ||
	    n >= sizeof(d->secret))
		return -EBADMSG;
	memcpy(d->secret, bytes, n);
	d->secret[n] = '\0';
	d->has_item = true;
	return 0;
}

/* All attributes that are asked for have to be those of the item. */
static bool is_asked_for(struct desktop *d, sd_bus_message *m)
{
	const char *name, *value;
	bool same = d->has_item;

	if (sd_bus_message_enter_container(m, 'a', "{ss}") < 0)
		return false;
	while (sd_bus_message_read(m, "{ss}", &name, &value) > 0)
		same = same &&
		       (!strcmp(name, "key") ? !strcmp(value, d->id)
					     : !strcmp(value, "matins"));
	return same;
}

static int answer_search(struct desktop *d, sd_bus_message *m)
{
	if (d->play == PLAY_WRONG_TYPES)
		return sd_bus_reply_method_return(m, "s", "what?");
	if (d->play == PLAY_LOCKED)
		return sd_bus_reply_method_return(m, "aoao", 0, 1, ITEM);
	if (is_asked_for(d, m))
		return sd_bus_reply_method_return(m, "aoao", 1, ITEM, 0);
	return sd_bus_reply_method_return(m, "aoao", 0, 0);
}

static int answer_secret(struct desktop *d, sd_bus_message *m)
{
	const char *text = d->play == PLAY_GARBAGE ? "hunter2" : d->secret;
	sd_bus_message *reply;

	sd_bus_message_new_method_return(m, &reply);
	sd_bus_message_open_container(reply, 'r', "oayays");
	sd_bus_message_append(reply, "o", "/session/1");
	sd_bus_message_append_array(reply, 'y', "", 0);
	sd_bus_message_append_array(reply, 'y', text, strlen(text));
	sd_bus_message_append(reply, "s", "text/plain");
	sd_bus_message_close_container(reply);
	sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

static int answer(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	const char *member = sd_bus_message_get_member(m);
	struct desktop *d = arg;

	(void)error;
	if (!member)
		return 0;
	if (!strcmp(member, "Hello"))
		return sd_bus_reply_method_return(m, "s", ":1.7");
	if (d->play == PLAY_MUTE)
		return 1;
	if (d->play == PLAY_NOTHING_THERE)
		return sd_bus_reply_method_errorf(
			m, "org.freedesktop.DBus.Error.ServiceUnknown",
			"nobody provides it");
	if (!strcmp(member, "OpenSession"))
		return sd_bus_reply_method_return(m, "vo", "s", "",
						  "/session/1");
	if (!strcmp(member, "SearchItems"))
		return answer_search(d, m);
	if (!strcmp(member, "GetSecret"))
		return answer_secret(d, m);
	if (!strcmp(member, "CreateItem") && d->play == PLAY_PROMPT)
		return sd_bus_reply_method_return(m, "oo", "/", "/prompt/1");
	if (!strcmp(member, "CreateItem"))
		return take_item(d, m) < 0
			       ? sd_bus_reply_method_errorf(
					 m, SD_BUS_ERROR_INVALID_ARGS, "no")
			       : sd_bus_reply_method_return(m, "oo", ITEM, "/");
	return sd_bus_reply_method_return(m, NULL); /* Dismiss */
}

static void serve(struct desktop *d, int fd)
{
	sd_bus *bus = NULL;
	sd_id128_t id;

	sd_id128_randomize(&id);
	sd_bus_new(&bus);
	sd_bus_set_fd(bus, fd, fd);
	sd_bus_set_server(bus, 1, id);
	sd_bus_start(bus);
	sd_bus_add_filter(bus, NULL, answer, d);
	for (;;) {
		int r = sd_bus_process(bus, NULL);

		if (r < 0 || (r == 0 && sd_bus_wait(bus, UINT64_MAX) < 0))
			break;
	}
	sd_bus_close_unref(bus);
}

static void NORETURN play(enum play how, int listener)
{
	struct desktop d = {.play = how, .has_item = how == PLAY_GARBAGE};

	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (how == PLAY_DEAF)
			pause();
		if (fd >= 0)
			serve(&d, fd);
	}
}

/* ---- the tests ---- */

struct fixture {
	void *dir;
	pid_t pid;
	unsigned char key[CRYPTO_KEY_BYTES], got[CRYPTO_KEY_BYTES];
	unsigned char id[SEAL_ID_BYTES];
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	f->pid = -1;
	crypto_random(f->key, sizeof(f->key));
	crypto_random(f->id, sizeof(f->id));
	*state = f;
	return temp_dir_make(&f->dir);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int r;

	if (f->pid > 0) {
		kill(f->pid, SIGKILL);
		waitpid(f->pid, NULL, 0);
	}
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	r = temp_dir_remove(&f->dir);
	free(f);
	return r;
}

FIXTURE(fixture, setup, teardown);

static void start(struct fixture *f, enum play how)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO(mem_freep)
	char *text = mem_printf("unix:path=%s/bus", (char *)f->dir);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/bus",
		 (char *)f->dir);
	assert_int_equal(
		bind(listener, (struct sockaddr *)&address, sizeof(address)),
		0);
	assert_int_equal(listen(listener, 5), 0);
	setenv("DBUS_SESSION_BUS_ADDRESS", text, 1);
	f->pid = fork();
	if (f->pid == 0)
		play(how, listener);
	close(listener);
}

static int find(struct fixture *f, const unsigned char *id)
{
	return key_place_service.find(-1, id, f->got, &f->err);
}

static int keep(struct fixture *f)
{
	return key_place_service.keep(-1, f->id, f->key, &f->err);
}

TEST_IN(fixture, keep, then_find, is_the_same)
{
	struct fixture *f = *state;

	start(f, PLAY_WELL);
	assert_int_equal(find(f, NULL), 1);
	assert_int_equal(keep(f), 0);
	assert_int_equal(find(f, NULL), 0);
	assert_memory_equal(f->got, f->key, sizeof(f->key));
	mem_wipe(f->got, sizeof(f->got));
	assert_int_equal(find(f, f->id), 0);
	assert_memory_equal(f->got, f->key, sizeof(f->key));
	f->id[0] ^= 1;
	assert_int_equal(find(f, f->id), 1);
}

/* The place cannot be asked, and the reason is said. */
static void check_fails(struct fixture *f, enum play how, bool by_keep,
			const char *says)
{
	start(f, how);
	assert_int_equal(by_keep ? keep(f) : find(f, NULL), -1);
	assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	if (!strstr(f->err.msg, says))
		fail_msg("%s", f->err.msg);
}

TEST_IN(fixture, find, locked, is_said)
{
	check_fails(*state, PLAY_LOCKED, false, "is locked");
}

TEST_IN(fixture, keep, needs_a_person, is_said)
{
	check_fails(*state, PLAY_PROMPT, true, "is locked");
}

TEST_IN(fixture, find, no_service, is_said)
{
	check_fails(*state, PLAY_NOTHING_THERE, false, "nobody provides it");
}

TEST_IN(fixture, find, no_key, is_said)
{
	check_fails(*state, PLAY_GARBAGE, false, "not one of its keys");
}

TEST_IN(fixture, find, wrong_types, is_said)
{
	check_fails(*state, PLAY_WRONG_TYPES, false, "SearchItems");
}

TEST_IN(fixture, find, no_answer, ends)
{
	check_fails(*state, PLAY_MUTE, false, "OpenSession");
}

TEST_IN(fixture, find, nobody_speaks, ends)
{
	check_fails(*state, PLAY_DEAF, false, "cannot be used");
}

/* An address could name a program to start, or another machine. */
TEST_IN(fixture, address, no_socket, is_refused)
{
	static const char *const rows[] = {
		"unixexec:path=/bin/touch,argv1=made",
		"tcp:host=127.0.0.1,port=1",
		"autolaunch:",
		"unix:path=/nonexistent;unixexec:path=/bin/true",
		"unix:path=/nonexistent",
		"",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		setenv("DBUS_SESSION_BUS_ADDRESS", rows[i], 1);
		assert_int_equal(find(f, NULL), -1);
		assert_int_equal(f->err.kind, ERR_CREDENTIAL);
	}
	assert_int_equal(access("made", F_OK), -1);
}
