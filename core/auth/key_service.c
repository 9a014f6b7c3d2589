/*
 * The key as a secret in the desktop's secret service (GNOME Keyring,
 * KWallet, KeePassXC), spoken to over the session's bus.
 *
 * Everything ends within KEY_PLACE_MS, and nobody is asked to unlock
 * anything: a collection that is locked is an error. Only the bus that
 * DBUS_SESSION_BUS_ADDRESS names as a socket is used; libsystemd starts no
 * thread, and no program for an address of that kind. libsecret does not keep
 * these promises: it asks to unlock, and its threads stay after the first
 * call, also when no bus answers. The secret crosses the socket as it is: a
 * program that can listen there can ask for it as well.
 *
 * source  Secret Service API 0.2, freedesktop.org
 */
#include <errno.h>
#include <systemd/sd-bus.h>

#include "core/auth/key_place.h"
#include "core/base/text.h"
#include "core/base/clock.h"
#include "core/base/dl.h"

#define LIBRARY "libsystemd.so.0"

#define BUS_FUNCTIONS(X)                  \
	X(sd_bus_new)                     \
	X(sd_bus_set_address)             \
	X(sd_bus_set_bus_client)          \
	X(sd_bus_start)                   \
	X(sd_bus_is_ready)                \
	X(sd_bus_process)                 \
	X(sd_bus_wait)                    \
	X(sd_bus_close_unref)             \
	X(sd_bus_call)                    \
	X(sd_bus_error_free)              \
	X(sd_bus_message_new_method_call) \
	X(sd_bus_message_append)          \
	X(sd_bus_message_appendv)         \
	X(sd_bus_message_append_array)    \
	X(sd_bus_message_open_container)  \
	X(sd_bus_message_close_container) \
	X(sd_bus_message_enter_container) \
	X(sd_bus_message_exit_container)  \
	X(sd_bus_message_read)            \
	X(sd_bus_message_read_array)      \
	X(sd_bus_message_sensitive)       \
	X(sd_bus_message_skip)            \
	X(sd_bus_message_unref)

static struct {
	BUS_FUNCTIONS(DL_MEMBER)
} lib;

typedef sd_bus_message message; /* as the library names it */

static void message_unrefp(message **m)
{
	if (*m)
		lib.sd_bus_message_unref(*m);
}

/* ---- the connection ---- */

#define SERVICE "org.freedesktop.secrets"
#define FOLDER "/org/freedesktop/secrets"
#define INTERFACE(name) "org.freedesktop.Secret." name

struct service {
	sd_bus *bus;	 /* owned */
	uint64_t end_us; /* monotonic; nothing takes longer */
	char session[256];
};

static void service_release(struct service *s)
{
	if (s->bus)
		lib.sd_bus_close_unref(s->bus);
}

static uint64_t now_us(void)
{
	return clock_system()->now_ns(clock_system()) / 1000;
}

/* 0 when the time is over */
static uint64_t left_us(const struct service *s)
{
	uint64_t now = now_us();

	return now < s->end_us ? s->end_us - now : 0;
}

static int fail_service(const char *what, const char *why, struct err *err)
{
	return err_set(err, ERR_CREDENTIAL,
		       "the desktop's secret service cannot be used: %s: %s",
		       what, why);
}

static int fail_locked(struct err *err)
{
	return err_set(err, ERR_CREDENTIAL,
		       "the desktop's secret service is locked; unlock it and "
		       "try again");
}

/* The socket; another kind of address could start a program. */
static int find_address(const char **ret, struct err *err)
{
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");

	if (!address || !*address)
		return err_set(err, ERR_CREDENTIAL,
			       "there is no desktop's secret service: "
			       "DBUS_SESSION_BUS_ADDRESS is not set");
	if (strncmp(address, "unix:path=", 10) != 0 &&
	    strncmp(address, "unix:abstract=", 14) != 0)
		return err_set(
			err, ERR_CREDENTIAL,
			"DBUS_SESSION_BUS_ADDRESS does not name a socket "
			"of this machine (unix:path=)");
	if (strchr(address, ';'))
		return err_set(err, ERR_CREDENTIAL,
			       "DBUS_SESSION_BUS_ADDRESS names several "
			       "addresses, not one");
	*ret = address;
	return 0;
}

