/*
 * The key in the kernel's persistent keyring of the user: in no file, gone at
 * a reboot or after /proc/sys/kernel/keys/persistent_keyring_expiry seconds
 * without use (three days as the kernel comes).
 *
 * A program under the gate cannot ask for it: the system calls of keyrings
 * are in no profile.
 *
 * source  keyrings(7), persistent-keyring(7), keyctl(2)
 */
#include <errno.h>
#include <keyutils.h>

#include "core/auth/key_place.h"
#include "core/base/dl.h"

#define LIBRARY "libkeyutils.so.1"
#define TYPE "user"
#define NAME "matins:tokens"

#define KEYRING_FUNCTIONS(X)     \
	X(add_key)               \
	X(keyctl_get_persistent) \
	X(keyctl_move)           \
	X(keyctl_read)           \
	X(keyctl_search)         \
	X(keyctl_unlink)

static struct {
	KEYRING_FUNCTIONS(DL_MEMBER)
} lib;

/* Owned through our process keyring, which ends with us. */
static int open_keyring(key_serial_t *ret, struct err *err)
{
	static const char *const names[] = {KEYRING_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);
	long ring;

	if (!dl_load(&dl))
		return err_set(err, ERR_CREDENTIAL,
			       "the kernel's keyring needs " LIBRARY
			       ", which is not here; install it: apt-get "
			       "install libkeyutils1");
	ring = lib.keyctl_get_persistent((uid_t)-1, KEY_SPEC_PROCESS_KEYRING);
	if (ring < 0)
		return err_set(err, ERR_CREDENTIAL,
			       "the kernel gives no keyring here: %s",
			       strerror(errno));
	*ret = (key_serial_t)ring;
	return 0;
}

static int keyring_find(UNUSED int dir, UNUSED const unsigned char *id,
			unsigned char ret[CRYPTO_KEY_BYTES], struct err *err)
{
	key_serial_t ring;
	long n, serial;

	if (open_keyring(&ring, err) < 0)
		return -1;
	serial = lib.keyctl_search(ring, TYPE, NAME, 0);
	if (serial < 0 &&
	    (errno == ENOKEY || errno == EKEYEXPIRED || errno == EKEYREVOKED))
		return 1;
	n = serial < 0 ? -1
		       : lib.keyctl_read((key_serial_t)serial, (char *)ret,
					 CRYPTO_KEY_BYTES);
	if (n < 0)
		return err_set(err, ERR_CREDENTIAL,
			       "the kernel's keyring cannot be read: %s",
			       strerror(errno));
	return n == CRYPTO_KEY_BYTES ? 0 : 1;
}

/* Moved there and not made there: only a move can leave an older one alone. */
static int keyring_keep(UNUSED int dir, UNUSED const unsigned char *id,
			const unsigned char key[CRYPTO_KEY_BYTES],
			struct err *err)
{
	const key_serial_t own = KEY_SPEC_PROCESS_KEYRING;
	key_serial_t ring, serial;
	int sys;

	if (open_keyring(&ring, err) < 0)
		return -1;
	serial = lib.add_key(TYPE, NAME, key, CRYPTO_KEY_BYTES, own);
	if (serial >= 0 &&
	    lib.keyctl_move(serial, own, ring, KEYCTL_MOVE_EXCL) == 0)
		return 0;
	sys = errno;
	if (serial >= 0)
		lib.keyctl_unlink(serial, own);
	if (serial >= 0 && sys == EEXIST)
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "the kernel's keyring takes no key: %s", strerror(sys));
}

const struct key_place key_place_keyring = {keyring_find, keyring_keep};
