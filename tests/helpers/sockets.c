/*
 * Sockets of AF_UNIX from inside of the gate: what a program does with its
 * own, and what a hostile one tries to reach others with.
 *
 *	sockets pair			two ends that are connected
 *	sockets own FOLDER		serve and reach a file in it, both types
 *	sockets abstract NAME		the same without a file
 *	sockets to PATH			reach what somebody else serves
 *	sockets chdir FOLDER NAME	the same by a relative name
 *	sockets user PATH		the user that the peer is
 *	sockets dgram PATH		send a datagram to it
 *	sockets send PATH		send by a socket that has no connection
 *	sockets twice PATH FLAG FILE	make FLAG and wait for FILE between
 *	sockets full FOLDER		a server that does not accept
 *	sockets alarm FOLDER		a signal while waiting for one
 *	sockets odd FOLDER		errno of calls that no program means
 *	sockets many FOLDER N		N connections at once to a short queue
 *	sockets take NAME N		serve under it, bound while it listens
 *	sockets race KIND FOLDER HOST N	try N times to reach HOST by a race
 *
 * KIND: memory, link, rename, fd, flags. FOLDER is where it may write. Who
 * serves HOST says "h" to everybody, an own server says "o".
 *
 * Prints "ok: …", "blocked: …" or "escaped: …".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int blocked(const char *what)
{
	printf("blocked: %s: %s\n", what, strerror(errno));
	return 1;
}

static int ok(const char *what)
{
	printf("ok: %s\n", what);
	return 0;
}

/* "@x" is a name without a file. */
static socklen_t address(const char *path, struct sockaddr_un *ret)
{
	size_t n = strlen(path);

	memset(ret, 0, sizeof(*ret));
	ret->sun_family = AF_UNIX;
	memcpy(ret->sun_path, path,
	       n < sizeof(ret->sun_path) ? n : sizeof(ret->sun_path));
	if (path[0] == '@')
		ret->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n +
			   (path[0] != '@'));
}

static int make(int type)
{
	return socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
}

static int serve(const char *path, int type, int backlog)
{
	struct sockaddr_un a;
	socklen_t n = address(path, &a);
	int fd = make(type);

	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) < 0 ||
	    listen(fd, backlog) < 0)
		return -1;
	return fd;
}

static int reach(const char *path, int type)
{
	struct sockaddr_un a;
	socklen_t n = address(path, &a);
	int fd = make(type);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, n) == 0)
		return fd;
	n = (socklen_t)errno;
	close(fd);
	errno = (int)n;
	return -1;
}

