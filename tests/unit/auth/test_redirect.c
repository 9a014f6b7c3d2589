#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/auth/redirect.h"
#include "core/base/buf.h"
#include "core/base/fd.h"

struct visit {
	struct loop loop;
	struct redirect *r;
	char query[256];
	unsigned judged, closed;
	enum redirect_verdict verdict;
};

static enum redirect_verdict judge(void *arg, struct str query)
{
	struct visit *v = arg;

	snprintf(v->query, sizeof(v->query), "%.*s", STR_ARG(query));
	v->judged++;
	return v->verdict;
}

static void closed(void *arg)
{
	struct visit *v = arg;

	v->closed++;
	redirect_free(v->r);
	v->r = NULL;
}

static int begin(struct visit *v, const char *uri)
{
	const struct redirect_handler handler = {judge, closed, v};
	struct err err = ERR_INIT;

	*v = (struct visit){.verdict = REDIRECT_GOOD};
	assert_int_equal(loop_init(&v->loop, clock_system(), &err), 0);
	return redirect_open(&v->loop, uri, &handler, &v->r, &err);
}

static void end(struct visit *v)
{
	redirect_free(v->r);
	loop_release(&v->loop);
}

static uint16_t port_of(const char *uri)
{
	return (uint16_t)strtoul(strrchr(uri, ':') + 1, NULL, 10);
}

