/*
 * The bare runner: the least that one stdio step must do, in plain C.
 *
 *	bare_runner ROUTINE STATE-DIR [STEPS [KEEP]]
 *
 * What the program under test is measured against. It reads the routine,
 * writes `started` durably, starts the server confined by a system-call
 * filter, Landlock and no_new_privs, performs the handshake and one
 * tools/call, checks that the answer is JSON in UTF-8, closes and reaps the
 * server, writes the report durably and a `finished` line with its sum, and
 * prints the report, which has what the server said twice: its content, and
 * the text alone.
 * The report KEEP (100) generations back is removed.
 * With STEPS it starts that many of the first server and talks to all of
 * them at once. The server is told the first of the step's arguments, which
 * is the size of its answer, or the script that it may read.
 *
 * Spared: TOML beyond finding `command` and `tool`, leash and rules, control
 * groups and all limits but three, refused calls being named, an owner of the
 * tree, a private /tmp and what would be lost in it, credentials in outputs,
 * the protocol's newer handshake, deadlines but one. All its children share
 * one ruleset and one filter, which looks at no arguments of system calls;
 * files of the base that are missing or links are not looked at twice.
 * Burdened: it waits for four flushes one after the other (`started`, report,
 * the report's folder, `finished`) where two would do beside the child's
 * start, and starts its children in turn. No library.
 * The working folder of a server is made in memory, as those of the program
 * under test are, where there is a /dev/shm: in STATE-DIR a file system on a
 * disk takes 36 to 180 µs for it, more by the minute than all that is compared.
 *
 * The ledger has to say what a report was (`history` and `show` rely on it),
 * so nobody gets by without taking its sum. That is done by core/base/sha256.c
 * of the program itself, which is as fast as libcrypto's: it costs both the
 * same, and how it is done is not what is compared.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/sha256.h"

/*
 * The limit of processes counts all that run as NOBODY, other people's among
 * them; over it exec fails with EAGAIN. So it only is one, and never reached.
 */
enum { NOBODY = 65534, TIMEOUT_MS = 30000, NOBODY_PROCESSES = 16384 };

static void die(const char *what)
{
	fprintf(stderr, "bare_runner: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the filter: x86-64 numbers that an ordinary program needs ---- */

/* First and last of each range of allowed calls, ascending. */
static const uint16_t allowed[][2] = {
	{0, 40},    {44, 100},	{102, 105}, {107, 134}, {137, 151}, {157, 158},
	{160, 160}, {162, 162}, {186, 204}, {206, 208}, {211, 211}, {213, 213},
	{217, 236}, {239, 239}, {247, 247}, {251, 258}, {260, 264}, {265, 277},
	{280, 297}, {299, 302}, {306, 309}, {314, 314}, {316, 319}, {322, 322},
	{324, 332}, {334, 334}, {424, 424}, {434, 434}, {436, 436}, {439, 441},
	{444, 446}, {448, 449}, {451, 452},
};

enum { N_RANGES = sizeof(allowed) / sizeof(allowed[0]) };

struct program {
	struct sock_filter code[5 * N_RANGES + 8];
	unsigned int len;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t yes,
		 uint8_t no)
{
	p->code[p->len++] = (struct sock_filter){code, yes, no, k};
}

/* A tree over the ranges [from, to): log2 comparisons for each call. */
static void emit_tree(struct program *p, int from, int to)
{
	unsigned int branch;
	int mid = (from + to) / 2;

	if (to - from == 1) {
		emit(p, BPF_JMP | BPF_JGE | BPF_K, allowed[from][0], 0, 2);
		emit(p, BPF_JMP | BPF_JGT | BPF_K, allowed[from][1], 1, 0);
		emit(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
		emit(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
		return;
	}
	branch = p->len;
	emit(p, BPF_JMP | BPF_JGE | BPF_K, allowed[mid][0], 0, 0);
	emit_tree(p, from, mid);
	p->code[branch].jt = (uint8_t)(p->len - branch - 1);
	emit_tree(p, mid, to);
}

static void build_filter(struct program *p)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch),
	     0, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	emit(p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	emit(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0,
	     0);
	/* libc then makes threads by clone(), whose flags can be judged */
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	emit(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
	emit_tree(p, 0, N_RANGES);
}

/* ---- Landlock ---- */

static const char *const readable[] = {
	"/usr/lib",
	"/usr/lib64",
	"/lib",
	"/lib64",
	"/usr/share",
	"/usr/local/lib",
	"/usr/local/share",
	"/proc",
	"/etc/passwd",
	"/etc/group",
	"/etc/hosts",
	"/etc/resolv.conf",
	"/etc/nsswitch.conf",
	"/etc/ld.so.cache",
	"/etc/ld.so.conf",
	"/etc/ld.so.conf.d",
	"/etc/localtime",
	"/etc/ssl",
	"/etc/ca-certificates",
	"/etc/alternatives",
	"/etc/mime.types",
	"/etc/services",
	"/etc/protocols",
	"/etc/os-release",
	"/etc/gai.conf",
	"/sys/devices/system/cpu",
};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
				      "/dev/random", "/dev/urandom"};

static const uint64_t read_rights =
	LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

static void allow(int ruleset, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights};
	struct stat st;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return;
	if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed_access &= ~LANDLOCK_ACCESS_FS_READ_DIR;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
		    &rule, 0) < 0)
		die(path);
	close(rule.parent_fd);
}

