/*
 * The key as a secret in the desktop's secret service (GNOME Keyring,
 * KWallet, KeePassXC), spoken to over the session's bus.
 *
 * Everything ends within KEY_PLACE_MS, and nobody is asked to unlock
 * anything: a collection that is locked is an error. Only the bus that
 * DBUS_SESSION_BUS_ADDRESS names as a socket is used; libsystemd starts no
 * thread, and no program for an address of that kind. The secret crosses
 * that socket as it is: who can listen there can ask for it as well.
 *
 * source  Secret Service API 0.2, freedesktop.org
 */
#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "core/auth/key_place.h"
#include "core/base/text.h"
#include "core/base/clock.h"
#include "core/base/dl.h"
#include "core/base/mem.h"

#define LIBRARY "libsystemd.so.0"

#define BUS_FUNCTIONS(X)                  \
	X(sd_bus_new)                     \
	X(sd_bus_set_address)             \
	X(sd_bus_set_bus_client)          \
	X(sd_bus_set_method_call_timeout) \
	X(sd_bus_start)                   \
	X(sd_bus_is_ready)                \
	X(sd_bus_process)                 \
	X(sd_bus_wait)                    \
	X(sd_bus_close_unref)             \
	X(sd_bus_call)                    \
	X(sd_bus_error_free)              \
	X(sd_bus_message_new_method_call) \
	X(sd_bus_message_append)          \
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

struct library {
	BUS_FUNCTIONS(DL_MEMBER)
};

static const struct library *library(struct err *err)
{
	static const char *const names[] = {BUS_FUNCTIONS(DL_NAME)};
	static struct library functions;
	static struct dl dl = DL(LIBRARY, names, functions);

	if (dl_load(&dl))
		return &functions;
	err_set(err, ERR_CREDENTIAL,
		"the secret service needs " LIBRARY ", which is not here; "
		"install it: apt-get install libsystemd0");
	return NULL;
}

/* ---- the connection ---- */

#define SERVICE "org.freedesktop.secrets"
#define FOLDER "/org/freedesktop/secrets"
#define INTERFACE(name) "org.freedesktop.Secret." name

struct service {
	const struct library *lib;
	sd_bus *bus;	  /* owned */
	uint64_t end_us;  /* monotonic; nothing takes longer */
	const char *call; /* the last one, for errors */
	char session[256];
};

