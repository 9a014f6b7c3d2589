/*
 * The servers of tests/servers/tls.mjs, one for all tests of a program, and a
 * world (http_world.h) whose client knows their authority.
 *
 *	TEST_IN(tls_world, ...)
 *	TEST_FILE(tls_begin_file, tls_close)
 */
#ifndef TESTS_UNIT_TLS_SERVER_H
#define TESTS_UNIT_TLS_SERVER_H

#include "tests/unit/transport/http_world.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "tests/unit/temp_dir.h"

/* The servers and the folder of their certificates; one for all tests. */
static struct {
	void *folder;
	pid_t pid;
	int input; /* closing it ends them */
	char ports[512];
} tls;

static inline int tls_open(UNUSED void **state)
{
	int input[2], output[2];
	ssize_t n;

	assert_int_equal(temp_dir_make(&tls.folder), 0);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	tls.pid = fork();
	if (tls.pid == 0) {
		dup2(input[0], 0);
		dup2(output[1], 1);
		execlp("node", "node", "tests/servers/tls.mjs",
		       (char *)tls.folder, (char *)NULL);
		_exit(127);
	}
	tls.input = input[1];
	close(input[0]);
	close(output[1]);
	n = read(output[0], tls.ports, sizeof(tls.ports) - 1);
	close(output[0]);
	assert_true(n > 0);
	return 0;
}

static inline int tls_close(UNUSED void **state)
{
	close(tls.input);
	waitpid(tls.pid, NULL, 0);
	return temp_dir_remove(&tls.folder);
}

static inline int tls_begin_file(void **state)
{
	world_begin_file(state);
	return tls_open(state);
}

static inline int tls_setup(void **state)
{
	AUTO(mem_freep)
	char *ca = mem_printf("%s/ca.pem", (char *)tls.folder);
	struct world *w = test_calloc(1, sizeof(*w));

	world_open(w, ca);
	*state = w;
	return 0;
}

/* "https://HOST:PORT/PATH" of a server by name. */
static inline char *url_of(const char *scheme, const char *host,
			   const char *name, const char *path)
{
	AUTO(mem_freep) char *key = mem_printf("%s=", name);
	const char *at = strstr(tls.ports, key);

	assert_non_null(at);
	return mem_printf("%s://%s:%lu%s", scheme, host,
			  strtoul(at + strlen(key), NULL, 10), path);
}

FIXTURE(tls_world, tls_setup, world_tear_down);

#endif