/* Greet everybody with "o"; arg is the listening socket. */
static void *greet(void *arg)
{
	int server = (int)(intptr_t)arg, fd;

	while ((fd = accept4(server, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		(void)!send(fd, "o", 1, MSG_NOSIGNAL);
		close(fd);
	}
	return NULL;
}

static void greet_at(int server)
{
	pthread_t t;

	pthread_create(&t, NULL, greet, (void *)(intptr_t)server);
	pthread_detach(t);
}

/* ---- single acts ---- */

static int own(const char *path, int type)
{
	int server = serve(path, type, 8), fd;
	char c = '?';

	if (server < 0)
		return blocked("serving");
	greet_at(server);
	fd = reach(path, type);
	if (fd < 0)
		return blocked("connecting");
	if (recv(fd, &c, 1, 0) != 1 || c != 'o')
		return blocked("reading");
	close(fd);
	return 0;
}

static int own_in(const char *folder)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/own", folder);
	if (own(path, SOCK_STREAM))
		return 1;
	snprintf(path, sizeof(path), "%s/packets", folder);
	return own(path, SOCK_SEQPACKET) ? 1 : ok("served and reached");
}

static int to(const char *path)
{
	int fd = reach(path, SOCK_STREAM);
	char c = '?';

	if (fd < 0)
		return blocked(path);
	if (recv(fd, &c, 1, 0) == 1)
		printf("ok: reached %c\n", c);
	return 0;
}

static int user_of(const char *path)
{
	struct ucred who;
	socklen_t n = sizeof(who);
	int fd = reach(path, SOCK_STREAM);
	char text[32] = "";

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
		return blocked(path);
	if (recv(fd, text, sizeof(text) - 1, MSG_WAITALL) <= 0)
		return blocked("reading");
	printf("ok: %u, seen as %s\n", who.uid, text + 1);
	return 0;
}

static int datagram(const char *path)
{
	struct sockaddr_un a;
	socklen_t n = address(path, &a);
	int pair[2], fd = make(SOCK_DGRAM);

	if (fd < 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
		fd = pair[0];
	if (fd < 0)
		return blocked("socket");
	if (sendto(fd, "d", 1, 0, (struct sockaddr *)&a, n) < 0)
		return blocked("sendto");
	puts("escaped: sent");
	return 0;
}

/* A stream takes no address, packets ignore it. */
static int send_to(const char *path)
{
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};
	struct sockaddr_un a;
	socklen_t n = address(path, &a);
	struct iovec text = {"d", 1};
	struct msghdr m = {.msg_name = &a,
			   .msg_namelen = n,
			   .msg_iov = &text,
			   .msg_iovlen = 1};

	for (int i = 0; i < 2; i++) {
		int fd = make(types[i]);

		if (fd < 0)
			return blocked("socket");
		if (sendto(fd, "d", 1, MSG_NOSIGNAL, (struct sockaddr *)&a,
			   n) >= 0 ||
		    sendmsg(fd, &m, MSG_NOSIGNAL) >= 0) {
			puts("escaped: sent");
			return 0;
		}
	}
	return blocked("sendmsg");
}

static int twice(const char *path, const char *flag, const char *file)
{
	if (to(path))
		return 1;
	close(open(flag, O_CREAT | O_WRONLY, 0666));
	for (int i = 0; i < 1000 && access(file, F_OK) < 0; i++)
		usleep(10000);
	return to(path);
}

/* ---- servers that are busy ---- */

static int fill(const char *path)
{
	int n = 0;

	for (; n < 100; n++) {
		struct sockaddr_un a;
		socklen_t size = address(path, &a);
		int fd = make(SOCK_STREAM | SOCK_NONBLOCK);

		if (connect(fd, (struct sockaddr *)&a, size) < 0)
			return errno == EAGAIN ? n : -1;
	}
	return -1;
}

static void *connect_late(void *arg)
{
	return (void *)(intptr_t)(reach(arg, SOCK_STREAM) >= 0);
}

static int full(const char *folder)
{
	const struct timeval soon = {0, 50000};
	struct sockaddr_un a;
	char path[200];
	void *came = NULL;
	socklen_t n;
	pthread_t t;
	int server, fd;

	snprintf(path, sizeof(path), "%s/full", folder);
	server = serve(path, SOCK_STREAM, 1);
	if (server < 0 || fill(path) != 2)
		return blocked("EAGAIN once the queue is full");
	fd = make(SOCK_STREAM);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	n = address(path, &a);
	if (connect(fd, (struct sockaddr *)&a, n) == 0 || errno != EAGAIN)
		return blocked("the time of the program");
	if (fcntl(fd, F_GETFL) & O_NONBLOCK)
		return blocked("flags as they were");
	pthread_create(&t, NULL, connect_late, path);
	usleep(20000);
	for (int i = 0; i < 3; i++)
		close(accept(server, NULL, NULL));
	pthread_join(t, &came);
	return came ? ok("waited for and reached") : blocked("waiting");
}

static void on_alarm(int signal)
{
	(void)signal;
}

static int interrupted(const char *folder)
{
	const struct itimerval soon = {.it_value = {0, 30000}};
	struct sigaction alarm = {.sa_handler = on_alarm};
	char path[200];
	int server;

	snprintf(path, sizeof(path), "%s/alarm", folder);
	server = serve(path, SOCK_STREAM, 1);
	if (server < 0 || fill(path) != 2)
		return blocked("EAGAIN once the queue is full");
	sigaction(SIGALRM, &alarm, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	return reach(path, SOCK_STREAM) < 0 && errno == EINTR
		       ? ok("the signal came first")
		       : blocked("EINTR");
}

static void say_connect(int fd, const void *address, socklen_t size)
{
	errno = 0;
	printf("%d ", connect(fd, address, size) < 0 ? errno : 0);
}

/* Addresses as a hostile program gives them: by the kernel's own answers. */
static int odd(const char *folder)
{
	static const int sizes[] = {-1, 0, 1, 2, 3, 109, 110, 111, 128, 129};
	char path[200], *at_end, *page;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, file = open("/dev/null", O_RDWR | O_CLOEXEC);

	snprintf(path, sizeof(path), "%s/none", folder);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		union {
			struct sockaddr_un un;
			char room[256];
		} full = {.un = {.sun_family = AF_UNIX}};

		memset(full.un.sun_path, 'x', sizeof(full) - 2);
		fd = make(SOCK_STREAM);
		say_connect(fd, &full, (socklen_t)sizes[i]);
		close(fd);
	}
	fd = make(SOCK_STREAM);
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	at_end = page + 4096 - 10;
	memcpy(at_end, &a, 10);
	say_connect(fd, at_end, sizeof(a));
	say_connect(fd, NULL, sizeof(a));
	say_connect(fd, &a, address(path, &a));
	say_connect(fd, &a, address("/dev/null", &a));
	a.sun_family = AF_INET;
	say_connect(fd, &a, sizeof(a));
	say_connect(999, &a, sizeof(a));
	say_connect(file, &a, sizeof(a));
	listen(fd, 1);
	printf("%d ", errno);
	listen(-1, 1);
	printf("%d ", errno);
	listen(file, 1);
	printf("%d\n", errno);
	return 0;
}

static int many(const char *folder, int n)
{
	char path[200];
	int server, came = 0, status;

	snprintf(path, sizeof(path), "%s/many", folder);
	server = serve(path, SOCK_STREAM, 1);
	if (server < 0)
		return blocked("serving");
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return blocked("fork");
		if (pid == 0) {
			char c = '?';
			int fd = reach(path, SOCK_STREAM);

			_exit(fd < 0 || recv(fd, &c, 1, 0) != 1 || c != 'o');
		}
	}
	greet_at(server);
	while (wait(&status) > 0)
		came += status == 0;
	printf(came == n ? "ok: %d\n" : "blocked: %d came\n", came);
	return came != n;
}

