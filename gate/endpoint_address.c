/* Names and addresses as text and as bytes, and where an address lies. */
#include <arpa/inet.h>
#include <ctype.h>

#include "gate/endpoint_inner.h"

#define LABEL_MAX 63

static bool is_label_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_';
}

/* A number in any notation that some resolver takes for an address. */
static bool is_number(struct str label)
{
	size_t i = 0;

	if (label.n >= 2 && label.p[0] == '0' && label.p[1] == 'x') {
		for (i = 2; i < label.n; i++)
			if (!isxdigit((unsigned char)label.p[i]))
				return false;
		return true;
	}
	for (; i < label.n; i++)
		if (label.p[i] < '0' || label.p[i] > '9')
			return false;
	return true;
}

static bool is_label(struct str label)
{
	if (!label.n || label.n > LABEL_MAX || label.p[0] == '-' ||
	    label.p[label.n - 1] == '-')
		return false;
	for (size_t i = 0; i < label.n; i++)
		if (!is_label_byte(label.p[i]))
			return false;
	return true;
}

enum text_is endpoint_read_name(struct str text, char out[ENDPOINT_HOST_BYTES])
{
	struct str rest, label = {NULL, 0};

	if (text.n && text.p[text.n - 1] == '.')
		text.n--;
	if (!text.n || text.n >= ENDPOINT_HOST_BYTES)
		return TEXT_IS_NOTHING;
	for (size_t i = 0; i < text.n; i++)
		out[i] = (char)(text.p[i] >= 'A' && text.p[i] <= 'Z'
					? text.p[i] - 'A' + 'a'
					: text.p[i]);
	out[text.n] = '\0';
	if (out[text.n - 1] == '.')
		return TEXT_IS_NOTHING;
	rest = (struct str){out, text.n};
	while (rest.n) {
		label = str_cut(&rest, '.');
		if (!is_label(label))
			return TEXT_IS_NOTHING;
	}
	return is_number(label) ? TEXT_IS_NUMBERS : TEXT_IS_NAME;
}

bool endpoint_read_v4(const char *text, struct endpoint_address *ret)
{
	struct endpoint_address a = {.is_v6 = false};

	/* strict: four decimal numbers, no leading zeros */
	if (inet_pton(AF_INET, text, a.bytes) != 1)
		return false;
	*ret = a;
	return true;
}

/* Without a zone: inet_pton() takes no percent sign. */
bool endpoint_read_v6(struct str text, struct endpoint_address *ret)
{
	struct endpoint_address a = {.is_v6 = true};
	char copy[INET6_ADDRSTRLEN];

	if (!text.n || text.n >= sizeof(copy) || memchr(text.p, '\0', text.n))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	if (inet_pton(AF_INET6, copy, a.bytes) != 1)
		return false;
	*ret = a;
	return true;
}

static bool starts_with(const uint8_t *bytes, const uint8_t *prefix, size_t n)
{
	return memcmp(bytes, prefix, n) == 0;
}

/* RFC 8215: the length of the prefix, so the place of the rest, is anybody's */
static bool is_local_nat64(const struct endpoint_address *a)
{
	static const uint8_t prefix[6] = {0, 0x64, 0xff, 0x9b, 0, 1};

	return a->is_v6 && starts_with(a->bytes, prefix, sizeof(prefix));
}

bool endpoint_inner_v4(const struct endpoint_address *a,
		       struct endpoint_address *ret)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t compatible[12] = {0};
	static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
	static const uint8_t six_to_four[2] = {0x20, 0x02};
	const uint8_t *from = NULL;

	if (!a->is_v6)
		return false;
	if (starts_with(a->bytes, mapped, sizeof(mapped)) ||
	    starts_with(a->bytes, nat64, sizeof(nat64)) || is_local_nat64(a))
		from = a->bytes + 12;
	else if (starts_with(a->bytes, compatible, sizeof(compatible)))
		from = a->bytes + 12;
	else if (starts_with(a->bytes, six_to_four, sizeof(six_to_four)))
		from = a->bytes + 2;
	if (!from)
		return false;
	*ret = (struct endpoint_address){.is_v6 = false};
	memcpy(ret->bytes, from, 4);
	return true;
}