static int connect_bus(struct service *s, struct err *err)
{
	static const char *const names[] = {BUS_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);
	const char *address = NULL;
	int r;

	s->end_us = now_us() + KEY_PLACE_MS * UINT64_C(1000);
	if (!dl_load(&dl))
		return err_set(err, ERR_CREDENTIAL,
			       "the secret service needs " LIBRARY
			       ", which is not here; install it: apt-get "
			       "install libsystemd0");
	if (find_address(&address, err) < 0)
		return -1;
	r = lib.sd_bus_new(&s->bus);
	if (r >= 0)
		r = lib.sd_bus_set_address(s->bus, address);
	if (r >= 0)
		r = lib.sd_bus_set_bus_client(s->bus, 1);
	if (r >= 0)
		r = lib.sd_bus_start(s->bus);
	while (r >= 0 && lib.sd_bus_is_ready(s->bus) == 0) {
		r = lib.sd_bus_process(s->bus, NULL);
		if (r == 0)
			r = left_us(s) ? lib.sd_bus_wait(s->bus, left_us(s))
				       : -ETIMEDOUT;
	}
	return r < 0 ? fail_service(address, strerror(-r), err) : 0;
}

/* ---- calls ---- */

/* Both messages are wiped when they are freed. */
static int send_call(struct service *s, message *request, const char *member,
		     message **answer, struct err *err)
{
	sd_bus_error why = SD_BUS_ERROR_NULL;
	int r = lib.sd_bus_message_sensitive(request);

	if (r >= 0)
		r = left_us(s) ? lib.sd_bus_call(s->bus, request, left_us(s),
						 &why, answer)
			       : -ETIMEDOUT;
	if (r >= 0)
		r = lib.sd_bus_message_sensitive(*answer);
	if (r < 0)
		fail_service(member, why.message ? why.message : strerror(-r),
			     err);
	lib.sd_bus_error_free(&why);
	return r < 0 ? -1 : 0;
}

/* A call with the arguments that sd_bus_message_append() takes. */
static int call_service(struct service *s, message **answer, struct err *err,
			const char *path, const char *interface,
			const char *member, const char *types, ...)
{
	AUTO(message_unrefp) message *request = NULL;
	va_list ap;
	int r = lib.sd_bus_message_new_method_call(s->bus, &request, SERVICE,
						   path, interface, member);

	va_start(ap, types);
	if (r >= 0)
		r = lib.sd_bus_message_appendv(request, types, ap);
	va_end(ap);
	return r < 0 ? fail_service(member, strerror(-r), err)
		     : send_call(s, request, member, answer, err);
}

static int open_service(struct service *s, struct err *err)
{
	AUTO(message_unrefp) message *answer = NULL;
	const char *path;

	if (connect_bus(s, err) < 0 ||
	    call_service(s, &answer, err, FOLDER, INTERFACE("Service"),
			 "OpenSession", "sv", "plain", "s", "") < 0)
		return -1;
	if (lib.sd_bus_message_skip(answer, "v") < 0 ||
	    lib.sd_bus_message_read(answer, "o", &path) < 0 ||
	    (size_t)snprintf(s->session, sizeof(s->session), "%s", path) >=
		    sizeof(s->session))
		return fail_service("OpenSession", strerror(EBADMSG), err);
	return 0;
}

/* ---- items ---- */

#define ID_TEXT_BYTES (2 * SEAL_ID_BYTES + 1)