static int connect_to(uint16_t port)
{
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_not_equal(fd, -1);
	if (connect(fd, (const struct sockaddr *)&in, sizeof(in)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* What comes back for these bytes, sent in pieces. */
static void ask(struct visit *v, const char *request, size_t piece,
		struct buf *out)
{
	AUTO(fd_closep) int fd = connect_to(port_of(redirect_uri(v->r)));
	struct err err = ERR_INIT;
	size_t n = strlen(request);
	char *room;
	ssize_t got;

	assert_int_not_equal(fd, -1);
	for (size_t at = 0; at < n; at += piece) {
		size_t some = n - at < piece ? n - at : piece;

		assert_int_equal(fd_write_all(fd, request + at, some), 0);
	}
	do {
		assert_int_equal(loop_turn(&v->loop, &err), 0);
		room = buf_room(out, 4096);
		got = recv(fd, room, 4096, MSG_DONTWAIT);
		out->n += got > 0 ? (size_t)got : 0;
	} while (got < 0);
	room[got] = '\0';
}

TEST(AZ_6, get_of_the_path, is_judged_and_closed)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct visit v;
	uint16_t port;

	assert_int_equal(begin(&v, NULL), 0);
	assert_true(str_starts(str_of(redirect_uri(v.r)), "http://127.0.0.1:"));
	assert_true(str_ends(str_of(redirect_uri(v.r)), "/callback"));
	port = port_of(redirect_uri(v.r));
	ask(&v,
	    "GET /callback?code=a&state=b HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"
	    "Sec-Fetch-Mode: navigate\r\nsec-fetch-dest: document\r\n\r\n",
	    1000, &out);
	assert_string_equal(v.query, "code=a&state=b");
	assert_int_equal(v.judged, 1);
	assert_int_equal(v.closed, 1);
	assert_true(str_starts(buf_str(&out), "HTTP/1.1 200 OK\r\n"));
	assert_non_null(strstr(buf_cstr(&out), "You are signed in."));
	/* nothing of the query is in the page */
	assert_null(strstr(buf_cstr(&out), "code"));
	assert_int_equal(connect_to(port), -1);
	end(&v);
}

TEST(AZ_6, others, are_answered_and_do_not_end_it)
{
	static const struct {
		const char *request, *answer;
	} row[] = {
		{"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 "},
		{"GET /callback/x?code=a HTTP/1.1\r\n\r\n", "HTTP/1.1 404 "},
		{"GET /favicon.ico HTTP/1.1\r\n\r\n", "HTTP/1.1 404 "},
		{"POST /callback?code=a HTTP/1.1\r\n\r\n", "HTTP/1.1 405 "},
		{"HEAD /callback?code=a HTTP/1.1\r\n\r\n", "HTTP/1.1 405 "},
		{"\r\n\r\n", "HTTP/1.1 404 "},
		/* a name of somebody else that leads here */
		{"GET /callback?code=a HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		 "HTTP/1.1 404 "},
		{"GET /callback?code=a HTTP/1.1\r\nHost: 127.0.0.1.evil.example"
		 "\r\n\r\n",
		 "HTTP/1.1 404 "},
		/* a picture, a script, a frame of another page */
		{"GET /callback?code=a HTTP/1.1\r\nSec-Fetch-Mode: no-cors\r\n"
		 "\r\n",
		 "HTTP/1.1 404 "},
		{"GET /callback?code=a HTTP/1.1\r\nsec-fetch-mode: navigate\r\n"
		 "sec-fetch-dest: iframe\r\n\r\n",
		 "HTTP/1.1 404 "},
	};
	struct visit v;

	assert_int_equal(begin(&v, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		ask(&v, row[i].request, 1000, &out);
		assert_true(str_starts(buf_str(&out), row[i].answer));
	}
	assert_int_equal(v.judged, 0);
	assert_non_null(v.r);
	end(&v);
}

TEST(answer_to_another, is_told_so, and_the_next_is_judged)
{
	AUTO(buf_release) struct buf first = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf second = BUF_INIT(BUF_UNBOUNDED);
	struct visit v;

	assert_int_equal(begin(&v, NULL), 0);
	v.verdict = REDIRECT_OTHERS;
	ask(&v, "GET /callback?state=x HTTP/1.1\r\n\r\n", 1000, &first);
	assert_true(str_starts(buf_str(&first), "HTTP/1.1 400 "));
	assert_int_equal(v.judged, 1);
	assert_int_equal(v.closed, 0);
	v.verdict = REDIRECT_GOOD;
	ask(&v, "GET /callback?state=y HTTP/1.1\r\n\r\n", 1000, &second);
	assert_true(str_starts(buf_str(&second), "HTTP/1.1 200 "));
	assert_string_equal(v.query, "state=y");
	assert_int_equal(v.closed, 1);
	end(&v);
}

TEST(request, byte_by_byte, is_the_same)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct visit v;

	assert_int_equal(begin(&v, NULL), 0);
	v.verdict = REDIRECT_BAD;
	ask(&v, "GET /callback?x HTTP/1.1\n\n", 1, &out);
	assert_string_equal(v.query, "x");
	assert_non_null(strstr(buf_cstr(&out), "This did not work"));
	end(&v);
}

TEST(connections, that_say_nothing, do_not_block)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct visit v;
	int idle[20];

	assert_int_equal(begin(&v, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
		idle[i] = connect_to(port_of(redirect_uri(v.r)));
		assert_int_equal(loop_turn(&v.loop, &err), 0);
	}
	ask(&v, "GET /callback?x HTTP/1.1\r\n\r\n", 1000, &out);
	assert_int_equal(v.closed, 1);
	for (size_t i = 0; i < ARRAY_LEN(idle); i++)
		close(idle[i]);
	end(&v);
}

static void pass(UNUSED void *arg)
{
}

/* Ask as this user; returns whether the answer was judged. */
static bool is_heard(struct visit *v, uid_t uid)
{
	static const char request[] = "GET /callback?code=a HTTP/1.1\r\n\r\n";
	uint16_t port = port_of(redirect_uri(v->r));
	struct loop_timer turn = {.fire = pass};
	struct err err = ERR_INIT;
	pid_t pid = fork();
	int status, fd;
	char c;

	if (!pid) {
		if (setresuid(-1, 0, -1) < 0 || setresuid(uid, uid, uid) < 0)
			_exit(2);
		fd = connect_to(port);
		if (fd < 0 ||
		    fd_write_all(fd, request, sizeof(request) - 1) < 0)
			_exit(3);
		_exit(recv(fd, &c, 1, 0) != 1);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		loop_timer_set(&v->loop, &turn,
			       loop_now(&v->loop) + 20 * NS_PER_MS);
		assert_int_equal(loop_turn(&v->loop, &err), 0);
	}
	loop_timer_clear(&v->loop, &turn);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

TEST(connection, of_another_user, is_not_listened_to)
{
	struct visit v;

	if (geteuid())
		skip(); /* nobody else to be */
	assert_int_equal(begin(&v, NULL), 0);
	v.verdict = REDIRECT_OTHERS;
	assert_true(is_heard(&v, 1)); /* root has browsers of others */
	assert_int_equal(setresuid(-1, 65534, -1), 0);
	assert_true(is_heard(&v, 65534));
	assert_true(is_heard(&v, 0));
	assert_false(is_heard(&v, 1));
	assert_int_equal(v.judged, 3);
	assert_int_equal(setresuid(-1, 0, -1), 0);
	end(&v);
}

TEST(address, fixed, is_kept_as_written)
{
	struct visit v, other;
	char uri[96];

	assert_int_equal(begin(&v, "http://localhost/back"), 0);
	snprintf(uri, sizeof(uri), "http://localhost:%u/back",
		 port_of(redirect_uri(v.r)));
	assert_string_equal(redirect_uri(v.r), uri);
	/* taken by another: said, not another one */
	assert_int_equal(begin(&other, uri), -1);
	end(&other);
	end(&v);
	assert_int_equal(begin(&v, uri), 0);
	assert_string_equal(redirect_uri(v.r), uri);
	end(&v);
}

TEST(address, of_another_machine, is_not_opened)
{
	struct visit v;

	assert_int_equal(begin(&v, "https://example.com/back"), 1);
	end(&v);
	assert_int_equal(begin(&v, "http://127.0.0.1/back?x"), -1);
	end(&v);
	assert_int_equal(begin(&v, "nothing"), -1);
	end(&v);
}