static int build_ruleset(const char *program, const char *script,
			 const char *tmp)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = (1 << 15) - 1, /* ABI 3 */
	};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr),
			      0);

	if (fd < 0)
		die("landlock_create_ruleset");
	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++)
		allow(fd, readable[i], read_rights);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		allow(fd, devices[i],
		      LANDLOCK_ACCESS_FS_READ_FILE |
			      LANDLOCK_ACCESS_FS_WRITE_FILE);
	allow(fd, program,
	      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE);
	allow(fd, "/lib64/ld-linux-x86-64.so.2",
	      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE);
	if (*script == '/')
		allow(fd, script, LANDLOCK_ACCESS_FS_READ_FILE);
	allow(fd, tmp, attr.handled_access_fs & ~LANDLOCK_ACCESS_FS_EXECUTE);
	return fd;
}

/* ---- the child ---- */

struct launch {
	const char *program;
	const char *bytes; /* its argument */
	const char *home;
	int stdio[3];
	int ruleset;
	struct sock_fprog filter;
};

/* Between clone and exec, in our memory: system calls only. */
static int child(void *arg)
{
	const struct launch *l = arg;
	static const struct rlimit core = {0, 0}, files = {1024, 1024};
	const struct rlimit processes = {NOBODY_PROCESSES, NOBODY_PROCESSES};
	char *const argv[] = {(char *)l->program, (char *)l->bytes, NULL};
	char *const envp[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=dumb",
			      "LANG=C.UTF-8", NULL};
	int fd = open(l->program, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		_exit(126);
	for (int i = 0; i < 3; i++)
		if (dup2(l->stdio[i], i) < 0)
			_exit(126);
	setsid();
	setrlimit(RLIMIT_CORE, &core);
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_NPROC, &processes);
	if (chdir(l->home) < 0)
		_exit(126);
	/* The raw calls: libc's would change every thread of the parent. */
	if (geteuid() == 0 && (syscall(SYS_setgroups, 0, NULL) < 0 ||
			       syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) ||
			       syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY)))
		_exit(126);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, l->ruleset, 0) < 0 ||
	    syscall(SYS_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &l->filter) < 0)
		_exit(126);
	fexecve(fd, argv, envp);
	_exit(127);
}

enum phase { HANDSHAKE, CALL, ANSWERED };

struct server {
	pid_t pid;
	int in, out, err;
	enum phase phase;
	char *answer; /* the message that is being received */
	size_t have, room;
	const char *content, *text; /* in .answer; the text with its quotes */
	size_t content_len, text_len;
	char home[512];
};

/* Made once: neither depends on which of the servers it is. */
static int base_ruleset(const char *program, const char *script,
			const char *homes)
{
	static int ruleset = -1;

	if (ruleset < 0)
		ruleset = build_ruleset(program, script, homes);
	return ruleset;
}

/* Where working folders are made. */
static const char *homes_folder(const char *state)
{
	static const char in_memory[] = "/dev/shm";

	return access(in_memory, W_OK) == 0 ? in_memory : state;
}

static void start(const char *program, const char *bytes, const char *homes,
		  struct server *s)
{
	static _Alignas(16) char stack[65536];
	static struct program code;
	int in[2], out[2], err[2];
	struct launch l = {.program = program, .bytes = bytes};

