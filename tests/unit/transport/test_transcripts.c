/*
 * A client over HTTP and a server that does what a list of steps says, as
 * transcripts in tests/unit/transport/transcripts:
 *
 *	on: POST "initialize"	a step, for a request that has this text; words
 *				before the colon: always, stays, ends, cut,
 *				hangs, slow (see http_peer.h)
 *	- 200 text/plain	a line of its answer; %0A stands for that byte
 *	old_server, new_server	the steps of one with sessions, and without
 *	sse, max N, known ERA, guard go|wait|no
 *				choices for the next client: its transport, the
 *				bytes of a message, an era that is remembered,
 *				and somebody who authorizes
 *	begin 2025-11-25	a client for these steps, with this date or none
 *	ask TOOL PARAMS		and method METHOD PARAMS, say TEXT (on the
 *				stream), finish; ready, cancel (what was asked),
 *				close_stream; close_port before the first turn
 *	until TEXT		turn the loop until that was asked; until_seen
 *				TEXT, until_get, until_stream, until_closed
 *	seen			all that happened, in "! " lines
 *	log			all that was asked, in "> " lines
 *	saw TEXT		some of it; never_saw, logged, never_logged, and
 *				facts for those of the report
 *	requests N		how many came; gets N, waited MS (between the
 *				last two), remembered ERA, refused N, spoke DATE
 *	with A | B		before all that: play the lines for each such
 *				row, $1 is A; $HOST is that of the server
 */
#include "tests/unit/test.h"

#include "tests/unit/transcript.h"
#include "tests/unit/transport/remote_talk.h"

/* A test under way. */
struct play {
	struct world w;
	struct guard guard;
	bool is_begun;
	uint64_t ticket; /* of the last request */
	struct peer_step steps[64];
	size_t n;
	struct buf texts[128]; /* of steps, and what is expected */
	size_t n_texts;
};

static struct buf *new_text(struct play *p)
{
	struct buf *b = &p->texts[p->n_texts];

	assert_true(p->n_texts < ARRAY_LEN(p->texts));
	p->n_texts++;
	*b = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	return b;
}

static void end_client(struct play *p)
{
	if (p->is_begun)
		end(&p->w);
	while (p->n_texts)
		buf_release(&p->texts[--p->n_texts]);
	memset(p, 0, sizeof(*p));
}

/* The words before the colon, and what is wanted behind it. */
static void add_step(struct play *p, const char *words)
{
	static const char *const then[] = {
		[PEER_STAYS] = " stays", [PEER_ENDS] = " ends",
		[PEER_CUT] = " cut",	 [PEER_HANGS] = " hangs",
		[PEER_SLOW] = " slow",
	};
	const char *want = strchr(words, ':');
	struct buf flags = BUF_INIT(BUF_UNBOUNDED), *text;
	struct peer_step *step;

	step = &p->steps[p->n++];
	buf_add(&flags, words, (size_t)(want - words));
	text = new_text(p);
	add_decoded(text, want + 2);
	step->want = buf_cstr(text);
	if (strstr(buf_cstr(&flags), " always"))
		step->times = PEER_ALWAYS;
	for (size_t i = 1; i < ARRAY_LEN(then); i++)
		if (strstr(buf_cstr(&flags), then[i]))
			step->then = (enum peer_then)i;
	new_text(p);
	buf_release(&flags);
}

static void add_reply(struct play *p, const char *line)
{
	struct buf *text = &p->texts[p->n_texts - 1];

	if (p->steps[p->n - 1].reply)
		buf_addc(text, '\n');
	add_decoded(text, line);
	p->steps[p->n - 1].reply = buf_cstr(text);
}

static void check(const char *op, const char *text, const char *where)
{
	bool is_there = strstr(where, text) != NULL;

	if (is_there == !strncmp(op, "never", 5))
		fail_msg("%s %s\nin:\n%s", op, text, where);
}

/* A request, whose words are kept until its client ends. */
static void request(struct play *p, bool is_tool, const char *text)
{
	size_t n = strcspn(text, " ");
	struct buf *name = new_text(p), *params = new_text(p);

	buf_add(name, text, n);
	buf_adds(params, text + n + (text[n] != 0));
	p->ticket = ask(&p->w, is_tool ? buf_cstr(name) : NULL,
			is_tool ? NULL : buf_cstr(name), buf_cstr(params));
}

static char *replaced(const char *text, const char *mark, const char *by)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (const char *at; (at = strstr(text, mark));
	     text = at + strlen(mark)) {
		buf_add(&out, text, (size_t)(at - text));
		buf_adds(&out, by);
	}
	buf_adds(&out, text);
	return mem_strdup(buf_cstr(&out));
}

