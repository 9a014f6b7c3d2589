/*
 * Sessions as transcripts: the files of tests/unit/mcp/transcripts, which hold
 * one thing that is done or seen on each line.
 *
 *	new era=probe roots     another session, with options
 *	modern roots            a session that is ready, of the newer era; or
 *				legacy, of the older
 *	start                   session_start(); likewise eof, broke, close,
 *hold < {"jsonrpc":"2.0",...  a line of the server; %0A stands for that byte,
 *	<- {"json               "<-" has no newline. Lines behind each other are
 *	                        one portion of bytes; an empty line parts them.
 *	> {"jsonrpc":"2.0",...  a line that is sent
 *	! result 2 {}           an event; behind FAILED, what it says to try
 *next wait 500                milliseconds pass; "at 500" without a tick call
 *TOOL JSON          and task TOOL JSON, request METHOD JSON, handed METHOD
 *JSON, listen JSON, message JSON, times TICKET MS MS, answer ASK JSON, refuse
 *ASK MESSAGE, lost FAILURE ID, cancel TICKET REASON = state ready what else can
 *be asked for, see look_at() # remark
 *
 * All that is sent and all that happens stands behind what brought it about;
 * there must be nothing else. Each test runs with the server's bytes in whole
 * portions and one by one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/test.h"

#include "tests/unit/mcp/session_talk.h"
#include "tests/unit/transcript.h"

/* A test under way; `got` becomes the transcript of what really happened. */
struct play {
	struct talk t;
	struct buf got, portion;
	struct session_options options;
	struct err failure; /* of the last FAILED */
};

static void add_failure(struct play *p, const struct session_event *e)
{
	static const char *const eras[] = {
		[SESSION_ERA_INITIALIZE] = "initialize",
		[SESSION_ERA_PROBE] = "probe",
		[SESSION_ERA_PER_REQUEST] = "modern",
	};

	p->failure = e->err;
	if (e->code)
		buf_addf(&p->got, " code=%d", (int)e->code);
	if (e->retry_era)
		buf_addf(&p->got, " again=%s", eras[e->era]);
	if (e->retry_protocol)
		buf_addf(&p->got, " again=%s", e->retry_protocol);
	if (e->is_cut)
		buf_adds(&p->got, " cut");
}

/* Events into `got`, and what is sent to where it waits for them. */
static void look(struct play *p)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct session_event e;
	struct str out;

	while (session_next(p->t.s, &e)) {
		buf_clear(&text);
		log_event(&text, p->t.s, &e);
		buf_adds(&p->got, "! ");
		add_encoded(&p->got, (struct str){buf_cstr(&text), text.n - 1});
		if (e.type == SESSION_EVENT_FAILED)
			add_failure(p, &e);
		buf_addc(&p->got, '\n');
	}
	out = session_output(p->t.s);
	buf_add_str(&p->t.sent, out);
	session_wrote(p->t.s, out.n);
}

static void show_sent(struct play *p)
{
	add_lines(&p->got, "> ", buf_str(&p->t.sent));
	buf_clear(&p->t.sent);
}

/* The lines of the server that stand behind each other. */
static void feed_portion(struct play *p)
{
	struct str left = buf_str(&p->portion);
	bool is_over = false;

	while (left.n) {
		size_t n = left.n < talk_portion ? left.n : talk_portion;

		is_over |= !session_feed(p->t.s, (struct str){left.p, n},
					 p->t.now) &&
			   left.p == p->portion.p;
		look(p);
		left.p += n;
		left.n -= n;
	}
	if (is_over)
		buf_adds(&p->got, "! no more is read\n");
	buf_clear(&p->portion);
	show_sent(p);
}

static void set_option(struct session_options *o, const char *key,
		       const char *value)
{
	struct {
		const char *key;
		bool *flag;
		uint64_t *number;
		const char **text;
	} const rows[] = {
		{"roots", &o->declared.roots, NULL, NULL},
		{"form", &o->declared.elicit_form, NULL, NULL},
		{"url", &o->declared.elicit_url, NULL, NULL},
		{"sampling", &o->declared.sampling, NULL, NULL},
		{"tasks", &o->declared.tasks, NULL, NULL},
		{"any_date", &o->accept_unknown_protocol, NULL, NULL},
		{"remote", &o->is_remote, NULL, NULL},
		{"line_max", NULL, &o->message_max, NULL},
		{"asks_from", NULL, &o->asks_from, NULL},
		{"probe_ms", NULL, &o->probe_timeout_ms, NULL},
		{"initialize_ms", NULL, &o->initialize_timeout_ms, NULL},
		{"request_ms", NULL, &o->request_timeout_ms, NULL},
		{"total_ms", NULL, &o->total_timeout_ms, NULL},
		{"protocol", NULL, NULL, &o->protocol},
		{"log_level", NULL, NULL, &o->log_level},
		{"name", NULL, NULL, &o->client_name},
		{"version", NULL, NULL, &o->client_version},
	};

	if (!strcmp(key, "era")) {
		o->era = *value == 'p'	 ? SESSION_ERA_PROBE
			 : *value == 'm' ? SESSION_ERA_PER_REQUEST
					 : SESSION_ERA_INITIALIZE;
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].key, key))
			continue;
		if (rows[i].flag)
			*rows[i].flag = true;
		if (rows[i].number)
			*rows[i].number = strtoull(value, NULL, 10);
		if (rows[i].text)
			*rows[i].text = value;
		return;
	}
	fail_msg("no option \"%s\"", key);
}

