/* Is the process that began a run still there? By boot, pid and start time. */
#include <string.h>

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/report/ledger_inner.h"

uint64_t ledger_process_start(int64_t pid)
{
	AUTO(mem_freep)
	char *path = mem_printf("/proc/%lld/stat", (long long)pid);
	struct buf text = BUF_INIT(4096);
	struct err ignored = ERR_INIT;
	uint64_t start = 0;
	const char *p = NULL;

	if (fd_read_file(path, &text, &ignored) == 0)
		p = strrchr(buf_cstr(&text), ')');
	if (p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X') {
		struct str rest = str_of(p + 2), field = {NULL, 0};

		for (int i = 3; i <= 22; i++)
			field = str_cut(&rest, ' ');
		if (!str_uint64(field, &start))
			start = 0;
	}
	buf_release(&text);
	return start;
}

void ledger_boot_id(struct buf *out)
{
	struct err ignored = ERR_INIT;

	if (fd_read_file("/proc/sys/kernel/random/boot_id", out, &ignored) < 0)
		return;
	out->n = str_trim(buf_str(out)).n;
}

bool ledger_is_alive(struct str started, struct str boot)
{
	struct str value;
	uint64_t start;
	int64_t pid;

	if (!scan_get(started, "boot", &value) || value.n != boot.n + 2 ||
	    memcmp(value.p + 1, boot.p, boot.n))
		return false;
	if (!scan_get(started, "pid", &value) || !scan_int64(value, &pid) ||
	    !scan_get(started, "pid_start", &value) ||
	    !str_uint64(value, &start))
		return false;
	return start && ledger_process_start(pid) == start;
}
