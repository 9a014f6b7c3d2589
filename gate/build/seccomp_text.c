/* A refused call as people read it: the text half of gate/seccomp.h. */
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>

#include "gate/build/seccomp.h"

/* The longest text of a table and its NUL. */
#define SHOW_BYTES 28

/* Texts in place: see struct call of seccomp.c. */
struct value_name {
	char kind;
	uint32_t value;
	char name[SHOW_BYTES];
};

static const struct value_name NAMES[] = {
#define SHOW_NAME(kind, value, name) {kind, (uint32_t)(value), name},
#include "gate/build/syscall_show.def"
};

static const char *name_of(char kind, uint32_t value)
{
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		if (NAMES[i].kind == kind && NAMES[i].value == value)
			return NAMES[i].name;
	return NULL;
}

/* Named bits joined by |, what is left over in hexadecimal. */
static void add_bits(struct buf *out, char kind, uint32_t value)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		const struct value_name *n = &NAMES[i];

		if (n->kind != kind || !(value & n->value))
			continue;
		buf_addf(out, "%s%s", any ? "|" : "", n->name);
		value &= ~n->value;
		any = true;
	}
	if (value || !any)
		buf_addf(out, "%s%#x", any ? "|" : "", value);
}

static void add_socket_type(struct buf *out, uint32_t type)
{
	uint32_t base = type & ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK);
	const char *name = name_of('t', base);

	if (name)
		buf_adds(out, name);
	else
		buf_addf(out, "%#x", base);
	if (type & SOCK_CLOEXEC)
		buf_adds(out, "|SOCK_CLOEXEC");
	if (type & SOCK_NONBLOCK)
		buf_adds(out, "|SOCK_NONBLOCK");
}

static void add_arg(struct buf *out, char kind, uint64_t arg)
{
	uint32_t low = (uint32_t)arg;
	const char *name;

	switch (kind) {
	case '.':
		buf_adds(out, "...");
		return;
	case 'd':
		buf_addf(out, "%d", (int)low);
		return;
	case 'o':
		buf_addf(out, "0%o", low);
		return;
	case 'c':
		/* the lowest byte is the signal that the end sends */
		add_bits(out, kind, low & ~UINT32_C(0xff));
		return;
	case 't':
		add_socket_type(out, low);
		return;
	default:
		name = name_of(kind, low);
		if (name)
			buf_adds(out, name);
		else
			buf_addf(out, "%#x", low);
	}
}

/* All six, without the zeroes at the end. */
static void add_raw(struct buf *out, const struct seccomp_data *data)
{
	size_t n = ARRAY_LEN(data->args);

	while (n && !data->args[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%#llx", i ? ", " : "",
			 (unsigned long long)data->args[i]);
}

void seccomp_describe(const struct seccomp_data *data, struct buf *out)
{
	const char *name = seccomp_call_name(data->nr);
	const char *kinds = seccomp_call_kinds(data->nr);

	if (name)
		buf_addf(out, "%s(", name);
	else
		buf_addf(out, "syscall_%d(", data->nr);
	for (size_t i = 0; kinds[i]; i++) {
		if (i)
			buf_adds(out, ", ");
		add_arg(out, kinds[i], data->args[i]);
	}
	if (!*kinds)
		add_raw(out, data);
	buf_addc(out, ')');
}
