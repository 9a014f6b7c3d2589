#include "core/mcp/wire/content.h"

#include <stdint.h>

#include "core/base/scan.h"
#include "core/base/sha256.h"

/* ---- blocks ---- */

static struct str string_member(struct str object, const char *name)
{
	struct str v;

	if (!scan_get_some(object, name, &v) || scan_type(v) != SCAN_STRING)
		return (struct str){NULL, 0};
	return v;
}

void content_read_item(struct str json, struct content_block *ret)
{
	*ret = (struct content_block){
		.kind = CONTENT_RESOURCE,
		.text = string_member(json, "text"),
		.data = string_member(json, "blob"),
		.mime = string_member(json, "mimeType"),
		.uri = string_member(json, "uri"),
	};
	ret->is_odd = !ret->text.p == !ret->data.p;
	if (!ret->text.p && !ret->data.p)
		ret->kind = CONTENT_UNKNOWN;
}

static enum content_kind kind_of(struct str type)
{
	static const char *const words[] = {
		[CONTENT_TEXT] = "text",
		[CONTENT_IMAGE] = "image",
		[CONTENT_AUDIO] = "audio",
		[CONTENT_RESOURCE] = "resource",
		[CONTENT_LINK] = "resource_link",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (scan_is(type, words[i]))
			return (enum content_kind)i;
	return CONTENT_UNKNOWN;
}

void content_read(struct str json, struct content_block *ret)
{
	struct str type = string_member(json, "type"), inner;
	struct content_block b = {
		.kind = type.p ? kind_of(type) : CONTENT_UNKNOWN,
		.mime = string_member(json, "mimeType"),
	};
	bool whole = true;

	switch (b.kind) {
	case CONTENT_TEXT:
		b.text = string_member(json, "text");
		whole = b.text.p;
		break;
	case CONTENT_IMAGE:
	case CONTENT_AUDIO:
		b.data = string_member(json, "data");
		whole = b.data.p;
		break;
	case CONTENT_RESOURCE:
		if (!scan_get_some(json, "resource", &inner))
			inner = STR("null");
		content_read_item(inner, &b);
		break;
	case CONTENT_LINK:
		b.uri = string_member(json, "uri");
		whole = b.uri.p;
		break;
	case CONTENT_UNKNOWN:
		break;
	}
	if (!whole)
		b.kind = CONTENT_UNKNOWN;
	*ret = b;
}

/* ---- Base64 ---- */

/* RFC 4648, table 1; -1: not in it */
static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

static bool is_space(char c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

struct decoder {
	uint32_t bits;
	unsigned n_digits;  /* in bits: 0 to 3 */
	unsigned n_padding; /* "=" so far */
};

/* Decode one character; false: it is not allowed here. */
static bool decode_one(struct decoder *d, char c, struct buf *out)
{
	int value = digit(c);

	if (is_space(c))
		return true;
	if (c == '=')
		return d->n_digits >= 2 && ++d->n_padding + d->n_digits <= 4;
	if (value < 0 || d->n_padding)
		return false;
	d->bits = d->bits << 6 | (uint32_t)value;
	if (++d->n_digits < 4)
		return true;
	buf_addc(out, (char)(d->bits >> 16));
	buf_addc(out, (char)(d->bits >> 8));
	buf_addc(out, (char)d->bits);
	d->n_digits = 0;
	return true;
}

/* Bytes that a right text decodes to. */
static size_t decoded_bytes(struct str text)
{
	size_t digits = 0;

	for (size_t i = 0; i < text.n; i++)
		digits += digit(text.p[i]) >= 0;
	return digits / 4 * 3 + (digits % 4 ? digits % 4 - 1 : 0);
}

static void cut_back(struct buf *out, size_t n)
{
	if (out->n > n)
		out->p[n] = '\0';
	out->n = n;
}

static int decode(struct str text, struct buf *out, struct err *err)
{
	struct decoder d = {0};
	size_t before = out->n;

	for (size_t i = 0; i < text.n; i++) {
		if (decode_one(&d, text.p[i], out))
			continue;
		cut_back(out, before);
		return err_set(err, ERR_SYNTAX, "invalid Base64 at byte %zu",
			       i + 1);
	}
	if (d.n_digits == 1) {
		cut_back(out, before);
		return err_set(err, ERR_SYNTAX,
			       "the Base64 ends in the middle of a byte");
	}
	if (d.n_digits)
		buf_addc(out, (char)(d.bits >> (d.n_digits == 2 ? 4 : 10)));
	if (d.n_digits == 3)
		buf_addc(out, (char)(d.bits >> 2));
	return 0;
}

/* Cut the head off a data URI, which some servers write there (RW-77). */
static struct str behind_data_uri(struct str text)
{
	const char *comma = memchr(text.p, ',', text.n);

	if (!comma || !str_starts(text, "data:"))
		return text;
	return (struct str){comma + 1, text.n - (size_t)(comma + 1 - text.p)};
}

int content_bytes(struct str string, size_t max, struct buf *out,
		  struct err *err)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	struct str text = {string.p + 1, string.n - 2};

	if (memchr(text.p, '\\', text.n)) {
		scan_string(string, &plain);
		text = buf_str(&plain);
	}
	text = behind_data_uri(text);
	if (decoded_bytes(text) > max)
		return err_set(err, ERR_LIMIT,
			       "more than %zu bytes of Base64 data", max);
	return decode(text, out, err);
}

/* ---- forms of files ---- */

static bool has(struct str s, size_t at, const char *magic, size_t n)
{
	return s.n >= at + n && memcmp(s.p + at, magic, n) == 0;
}

/* Text has no controls but white space. */
static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == 0x7f || (c < 0x20 && !is_space((char)c) && c != '\f'))
			return false;
	}
	return str_is_utf8(s);
}