static void end_session(struct play *p)
{
	if (p->t.s)
		end(&p->t);
	p->t.s = NULL;
}

static void begin_session(struct play *p, char *options)
{
	char *left = NULL;

	end_session(p);
	p->options = (struct session_options){0};
	for (char *word = strtok_r(options, " ", &left); word;
	     word = strtok_r(NULL, " ", &left)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		set_option(&p->options, word, value ? value : "");
	}
	p->t = (struct talk){.s = session_new(&p->options),
			     .events = BUF_INIT(BUF_UNBOUNDED),
			     .sent = BUF_INIT(BUF_UNBOUNDED),
			     .now = START};
}

/* A session that is ready, of the older or the newer era. */
static void begin_ready(struct play *p, char *options, bool is_modern)
{
	begin_session(p, options);
	p->options.era =
		is_modern ? SESSION_ERA_PER_REQUEST : SESSION_ERA_INITIALIZE;
	end_session(p);
	if (is_modern)
		begin_modern(&p->t, &p->options);
	else
		begin_legacy(&p->t, &p->options);
}

static enum session_failure failure_of(const char *word)
{
	static const char *const words[] = {
#define SESSION_FAILURE(name, word) [SESSION_##name] = (word),
		SESSION_FAILURES(SESSION_FAILURE)
#undef SESSION_FAILURE
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i] && !strcmp(words[i], word))
			return (enum session_failure)i;
	fail_msg("no failure \"%s\"", word);
	return 0;
}

/* Requests: 0, or -1 and an error. */
static int ask(struct play *p, const char *op, const char *a, const char *b,
	       struct err *err)
{
	struct session *s = p->t.s;
	uint64_t ticket, now = p->t.now;
	struct str json = *b ? str_of(b) : (struct str){NULL, 0};

	if (!strcmp(op, "call") || !strcmp(op, "task"))
		return session_call_tool(s, a, json, *op == 't', now, &ticket,
					 err);
	if (!strcmp(op, "request") || !strcmp(op, "handed"))
		return session_request(s, a, json, *op == 'h', now, &ticket,
				       err);
	if (!strcmp(op, "listen"))
		return session_listen(s, str_of(a), now, &ticket, err);
	fail_msg("no line begins with \"%s\"", op);
	return -1;
}

static void do_lost(struct play *p, const char *word, const char *id)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_PEER, "it is gone");
	session_lost(p->t.s, *id ? str_of(id) : (struct str){NULL, 0},
		     failure_of(word), &err, p->t.now);
}

static void do_times(struct play *p, uint64_t ticket, const char *ms)
{
	char *rest;
	uint64_t timeout = strtoull(ms, &rest, 10);

	session_set_times(p->t.s, ticket, timeout, strtoull(rest, NULL, 10));
}

static void act(struct play *p, const char *op, const char *a, const char *b)
{
	static const char *const kinds[] = {
#define ERR_KIND(name, status, word) [ERR_##name] = (word),
#include "core/base/err_kinds.def"
#undef ERR_KIND
	};
	struct session *s = p->t.s;
	uint64_t number = strtoull(a, NULL, 10), now = p->t.now;
	struct err err = ERR_INIT;

	if (!strcmp(op, "start"))
		session_start(s, now);
	else if (!strcmp(op, "eof"))
		session_eof(s, now);
	else if (!strcmp(op, "broke"))
		session_output_broke(s);
	else if (!strcmp(op, "close"))
		session_close(s);
	else if (!strcmp(op, "hold"))
		session_hold(s, *a == 'o', now);
	else if (!strcmp(op, "answer"))
		session_answer(s, number, str_of(b), now);
	else if (!strcmp(op, "refuse"))
		session_answer_error(s, number, -1, b, now);
	else if (!strcmp(op, "cancel"))
		session_cancel(s, number, *b ? b : NULL);
	else if (!strcmp(op, "lost"))
		do_lost(p, a, b);
	else if (!strcmp(op, "times"))
		do_times(p, number, b);
	else if (!strcmp(op, "wait"))
		session_tick(s, p->t.now += number * NS_PER_MS);
	else if (!strcmp(op, "at"))
		p->t.now += number * NS_PER_MS;
	else if (ask(p, op, a, b, &err) < 0)
		buf_addf(&p->got, "! refused %s\n", kinds[err.kind]);
	look(p);
	show_sent(p);
}