static void say_on_stream(struct play *p, const char *text)
{
	AUTO(mem_freep) char *host = mem_strdup(p->w.peer.url), *said = NULL;

	*strstr(host, "/mcp") = '\0';
	said = replaced(text, "$HOST", host);
	peer_say(&p->w.peer, said);
}

static enum session_era era_of(const char *word)
{
	return !strcmp(word, "initialize")    ? SESSION_ERA_INITIALIZE
	       : !strcmp(word, "per_request") ? SESSION_ERA_PER_REQUEST
					      : SESSION_ERA_PROBE;
}

static enum session_era era_remembered(const struct world *w)
{
	struct era_key key;

	eras_key_url(&key, w->peer.url);
	return eras_find(w->eras, &key);
}

static void add_steps(struct play *p, const struct peer_step *steps, size_t n)
{
	memcpy(p->steps + p->n, steps, n * sizeof(*steps));
	p->n += n;
}

/* What is chosen before a client begins. */
static bool choose(struct play *p, const char *op, const char *text)
{
	struct world *w = &p->w;

	if (!strcmp(op, "old_server"))
		add_steps(p, OLD_SERVER, ARRAY_LEN(OLD_SERVER));
	else if (!strcmp(op, "new_server"))
		add_steps(p, NEW_SERVER, ARRAY_LEN(NEW_SERVER));
	else if (!strcmp(op, "sse"))
		w->kind = REMOTE_SSE;
	else if (!strcmp(op, "max"))
		w->message_max = strtoul(text, NULL, 10);
	else if (!strcmp(op, "known")) {
		w->eras = eras_open(NULL);
		w->known = era_of(text);
	} else if (!strcmp(op, "guard")) {
		guard_begin(&p->guard, &w->loop,
			    *text == 'g'   ? AUTHORIZER_GO
			    : *text == 'w' ? AUTHORIZER_WAIT
					   : AUTHORIZER_NO,
			    *text == 'w');
		w->auth = &p->guard.base;
	} else
		return false;
	return true;
}

static bool act(struct play *p, const char *op, const char *text)
{
	struct world *w = &p->w;
	struct err err = ERR_INIT;

	if (!strcmp(op, "begin")) {
		struct buf *date = new_text(p);

		buf_adds(date, text);
		begin(w, p->steps, *text ? buf_cstr(date) : NULL);
		p->is_begun = true;
	} else if (!strcmp(op, "ask") || !strcmp(op, "method"))
		request(p, *op == 'a', text);
	else if (!strcmp(op, "ready"))
		assert_int_equal(client_wait_ready(w->client, &err), 0);
	else if (!strcmp(op, "cancel"))
		client_cancel(w->client, p->ticket, REASON_CANCELLED, "why");
	else if (!strcmp(op, "say"))
		say_on_stream(p, text);
	else if (!strcmp(op, "close_stream"))
		peer_close(w->peer.stream);
	else if (!strcmp(op, "close_port")) {
		loop_unwatch(&w->loop, &w->peer.server.watch);
		fd_closep(&w->peer.server.fd);
		w->peer.server.fd = dup(0);
	} else if (!strcmp(op, "finish"))
		finish(w);
	else
		return false;
	return true;
}

static bool turn_until(struct world *w, const char *op, const char *text)
{
	if (!strcmp(op, "until"))
		while (!strstr(buf_cstr(&w->peer.log), text))
			turn(w);
	else if (!strcmp(op, "until_seen"))
		while (!strstr(buf_cstr(&w->seen), text))
			turn(w);
	else if (!strcmp(op, "until_get"))
		while (!w->peer.gets)
			turn(w);
	else if (!strcmp(op, "until_requests"))
		while (w->peer.n_requests < strtoul(text, NULL, 10))
			turn(w);
	else if (!strcmp(op, "until_stream"))
		while (!w->peer.stream)
			turn(w);
	else if (!strcmp(op, "until_closed")) {
		assert_non_null(w->peer.stream);
		while (w->peer.stream)
			turn(w);
	} else
		return false;
	return true;
}