	snprintf(s->home, sizeof(s->home), "%s/bare.XXXXXX", homes);
	if (!mkdtemp(s->home) || chmod(s->home, 0755) < 0)
		die(s->home);
	l.home = s->home;
	if (!code.len)
		build_filter(&code);
	l.filter.len = (unsigned short)code.len;
	l.filter.filter = code.code;
	l.ruleset = base_ruleset(program, bytes, homes);
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 ||
	    pipe2(err, O_CLOEXEC) < 0)
		die("pipe");
	l.stdio[0] = in[0];
	l.stdio[1] = out[1];
	l.stdio[2] = err[1];
	s->pid = clone(child, stack + sizeof(stack),
		       CLONE_VM | CLONE_VFORK | SIGCHLD, &l);
	if (s->pid < 0)
		die("clone");
	close(in[0]);
	close(out[1]);
	close(err[1]);
	s->in = in[1];
	s->out = out[0];
	s->err = err[0];
}

/* ---- JSON: is it one value, and where is a member ---- */

static const char *value_end(const char *s, int depth);

/* Eight bytes of which none ends a string or needs a closer look. */
static bool is_plain(const char *s)
{
	static const uint64_t ones = 0x0101010101010101, high = ones << 7;
	uint64_t v, quote, slash;

	memcpy(&v, s, sizeof(v));
	quote = v ^ ones * '"';
	slash = v ^ ones * '\\';
	return !((v | (v - ones * 0x20) | ((quote - ones) & ~quote) |
		  ((slash - ones) & ~slash)) &
		 high);
}

/* Bytes of the UTF-8 character at `s`, 0 where there is none. */
static size_t char_bytes(const char *s)
{
	static const struct {
		unsigned char first, last; /* of the first byte */
		unsigned char from, to;	   /* of the second */
		size_t n;
	} rows[] = {
		{0x00, 0x7f, 0, 0, 1},	     {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	const unsigned char *u = (const unsigned char *)s;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (u[0] < rows[i].first || u[0] > rows[i].last)
			continue;
		if (rows[i].n > 1 && (u[1] < rows[i].from || u[1] > rows[i].to))
			return 0;
		for (size_t k = 2; k < rows[i].n; k++)
			if ((u[k] & 0xc0) != 0x80)
				return 0;
		return rows[i].n;
	}
	return 0;
}

/* What is read stands in room that ends at least 8 bytes behind it. */
static const char *string_end(const char *s)
{
	for (s++;;) {
		size_t n;

		while (is_plain(s))
			s += 8;
		if (*s == '"')
			return s + 1;
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s == '\\' && !*++s)
			return NULL;
		n = char_bytes(s);
		if (!n)
			return NULL;
		s += n;
	}
}

static const char *skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static const char *group_end(const char *s, int depth)
{
	char close = *s == '{' ? '}' : ']';

	s = skip_space(s + 1);
	if (*s == close)
		return s + 1;
	for (;;) {
		if (close == '}') {
			s = *s == '"' ? string_end(s) : NULL;
			if (!s)
				return NULL;
			s = skip_space(s);
			if (*s++ != ':')
				return NULL;
			s = skip_space(s);
		}
		s = value_end(s, depth + 1);
		if (!s)
			return NULL;
		s = skip_space(s);
		if (*s == close)
			return s + 1;
		if (*s++ != ',')
			return NULL;
		s = skip_space(s);
	}
}

/* Behind the JSON value at `s`, or NULL when there is none. */
static const char *value_end(const char *s, int depth)
{
	size_t n;

	if (depth > 256)
		return NULL;
	if (*s == '{' || *s == '[')
		return group_end(s, depth);
	if (*s == '"')
		return string_end(s);
	n = strspn(s, "0123456789+-.eE");
	if (n)
		return s + n;
	for (const char *const *w =
		     (const char *const[]){"true", "false", "null", NULL};
	     *w; w++)
		if (strncmp(s, *w, strlen(*w)) == 0)
			return s + strlen(*w);
	return NULL;
}

/* ---- the conversations ---- */

static void send_line(const struct server *s, const char *text)
{
	size_t n = strlen(text);

	if (write(s->in, text, n) != (ssize_t)n)
		die("write to the server");
}

static void send_call(const struct server *s, const char *tool)
{
	char call[512];

	send_line(s, "{\"jsonrpc\":\"2.0\",\"method\":"
		     "\"notifications/initialized\"}\n");
	snprintf(call, sizeof(call),
		 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		 "\"params\":{\"name\":\"%s\",\"arguments\":{}}}\n",
		 tool);
	send_line(s, call);
}

