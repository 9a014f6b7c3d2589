/*
 * A scripted MCP peer: plays a transcript, well-behaved or not.
 *
 *	peer SCRIPT       run the directives of a file
 *	peer -e 'LINES'   run directives given as an argument
 *
 * One directive per line; blank lines and lines that begin with # are
 * skipped. Words in capitals stand for values. Where TEXT or JSON is sent,
 * these are replaced: $id (id of the last request read, as it was written),
 * $params (of the last message), $method, $version (of the last initialize),
 * $pid, and $env:NAME. TEXT and BYTES know \n \r \t \0 \\ and \xHH.
 *
 * Conversation
 *	expect METHOD     read messages until the next one, which must have this
 *			  method; else complain on stderr and exit 90
 *	expect-any        read one message
 *	expect-response   read one message, which must have no method
 *	expect-eof        read and drop until standard input ends
 *	send JSON         write it and a newline
 *	reply JSON        send {"jsonrpc":"2.0","id":$id,"result":JSON}
 *	fail CODE TEXT    send a JSON-RPC error for $id
 *	text TEXT         reply with a tool result of one text block
 *	handshake [DATE]  expect initialize, reply with DATE (default: what was
 *			  asked for), expect notifications/initialized
 *	discover [DATES]  expect server/discover, reply with these versions (a
 *			  JSON array, default ["2026-07-28"])
 *	call TEXT         expect tools/call and answer it as `text` does
 *	serve [modern]    answer everything until standard input ends: tools
 *			  `echo` (text of `arguments`) and `fail` (isError);
 *			  modern: server/discover too, and no initialize
 *	log FILE          append every line read from here on to FILE
 *
 * Bytes
 *	raw BYTES         write as they are, without a newline
 *	file PATH         write a file's bytes
 *	flood N [C]       write N times the byte C (default x)
 *	lines N TEXT      write TEXT and a newline N times
 *	banner            write what chatty servers print when they start
 *	stderr TEXT       write TEXT and a newline to standard error
 *	flood-stderr N    write N bytes x to standard error
 *	split N           from here on write in chunks of N bytes (0: whole)
 *
 * Time and end
 *	sleep MS
 *	hang              for ever, reading nothing
 *	never-read        the same, by a telling name
 *	close NAME        stdin, stdout or stderr
 *	exit N            without waiting for anything
 *	kill NAME         raise TERM, KILL, SEGV, ABRT, INT, PIPE or HUP
 *	ignore-term       ignore SIGTERM, SIGINT and SIGHUP from here on
 *	hold-pipes MS     a grandchild keeps all three pipes open that long
 *	fork-twice MS     a daemon (setsid, pipes closed) lives that long
 *	wrap              a child goes on with the script; the parent waits for
 *			  it and ends as it does
 *	background        the same, but the parent ends at once with status 0
 *	spin              run for ever at full speed, reading nothing
 *	tty               complain on stderr that /dev/tty could be opened, or
 *			  why not
 *	repeat N ... end  run the lines between N times; does not nest
 *
 * At the end of the script standard input is drained to its end, then the
 * status is 0. Everything is flushed at once; there is no buffering.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SCRIPT = 89, EXIT_UNEXPECTED = 90, EXIT_EARLY_EOF = 91 };

struct peer {
	char **lines;
	size_t n_lines;
	size_t at; /* index of the line that is running */
	size_t repeat_at, repeat_left;

	char *line; /* last message read, without its newline */
	size_t line_cap;
	char *id, *params, *method, *version; /* malloc'ed or NULL */

	size_t split;
	int log_fd;
};

static void die(struct peer *p, int status, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "peer: line %zu: ", p->at + 1);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(status);
}

static void *xmalloc(size_t n)
{
	void *mem = malloc(n ? n : 1);

	if (!mem)
		_exit(EXIT_SCRIPT);
	return mem;
}

static char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

static void nap_ms(long ms)
{
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void put_fd(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		bytes += done;
		n -= (size_t)done;
	}
}

static void put(struct peer *p, const char *bytes, size_t n)
{
	while (p->split && n > p->split) {
		put_fd(1, bytes, p->split);
		bytes += p->split;
		n -= p->split;
		nap_ms(1);
	}
	put_fd(1, bytes, n);
}

/* ---- JSON, as much as a peer needs ---- */