const char *content_extension(struct str s)
{
	/* one row per form: at, bytes, second place, bytes, extension */
	static const struct magic {
		size_t at;
		const char *bytes;
		size_t n;
		size_t at2;
		const char *bytes2;
		size_t n2;
		const char *extension;
	} magics[] = {
#define MAGIC(at, bytes, ext) {at, bytes, sizeof(bytes) - 1, 0, "", 0, ext}
#define MAGIC2(bytes, at2, bytes2, ext)                                       \
	{                                                                     \
		0, bytes, sizeof(bytes) - 1, at2, bytes2, sizeof(bytes2) - 1, \
			ext                                                   \
	}
		MAGIC(0, "\x89PNG\r\n\x1a\n", "png"),
		MAGIC(0, "\xff\xd8\xff", "jpg"),
		MAGIC(0, "GIF87a", "gif"),
		MAGIC(0, "GIF89a", "gif"),
		MAGIC2("RIFF", 8, "WEBP", "webp"),
		MAGIC2("RIFF", 8, "WAVE", "wav"),
		MAGIC2("BM", 6, "\0\0\0\0", "bmp"),
		MAGIC(0, "II*\0", "tif"),
		MAGIC(0, "MM\0*", "tif"),
		MAGIC(0, "\0\0\1\0", "ico"),
		MAGIC(4, "ftypavif", "avif"),
		MAGIC(4, "ftypheic", "heic"),
		MAGIC(4, "ftypM4A ", "m4a"),
		MAGIC(4, "ftyp", "mp4"),
		MAGIC(0, "\x1a\x45\xdf\xa3", "webm"),
		MAGIC(0, "OggS", "ogg"),
		MAGIC(0, "fLaC", "flac"),
		MAGIC(0, "ID3", "mp3"),
		MAGIC(0, "\xff\xfb", "mp3"),
		MAGIC(0, "\xff\xf3", "mp3"),
		MAGIC(0, "%PDF-", "pdf"),
		MAGIC(0, "PK\3\4", "zip"),
		MAGIC(0, "\x1f\x8b", "gz"),
#undef MAGIC
#undef MAGIC2
	};

	for (size_t i = 0; i < ARRAY_LEN(magics); i++) {
		const struct magic *m = &magics[i];

		if (has(s, m->at, m->bytes, m->n) &&
		    has(s, m->at2, m->bytes2, m->n2))
			return m->extension;
	}
	return is_text(s) ? "txt" : "bin";
}

void content_name(struct str bytes, char out[CONTENT_NAME_BYTES])
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex(bytes, hex);
	snprintf(out, CONTENT_NAME_BYTES, "%s.%s", hex,
		 content_extension(bytes));
}