/* One whole message stands in .answer, without its newline. */
static void take_message(struct server *s, const char *tool)
{
	const char *end = value_end(s->answer, 0);

	if (!end || *skip_space(end))
		die("not JSON");
	s->have = 0;
	if (s->phase == HANDSHAKE) {
		send_call(s, tool);
		s->phase = CALL;
		return;
	}
	s->content = strstr(s->answer, "\"content\":");
	if (!s->content)
		die("no content");
	s->content += 10;
	s->content_len = (size_t)(value_end(s->content, 0) - s->content);
	s->text = strstr(s->content, "\"text\":\"");
	if (!s->text)
		die("no text");
	s->text += 7;
	s->text_len = (size_t)(string_end(s->text) - s->text);
	s->phase = ANSWERED;
	close(s->in);
}

static void receive(struct server *s, const char *tool)
{
	ssize_t got;
	char *nl;

	if (s->room - s->have < 4096) {
		s->room = s->room ? 2 * s->room : 8192;
		s->answer = realloc(s->answer, s->room);
		if (!s->answer)
			die("memory");
	}
	got = read(s->out, s->answer + s->have, s->room - 8 - s->have);
	if (got <= 0)
		die("the server ended");
	nl = memchr(s->answer + s->have, '\n', (size_t)got);
	s->have += (size_t)got;
	if (nl) {
		*nl = '\0';
		take_message(s, tool);
	}
}

/* Until each has answered the call. */
static void converse(struct server *s, int n, const char *tool)
{
	struct pollfd *fds = calloc(2 * (size_t)n, sizeof(*fds));
	int open = n;

	if (!fds)
		die("memory");
	for (int i = 0; i < n; i++) {
		fds[2 * i] = (struct pollfd){s[i].out, POLLIN, 0};
		fds[2 * i + 1] = (struct pollfd){s[i].err, POLLIN, 0};
	}
	while (open) {
		if (poll(fds, 2 * (nfds_t)n, TIMEOUT_MS) <= 0)
			die("no answer in time");
		for (int i = 0; i < n; i++) {
			char noise[4096];

			if (fds[2 * i + 1].revents &&
			    read(s[i].err, noise, sizeof(noise)) <= 0)
				fds[2 * i + 1].fd = -1;
			if (!fds[2 * i].revents)
				continue;
			receive(&s[i], tool);
			if (s[i].phase == ANSWERED) {
				fds[2 * i].fd = -1;
				open--;
			}
		}
	}
	free(fds);
}

static void greet(const struct server *s)
{
	send_line(s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
		     "\"params\":{\"protocolVersion\":\"2025-11-25\","
		     "\"capabilities\":{},\"clientInfo\":{\"name\":\"bare\","
		     "\"version\":\"1\"}}}\n");
}

static void stop(const struct server *s)
{
	char rest[4096];
	int status;

	while (read(s->out, rest, sizeof(rest)) > 0)
		;
	while (read(s->err, rest, sizeof(rest)) > 0)
		;
	if (waitpid(s->pid, &status, 0) < 0 || status != 0)
		die("the server failed");
	close(s->out);
	close(s->err);
	rmdir(s->home);
}

/* ---- the ledger ---- */

static void append(int fd, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (write(fd, text, (size_t)n) != n || fsync(fd) < 0)
		die("ledger");
}

/* One more than the lines `started` so far, as a counter file would say. */
static long next_generation(int ledger)
{
	char tail[4096];
	off_t size = lseek(ledger, 0, SEEK_END);
	off_t from =
		size > (off_t)sizeof(tail) ? size - (off_t)sizeof(tail) : 0;
	ssize_t n = pread(ledger, tail, sizeof(tail) - 1, from);
	long generation = 0;

	if (n < 0)
		die("ledger");
	tail[n] = '\0';
	for (char *s = tail; (s = strstr(s, "\"generation\":"));) {
		s += 13;
		generation = strtol(s, NULL, 10);
	}
	return generation + 1;
}

/* A report on its way, and its sum where that is asked for. */
struct out {
	FILE *f;
	struct sha256 *sum;
};

/* Long ones in portions, which need not come from far away twice. */
static void put(const struct out *o, const char *bytes, size_t n)
{
	while (n) {
		size_t some = n < 256 * 1024 ? n : 256 * 1024;

		if (o->sum)
			sha256_add(o->sum, bytes, some);
		fwrite(bytes, 1, some, o->f);
		bytes += some;
		n -= some;
	}
}

static void put_text(const struct out *o, const char *text)
{
	put(o, text, strlen(text));
}

