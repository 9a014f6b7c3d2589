#include "core/mcp/wire/salvage.h"

#include <string.h>
#include <strings.h>

#include "core/base/scan.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

size_t salvage_start(struct str line)
{
	static const char key[] = "\"jsonrpc\"";
	const char *p = line.p, *end = line.p + line.n;

	while (p < end) {
		const char *hit =
			memmem(p, (size_t)(end - p), key, sizeof(key) - 1);
		const char *q = hit;

		if (!hit)
			break;
		while (q > line.p && is_space(q[-1]))
			q--;
		if (q > line.p && q[-1] == '{')
			return (size_t)(q - 1 - line.p);
		p = hit + 1;
	}
	return line.n;
}

/* Behind the string whose opening quote is at p; NULL when it never ends. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '\\')
			p++;
		else if (*p == '"')
			return p + 1;
	}
	return NULL;
}

static const char *space_end(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

/* Read a number or string at p that is surely whole, else {NULL, 0}. */
static struct str scalar_at(const char *p, const char *end)
{
	const char *q = p;

	if (p == end)
		return (struct str){NULL, 0};
	if (*p == '"') {
		q = string_end(p, end);
		return (struct str){q ? p : NULL, q ? (size_t)(q - p) : 0};
	}
	while (q < end && (*q == '-' || (*q >= '0' && *q <= '9')))
		q++;
	if (q == p || q == end)
		return (struct str){NULL, 0};
	return (struct str){p, (size_t)(q - p)};
}

/*
 * Find a member of an object that is not JSON: brackets and strings are
 * followed as far as they go. ret_value is {NULL, 0} when it is not a whole
 * scalar.
 */
static bool find_member(struct str text, struct str key, struct str *ret_value)
{
	const char *p = text.p, *end = text.p + text.n, *after;
	int64_t depth = 0;

	while (p < end) {
		if (*p != '"') {
			depth += (*p == '{' || *p == '[') -
				 (*p == '}' || *p == ']');
			p++;
			continue;
		}
		after = string_end(p, end);
		if (!after)
			return false;
		if (depth == 1 &&
		    str_eq((struct str){p, (size_t)(after - p)}, key)) {
			p = space_end(after, end);
			if (p < end && *p == ':') {
				p = space_end(p + 1, end);
				*ret_value = scalar_at(p, end);
				return true;
			}
		}
		p = after;
	}
	return false;
}

bool salvage_is_broken(struct str line, struct str *ret_id)
{
	size_t at = salvage_start(line);
	struct str object = str_trim(line), ignored, id = {NULL, 0};

	if (at < line.n)
		object = (struct str){line.p + at, line.n - at};
	else if (!str_starts(object, "{") ||
		 !find_member(object, STR("\"jsonrpc\""), &ignored))
		return false;
	if (!find_member(object, STR("\"id\""), &id))
		id = (struct str){NULL, 0};
	*ret_id = id;
	return true;
}

bool salvage_is_header(struct str line)
{
	static const char name[] = "Content-Length:";
	struct str rest;
	uint64_t ignored;

	if (line.n < sizeof(name) ||
	    strncasecmp(line.p, name, sizeof(name) - 1) != 0)
		return false;
	rest.p = line.p + sizeof(name) - 1;
	rest.n = line.n - (sizeof(name) - 1);
	return str_uint64(str_trim(rest), &ignored);
}

bool salvage_utf8(struct str line, struct buf *out)
{
	struct str start = str_trim(line);

	if (!str_starts(start, "{") && !str_starts(start, "[") &&
	    salvage_start(line) == line.n)
		return false;
	if (str_is_utf8(line))
		return false;
	while (line.n) {
		size_t n = str_utf8_len(line);

		if (n)
			buf_add(out, line.p, n);
		else
			buf_adds(out, "\xef\xbf\xbd");
		line.p += n ? n : 1;
		line.n -= n ? n : 1;
	}
	return true;
}

/* Depth behind a line, -1 when it cannot be part of pretty JSON. */
static int64_t depth_after(struct str line, int64_t depth)
{
	const char *p = line.p, *end = line.p + line.n;

	while (p && p < end) {
		if (*p == '"') {
			p = string_end(p, end);
			continue;
		}
		depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
		if (depth < 0)
			return -1;
		p++;
	}
	return p ? depth : -1;
}

void salvage_block_clear(struct salvage_block *block)
{
	buf_release(&block->text);
	block->depth = 0;
}

bool salvage_block_add(struct salvage_block *block, struct str line)
{
	struct str start = str_trim(line);
	int64_t depth;

	if (!block->depth && !str_starts(start, "{") && !str_starts(start, "["))
		return false;
	depth = depth_after(line, block->depth);
	if (depth < 0 || depth > UINT32_MAX ||
	    buf_add_str(&block->text, line) == BUF_FULL ||
	    buf_addc(&block->text, '\n') == BUF_FULL) {
		salvage_block_clear(block);
		return false;
	}
	block->depth = (uint32_t)depth;
	return !depth;
}
