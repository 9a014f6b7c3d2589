/*
 * The lists that a person keeps, read by the tools todo and deadlines. What
 * they answer is JSON whatever the file holds.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/scan.h"
#include "core/server/brief.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const char *tool, const char *file)
{
	const struct tool_env env = tool_env_system();
	AUTO(buf_release) struct buf args = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct tool_result result;
	struct err err = ERR_INIT;
	struct str value;
	struct jw w;

	buf_addf(&args, "{\"file\":\"%s\",\"today\":\"2026-01-31\"}", file);
	tool_result_init(&result);
	tool_call(brief_find(str_of(tool)), buf_str(&args), &env, &result);
	jw_init(&w, &out, false);
	jw_object(&w);
	tool_result_write(&result, true, &w);
	jw_end(&w);
	tool_result_release(&result);
	if (scan_document(buf_str(&out), NULL, &value, &err) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(fd_closep) int fd = memfd_create("list", MFD_CLOEXEC);
	char file[64];

	if (fd < 0 || fd_write_all(fd, data, size) < 0)
		return 0;
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	ask("todo", file);
	ask("deadlines", file);
	return 0;
}