static const char *skip_string(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		if (*s == '\\' && s[1])
			s++;
	return *s ? s + 1 : s;
}

/* Behind one JSON value; trusts that there is one. */
static const char *skip_value(const char *s)
{
	int depth = 0;

	for (; *s; s++) {
		if (*s == '"') {
			s = skip_string(s) - 1;
		} else if (*s == '{' || *s == '[') {
			depth++;
		} else if (*s == '}' || *s == ']') {
			if (--depth < 0)
				return s;
		} else if (*s == ',' && depth == 0) {
			return s;
		}
	}
	return s;
}

/* The raw text of a member of the object `s`, malloc'ed, or NULL. */
static char *member(const char *s, const char *name)
{
	size_t len = strlen(name);

	s += strspn(s, " \t\r");
	if (*s++ != '{')
		return NULL;
	for (;;) {
		const char *key, *value;

		s += strspn(s, " \t\r,");
		if (*s != '"')
			return NULL;
		key = s + 1;
		s = skip_string(s);
		s += strspn(s, " \t\r:");
		value = s;
		s = skip_value(s);
		if (strncmp(key, name, len) == 0 && key[len] == '"')
			return xstrndup(value, (size_t)(s - value));
	}
}

/* The text of a string member without its quotes, escapes kept. */
static char *member_text(const char *s, const char *name)
{
	char *raw = member(s, name), *text = NULL;
	size_t n;

	if (raw && *raw == '"') {
		n = strcspn(raw + 1, "\"");
		text = xstrndup(raw + 1, n);
	}
	free(raw);
	return text;
}

/* ---- reading ---- */

/* One line from stdin into p->line; false at the end of input. */
static bool read_line(struct peer *p)
{
	static char buf[65536];
	static size_t have, used;
	size_t len = 0;

	for (;;) {
		char *nl;
		size_t n;

		if (used == have) {
			ssize_t got = read(0, buf, sizeof(buf));

			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				return false;
			have = (size_t)got;
			used = 0;
		}
		nl = memchr(buf + used, '\n', have - used);
		n = nl ? (size_t)(nl - buf) - used : have - used;
		if (len + n + 1 > p->line_cap) {
			p->line_cap = (len + n + 1) * 2;
			p->line = realloc(p->line, p->line_cap);
			if (!p->line)
				_exit(EXIT_SCRIPT);
		}
		memcpy(p->line + len, buf + used, n);
		len += n;
		used += n + (nl ? 1 : 0);
		if (!nl)
			continue;
		p->line[len] = '\0';
		if (p->log_fd >= 0) {
			put_fd(p->log_fd, p->line, len);
			put_fd(p->log_fd, "\n", 1);
		}
		return true;
	}
}

static void drain(struct peer *p)
{
	while (read_line(p))
		;
}

/* Read one message and take it apart; false at the end of input. */
static bool read_message(struct peer *p)
{
	char *id;

	if (!read_line(p))
		return false;
	free(p->method);
	free(p->params);
	p->method = member_text(p->line, "method");
	p->params = member(p->line, "params");
	id = member(p->line, "id");
	if (p->method && id) {
		free(p->id);
		p->id = id;
	} else {
		free(id);
	}
	if (p->method && p->params && strcmp(p->method, "initialize") == 0) {
		free(p->version);
		p->version = member_text(p->params, "protocolVersion");
	}
	return true;
}

static void expect(struct peer *p, const char *method)
{
	if (!read_message(p))
		die(p, EXIT_EARLY_EOF, "stdin ended, expected %s", method);
	if (!p->method || strcmp(p->method, method) != 0)
		die(p, EXIT_UNEXPECTED, "expected %s, got: %.200s", method,
		    p->line);
}

/* ---- text with replacements ---- */

struct text {
	char *at;
	size_t len, cap;
};

static void text_add(struct text *t, const char *bytes, size_t n)
{
	if (t->len + n + 1 > t->cap) {
		t->cap = (t->len + n + 1) * 2;
		t->at = realloc(t->at, t->cap);
		if (!t->at)
			_exit(EXIT_SCRIPT);
	}
	memcpy(t->at + t->len, bytes, n);
	t->len += n;
	t->at[t->len] = '\0';
}

static void text_adds(struct text *t, const char *s)
{
	text_add(t, s ? s : "null", s ? strlen(s) : 4);
}

