#include "gate/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "gate/seccomp.h"

/* Bytes of a task's name with the NUL: TASK_COMM_LEN of the kernel. */
#define COMM_BYTES 16

/* ---- what was refused ---- */

static struct gate_denial *find_row(struct denials *log, int nr,
				    const char *comm)
{
	for (size_t i = 0; i < log->n; i++)
		if (log->nr[i] == nr && strcmp(log->row[i].program, comm) == 0)
			return &log->row[i];
	return NULL;
}

static char *call_text(int nr)
{
	const char *name = seccomp_call_name(nr);

	return name ? mem_strdup(name) : mem_printf("syscall %d", nr);
}

static struct gate_denial *add_row(struct denials *log, int nr,
				   const char *comm)
{
	struct gate_denial *row;

	if (log->n == DENIALS_MAX)
		return NULL;
	if (!log->row) {
		log->row = mem_zalloc(DENIALS_MAX * sizeof(*log->row));
		log->nr = mem_zalloc(DENIALS_MAX * sizeof(*log->nr));
	}
	log->nr[log->n] = nr;
	row = &log->row[log->n++];
	*row = (struct gate_denial){
		.kind = "syscall",
		.name = call_text(nr),
		.program = mem_strdup(comm),
		.detail = mem_strdup(""),
		.allow = mem_strdup(""),
	};
	return row;
}

/* Put `text` behind the row's details unless it is there. */
static void add_detail(struct gate_denial *row, const char *text)
{
	AUTO(buf_release) struct buf all = BUF_INIT(DENIALS_DETAIL_BYTES);

	if (!text[0] || strstr(row->detail, text))
		return;
	buf_adds(&all, row->detail);
	if ((all.n && buf_adds(&all, "; ") == BUF_FULL) ||
	    buf_adds(&all, text) == BUF_FULL)
		return;
	free((char *)row->detail);
	row->detail = buf_steal(&all);
}

void denials_add(struct denials *log, const struct seccomp_data *data,
		 const char *comm)
{
	AUTO(buf_release) struct buf detail = BUF_INIT(DENIALS_DETAIL_BYTES);
	AUTO(buf_release) struct buf allow = BUF_INIT(DENIALS_DETAIL_BYTES);
	struct gate_denial *row = find_row(log, data->nr, comm);

	if (!row)
		row = add_row(log, data->nr, comm);
	if (!row) {
		log->dropped++;
		return;
	}
	if (row->count++ >= DENIALS_DETAILED)
		return;
	seccomp_describe(data, &detail);
	add_detail(row, buf_cstr(&detail));
	if (!row->allow[0]) {
		seccomp_allow_line(data, &allow);
		free((char *)row->allow);
		row->allow = mem_strdup(buf_cstr(&allow));
	}
	log_debug("%s: refused %s", comm, buf_cstr(&detail));
}

const struct gate_denial *denials_rows(const struct denials *log, size_t *ret_n)
{
	*ret_n = log->n;
	return log->row;
}

void denials_release(struct denials *log)
{
	for (size_t i = 0; i < log->n; i++) {
		free((char *)log->row[i].name);
		free((char *)log->row[i].program);
		free((char *)log->row[i].detail);
		free((char *)log->row[i].allow);
	}
	free(log->row);
	free(log->nr);
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

/* The kernel's idea of the two structures; it may have grown beyond ours. */
static bool notif_sizes(size_t *ret_notif, size_t *ret_resp)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
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

/*
 * Record, then answer. The name is read while the task waits for the answer;
 * if the request is no longer valid after that, the pid may be another's.
 */
static void refuse(int fd, const struct seccomp_notif *req,
		   struct seccomp_notif_resp *resp, size_t resp_bytes,
		   struct denials *log)
{
	uint64_t id = req->id;
	char comm[COMM_BYTES];

	read_comm(req->pid, comm);
	if (do_ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0) {
		comm[0] = '?';
		comm[1] = '\0';
	}
	denials_add(log, &req->data, comm);
	memset(resp, 0, resp_bytes);
	resp->id = id;
	resp->error = -EPERM;
	/* ENOENT: the task is gone and needs no answer */
	(void)do_ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, resp);
}

/* Something waits: 1. Nothing: 0. There is nobody left: -1. */
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

int notify_serve(int fd, struct denials *log)
{
	size_t req_bytes, resp_bytes;
	AUTO(mem_freep) struct seccomp_notif *req = NULL;
	AUTO(mem_freep) struct seccomp_notif_resp *resp = NULL;

	if (!notif_sizes(&req_bytes, &resp_bytes))
		return NOTIFY_ENDED;
	req = mem_alloc(req_bytes);
	resp = mem_alloc(resp_bytes);
	for (int i = 0; i < DENIALS_MAX; i++) {
		int state = wait_state(fd);
		int r;

		if (state <= 0)
			return state < 0 ? NOTIFY_ENDED : NOTIFY_OK;
		memset(req, 0, req_bytes); /* the kernel insists on zeroes */
		r = do_ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, req);
		if (r == ENOENT)
			continue; /* its task was killed meanwhile */
		if (r)
			return NOTIFY_ENDED;
		refuse(fd, req, resp, resp_bytes, log);
	}
	return NOTIFY_OK;
}
