/*
 * A client over HTTP and a server that does what a list of steps says, as
 * transcripts in tests/unit/transport/transcripts:
 *
 *	on: POST "initialize"	a step, for a request that has this text; words
 *				before the colon: always, stays, ends, cut,
 *				hangs, slow (see http_peer.h)
 *	- 200 text/plain	a line of its answer; %0A stands for that byte
 *	begin 2025-11-25	a client for these steps, with this date or none
 *	ask TOOL PARAMS		and method METHOD PARAMS, say TEXT (on the
 *				stream), finish
 *	until TEXT		turn the loop until that was asked; until_seen
 *				TEXT, until_get
 *	seen			all that happened, in "! " lines
 *	log			all that was asked, in "> " lines
 *	saw TEXT		some of it; never_saw, logged, never_logged, and
 *				facts for those of the report
 */
#include "tests/unit/test.h"

#include "tests/unit/transcript.h"
#include "tests/unit/transport/remote_talk.h"

/* A test under way. */
struct play {
	struct world w;
	bool is_begun;
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
	memset(p->steps, 0, sizeof(p->steps));
	p->is_begun = false;
	p->n = 0;
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

	if (p->is_begun)
		end_client(p);
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
	ask_with(&p->w, is_tool ? buf_cstr(name) : NULL,
		 is_tool ? NULL : buf_cstr(name), buf_cstr(params));
}

static bool act(struct play *p, const char *op, const char *text)
{
	struct world *w = &p->w;

	if (!strcmp(op, "begin")) {
		struct buf *date = new_text(p);

		buf_adds(date, text);
		begin(w, p->steps, *text ? buf_cstr(date) : NULL);
		p->is_begun = true;
	} else if (!strcmp(op, "ask") || !strcmp(op, "method"))
		request(p, *op == 'a', text);
	else if (!strcmp(op, "say"))
		peer_say(&w->peer, text);
	else if (!strcmp(op, "until"))
		turn_until(w, text);
	else if (!strcmp(op, "until_seen"))
		turn_until_seen(w, text);
	else if (!strcmp(op, "until_get"))
		turn_until_get(w);
	else if (!strcmp(op, "finish"))
		finish(w);
	else if (!strcmp(op, "facts"))
		assert_facts(w, text);
	else if (!strcmp(op, "saw") || !strcmp(op, "never_saw"))
		check(op, text, buf_cstr(&w->seen));
	else if (!strcmp(op, "logged") || !strcmp(op, "never_logged"))
		check(op, text, buf_cstr(&w->peer.log));
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

static void play_line(struct play *p, char *line, char **next)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t n = strcspn(line, " ");
	char *rest = line + n + (line[n] != 0);

	if (!*line || *line == '#')
		return;
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
		if (!act(p, line, buf_cstr(&text)))
			fail_msg("no line begins with \"%s\"", line);
	}
}

static void play(UNUSED const char *file, UNUSED const char *name,
		 const char *text)
{
	AUTO(mem_freep) char *lines = mem_strdup(text);
	struct play *p = mem_alloc(sizeof(*p));

	memset(p, 0, sizeof(*p));
	for (char *next, *line = lines; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		play_line(p, line, &next);
	}
	end_client(p);
	free(p);
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/transport/transcripts/*.transcript");
