/*
 * What the tests of the tools of `matins brief` share: a scratch folder, and
 * one call whose result they look at.
 */
#ifndef TESTS_UNIT_BRIEF_FIXTURE_H
#define TESTS_UNIT_BRIEF_FIXTURE_H

#include "tests/unit/test.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/scan.h"
#include "core/server/brief.h"

/* The scratch folder, which is also HOME of `env`. */
static char scratch[] = "/tmp/matins-unit.XXXXXX";
static struct tool_env env;
static struct tool_result result;

static int fixture_set_up(UNUSED void **state)
{
	if (!mkdtemp(scratch))
		return -1;
	env = (struct tool_env){
		.clock = clock_system(), .home = scratch, .proc = scratch};
	return 0;
}

static int remove_one(const char *path, UNUSED const struct stat *st,
		      UNUSED int type, UNUSED struct FTW *ftw)
{
	return remove(path);
}

static int fixture_tear_down(UNUSED void **state)
{
	tool_result_release(&result);
	return nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static UNUSED void write_file(const char *name, const char *text, size_t n)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	buf_addf(&path, "%s/%s", scratch, name);
	if (fd_replace_file(buf_cstr(&path), (struct str){text, n}, 0600, false,
			    &err) < 0)
		fail_msg("%s", err.msg);
}

#define WRITE(name, text) write_file(name, text, sizeof(text) - 1)

/* Call a tool; its result stays until the next call. */
static UNUSED void call(const char *tool, const char *args)
{
	struct err err = ERR_INIT;
	struct str value;

	tool_result_release(&result);
	tool_result_init(&result);
	if (scan_document(str_of(args), NULL, &value, &err) < 0)
		fail_msg("%s", err.msg);
	tool_call(brief_find(str_of(tool)), value, &env, &result);
	/* whatever it said, it is JSON */
	if (result.structured.n &&
	    scan_document(buf_str(&result.structured), NULL, &value, &err) < 0)
		fail_msg("%s", err.msg);
}

#define TEXT() buf_cstr(&result.text)
#define STRUCTURED() buf_cstr(&result.structured)

static UNUSED void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s\ndoes not have\n%s", text, part);
}

static UNUSED void assert_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("%s\nhas\n%s", text, part);
}

#endif