/* ---- races ---- */

static volatile bool race_is_over;

struct race {
	char own[200], host[200], link[200], other[200];
	struct sockaddr_un at[2], now;
	int fd, spare;
};

static void *swap_memory(void *arg)
{
	struct race *r = arg;

	for (unsigned i = 0; !race_is_over; i++)
		memcpy((void *)r->now.sun_path, r->at[i & 1].sun_path,
		       sizeof(r->now.sun_path));
	return NULL;
}

static void *swap_link(void *arg)
{
	struct race *r = arg;

	for (unsigned i = 0; !race_is_over; i++) {
		unlink(r->other);
		(void)!symlink(i & 1 ? r->host : r->own, r->other);
		rename(r->other, r->link);
	}
	return NULL;
}

/* RENAME_EXCHANGE of two sockets in the folder. */
static void *swap_names(void *arg)
{
	struct race *r = arg;

	while (!race_is_over)
		syscall(SYS_renameat2, AT_FDCWD, r->own, AT_FDCWD, r->host, 2);
	return NULL;
}

/* The descriptor becomes another socket's, and with it the address. */
static void *swap_fd(void *arg)
{
	struct race *r = arg;

	for (unsigned i = 0; !race_is_over; i++) {
		int fresh = make(SOCK_STREAM);

		dup3(fresh, r->fd, O_CLOEXEC);
		close(fresh);
		memcpy((void *)r->now.sun_path, r->at[i & 1].sun_path,
		       sizeof(r->now.sun_path));
		if (i % 4 == 3)
			dup3(r->spare, r->fd, O_CLOEXEC);
	}
	return NULL;
}

static void *swap_flags(void *arg)
{
	struct race *r = arg;

	while (!race_is_over)
		fcntl(r->fd, F_SETFL, 0);
	return NULL;
}

/* Another thread names the socket as soon as it is there. */
static void *name_it(void *arg)
{
	struct race *r = arg;

	while (!race_is_over)
		if (bind(r->fd, (struct sockaddr *)&r->now,
			 (socklen_t)r->spare) < 0)
			continue;
	return NULL;
}

static int take(const char *name, int n)
{
	static struct race r = {.fd = -1};
	pthread_t t;
	int named = 0;

	r.spare = (int)address(name, &r.now);
	pthread_create(&t, NULL, name_it, &r);
	for (int i = 0; i < n; i++) {
		struct sockaddr_un a = {.sun_family = AF_UNSPEC};
		socklen_t size = sizeof(a);
		int fd = make(SOCK_STREAM);

		r.fd = fd;
		if (listen(fd, 1) == 0) {
			race_is_over = true;
			pthread_join(t, NULL);
			puts("escaped: it serves");
			return 0;
		}
		getsockname(fd, (struct sockaddr *)&a, &size);
		named += size > sizeof(sa_family_t);
		r.fd = -1;
		close(fd);
	}
	race_is_over = true;
	pthread_join(t, NULL);
	printf("blocked: %s\n", named ? "though it was named" : "never named");
	return 1;
}