struct range {
	uint8_t bytes[16];
	uint8_t bits;
	enum endpoint_class is;
};

/* IANA's special-purpose registries; the first that fits counts. */
static const struct range V4[] = {
	{{0}, 8, ENDPOINT_IS_LOCAL},
	{{127}, 8, ENDPOINT_IS_LOCAL},
	{{169, 254}, 16, ENDPOINT_IS_LOCAL},
	{{224}, 4, ENDPOINT_IS_LOCAL},
	{{240}, 4, ENDPOINT_IS_LOCAL},
	{{10}, 8, ENDPOINT_IS_PRIVATE},
	{{100, 64}, 10, ENDPOINT_IS_PRIVATE},
	{{172, 16}, 12, ENDPOINT_IS_PRIVATE},
	{{192, 168}, 16, ENDPOINT_IS_PRIVATE},
	{{192, 0, 0}, 24, ENDPOINT_IS_PRIVATE},
	{{198, 18}, 15, ENDPOINT_IS_PRIVATE},
};

static const struct range V6[] = {
	{{0}, 127, ENDPOINT_IS_LOCAL}, /* :: and ::1 */
	{{0xff}, 8, ENDPOINT_IS_LOCAL},
	{{0xfe, 0x80}, 10, ENDPOINT_IS_LOCAL},
	{{0xfc}, 7, ENDPOINT_IS_PRIVATE},
	{{0xfe, 0xc0}, 10, ENDPOINT_IS_PRIVATE},
	{{0x01}, 64, ENDPOINT_IS_LOCAL},	       /* discard */
	{{0x20, 0x01, 0, 0}, 32, ENDPOINT_IS_PRIVATE}, /* Teredo */
};

static bool in_range(const struct range *r, const uint8_t *bytes)
{
	size_t whole = r->bits / 8, rest = r->bits % 8;

	if (memcmp(r->bytes, bytes, whole) != 0)
		return false;
	return !rest || (r->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

enum endpoint_class endpoint_classify(const struct endpoint_address *a)
{
	const struct range *ranges = a->is_v6 ? V6 : V4;
	size_t n = a->is_v6 ? ARRAY_LEN(V6) : ARRAY_LEN(V4);
	struct endpoint_address inner;
	enum endpoint_class is;

	for (size_t i = 0; i < n; i++)
		if (in_range(&ranges[i], a->bytes))
			return ranges[i].is;
	if (!endpoint_inner_v4(a, &inner))
		return ENDPOINT_IS_PUBLIC;
	is = endpoint_classify(&inner);
	/* a translator of this network's own may read other bytes than we do */
	if (is == ENDPOINT_IS_PUBLIC && is_local_nat64(a))
		return ENDPOINT_IS_PRIVATE;
	return is;
}

bool endpoint_same_address(const struct endpoint_address *a,
			   const struct endpoint_address *b)
{
	return a->is_v6 == b->is_v6 &&
	       memcmp(a->bytes, b->bytes, a->is_v6 ? 16 : 4) == 0;
}

bool endpoint_same_peer(const struct endpoint_address *a,
			const struct endpoint_address *b)
{
	struct endpoint_address x = *a, y = *b, inner;

	if (endpoint_inner_v4(a, &inner))
		x = inner;
	if (endpoint_inner_v4(b, &inner))
		y = inner;
	return endpoint_same_address(&x, &y);
}

void endpoint_address_text(const struct endpoint_address *a,
			   char out[ENDPOINT_HOST_BYTES])
{
	inet_ntop(a->is_v6 ? AF_INET6 : AF_INET, a->bytes, out,
		  ENDPOINT_HOST_BYTES);
}