static void look_at_stats(struct play *p)
{
	const struct session_stats *stats = session_stats(p->t.s);

#define SESSION_STAT(name) \
	if (stats->name)   \
		buf_addf(&p->got, #name " %d ", (int)stats->name);
	SESSION_STATS(SESSION_STAT)
#undef SESSION_STAT
}

/* "= KEY" of the transcript, with the value that it has. */
static void look_at(struct play *p, const char *key, const char *value)
{
	const struct mcp_peer *server = session_server(p->t.s);
	uint64_t deadline = session_deadline(p->t.s);

	buf_addf(&p->got, "= %s ", key);
	if (!strcmp(key, "state"))
		buf_addf(&p->got, "%s",
			 session_state_word(session_state(p->t.s)));
	else if (!strcmp(key, "deadline") && deadline == UINT64_MAX)
		buf_adds(&p->got, "never");
	else if (!strcmp(key, "deadline"))
		buf_addf(&p->got, "in %d ms",
			 (int)((int64_t)(deadline - p->t.now) / NS_PER_MS));
	else if (!strcmp(key, "stats"))
		look_at_stats(p);
	else if (!strcmp(key, "noise_bytes"))
		buf_addf(&p->got, "%zu", session_noise(p->t.s).n);
	else if (!strcmp(key, "noise"))
		add_encoded(&p->got, session_noise(p->t.s));
	else if (!strcmp(key, "capabilities"))
		add_encoded(&p->got, server->capabilities);
	else if (!strcmp(key, "instructions"))
		add_encoded(&p->got, server->instructions);
	else if (!strcmp(key, "offers") || !strcmp(key, "lacks"))
		buf_addf(&p->got, "%s%s",
			 session_offers(p->t.s, value) == (*key == 'o')
				 ? ""
				 : "not ",
			 value);
	else if (!strcmp(key, "says"))
		buf_addf(&p->got, "%s%s",
			 strstr(p->failure.msg, value) ? "" : "nothing of ",
			 value);
	else
		fail_msg("= %s: there is no such thing", key);
	if (p->got.p[p->got.n - 1] == ' ')
		p->got.n--;
}

/* A whole message, as some transports have them. */
static void hear(struct play *p, const char *encoded)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	add_decoded(&text, encoded);
	session_message(p->t.s, buf_str(&text), p->t.now);
	look(p);
	show_sent(p);
}

/* A line of the transcript, which may be written to. */
static void play_line(struct play *p, char *line)
{
	char *a = line + strcspn(line, " "), *b;

	if (*line != '=')
		buf_addf(&p->got, "%s\n", line);
	if (*a)
		*a++ = '\0';
	if (!strcmp(line, "<") || !strcmp(line, "<-")) {
		add_decoded(&p->portion, a);
		if (!line[1])
			buf_addc(&p->portion, '\n');
		return;
	}
	if (!strcmp(line, "new")) {
		begin_session(p, a);
		return;
	}
	if (!strcmp(line, "modern") || !strcmp(line, "legacy")) {
		begin_ready(p, a, *line == 'm');
		return;
	}
	if (!strcmp(line, "listen")) {
		act(p, line, a, "");
		return;
	}
	if (!strcmp(line, "message")) {
		hear(p, a);
		return;
	}
	b = a + strcspn(a, " ");
	if (*b)
		*b++ = '\0';
	if (!strcmp(line, "=")) {
		look_at(p, a, b);
		buf_addc(&p->got, '\n');
		return;
	}
	act(p, line, a, b);
}

static void play_lines(struct play *p, char *text)
{
	for (char *next, *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (*line != '<' && p->portion.n)
			feed_portion(p);
		if (!*line || *line == '#') {
			buf_addf(&p->got, "%s\n", line);
			continue;
		}
		if (*line != '>' && *line != '!')
			play_line(p, line);
	}
	if (p->portion.n)
		feed_portion(p);
}

static void play(const char *file, const char *name, const char *text)
{
	AUTO(mem_freep) char *lines = mem_strdup(text);
	struct play p = {.got = BUF_INIT(BUF_UNBOUNDED),
			 .portion = BUF_INIT(BUF_UNBOUNDED)};

	play_lines(&p, lines);
	if (talk_portion > 1)
		transcript_accept(file, name, buf_cstr(&p.got));
	transcript_compare(text, buf_cstr(&p.got));
	end_session(&p);
	buf_release(&p.got);
	buf_release(&p.portion);
}

TEST_SCRIPTS(talk, play, "tests/unit/mcp/transcripts/*.transcript");