static const struct {
	const char *name;
	void *(*swap)(void *);
} kinds[] = {
	{"memory", swap_memory}, {"link", swap_link},	{"rename", swap_names},
	{"fd", swap_fd},	 {"flags", swap_flags},
};

/* One try; 'h' when it reached the host, 'o' its own, '+' one of them before
   it had spoken, '-' nobody. */
static char try_once(struct race *r, const char *kind)
{
	bool keeps_fd = strcmp(kind, "fd") == 0;
	int fd = keeps_fd ? r->fd : make(SOCK_STREAM);
	socklen_t n = sizeof(r->now);
	char c = '-';

	r->fd = fd;
	if (connect(fd, (struct sockaddr *)&r->now, n) == 0 &&
	    recv(fd, &c, 1, keeps_fd ? MSG_DONTWAIT : 0) != 1)
		c = '+';
	if (!keeps_fd)
		close(fd);
	return c;
}

static int race(const char *kind, const char *folder, const char *host, int n)
{
	static struct race r;
	int reached = 0, own_reached = 0, server;
	pthread_t t;

	snprintf(r.own, sizeof(r.own), "%s/race", folder);
	snprintf(r.link, sizeof(r.link), "%s/link", folder);
	snprintf(r.other, sizeof(r.other), "%s/other", folder);
	snprintf(r.host, sizeof(r.host), "%s", host);
	server = serve(r.own, SOCK_STREAM, strcmp(kind, "flags") ? 64 : 1);
	if (server < 0)
		return blocked("serving");
	if (strcmp(kind, "flags") == 0)
		(void)fill(r.own);
	else
		greet_at(server);
	address(r.own, &r.at[0]);
	address(r.host, &r.at[1]);
	address(strcmp(kind, "link") ? r.own : r.link, &r.now);
	r.fd = make(SOCK_STREAM);
	r.spare = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			pthread_create(&t, NULL, kinds[i].swap, &r);
	for (int i = 0; i < n; i++) {
		char c = try_once(&r, kind);

		reached += c == 'h';
		own_reached += c == 'o' || c == '+';
	}
	race_is_over = true;
	pthread_join(t, NULL);
	if (reached) {
		printf("escaped: %d of %d\n", reached, n);
		return 0;
	}
	printf("blocked: 0 of %d, %s reached its own\n", n,
	       own_reached ? "and" : "never");
	return 1;
}

int main(int argc, char **argv)
{
	const char *act = argc > 1 ? argv[1] : "";
	int pair[2];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(act, "pair") == 0)
		return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0
			       ? blocked("socketpair")
			       : ok("a pair");
	if (argc == 3 && strcmp(act, "own") == 0)
		return own_in(argv[2]);
	if (argc == 3 && strcmp(act, "abstract") == 0)
		return own(argv[2], SOCK_STREAM) ? 1 : ok("served and reached");
	if (argc == 3 && strcmp(act, "to") == 0)
		return to(argv[2]);
	if (argc == 4 && strcmp(act, "chdir") == 0)
		return chdir(argv[2]) < 0 ? blocked("chdir") : to(argv[3]);
	if (argc == 3 && strcmp(act, "user") == 0)
		return user_of(argv[2]);
	if (argc == 3 && strcmp(act, "dgram") == 0)
		return datagram(argv[2]);
	if (argc == 3 && strcmp(act, "send") == 0)
		return send_to(argv[2]);
	if (argc == 5 && strcmp(act, "twice") == 0)
		return twice(argv[2], argv[3], argv[4]);
	if (argc == 3 && strcmp(act, "full") == 0)
		return full(argv[2]);
	if (argc == 3 && strcmp(act, "alarm") == 0)
		return interrupted(argv[2]);
	if (argc == 3 && strcmp(act, "odd") == 0)
		return odd(argv[2]);
	if (argc == 4 && strcmp(act, "many") == 0)
		return many(argv[2], atoi(argv[3]));
	if (argc == 4 && strcmp(act, "take") == 0)
		return take(argv[2], atoi(argv[3]));
	if (argc == 6 && strcmp(act, "race") == 0)
		return race(argv[2], argv[3], argv[4], atoi(argv[5]));
	fputs("usage: see the top of tests/helpers/sockets.c\n", stderr);
	return 2;
}
