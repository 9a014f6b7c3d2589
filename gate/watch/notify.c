#include "gate/watch/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "gate/build/seccomp.h"

/* Bytes of a task's name with the NUL: TASK_COMM_LEN of the kernel. */
#define COMM_BYTES 16

/* ---- what was refused ---- */

/* The row of a call and a program, made when it is new; NULL: no room. */
static struct gate_denial *row_of(struct denials *log, int nr, const char *comm)
{
	const char *name = seccomp_call_name(nr);
	struct gate_denial *row;

	for (size_t i = 0; i < log->n; i++)
		if (log->nr[i] == nr && strcmp(log->row[i].program, comm) == 0)
			return &log->row[i];
	if (log->n >= DENIALS_MAX)
		return NULL;
	log->nr[log->n] = nr;
	row = &log->row[log->n++];
	*row = (struct gate_denial){
		.kind = "syscall",
		.name = name ? name
			     : arena_printf(&log->arena, "syscall %d", nr),
		.program = arena_strdup(&log->arena, comm),
		.detail = "",
	};
	return row;
}

/* Put `text` behind the row's details unless it is there, or there is no
   room. */
static void add_detail(struct denials *log, struct gate_denial *row,
		       const char *text)
{
	size_t n = strlen(row->detail);

	if (!text[0] || strstr(row->detail, text) ||
	    n + (n ? 2 : 0) + strlen(text) > DENIALS_DETAIL_BYTES)
		return;
	row->detail = arena_printf(&log->arena, "%s%s%s", row->detail,
				   n ? "; " : "", text);
}

void denials_add(struct denials *log, const struct seccomp_data *data,
		 const char *comm)
{
	AUTO(buf_release) struct buf detail = BUF_INIT(DENIALS_DETAIL_BYTES);
	struct gate_denial *row = row_of(log, data->nr, comm);

	if (!row) {
		log->dropped++;
		return;
	}
	if (row->count++ >= DENIALS_DETAILED)
		return;
	seccomp_describe(data, &detail);
	add_detail(log, row, buf_cstr(&detail));
	if (!row->allow.key)
		seccomp_allow(data, &row->allow.key, &row->allow.value);
	/* the kernel keeps 15 bytes; the mark is for who scrubs half values */
	log_debug("%s%s: refused %s", comm,
		  strlen(comm) == COMM_BYTES - 1 ? "…" : "", buf_cstr(&detail));
}

void denials_add_row(struct denials *log, const struct gate_denial *row)
{
	if (log->n == DENIALS_ROWS) {
		log->dropped += row->count;
		return;
	}
	log->nr[log->n] = -1; /* of no call */
	log->row[log->n++] = (struct gate_denial){
		.kind = row->kind,
		.name = arena_strdup(&log->arena, row->name),
		.program = arena_strdup(&log->arena, row->program),
		.detail = arena_strdup(&log->arena, row->detail),
		.allow = {row->allow.key,
			  arena_strdup(&log->arena, row->allow.value)},
		.count = row->count,
	};
}

void denials_release(struct denials *log)
{
	arena_release(&log->arena);
	*log = (struct denials)DENIALS_INIT;
}

/* ---- the listener ---- */

static void read_comm(uint32_t pid, char out[COMM_BYTES])
{
	char path[64];
	AUTO(fd_closep) int fd = -1;
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = fd_open(path, O_RDONLY, 0);
	if (fd >= 0)
		n = read(fd, out, COMM_BYTES - 1);
	if (n > 0 && out[n - 1] == '\n')
		n--;
	if (n <= 0) {
		out[0] = '?';
		n = 1;
	}
	out[n] = '\0';
}

