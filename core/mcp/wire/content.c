#include "core/mcp/wire/content.h"

#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

/* ---- blocks ---- */

void content_read_item(struct str json, struct content_block *ret)
{
	*ret = (struct content_block){
		.kind = CONTENT_RESOURCE,
		.text = scan_text(json, "text"),
		.data = scan_text(json, "blob"),
		.mime = scan_text(json, "mimeType"),
		.uri = scan_text(json, "uri"),
	};
	ret->is_odd = !ret->text.p == !ret->data.p;
	if (!ret->text.p && !ret->data.p)
		ret->kind = CONTENT_UNKNOWN;
}

void content_read(struct str json, struct content_block *ret)
{
	static const char *const words[] = {
		[CONTENT_TEXT] = "text",
		[CONTENT_IMAGE] = "image",
		[CONTENT_AUDIO] = "audio",
		[CONTENT_RESOURCE] = "resource",
		[CONTENT_LINK] = "resource_link",
	};
	struct str type = scan_text(json, "type"), needed = {NULL, 0};
	struct content_block b = {.mime = scan_text(json, "mimeType")};

	while (b.kind < CONTENT_UNKNOWN && !scan_is(type, words[b.kind]))
		b.kind++;
	switch (b.kind) {
	case CONTENT_TEXT:
		needed = b.text = scan_text(json, "text");
		break;
	case CONTENT_IMAGE:
	case CONTENT_AUDIO:
		needed = b.data = scan_text(json, "data");
		break;
	case CONTENT_RESOURCE:
		content_read_item(scan_some(json, "resource"), ret);
		return;
	case CONTENT_LINK:
		needed = b.uri = scan_text(json, "uri");
		break;
	case CONTENT_UNKNOWN:
		break;
	}
	if (!needed.p)
		b.kind = CONTENT_UNKNOWN;
	*ret = b;
}

/* ---- Base64 ---- */

/* RFC 4648, table 1; -1: not in it */
static int digit(char c)
{
	if (text_is_alpha(c))
		return c <= 'Z' ? c - 'A' : c - 'a' + 26;
	if (text_is_digit(c))
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_space(char c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

/*
 * Decode as far as it is right; text.n: all of it. Spaces may stand anywhere,
 * and "=" behind the digits, as many as fill a group or fewer.
 *
 * ret_rest  digits of the last group: 0 to 3
 */
static size_t decode(struct str text, struct buf *out, unsigned *ret_rest)
{
	unsigned have = 0, padding = 0; /* bits, "=" */
	uint32_t bits = 0;
	size_t digits = 0;

	for (size_t i = 0; i < text.n; i++) {
		int value = digit(text.p[i]);

		if (is_space(text.p[i]))
			continue;
		if (text.p[i] == '=' && digits % 4 >= 2 &&
		    ++padding + digits % 4 <= 4)
			continue;
		if (value < 0 || padding)
			return i;
		digits++;
		bits = bits << 6 | (uint32_t)value;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		buf_addc(out, (char)(bits >> have));
	}
	*ret_rest = digits % 4;
	return text.n;
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
	size_t before = out->n, digits = 0, n;
	unsigned rest = 0;

	if (memchr(text.p, '\\', text.n)) {
		scan_string(string, &plain);
		text = buf_str(&plain);
	}
	text = behind_data_uri(text);
	for (size_t i = 0; i < text.n; i++)
		digits += digit(text.p[i]) >= 0;
	if (digits * 3 / 4 > max)
		return err_set(err, ERR_LIMIT,
			       "more than %zu bytes of Base64 data", max);
	n = decode(text, out, &rest);
	if (n == text.n && rest != 1)
		return 0;
	if (out->n > before)
		out->p[before] = '\0';
	out->n = before;
	return n < text.n ? err_set(err, ERR_SYNTAX,
				    "invalid Base64 at byte %zu", n + 1)
			  : err_set(err, ERR_SYNTAX,
				    "the Base64 ends in the middle of a byte");
}

/* ---- forms of files ---- */

/* Report whether a text begins like this; "?" stands for any byte. */
static bool begins(struct str s, struct str magic)
{
	for (size_t i = 0; i < magic.n; i++)
		if (i == s.n || (magic.p[i] != '?' && magic.p[i] != s.p[i]))
			return false;
	return true;
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
	static const struct {
		struct str magic;
		const char *extension;
	} forms[] = {
#define FORM(magic, extension) {{magic, sizeof(magic) - 1}, extension}
		FORM("\x89PNG\r\n\x1a\n", "png"),
		FORM("\xff\xd8\xff", "jpg"),
		FORM("GIF87a", "gif"),
		FORM("GIF89a", "gif"),
		FORM("RIFF????WEBP", "webp"),
		FORM("RIFF????WAVE", "wav"),
		FORM("BM????\0\0\0\0", "bmp"),
		FORM("II*\0", "tif"),
		FORM("MM\0*", "tif"),
		FORM("\0\0\1\0", "ico"),
		FORM("????ftypavif", "avif"),
		FORM("????ftypheic", "heic"),
		FORM("????ftypM4A ", "m4a"),
		FORM("????ftyp", "mp4"),
		FORM("\x1a\x45\xdf\xa3", "webm"),
		FORM("OggS", "ogg"),
		FORM("fLaC", "flac"),
		FORM("ID3", "mp3"),
		FORM("\xff\xfb", "mp3"),
		FORM("\xff\xf3", "mp3"),
		FORM("%PDF-", "pdf"),
		FORM("PK\3\4", "zip"),
		FORM("\x1f\x8b", "gz"),
#undef FORM
	};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (begins(s, forms[i].magic))
			return forms[i].extension;
	return is_text(s) ? "txt" : "bin";
}

void content_name(struct str bytes, char out[CONTENT_NAME_BYTES])
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex(bytes, hex);
	snprintf(out, CONTENT_NAME_BYTES, "%s.%s", hex,
		 content_extension(bytes));
}