static bool expect(struct play *p, const char *op, const char *text)
{
	const struct peer *peer = &p->w.peer;
	unsigned long number = strtoul(text, NULL, 10);

	if (!strcmp(op, "facts"))
		assert_facts(&p->w, text);
	else if (!strcmp(op, "saw") || !strcmp(op, "never_saw"))
		check(op, text, buf_cstr(&p->w.seen));
	else if (!strcmp(op, "logged") || !strcmp(op, "never_logged"))
		check(op, text, buf_cstr(&p->w.peer.log));
	else if (!strcmp(op, "requests"))
		assert_int_equal(peer->n_requests, number);
	else if (!strcmp(op, "gets"))
		assert_int_equal(peer->gets, number);
	else if (!strcmp(op, "waited"))
		assert_true(peer->times_ns[peer->n_requests - 1] -
				    peer->times_ns[peer->n_requests - 2] >=
			    number * NS_PER_MS);
	else if (!strcmp(op, "remembered"))
		assert_int_equal(era_remembered(&p->w), era_of(text));
	else if (!strcmp(op, "refused"))
		assert_int_equal(p->guard.refused, number);
	else if (!strcmp(op, "spoke"))
		assert_string_equal(p->guard.spoke, text);
	else
		return false;
	return true;
}

/* The lines behind "seen" or "log" are all that there is. */
static char *check_all(struct play *p, const char *op, char mark, char *next)
{
	AUTO(buf_release) struct buf want = BUF_INIT(BUF_UNBOUNDED);
	struct buf *got = *op == 's' ? &p->w.seen : &p->w.peer.log;

	while (*next == mark) {
		size_t n = strcspn(next, "\n");
		char *line = mem_strndup(next + 2, n - 2);

		add_decoded(&want, line);
		buf_addc(&want, '\n');
		free(line);
		next += n + (next[n] != 0);
	}
	assert_string_equal(buf_cstr(got), buf_cstr(&want));
	return next;
}

/* Lines before "begin": the client that was there is done with. */
static bool begins_client(const char *line)
{
	static const char *const words[] = {
		"on:",	      "on ",  "old_server", "sse",
		"new_server", "max ", "guard ",	    "known "};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strncmp(line, words[i], strlen(words[i])))
			return true;
	return false;
}

static void play_line(struct play *p, char *line, char **next)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t n = strcspn(line, " ");
	char *rest = line + n + (line[n] != 0);

	if (!*line || *line == '#')
		return;
	if (p->is_begun && begins_client(line))
		end_client(p);
	if (!strncmp(line, "on", 2) && (line[2] == ':' || line[2] == ' ')) {
		add_step(p, line + 2);
		return;
	}
	line[n] = '\0';
	if (!strcmp(line, "-"))
		add_reply(p, rest);
	else if (!strcmp(line, "seen"))
		*next = check_all(p, line, '!', *next);
	else if (!strcmp(line, "log"))
		*next = check_all(p, line, '>', *next);
	else {
		add_decoded(&text, rest);
		if (!choose(p, line, buf_cstr(&text)) &&
		    !act(p, line, buf_cstr(&text)) &&
		    !turn_until(&p->w, line, buf_cstr(&text)) &&
		    !expect(p, line, buf_cstr(&text)))
			fail_msg("no line begins with \"%s\"", line);
	}
}

/* The lines, with what a row "with A | B" says for $1 and $2. */
static void play_row(const char *row, struct str lines)
{
	struct play *p = mem_zalloc(sizeof(*p));
	AUTO(mem_freep) char *all = mem_strndup(lines.p, lines.n);
	AUTO(mem_freep) char *first = mem_strdup(row), *one = NULL, *text;
	char *second = strstr(first, " | ");

	if (second)
		*second = '\0';
	one = replaced(all, "$1", first);
	text = replaced(one, "$2", second ? second + 3 : "");
	for (char *next, *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		play_line(p, line, &next);
	}
	end_client(p);
	free(p);
}

static char playing[512]; /* the row */

static int name_row(UNUSED void **state)
{
	if (*playing)
		print_message("# with %s\n", playing);
	*playing = '\0';
	return 0;
}

/* Rows, the lines for them, more rows, … */
static void play(UNUSED const char *file, UNUSED const char *name,
		 const char *text)
{
	while (*text) {
		const char *rows = text, *end;
		struct str lines;

		while (!strncmp(text, "with ", 5))
			text += strcspn(text, "\n") + 1;
		end = strstr(text, "\nwith ");
		lines = end ? (struct str){text, (size_t)(end + 1 - text)}
			    : str_of(text);
		if (rows == text)
			play_row("", lines);
		for (; rows < text; rows += strcspn(rows, "\n") + 1) {
			snprintf(playing, sizeof(playing), "%.*s",
				 (int)strcspn(rows, "\n") - 5, rows + 5);
			play_row(playing, lines);
		}
		*playing = '\0';
		text = lines.p + lines.n;
	}
}

FIXTURE(row, NULL, name_row);

TEST_SCRIPTS(row, play, "tests/unit/transport/transcripts/*.transcript");
