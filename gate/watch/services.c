#include "gate/watch/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TCP_LISTEN, as the table writes it; its rows come first. */
#define LISTENS 0x0a
/* An address of IPv6 in hexadecimal digits. */
#define DIGITS_MAX 32

/* Words of four bytes, each in the order of this machine. */
static bool read_address(const char *digits, struct address *ret)
{
	size_t n = strlen(digits);

	*ret = (struct address){.is_v6 = n == DIGITS_MAX};
	if (n != 8 && n != DIGITS_MAX)
		return false;
	for (size_t i = 0; i < n / 8; i++) {
		char word[9] = "";
		uint32_t bytes;

		memcpy(word, digits + 8 * i, 8);
		bytes = (uint32_t)strtoul(word, NULL, 16);
		memcpy(ret->bytes + 4 * i, &bytes, sizeof(bytes));
	}
	return true;
}

enum services_answer services_row(struct str row, const struct address *a,
				  uint16_t port)
{
	static const struct address every[] = {{.is_v6 = false},
					       {.is_v6 = true}};
	char text[128] = "", digits[DIGITS_MAX + 1];
	unsigned has_port, state;
	struct address has, inner, to = address_inner(a, &inner) ? inner : *a;

	memcpy(text, row.p, row.n < sizeof(text) ? row.n : sizeof(text) - 1);
	if (sscanf(text, " %*u: %32[0-9A-F]:%4x %*[0-9A-F]:%*4x %2x", digits,
		   &has_port, &state) != 3 ||
	    state != LISTENS || !read_address(digits, &has))
		return SERVICE_UNKNOWN;
	/* "::" takes IPv4 as well, unless it was told not to */
	return has_port == port && (address_same_peer(&has, &to) ||
				    ((has.is_v6 || !to.is_v6) &&
				     address_equal(&has, &every[has.is_v6])))
		       ? SERVICE_IS_UP
		       : SERVICE_IS_DOWN;
}

static enum services_answer find_in(const char *table, const struct address *a,
				    uint16_t port)
{
	enum services_answer all = SERVICE_UNKNOWN, one = SERVICE_IS_DOWN;
	FILE *f = fopen(table, "re");
	char row[256];

	/* the first row is the head */
	if (f && fgets(row, sizeof(row), f))
		all = SERVICE_IS_DOWN;
	while (all == SERVICE_IS_DOWN && one == SERVICE_IS_DOWN &&
	       fgets(row, sizeof(row), f))
		one = services_row(str_of(row), a, port);
	if (f)
		fclose(f);
	return all == SERVICE_IS_DOWN && one == SERVICE_IS_UP ? one : all;
}

enum services_answer services_find(const struct address *a, uint16_t port)
{
	enum services_answer v4 = SERVICE_IS_DOWN, v6;

	struct address inner;

	if (!a->is_v6 || address_inner(a, &inner))
		v4 = find_in("/proc/net/tcp", a, port);
	if (v4 != SERVICE_IS_DOWN)
		return v4;
	v6 = find_in("/proc/net/tcp6", a, port);
	/* a machine without IPv6 has no such table */
	return v6 == SERVICE_IS_UP ? v6 : v4;
}
