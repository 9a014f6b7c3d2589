/* Rows of the kernel's tables of sockets, as they came on a small machine of
   little-endian order; others write the words of addresses the other way. */
#include <endian.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "core/base/clock.h"
#include "gate/watch/services.h"

static const struct row_case {
	const char *row, *address;
	uint16_t port;
	enum services_answer is;
} CASES[] = {
	{"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000",
	 "127.0.0.1", 8080, SERVICE_IS_UP},
	{"   0: 0100007F:1F90 00000000:0000 0A", "127.0.0.2", 8080,
	 SERVICE_IS_DOWN},
	{"   0: 0100007F:1F90 00000000:0000 0A", "::ffff:127.0.0.1", 8080,
	 SERVICE_IS_UP},
	{"   0: 0100007F:1F90 00000000:0000 0A", "127.0.0.1", 8081,
	 SERVICE_IS_DOWN},
	{" 112: 00000000:0016 00000000:0000 0A", "127.0.0.1", 22,
	 SERVICE_IS_UP},
	{"   1: 00000000:0016 00000000:0000 0A", "::1", 22, SERVICE_IS_DOWN},
	{"   2: 00000000000000000000000000000000:1F90 "
	 "00000000000000000000000000000000:0000 0A",
	 "127.0.0.1", 8080, SERVICE_IS_UP},
	{"   2: 00000000000000000000000001000000:1F90 "
	 "00000000000000000000000000000000:0000 0A",
	 "::1", 8080, SERVICE_IS_UP},
	{"   2: 00000000000000000000000001000000:1F90 "
	 "00000000000000000000000000000000:0000 0A",
	 "127.0.0.1", 8080, SERVICE_IS_DOWN},
	{"   2: 0000000000000000FFFF00000100007F:1F90 "
	 "00000000000000000000000000000000:0000 0A",
	 "127.0.0.1", 8080, SERVICE_IS_UP},
	/* established: no listening row comes behind it */
	{"   3: 0100007F:1F90 0100007F:C350 01", "127.0.0.1", 8080,
	 SERVICE_UNKNOWN},
	{"  sl  local_address rem_address   st", "127.0.0.1", 8080,
	 SERVICE_UNKNOWN},
	{"   0: 0100007F00:1F90 00000000:0000 0A", "127.0.0.1", 8080,
	 SERVICE_UNKNOWN},
	{"", "127.0.0.1", 8080, SERVICE_UNKNOWN},
};

TEST(row, each_kind, tells_who_is_reached)
{
	if (__BYTE_ORDER != __LITTLE_ENDIAN)
		return;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct address a;

		assert_true(address_read(str_of(CASES[i].address), &a));
		if (services_row(str_of(CASES[i].row), &a, CASES[i].port) !=
		    CASES[i].is)
			fail_msg("%s, %s", CASES[i].row, CASES[i].address);
	}
}

TEST(find, own_server, is_up_until_it_closes)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	const struct address a = {.bytes = {127, 0, 0, 1}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(at);
	struct clock *clock = clock_system();
	uint64_t now = clock->now_ns(clock);
	uint16_t port;

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (void *)&at, n), 0);
	assert_int_equal(getsockname(fd, (void *)&at, &n), 0);
	port = ntohs(at.sin_port);
	assert_int_equal(services_find(&a, port, now += NS_PER_S),
			 SERVICE_IS_DOWN);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(services_find(&a, port, now += NS_PER_S),
			 SERVICE_IS_UP);
	close(fd);
	/* a program that connects in a loop has the table read once */
	assert_int_equal(services_find(&a, port, now), SERVICE_IS_UP);
	assert_int_equal(services_find(&a, port, now += NS_PER_S),
			 SERVICE_IS_DOWN);
}

static void note(struct services *s, struct arena *arena, const char *address,
		 uint16_t port, const char *program)
{
	struct address a;

	assert_true(address_read(str_of(address), &a));
	services_note(s, arena, &a, port, program);
}

TEST(note, many_connections, is_few_rows)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct services s = {.n = 0};

	for (int i = 0; i < 5000; i++)
		note(&s, &arena, i % 2 ? "127.0.0.1" : "::ffff:127.0.0.1", 9,
		     "curl");
	assert_int_equal(s.n, 1);
	assert_int_equal(s.row[0].count, 5000);
	note(&s, &arena, "::1", 9, "curl");
	note(&s, &arena, "127.0.0.1", 9, "wget");
	assert_int_equal(s.n, 3);
	for (uint16_t port = 1; port <= 5000; port++)
		note(&s, &arena, "127.0.0.1", port, "curl");
	assert_int_equal(s.n, SERVICES_MAX);
	assert_int_equal(s.row[0].count, 5001);
}