/* Sizes of the two structures in this kernel, which may be larger than ours. */
static bool notif_sizes(size_t *ret_notif, size_t *ret_resp)
{
	struct seccomp_notif_sizes sizes;

	if (kernel_seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return false;
	*ret_notif = sizes.seccomp_notif;
	*ret_resp = sizes.seccomp_notif_resp;
	if (*ret_notif < sizeof(struct seccomp_notif))
		*ret_notif = sizeof(struct seccomp_notif);
	if (*ret_resp < sizeof(struct seccomp_notif_resp))
		*ret_resp = sizeof(struct seccomp_notif_resp);
	return true;
}

/* ioctl(2) repeated on EINTR; 0 or errno. */
static int do_ioctl(int fd, unsigned long request, void *arg)
{
	int r;

	do
		r = ioctl(fd, request, arg);
	while (r < 0 && errno == EINTR);
	return r < 0 ? errno : 0;
}

struct listener {
	int fd;
	struct seccomp_notif *req;
	struct seccomp_notif_resp *resp;
	size_t req_bytes, resp_bytes;
	struct denials *log;
	struct watch *watch;
};

/* 0: the request stands. ENOENT: its task is gone, and the id may be another's.
   Else an errno. */
static int check_valid(const struct listener *l)
{
	uint64_t id = l->req->id;

	return do_ioctl(l->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

/* Answer the call with an errno; 0 lets it go on. Returns an errno when the
   call still waits. */
static int send_answer(struct listener *l, int error)
{
	int r;

	memset(l->resp, 0, l->resp_bytes);
	l->resp->id = l->req->id;
	l->resp->error = -error;
	if (!error)
		l->resp->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	r = do_ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SEND, l->resp);
	return r == ENOENT ? 0 : r;
}

/*
 * Record, then answer. The name is read while the task waits for the answer;
 * if the request is no longer valid after that, the pid may be another's.
 */
static int refuse_call(struct listener *l)
{
	char comm[COMM_BYTES];

	read_comm(l->req->pid, comm);
	if (check_valid(l)) {
		comm[0] = '?';
		comm[1] = '\0';
	}
	denials_add(l->log, &l->req->data, comm);
	return send_answer(l, EPERM);
}

/* The filter has allowed it, or it would not be here. */
static int pass_watched(struct listener *l)
{
	char comm[COMM_BYTES];
	int r;

	read_comm(l->req->pid, comm);
	watch_look_at(l->watch, l->req);
	r = check_valid(l);
	if (r)
		return r == ENOENT ? 0 : r;
	return send_answer(l, watch_note(l->watch, comm));
}

/* 1: a call waits. 0: none does. -1: no task has the filter any more. */
static int wait_state(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, 0);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r;
	if (p.revents & POLLIN)
		return 1;
	return p.revents & (POLLHUP | POLLERR | POLLNVAL) ? -1 : 0;
}

/* Serve one call; none when its task was killed meanwhile. Else an errno. */
static int serve_one(struct listener *l)
{
	int r;

	memset(l->req, 0, l->req_bytes); /* the kernel insists on zeroes */
	r = do_ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, l->req);
	if (r)
		return r == ENOENT ? 0 : r;
	if (l->watch && watch_covers(l->watch, l->req->data.nr))
		return pass_watched(l);
	return refuse_call(l);
}

static int serve_waiting(struct listener *l)
{
	for (int i = 0; i < DENIALS_MAX; i++) {
		int state = wait_state(l->fd);

		if (state <= 0)
			return state < 0 ? NOTIFY_ENDED : NOTIFY_OK;
		if (serve_one(l))
			return NOTIFY_BROKEN;
	}
	return NOTIFY_OK;
}

int notify_serve(int fd, struct denials *log, struct watch *watch)
{
	struct listener l = {.fd = fd, .log = log, .watch = watch};
	int r;

	if (!notif_sizes(&l.req_bytes, &l.resp_bytes))
		return NOTIFY_BROKEN;
	l.req = mem_alloc(l.req_bytes);
	l.resp = mem_alloc(l.resp_bytes);
	r = serve_waiting(&l);
	free(l.req);
	free(l.resp);
	return r;
}
