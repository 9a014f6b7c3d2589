#include "gate/watch/services.h"

#include "core/base/buf.h"
#include "core/base/clock.h"

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
	char text[128] = "", digits[DIGITS_MAX + 1], at[5], state[3];
	struct address has, inner, to = address_inner(a, &inner) ? inner : *a;

	memcpy(text, row.p, row.n < sizeof(text) ? row.n : sizeof(text) - 1);
	if (sscanf(text,
		   " %*u: %32[0-9A-F]:%4[0-9A-F] %*[0-9A-F]:%*[0-9A-F] "
		   "%2[0-9A-F]",
		   digits, at, state) != 3 ||
	    strtoul(state, NULL, 16) != LISTENS || !read_address(digits, &has))
		return SERVICE_UNKNOWN;
	/* "::" takes IPv4 as well, unless it was told not to */
	return strtoul(at, NULL, 16) == port &&
			       (address_same_peer(&has, &to) ||
				((has.is_v6 || !to.is_v6) &&
				 address_equal(&has, &every[has.is_v6])))
		       ? SERVICE_IS_UP
		       : SERVICE_IS_DOWN;
}

void services_note(struct services *s, struct arena *arena,
		   const struct address *a, uint16_t port, const char *program)
{
	for (size_t i = 0; i < s->n; i++) {
		struct service *x = &s->row[i];

		if (x->port == port && address_same_peer(&x->address, a) &&
		    strcmp(x->program, program) == 0) {
			x->count++;
			return;
		}
	}
	if (s->n == SERVICES_MAX)
		return;
	s->row = arena_grow(arena, s->row, s->n, sizeof(*s->row));
	s->row[s->n++] = (struct service){
		.address = *a,
		.port = port,
		.program = arena_strdup(arena, program),
		.count = 1,
	};
}

/* Rows of a table that listen, as they were read last. */
struct services_table {
	const char *path;
	struct buf rows;
	bool is_there;
	uint64_t until_ns; /* as long as they count */
};

static void read_rows(struct services_table *t)
{
	static const struct address none;
	FILE *f = fopen(t->path, "re");
	char row[256];

	buf_clear(&t->rows);
	/* the first row is the head */
	t->is_there = f && fgets(row, sizeof(row), f);
	while (t->is_there && fgets(row, sizeof(row), f) &&
	       services_row(str_of(row), &none, 0) != SERVICE_UNKNOWN)
		buf_adds(&t->rows, row);
	if (f)
		fclose(f);
}

/*
 * The kernel walks all connections for a table, which takes milliseconds on a
 * large machine: rows count four times as long as it took to read them, so that
 * a program that connects in a loop does not hold up the others.
 */
static enum services_answer find_in(struct services_table *t,
				    const struct address *a, uint16_t port,
				    uint64_t now_ns)
{
	struct clock *clock = clock_system();
	uint64_t begin = clock->now_ns(clock);
	struct str rest;

	if (now_ns >= t->until_ns) {
		read_rows(t);
		t->until_ns = now_ns + 4 * (clock->now_ns(clock) - begin);
	}
	rest = buf_str(&t->rows);
	while (rest.n)
		if (services_row(str_cut(&rest, '\n'), a, port) ==
		    SERVICE_IS_UP)
			return SERVICE_IS_UP;
	return t->is_there ? SERVICE_IS_DOWN : SERVICE_UNKNOWN;
}

enum services_answer services_find(const struct address *a, uint16_t port,
				   uint64_t now_ns)
{
	static struct services_table tcp = {"/proc/net/tcp",
					    BUF_INIT(BUF_UNBOUNDED), false, 0};
	static struct services_table tcp6 = {"/proc/net/tcp6",
					     BUF_INIT(BUF_UNBOUNDED), false, 0};
	enum services_answer v4 = SERVICE_IS_DOWN, v6;
	struct address inner;

	if (!a->is_v6 || address_inner(a, &inner))
		v4 = find_in(&tcp, a, port, now_ns);
	if (v4 != SERVICE_IS_DOWN)
		return v4;
	v6 = find_in(&tcp6, a, port, now_ns);
	/* a machine without IPv6 has no such table */
	return v6 == SERVICE_IS_UP ? v6 : v4;
}
