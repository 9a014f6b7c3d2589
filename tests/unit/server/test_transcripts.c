/*
 * What a client says to a server of ours and what it answers, as transcripts
 * in tests/unit/server/transcripts:
 *
 *	new			another session; "ready": behind its handshake
 *	< {"jsonrpc":"2.0",...	a line of the client; %0A stands for that byte
 *	<- {"json		"<-" has no newline
 *	> {"jsonrpc":"2.0",...	a line of the answers, behind all of the client
 *
 * Each session is fed whole and in portions of all sizes up to 200 bytes.
 */
#include "tests/unit/test.h"

#include "tests/unit/server/echo_server.h"
#include "tests/unit/transcript.h"

#define HANDSHAKE                                                          \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","         \
	"\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" \
	"{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n"         \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"

/* The answers to a session, which are the same in portions of any size. */
static void add_answers(struct buf *got, struct buf *said, bool is_ready)
{
	AUTO(mem_freep)
	char *all =
		mem_printf("%s%s", is_ready ? HANDSHAKE : "", buf_cstr(said));
	AUTO(mem_freep) char *whole = converse(all, strlen(all) + 1);
	size_t many = said->n > 100000 ? 66 : 1;

	add_lines(got, "> ",
		  str_of(is_ready ? strchr(whole, '\n') + 1 : whole));
	for (size_t step = 1; step < 200; step += many) {
		AUTO(mem_freep) char *out = converse(all, step);

		assert_string_equal(out, whole);
	}
	buf_clear(said);
}

static void play(const char *file, const char *name, const char *text)
{
	AUTO(buf_release) struct buf got = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	AUTO(mem_freep) char *lines = mem_strdup(text);
	bool is_ready = false, is_begun = false;
	char *left = NULL;

	for (char *line = strtok_r(lines, "\n", &left); line;
	     line = strtok_r(NULL, "\n", &left)) {
		if (*line == '>')
			continue;
		if (*line != '<' && *line != '#') {
			if (is_begun)
				add_answers(&got, &said, is_ready);
			is_ready = !strcmp(line, "ready");
			is_begun = true;
		}
		buf_addf(&got, "%s\n", line);
		if (*line != '<')
			continue;
		add_decoded(&said, line + (line[1] == '-' ? 3 : 2));
		if (line[1] != '-')
			buf_addc(&said, '\n');
	}
	add_answers(&got, &said, is_ready);
	if (strstr(text, "\n\n"))
		buf_addc(&got, '\n');
	transcript_accept(file, name, buf_cstr(&got));
	transcript_compare(text, buf_cstr(&got));
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/server/transcripts/*.transcript");
