/*
 * The client's session against a server that says anything: events and
 * answers do not depend on the portions in which the bytes come, what is
 * written is one JSON object a line, and the books balance. The first byte is
 * the size of a portion; its highest bit leaves the handshake to the input, the
 * next one is a client that probes, and answers whatever it is asked.
 */
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/mcp/session/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char hello[] =
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
	"\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{}}}\n";

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void note_event(struct buf *log, const struct session *s,
		       const struct session_event *e)
{
	struct err err = ERR_INIT;
	struct mcp_tool_result r;
	struct str v;

	buf_addf(log, "%d %d %d %d %s|", (int)e->type, (int)e->ticket,
		 (int)e->failure, (int)e->code, e->err.msg);
	buf_add_str(log, e->result);
	buf_add_str(log, e->message);
	buf_add_str(log, e->data);
	buf_add_str(log, e->progress);
	buf_add_str(log, e->logger);
	if (e->type != SESSION_EVENT_RESULT)
		return;
	expect(scan_document(e->result, NULL, &v, &err) == 0);
	if (mcp_read_tool_result(e->result, session_server(s)->revision, &r,
				 &err) == 0) {
		expect(scan_document(r.content, NULL, &v, &err) == 0);
		expect(scan_type(v) == SCAN_ARRAY);
	}
	mcp_tool_result_release(&r);
}

static void drain(struct session *s, struct buf *log)
{
	struct session_event e;

	while (session_next(s, &e)) {
		note_event(log, s, &e);
		if (e.type != SESSION_EVENT_ASKED)
			continue;
		if (e.ask % 3)
			session_answer(s, e.ask, STR("{\"roots\":[]}"), 0);
		else
			session_answer_error(s, e.ask, -1, "no", 0);
	}
}

static void check_output(const struct session *s)
{
	struct str out = session_output(s), line, v;
	struct err err = ERR_INIT;

	while (out.n) {
		line = str_cut(&out, '\n');
		expect(out.p != NULL); /* the newline was there */
		expect(scan_document(line, NULL, &v, &err) == 0);
		expect(scan_type(v) == SCAN_OBJECT);
	}
}

static void play(struct str in, size_t portion, uint8_t flags, struct buf *log)
{
	struct session_options options = {
		.message_max = 4096,
		.era = flags & 0x40 ? SESSION_ERA_PROBE
				    : SESSION_ERA_INITIALIZE,
		.declared = {.roots = flags & 0x40,
			     .elicit_form = flags & 0x40,
			     .tasks = flags & 0x40},
	};
	struct session *s = session_new(&options);
	struct err err = ERR_INIT;
	uint64_t now = 5 * NS_PER_S, ticket;

	session_start(s, now);
	for (int i = 0; i < 3; i++)
		expect(session_call_tool(s, "t", (struct str){NULL, 0}, false,
					 now, &ticket, &err) == 0);
	if (!(flags & 0xc0))
		session_feed(s, str_of(hello), now);
	drain(s, log);
	while (in.n) {
		size_t n = in.n < portion ? in.n : portion;

		session_feed(s, (struct str){in.p, n}, now);
		in.p += n;
		in.n -= n;
		drain(s, log);
		expect(session_noise(s).n <= LIMIT_NOISE_BYTES);
	}
	check_output(s);
	buf_add_str(log, session_output(s));
	session_tick(s, now + 200 * NS_PER_S);
	drain(s, log);
	session_eof(s, now + 200 * NS_PER_S);
	drain(s, log);
	expect(session_state(s) == SESSION_CLOSED ||
	       session_state(s) == SESSION_FAILED);
	expect(session_deadline(s) == UINT64_MAX);
	session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf chopped = BUF_INIT(BUF_UNBOUNDED);
	struct str in;

	if (size < 1)
		return 0;
	in = (struct str){(const char *)data + 1, size - 1};
	play(in, size, data[0], &whole);
	play(in, data[0] % 64 + 1, data[0], &chopped);
	expect(str_eq(buf_str(&whole), buf_str(&chopped)));
	return 0;
}