/* Handle "$name" at `s`; returns how many bytes of it were taken. */
static size_t add_variable(struct peer *p, struct text *t, const char *s)
{
	const struct {
		const char *name, *value;
	} known[] = {
		{"$id", p->id},
		{"$params", p->params},
		{"$method", p->method},
		{"$version", p->version},
	};
	char buf[128];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].name);

		if (strncmp(s, known[i].name, n) != 0)
			continue;
		text_adds(t, known[i].value);
		return n;
	}
	if (strncmp(s, "$pid", 4) == 0) {
		snprintf(buf, sizeof(buf), "%ld", (long)getpid());
		text_adds(t, buf);
		return 4;
	}
	if (strncmp(s, "$env:", 5) == 0) {
		size_t n = strspn(s + 5, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
					 "abcdefghijklmnopqrstuvwxyz"
					 "0123456789");
		const char *value;

		if (n >= sizeof(buf))
			die(p, EXIT_SCRIPT, "name too long");
		memcpy(buf, s + 5, n);
		buf[n] = '\0';
		value = getenv(buf);
		text_adds(t, value ? value : "(unset)");
		return 5 + n;
	}
	text_add(t, s, 1);
	return 1;
}

static size_t add_escape(struct text *t, const char *s)
{
	static const char from[] = "nrt0\\", to[] = "\n\r\t\0\\";
	const char *hit = s[1] ? strchr(from, s[1]) : NULL;

	if (hit) {
		text_add(t, to + (hit - from), 1);
		return 2;
	}
	if (s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
	    isxdigit((unsigned char)s[3])) {
		char hex[3] = {s[2], s[3], '\0'};
		char c = (char)strtoul(hex, NULL, 16);

		text_add(t, &c, 1);
		return 4;
	}
	text_add(t, s, 1);
	return 1;
}

static struct text expand(struct peer *p, const char *s, bool escapes)
{
	struct text t = {0};

	text_add(&t, "", 0);
	while (*s) {
		if (*s == '$') {
			s += add_variable(p, &t, s);
		} else if (*s == '\\' && escapes) {
			s += add_escape(&t, s);
		} else {
			text_add(&t, s, 1);
			s++;
		}
	}
	return t;
}

static void send_text(struct peer *p, struct text *t)
{
	text_add(t, "\n", 1);
	put(p, t->at, t->len);
	free(t->at);
}

static void send_parts(struct peer *p, const char *before, const char *json,
		       const char *after)
{
	struct text t = {0};

	text_adds(&t, "{\"jsonrpc\":\"2.0\",\"id\":");
	text_adds(&t, p->id);
	text_adds(&t, before);
	text_adds(&t, json);
	text_adds(&t, after);
	send_text(p, &t);
}

/* ---- directives ---- */

static void do_expect(struct peer *p, const char *arg)
{
	expect(p, arg);
}

static void do_expect_any(struct peer *p, const char *arg)
{
	(void)arg;
	if (!read_message(p))
		die(p, EXIT_EARLY_EOF, "stdin ended, expected a message");
}

static void do_expect_response(struct peer *p, const char *arg)
{
	do_expect_any(p, arg);
	if (p->method)
		die(p, EXIT_UNEXPECTED, "expected a response, got: %.200s",
		    p->line);
}

static void do_expect_eof(struct peer *p, const char *arg)
{
	(void)arg;
	drain(p);
}

static void do_send(struct peer *p, const char *arg)
{
	struct text t = expand(p, arg, false);

	send_text(p, &t);
}

static void do_reply(struct peer *p, const char *arg)
{
	struct text t = expand(p, arg, false);

	send_parts(p, ",\"result\":", t.at, "}");
	free(t.at);
}

static void do_fail(struct peer *p, const char *arg)
{
	char *text;
	struct text t = {0};
	long code = strtol(arg, &text, 10);
	char buf[32];

	snprintf(buf, sizeof(buf), "{\"code\":%ld,", code);
	text_adds(&t, buf);
	text_adds(&t, "\"message\":\"");
	text_adds(&t, text + strspn(text, " "));
	text_adds(&t, "\"}");
	send_parts(p, ",\"error\":", t.at, "}");
	free(t.at);
}

