/* The key in a file beside the tokens, as one line of Base64. */
#include "core/auth/folder.h"
#include "core/auth/key_place.h"
#include "core/base/text.h"
#include "core/base/mem.h"

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

const struct key_place key_place_file = {STORE_KEY_FILE, file_find, file_keep};