/* Long answers are written from where they stand. */
static void print_report(int fd, const struct server *s, int n, long generation,
			 struct sha256 *sum)
{
	struct out o = {fdopen(dup(fd), "w"), sum};
	char begin[80];

	if (!o.f || setvbuf(o.f, NULL, _IOFBF, 65536) != 0)
		die("memory");
	snprintf(begin, sizeof(begin),
		 "{\"generation\":%ld,\"success\":true,\"step_results\":[",
		 generation);
	put_text(&o, begin);
	for (int i = 0; i < n; i++) {
		put_text(&o, i ? "," : "");
		put_text(&o, "{\"state\":\"ok\",\"output\":");
		put(&o, s[i].text, s[i].text_len);
		put_text(&o, ",\"data\":{\"content\":");
		put(&o, s[i].content, s[i].content_len);
		put_text(&o, "}}");
	}
	put_text(&o, "]}\n");
	if (ferror(o.f) || fclose(o.f) != 0)
		die("report");
}

static void write_report(const char *state, long generation,
			 const struct server *s, int n, long keep,
			 char ret_sum[SHA256_HEX_BYTES])
{
	unsigned char bytes[SHA256_BYTES];
	char tmp[512], path[512];
	struct sha256 sum;
	int fd;

	sha256_init(&sum);
	snprintf(tmp, sizeof(tmp), "%s/.%ld.tmp", state, generation);
	snprintf(path, sizeof(path), "%s/%ld.json", state, generation);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		die(tmp);
	print_report(fd, s, n, generation, &sum);
	sha256_end(&sum, bytes);
	sha256_text(bytes, ret_sum);
	if (fsync(fd) < 0 || close(fd) < 0 || rename(tmp, path) < 0)
		die("report");
	/* the new name is only there for good when its folder is synced */
	fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0 || close(fd) < 0)
		die("report");
	snprintf(path, sizeof(path), "%s/%ld.json", state, generation - keep);
	unlink(path);
}

/* ---- the routine ---- */

static char routine[1024 * 1024];

static char *quoted_value(const char *key)
{
	char *at = strstr(routine, key), *end;

	at = at ? strchr(at, '"') : NULL;
	end = at ? strchr(at + 1, '"') : NULL;
	if (!end)
		die(key);
	return strndup(at + 1, (size_t)(end - at - 1));
}

static void read_routine(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, routine, sizeof(routine) - 1) <= 0)
		die(path);
	close(fd);
}

static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		die("RLIMIT_NOFILE");
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1, ledger;
	char path[512], sum[SHA256_HEX_BYTES];
	char *program, *bytes, *tool;
	const char *homes;
	struct server *s;
	long keep = argc > 4 ? strtol(argv[4], NULL, 10) : 100, generation;

	if (argc < 3 || n < 1) {
		fprintf(stderr, "usage: bare_runner ROUTINE STATE-DIR "
				"[STEPS [KEEP]]\n");
		return 64;
	}
	signal(SIGPIPE, SIG_IGN);
	if (n > 1)
		raise_files();
	s = calloc((size_t)n, sizeof(*s));
	if (!s)
		die("memory");
	read_routine(argv[1]);
	program = quoted_value("command");
	bytes = quoted_value("args");
	tool = quoted_value("tool");

	snprintf(path, sizeof(path), "%s/ledger.jsonl", argv[2]);
	ledger = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (ledger < 0 || flock(ledger, LOCK_EX) < 0)
		die(path);
	generation = next_generation(ledger);
	append(ledger,
	       "{\"event\":\"started\",\"generation\":%ld,"
	       "\"time\":%ld}\n",
	       generation, (long)time(NULL));
	flock(ledger, LOCK_UN);

	homes = homes_folder(argv[2]);
	for (int i = 0; i < n; i++) {
		start(program, bytes, homes, &s[i]);
		greet(&s[i]);
	}
	converse(s, n, tool);
	for (int i = 0; i < n; i++)
		stop(&s[i]);

	write_report(argv[2], generation, s, n, keep, sum);
	append(ledger,
	       "{\"event\":\"finished\",\"generation\":%ld,"
	       "\"time\":%ld,\"success\":true,\"sha256\":\"%s\"}\n",
	       generation, (long)time(NULL), sum);
	print_report(1, s, n, generation, NULL);
	for (int i = 0; i < n; i++)
		free(s[i].answer);
	free(bytes);
	free(s);
	free(program);
	free(tool);
	return 0;
}