static void reply_text(struct peer *p, const char *text, bool is_error)
{
	send_parts(p,
		   ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"",
		   text, is_error ? "\"}],\"isError\":true}}" : "\"}]}}");
}

static void do_text(struct peer *p, const char *arg)
{
	struct text t = expand(p, arg, false);

	reply_text(p, t.at, false);
	free(t.at);
}

static void reply_initialize(struct peer *p, const char *version)
{
	struct text t = {0};

	text_adds(&t, "{\"protocolVersion\":\"");
	text_adds(&t, version);
	text_adds(&t, "\",\"capabilities\":{\"tools\":{}},\"serverInfo\":"
		      "{\"name\":\"peer\",\"version\":\"1\"}}");
	send_parts(p, ",\"result\":", t.at, "}");
	free(t.at);
}

static void do_handshake(struct peer *p, const char *arg)
{
	expect(p, "initialize");
	reply_initialize(p, *arg ? arg : p->version);
	expect(p, "notifications/initialized");
}

static void reply_discover(struct peer *p, const char *dates)
{
	struct text t = {0};

	text_adds(&t, "{\"resultType\":\"complete\",\"supportedVersions\":");
	text_adds(&t, dates);
	text_adds(&t, ",\"capabilities\":{\"tools\":{}},\"_meta\":{"
		      "\"io.modelcontextprotocol/serverInfo\":"
		      "{\"name\":\"peer\",\"version\":\"1\"}}}");
	send_parts(p, ",\"result\":", t.at, "}");
	free(t.at);
}

static void do_discover(struct peer *p, const char *arg)
{
	expect(p, "server/discover");
	reply_discover(p, *arg ? arg : "[\"2026-07-28\"]");
}

static void do_call(struct peer *p, const char *arg)
{
	expect(p, "tools/call");
	do_text(p, arg);
}

/* Quote `s` as the inside of a JSON string. */
static struct text quoted(const char *s)
{
	struct text t = {0};

	text_add(&t, "", 0);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			text_add(&t, "\\", 1);
		text_add(&t, s, 1);
	}
	return t;
}

static void serve_call(struct peer *p)
{
	char *name = member_text(p->params, "name");
	char *arguments = member(p->params, "arguments");
	struct text t = quoted(arguments ? arguments : "");

	if (name && (strcmp(name, "echo") == 0 || strcmp(name, "fail") == 0))
		reply_text(p, t.at, *name == 'f');
	else
		send_parts(p, ",\"error\":{\"code\":-32602,\"message\":",
			   "\"unknown tool\"", "}}");
	free(t.at);
	free(arguments);
	free(name);
}

static void serve_one(struct peer *p, bool modern)
{
	static const char tools[] =
		"{\"tools\":[{\"name\":\"echo\",\"inputSchema\":"
		"{\"type\":\"object\"}},{\"name\":\"fail\",\"inputSchema\":"
		"{\"type\":\"object\"}}]}";

	if (!p->id || !p->method)
		return;
	if (modern && strcmp(p->method, "server/discover") == 0)
		reply_discover(p, "[\"2026-07-28\"]");
	else if (!modern && strcmp(p->method, "initialize") == 0)
		reply_initialize(p, p->version);
	else if (!modern && strcmp(p->method, "ping") == 0)
		send_parts(p, ",\"result\":", "{}", "}");
	else if (strcmp(p->method, "tools/list") == 0)
		send_parts(p, ",\"result\":", tools, "}");
	else if (strcmp(p->method, "tools/call") == 0 && p->params)
		serve_call(p);
	else
		send_parts(p, ",\"error\":{\"code\":-32601,\"message\":",
			   "\"no such method\"", "}}");
}

static void do_serve(struct peer *p, const char *arg)
{
	bool modern = strcmp(arg, "modern") == 0;

	while (read_message(p))
		serve_one(p, modern);
}