static void service_release(struct service *s)
{
	if (s->bus)
		s->lib->sd_bus_close_unref(s->bus);
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

static int no_answer(const char *what, int sys, struct err *err)
{
	return err_set(err, ERR_CREDENTIAL,
		       "the desktop's secret service cannot be used: %s: %s",
		       what, strerror(sys));
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
		return err_set(err, ERR_CREDENTIAL,
			       "DBUS_SESSION_BUS_ADDRESS is no socket of this "
			       "machine (unix:path=)");
	if (strchr(address, ';'))
		return err_set(err, ERR_CREDENTIAL,
			       "DBUS_SESSION_BUS_ADDRESS names several "
			       "addresses: one is due");
	*ret = address;
	return 0;
}

static int connect_bus(struct service *s, struct err *err)
{
	const char *address = NULL;
	int r;

	if (find_address(&address, err) < 0)
		return -1;
	r = s->lib->sd_bus_new(&s->bus);
	if (r >= 0)
		r = s->lib->sd_bus_set_address(s->bus, address);
	if (r >= 0)
		r = s->lib->sd_bus_set_bus_client(s->bus, 1);
	if (r >= 0)
		r = s->lib->sd_bus_start(s->bus);
	while (r >= 0 && s->lib->sd_bus_is_ready(s->bus) == 0) {
		r = s->lib->sd_bus_process(s->bus, NULL);
		if (r == 0)
			r = left_us(s) ? s->lib->sd_bus_wait(s->bus, left_us(s))
				       : -ETIMEDOUT;
	}
	return r < 0 ? no_answer(address, -r, err) : 0;
}

typedef sd_bus_message message; /* as the library names it */

struct exchange {
	const struct library *lib;
	message *request, *answer; /* owned */
	message *at;		   /* the one that is read or written */
};

static void exchange_release(struct exchange *e)
{
	if (e->request)
		e->lib->sd_bus_message_unref(e->request);
	if (e->answer)
		e->lib->sd_bus_message_unref(e->answer);
}

static int begin(struct service *s, struct exchange *e, const char *path,
		 const char *interface, const char *member, struct err *err)
{
	int r;

	e->lib = s->lib;
	s->call = member;
	r = s->lib->sd_bus_message_new_method_call(s->bus, &e->request, SERVICE,
						   path, interface, member);
	if (r >= 0)
		r = s->lib->sd_bus_message_sensitive(e->request);
	return r < 0 ? no_answer(member, -r, err) : 0;
}

/* r: what writing the request came to */
static int finish(struct service *s, struct exchange *e, int r, struct err *err)
{
	sd_bus_error why = SD_BUS_ERROR_NULL;

	if (r >= 0)
		r = left_us(s)
			    ? s->lib->sd_bus_call(s->bus, e->request,
						  left_us(s), &why, &e->answer)
			    : -ETIMEDOUT;
	if (r >= 0)
		r = s->lib->sd_bus_message_sensitive(e->answer);
	if (r < 0 && why.message)
		err_set(err, ERR_CREDENTIAL,
			"the desktop's secret service cannot be used: %s: %s",
			s->call, why.message);
	else if (r < 0)
		no_answer(s->call, -r, err);
	s->lib->sd_bus_error_free(&why);
	return r < 0 ? -1 : 0;
}

static int bad_answer(const struct service *s, struct err *err)
{
	return no_answer(s->call, EBADMSG, err);
}

static int open_service(struct service *s, struct err *err)
{
	AUTO(exchange_release) struct exchange e = {0};
	const char *path;
	int r;

	s->lib = library(err);
	s->end_us = now_us() + KEY_PLACE_MS * UINT64_C(1000);
	if (!s->lib || connect_bus(s, err) < 0 ||
	    begin(s, &e, FOLDER, INTERFACE("Service"), "OpenSession", err) < 0)
		return -1;
	r = s->lib->sd_bus_message_append(e.request, "sv", "plain", "s", "");
	if (finish(s, &e, r, err) < 0)
		return -1;
	if (s->lib->sd_bus_message_skip(e.answer, "v") < 0 ||
	    s->lib->sd_bus_message_read(e.answer, "o", &path) < 0)
		return bad_answer(s, err);
	if ((size_t)snprintf(s->session, sizeof(s->session), "%s", path) >=
	    sizeof(s->session))
		return bad_answer(s, err);
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

/*
 * The first item that is open; path is "" when there is none.
 * errors  ERR_CREDENTIAL  there is one, and it is locked
 */
static int search(struct service *s, const unsigned char *id, char *path,
		  size_t path_bytes, struct err *err)
{
	AUTO(exchange_release) struct exchange e = {0};
	char hex[ID_TEXT_BYTES] = "";
	const char *found = NULL, *locked = NULL;
	int r;

	if (begin(s, &e, FOLDER, INTERFACE("Service"), "SearchItems", err) < 0)
		return -1;
	if (id) {
		id_text(id, hex);
		r = s->lib->sd_bus_message_append(e.request, "a{ss}", 2,
						  "application", "matins",
						  "key", hex);
	} else {
		r = s->lib->sd_bus_message_append(e.request, "a{ss}", 1,
						  "application", "matins");
	}
	if (finish(s, &e, r, err) < 0)
		return -1;
	if (s->lib->sd_bus_message_enter_container(e.answer, 'a', "o") < 0 ||
	    s->lib->sd_bus_message_read(e.answer, "o", &found) < 0)
		return bad_answer(s, err);
	while (found && s->lib->sd_bus_message_skip(e.answer, "o") > 0)
		;
	if (s->lib->sd_bus_message_exit_container(e.answer) < 0 ||
	    s->lib->sd_bus_message_enter_container(e.answer, 'a', "o") < 0 ||
	    s->lib->sd_bus_message_read(e.answer, "o", &locked) < 0)
		return bad_answer(s, err);
	if (!found && locked)
		return err_set(err, ERR_CREDENTIAL,
			       "the desktop's secret service is locked; unlock "
			       "it and try again");
	r = snprintf(path, path_bytes, "%s", found ? found : "");
	return (size_t)r < path_bytes ? 0 : bad_answer(s, err);
}

static int read_secret(struct service *s, const char *item, struct buf *key,
		       struct err *err)
{
	AUTO(exchange_release) struct exchange e = {0};
	struct err ignored = ERR_INIT;
	const void *bytes;
	size_t n;
	int r;

	if (begin(s, &e, item, INTERFACE("Item"), "GetSecret", err) < 0)
		return -1;
	r = s->lib->sd_bus_message_append(e.request, "o", s->session);
	if (finish(s, &e, r, err) < 0)
		return -1;
	if (s->lib->sd_bus_message_enter_container(e.answer, 'r', "oayays") <
		    0 ||
	    s->lib->sd_bus_message_skip(e.answer, "oay") < 0 ||
	    s->lib->sd_bus_message_read_array(e.answer, 'y', &bytes, &n) < 0)
		return bad_answer(s, err);
	if (base64_decode(BASE64_URL, (struct str){bytes, n}, key, &ignored) <
		    0 ||
	    key->n != CRYPTO_KEY_BYTES)
		return err_set(err, ERR_CREDENTIAL,
			       "the secret of matins in the desktop's secret "
			       "service is none of its keys; remove it there");
	return 0;
}

static int service_find(int dir, const unsigned char *id,
			unsigned char ret[CRYPTO_KEY_BYTES], struct err *err)
{
	AUTO(service_release) struct service s = {0};
	AUTO(buf_wipe) struct buf key = BUF_INIT(CRYPTO_KEY_BYTES);
	unsigned char found[SEAL_ID_BYTES];
	char path[256];

	(void)dir;
	if (open_service(&s, err) < 0 ||
	    search(&s, id, path, sizeof(path), err) < 0)
		return -1;
	if (!*path)
		return 1;
	if (read_secret(&s, path, &key, err) < 0)
		return -1;
	seal_key_id((unsigned char *)key.p, found);
	if (id && memcmp(id, found, sizeof(found)) != 0)
		return 1;
	memcpy(ret, key.p, CRYPTO_KEY_BYTES);
	return 0;
}

/* ---- a new item ---- */

static int append_properties(const struct library *lib, message *m,
			     const char *hex)
{
	int r = lib->sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = lib->sd_bus_message_append(m, "{sv}",
					       INTERFACE("Item.Label"), "s",
					       "matins: key of its tokens");
	if (r >= 0)
		r = lib->sd_bus_message_append(
			m, "{sv}", INTERFACE("Item.Attributes"), "a{ss}", 2,
			"application", "matins", "key", hex);
	return r < 0 ? r : lib->sd_bus_message_close_container(m);
}

static int append_secret(const struct library *lib, message *m,
			 const char *session, struct str text)
{
	int r = lib->sd_bus_message_open_container(m, 'r', "oayays");

	if (r >= 0)
		r = lib->sd_bus_message_append(m, "o", session);
	if (r >= 0)
		r = lib->sd_bus_message_append_array(m, 'y', "", 0);
	if (r >= 0)
		r = lib->sd_bus_message_append_array(m, 'y', text.p, text.n);
	if (r >= 0)
		r = lib->sd_bus_message_append(m, "s", "text/plain");
	return r < 0 ? r : lib->sd_bus_message_close_container(m);
}

/* Nobody is there to answer it. */
static void dismiss(struct service *s, const char *prompt)
{
	AUTO(exchange_release) struct exchange e = {0};
	struct err ignored = ERR_INIT;

	if (begin(s, &e, prompt, INTERFACE("Prompt"), "Dismiss", &ignored) == 0)
		finish(s, &e, 0, &ignored);
}

static int service_keep(int dir, const unsigned char key[CRYPTO_KEY_BYTES],
			struct err *err)
{
	AUTO(service_release) struct service s = {0};
	AUTO(exchange_release) struct exchange e = {0};
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	unsigned char id[SEAL_ID_BYTES];
	char hex[ID_TEXT_BYTES];
	const char *item, *prompt;
	int r;

	(void)dir;
	seal_key_id(key, id);
	id_text(id, hex);
	base64_encode(BASE64_URL,
		      (struct str){(const char *)key, CRYPTO_KEY_BYTES}, &text);
	if (open_service(&s, err) < 0 ||
	    begin(&s, &e, FOLDER "/aliases/default", INTERFACE("Collection"),
		  "CreateItem", err) < 0)
		return -1;
	r = append_properties(s.lib, e.request, hex);
	if (r >= 0)
		r = append_secret(s.lib, e.request, s.session, buf_str(&text));
	if (r >= 0)
		r = s.lib->sd_bus_message_append(e.request, "b", 0);
	if (finish(&s, &e, r, err) < 0)
		return -1;
	if (s.lib->sd_bus_message_read(e.answer, "oo", &item, &prompt) < 0)
		return bad_answer(&s, err);
	if (!strcmp(prompt, "/"))
		return 0;
	dismiss(&s, prompt);
	return err_set(err, ERR_CREDENTIAL,
		       "the desktop's secret service is locked; unlock it and "
		       "try again");
}

const struct key_place key_place_service = {STORE_KEY_SERVICE, service_find,
					    service_keep};