static void id_text(const unsigned char id[SEAL_ID_BYTES],
		    char ret[ID_TEXT_BYTES])
{
	for (size_t i = 0; i < SEAL_ID_BYTES; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

/* The first path of an array, "" when it is empty; false: bad types. */
static bool read_first(message *m, const char **ret)
{
	const char *path = NULL;

	if (lib.sd_bus_message_enter_container(m, 'a', "o") < 0 ||
	    lib.sd_bus_message_read(m, "o", &path) < 0)
		return false;
	while (path && lib.sd_bus_message_skip(m, "o") > 0)
		;
	*ret = path ? path : "";
	return lib.sd_bus_message_exit_container(m) >= 0;
}

/*
 * The first item that is open; path is "" when there is none.
 * id      NULL: an item of any key
 * errors  ERR_CREDENTIAL  there is one, and it is locked
 */
static int search_items(struct service *s, const unsigned char *id, char *path,
			size_t path_bytes, struct err *err)
{
	AUTO(message_unrefp) message *answer = NULL;
	char hex[ID_TEXT_BYTES] = "";
	const char *found, *locked;

	if (id)
		id_text(id, hex);
	if (call_service(s, &answer, err, FOLDER, INTERFACE("Service"),
			 "SearchItems", "a{ss}", id ? 2 : 1, "application",
			 "matins", "key", hex) < 0)
		return -1;
	if (!read_first(answer, &found) || !read_first(answer, &locked) ||
	    (size_t)snprintf(path, path_bytes, "%s", found) >= path_bytes)
		return fail_service("SearchItems", strerror(EBADMSG), err);
	return !*found && *locked ? fail_locked(err) : 0;
}

static int read_secret(struct service *s, const char *item, struct buf *key,
		       struct err *err)
{
	AUTO(message_unrefp) message *answer = NULL;
	const void *bytes;
	size_t n;

	if (call_service(s, &answer, err, item, INTERFACE("Item"), "GetSecret",
			 "o", s->session) < 0)
		return -1;
	if (lib.sd_bus_message_enter_container(answer, 'r', "oayays") < 0 ||
	    lib.sd_bus_message_skip(answer, "oay") < 0 ||
	    lib.sd_bus_message_read_array(answer, 'y', &bytes, &n) < 0)
		return fail_service("GetSecret", strerror(EBADMSG), err);
	if (base64_decode(BASE64_URL, (struct str){bytes, n}, key,
			  ERR_IGNORED) < 0 ||
	    key->n != CRYPTO_KEY_BYTES)
		return err_set(err, ERR_CREDENTIAL,
			       "the secret of matins in the desktop's secret "
			       "service is not one of its keys; remove it "
			       "there");
	return 0;
}

static int service_find(UNUSED int dir, const unsigned char *id,
			unsigned char ret[CRYPTO_KEY_BYTES], struct err *err)
{
	AUTO(service_release) struct service s = {0};
	AUTO(buf_wipe) struct buf key = BUF_INIT(CRYPTO_KEY_BYTES);
	char path[256];

	if (open_service(&s, err) < 0 ||
	    search_items(&s, id, path, sizeof(path), err) < 0)
		return -1;
	if (!*path)
		return 1;
	if (read_secret(&s, path, &key, err) < 0)
		return -1;
	memcpy(ret, key.p, CRYPTO_KEY_BYTES);
	return 0;
}

/* ---- a new item ---- */

static int append_item(message *m, const char *session, const char *hex,
		       struct str text)
{
	int r = lib.sd_bus_message_append(
		m, "a{sv}", 2, INTERFACE("Item.Label"), "s",
		"matins: key of its tokens", INTERFACE("Item.Attributes"),
		"a{ss}", 2, "application", "matins", "key", hex);

	if (r >= 0)
		r = lib.sd_bus_message_open_container(m, 'r', "oayays");
	if (r >= 0)
		r = lib.sd_bus_message_append(m, "o", session);
	if (r >= 0)
		r = lib.sd_bus_message_append_array(m, 'y', "", 0);
	if (r >= 0)
		r = lib.sd_bus_message_append_array(m, 'y', text.p, text.n);
	if (r >= 0)
		r = lib.sd_bus_message_append(m, "s", "text/plain");
	if (r >= 0)
		r = lib.sd_bus_message_close_container(m);
	return r < 0 ? r : lib.sd_bus_message_append(m, "b", 0);
}

static int service_keep(UNUSED int dir, const unsigned char id[SEAL_ID_BYTES],
			const unsigned char key[CRYPTO_KEY_BYTES],
			struct err *err)
{
	static const char member[] = "CreateItem";
	AUTO(service_release) struct service s = {0};
	AUTO(message_unrefp) message *request = NULL;
	AUTO(message_unrefp) message *answer = NULL;
	AUTO(message_unrefp) message *dismissed = NULL;
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	char hex[ID_TEXT_BYTES];
	const char *item, *prompt;
	int r;

	id_text(id, hex);
	base64_encode(BASE64_URL,
		      (struct str){(const char *)key, CRYPTO_KEY_BYTES}, &text);
	if (open_service(&s, err) < 0)
		return -1;
	r = lib.sd_bus_message_new_method_call(s.bus, &request, SERVICE,
					       FOLDER "/aliases/default",
					       INTERFACE("Collection"), member);
	if (r >= 0)
		r = append_item(request, s.session, hex, buf_str(&text));
	if (r < 0)
		return fail_service(member, strerror(-r), err);
	if (send_call(&s, request, member, &answer, err) < 0)
		return -1;
	if (lib.sd_bus_message_read(answer, "oo", &item, &prompt) < 0)
		return fail_service(member, strerror(EBADMSG), err);
	if (!strcmp(prompt, "/"))
		return 0;
	/* a prompt needs a person */
	(void)!call_service(&s, &dismissed, ERR_IGNORED, prompt,
			    INTERFACE("Prompt"), "Dismiss", "");
	return fail_locked(err);
}

const struct key_place key_place_service = {service_find, service_keep};