static void do_log(struct peer *p, const char *arg)
{
	p->log_fd = open(arg, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (p->log_fd < 0)
		die(p, EXIT_SCRIPT, "%s: %s", arg, strerror(errno));
}

static void do_raw(struct peer *p, const char *arg)
{
	struct text t = expand(p, arg, true);

	put(p, t.at, t.len);
	free(t.at);
}

static void do_file(struct peer *p, const char *arg)
{
	char buf[65536];
	ssize_t n;
	int fd = open(arg, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(p, EXIT_SCRIPT, "%s: %s", arg, strerror(errno));
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		put(p, buf, (size_t)n);
	close(fd);
}

static void flood(struct peer *p, int fd, size_t n, char c)
{
	char buf[65536];

	memset(buf, c, sizeof(buf));
	while (n) {
		size_t part = n < sizeof(buf) ? n : sizeof(buf);

		if (fd == 1)
			put(p, buf, part);
		else
			put_fd(fd, buf, part);
		n -= part;
	}
}

static void do_flood(struct peer *p, const char *arg)
{
	char *end;
	size_t n = strtoul(arg, &end, 10);

	end += strspn(end, " ");
	flood(p, 1, n, *end ? *end : 'x');
}

static void do_flood_stderr(struct peer *p, const char *arg)
{
	flood(p, 2, strtoul(arg, NULL, 10), 'x');
}

static void do_lines(struct peer *p, const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);
	struct text t;

	end += *end == ' ';
	t = expand(p, end, true);
	text_add(&t, "\n", 1);
	while (n--)
		put(p, t.at, t.len);
	free(t.at);
}

static void do_banner(struct peer *p, const char *arg)
{
	static const char text[] =
		"Peer MCP server v1.0 running on stdio\n"
		"\n"
		"> peer@1.0.0 start\n"
		"[INFO] {not json} listening\n"
		"{\"level\":\"info\",\"msg\":\"a log line in JSON\"}\n"
		"\"just a string\"\n";

	(void)arg;
	put(p, text, sizeof(text) - 1);
}

static void do_stderr(struct peer *p, const char *arg)
{
	struct text t = expand(p, arg, true);

	text_add(&t, "\n", 1);
	put_fd(2, t.at, t.len);
	free(t.at);
}

static void do_split(struct peer *p, const char *arg)
{
	p->split = strtoul(arg, NULL, 10);
}

static void do_sleep(struct peer *p, const char *arg)
{
	(void)p;
	nap_ms(strtol(arg, NULL, 10));
}

static void do_hang(struct peer *p, const char *arg)
{
	(void)p;
	(void)arg;
	for (;;)
		pause();
}

static void do_close(struct peer *p, const char *arg)
{
	static const char *const names[] = {"stdin", "stdout", "stderr"};

	for (int fd = 0; fd < 3; fd++) {
		if (strcmp(arg, names[fd]) == 0) {
			close(fd);
			return;
		}
	}
	die(p, EXIT_SCRIPT, "close what? %s", arg);
}

static void do_exit(struct peer *p, const char *arg)
{
	(void)p;
	_exit((int)strtol(arg, NULL, 10));
}

static void do_kill(struct peer *p, const char *arg)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {
		{"TERM", SIGTERM}, {"KILL", SIGKILL}, {"SEGV", SIGSEGV},
		{"ABRT", SIGABRT}, {"INT", SIGINT},   {"PIPE", SIGPIPE},
		{"HUP", SIGHUP},
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (strcmp(arg, signals[i].name) != 0)
			continue;
		signal(signals[i].number, SIG_DFL);
		kill(getpid(), signals[i].number);
		nap_ms(1000);
	}
	die(p, EXIT_SCRIPT, "kill with what? %s", arg);
}

