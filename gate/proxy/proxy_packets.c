#include "gate/proxy/proxy_packets.h"

#include <errno.h>
#include <netinet/tcp.h>

#include "gate/proxy/proxy_plan.h"

/* Packets of one turn; a child that floods waits for the next. */
#define TURN 256
/* Of a raw packet: the longest head of IPv4, and ports and flags of TCP. */
#define RAW_BYTES (60 + 20)

#define MAX(a, b) ((a) > (b) ? (a) : (b))

struct packet {
	char bytes[MAX(DNS_QUESTION_BYTES, RAW_BYTES)];
	size_t n;
	bool is_cut;
	struct address to;
	union {
		struct sockaddr any;
		struct sockaddr_in6 v6;
	} from;
	socklen_t from_bytes;
};

/* Where a packet went to, and its answer comes from. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(
		MAX(sizeof(struct in_pktinfo), sizeof(struct in6_pktinfo)))];
};

/* ---- one packet ---- */

static bool find_target(struct msghdr *msg, struct address *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR(msg, c)) {
		struct in_pktinfo v4;
		struct in6_pktinfo v6;

		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			memcpy(&v4, CMSG_DATA(c), sizeof(v4));
			*ret = (struct address){.is_v6 = false};
			memcpy(ret->bytes, &v4.ipi_addr, 4);
			return true;
		}
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			memcpy(&v6, CMSG_DATA(c), sizeof(v6));
			*ret = (struct address){.is_v6 = true};
			memcpy(ret->bytes, &v6.ipi6_addr, 16);
			return true;
		}
	}
	return false;
}

static bool receive(int fd, struct packet *p)
{
	union control control;
	struct iovec data = {p->bytes, sizeof(p->bytes)};
	struct msghdr msg = {.msg_name = &p->from,
			     .msg_namelen = sizeof(p->from),
			     .msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 || !find_target(&msg, &p->to))
		return false;
	p->n = (size_t)n;
	p->is_cut = msg.msg_flags & MSG_TRUNC;
	p->from_bytes = msg.msg_namelen;
	return true;
}

/* From the address that was asked: a resolver takes no other's answer. */
static void send_back(int fd, struct packet *p, const struct buf *answer)
{
	union control control = {.bytes = {0}};
	struct iovec data = {answer->p, answer->n};
	struct msghdr msg = {.msg_name = &p->from,
			     .msg_namelen = p->from_bytes,
			     .msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control};
	struct in_pktinfo v4 = {.ipi_ifindex = 0};
	struct in6_pktinfo v6 = {.ipi6_ifindex = 0};
	size_t n = p->to.is_v6 ? sizeof(v6) : sizeof(v4);

	memcpy(&v4.ipi_spec_dst, p->to.bytes, 4);
	memcpy(&v6.ipi6_addr, p->to.bytes, 16);
	msg.msg_controllen = CMSG_SPACE(n);
	control.head.cmsg_level = p->to.is_v6 ? IPPROTO_IPV6 : IPPROTO_IP;
	control.head.cmsg_type = p->to.is_v6 ? IPV6_PKTINFO : IP_PKTINFO;
	control.head.cmsg_len = CMSG_LEN(n);
	memcpy(CMSG_DATA(&control.head),
	       p->to.is_v6 ? (const void *)&v6 : (const void *)&v4, n);
	/* a child that does not take it asks again */
	(void)sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- questions ---- */

static void answer_questions(int fd, struct proxy_known *known)
{
	AUTO(buf_release) struct buf answer = BUF_INIT(DNS_ANSWER_BYTES);
	struct packet p;

	for (int i = 0; i < TURN && receive(fd, &p); i++) {
		buf_clear(&answer);
		if (!p.is_cut)
			proxy_resolve(known, (struct str){p.bytes, p.n},
				      &answer);
		if (answer.n)
			send_back(fd, &p, &answer);
	}
}

/* ---- connections ---- */

/* Let through what asks for a connection: SYN without ACK. */
#define FLAGS_AT 13
#define FLAGS_FIRST 0x02
#define FLAGS_SEEN 0x12

static int filter_first(int fd, bool is_v6)
{
	/* IPv6 comes without its head, IPv4 with one of any length */
	struct sock_filter insn[] = {
		BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, FLAGS_AT),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FLAGS_SEEN),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FLAGS_FIRST, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, RAW_BYTES),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = {ARRAY_LEN(insn), insn};

	if (!is_v6)
		insn[0] = (struct sock_filter)BPF_STMT(
			BPF_LDX | BPF_B | BPF_MSH, 0);
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			  sizeof(program));
}

int packets_prepare(int fd, int type, bool is_v6, struct err *err)
{
	const int on = 1;
	int r = is_v6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on,
				   sizeof(on))
		      : setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));

	if (r == 0 && type == SOCK_RAW)
		r = filter_first(fd, is_v6);
	return r < 0 ? err_sys(err, errno, "sockets for packets") : 0;
}

/* The port that a first packet asks for; 0: it is none. Others are there from
   before the filter. */
static uint16_t port_of(const struct packet *p)
{
	size_t head = p->to.is_v6 ? 0 : 4 * ((size_t)p->bytes[0] & 0x0f);

	if (p->n <= head + FLAGS_AT ||
	    (p->bytes[head + FLAGS_AT] & FLAGS_SEEN) != FLAGS_FIRST)
		return 0;
	return (uint16_t)((uint8_t)p->bytes[head + 2] << 8 |
			  (uint8_t)p->bytes[head + 3]);
}

static void judge_packets(int fd, struct proxy_known *known)
{
	struct endpoint_target t;
	struct packet p;

	for (int i = 0; i < TURN && receive(fd, &p); i++) {
		uint16_t port = p.n ? port_of(&p) : 0;

		/* there the child serves and finds itself */
		if (!port || address_class_of(&p.to) == ADDRESS_LOOPBACK)
			continue;
		proxy_names_target(&known->share->names, &p.to, port,
				   known->rows, known->n_rows, &t);
		if (endpoint_judge(known->rows, known->n_rows, &t) ==
			    ENDPOINT_REFUSED &&
		    port != PROXY_PORT_DNS)
			proxy_deny(known, &t, PROXY_UNLISTED);
	}
}

void packets_serve(int fd, int type, struct proxy_known *known)
{
	if (type == SOCK_RAW)
		judge_packets(fd, known);
	else
		answer_questions(fd, known);
}