static void do_ignore_term(struct peer *p, const char *arg)
{
	(void)p;
	(void)arg;
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

static void do_hold_pipes(struct peer *p, const char *arg)
{
	pid_t pid = fork();

	if (pid < 0)
		die(p, EXIT_SCRIPT, "fork: %s", strerror(errno));
	if (pid > 0)
		return;
	nap_ms(strtol(arg, NULL, 10));
	_exit(0);
}

static void do_fork_twice(struct peer *p, const char *arg)
{
	pid_t pid = fork();

	if (pid < 0)
		die(p, EXIT_SCRIPT, "fork: %s", strerror(errno));
	if (pid > 0)
		return;
	setsid();
	if (fork() != 0)
		_exit(0);
	close(0);
	close(1);
	close(2);
	nap_ms(strtol(arg, NULL, 10));
	_exit(0);
}

static void do_wrap(struct peer *p, const char *arg)
{
	pid_t pid = fork();
	int status = 0;

	(void)arg;
	if (pid < 0)
		die(p, EXIT_SCRIPT, "fork: %s", strerror(errno));
	if (pid == 0)
		return;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void do_background(struct peer *p, const char *arg)
{
	pid_t pid = fork();

	(void)arg;
	if (pid < 0)
		die(p, EXIT_SCRIPT, "fork: %s", strerror(errno));
	if (pid > 0)
		_exit(0);
}

static void do_spin(struct peer *p, const char *arg)
{
	volatile unsigned int n = 0;

	(void)p;
	(void)arg;
	for (;;)
		n++;
}

static void do_tty(struct peer *p, const char *arg)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	(void)p;
	(void)arg;
	fprintf(stderr, "tty: %s\n", fd < 0 ? strerror(errno) : "opened");
}

static void do_repeat(struct peer *p, const char *arg)
{
	p->repeat_at = p->at;
	p->repeat_left = strtoul(arg, NULL, 10);
}

static void do_end(struct peer *p, const char *arg)
{
	(void)arg;
	if (p->repeat_left > 1) {
		p->repeat_left--;
		p->at = p->repeat_at;
	}
}

static const struct directive {
	const char *name;
	void (*run)(struct peer *p, const char *arg);
} directives[] = {
	{"expect", do_expect},
	{"expect-any", do_expect_any},
	{"expect-response", do_expect_response},
	{"expect-eof", do_expect_eof},
	{"send", do_send},
	{"reply", do_reply},
	{"fail", do_fail},
	{"text", do_text},
	{"handshake", do_handshake},
	{"discover", do_discover},
	{"call", do_call},
	{"serve", do_serve},
	{"log", do_log},
	{"raw", do_raw},
	{"file", do_file},
	{"flood", do_flood},
	{"lines", do_lines},
	{"banner", do_banner},
	{"stderr", do_stderr},
	{"flood-stderr", do_flood_stderr},
	{"split", do_split},
	{"sleep", do_sleep},
	{"hang", do_hang},
	{"never-read", do_hang},
	{"close", do_close},
	{"exit", do_exit},
	{"kill", do_kill},
	{"ignore-term", do_ignore_term},
	{"hold-pipes", do_hold_pipes},
	{"fork-twice", do_fork_twice},
	{"wrap", do_wrap},
	{"background", do_background},
	{"spin", do_spin},
	{"tty", do_tty},
	{"repeat", do_repeat},
	{"end", do_end},
};

static void run_line(struct peer *p, const char *line)
{
	size_t n;

	line += strspn(line, " \t");
	n = strcspn(line, " \t");
	if (n == 0 || *line == '#')
		return;
	for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]);
	     i++) {
		const struct directive *d = &directives[i];

		if (strlen(d->name) != n || strncmp(d->name, line, n) != 0)
			continue;
		d->run(p, line[n] ? line + n + 1 : "");
		return;
	}
	die(p, EXIT_SCRIPT, "unknown directive: %s", line);
}

static char *read_script(const char *path)
{
	struct stat st;
	ssize_t n = -1;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &st) == 0) {
		text = xmalloc((size_t)st.st_size + 1);
		n = read(fd, text, (size_t)st.st_size);
	}
	if (n < 0) {
		fprintf(stderr, "peer: %s: %s\n", path, strerror(errno));
		exit(EXIT_SCRIPT);
	}
	close(fd);
	text[n] = '\0';
	return text;
}

static void split_lines(struct peer *p, char *text)
{
	size_t n = 1;

	for (const char *s = text; *s; s++)
		n += *s == '\n';
	p->lines = xmalloc(n * sizeof(*p->lines));
	for (char *line; (line = strsep(&text, "\n"));)
		p->lines[p->n_lines++] = line;
}

int main(int argc, char **argv)
{
	static struct peer p = {.log_fd = -1};

	p.line_cap = 4096;
	p.line = xmalloc(p.line_cap);
	if (argc == 3 && strcmp(argv[1], "-e") == 0) {
		split_lines(&p, argv[2]);
	} else if (argc >= 2 && argv[1][0] != '-') {
		split_lines(&p, read_script(argv[1]));
	} else {
		fprintf(stderr, "usage: peer SCRIPT | peer -e LINES\n");
		return EXIT_SCRIPT;
	}
	for (; p.at < p.n_lines; p.at++)
		run_line(&p, p.lines[p.at]);
	drain(&p);
	return 0;
}
