/*
 * Ledgers, torn and forged anywhere: lines from the end are those from the
 * beginning, runs come once each, and stories end.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/report/ledger_runs.h"
#include "core/report/ledger_told.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/matins-fuzz-ledger.XXXXXX";

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void remove_dir(void)
{
	AUTO(mem_freep) char *path = mem_printf("%s/ledger.jsonl", dir);

	unlink(path);
	rmdir(dir);
}

static void put(const uint8_t *data, size_t size)
{
	static bool is_made;
	AUTO(mem_freep) char *path = NULL;
	AUTO(fd_closep) int fd = -1;

	if (!is_made) {
		expect(mkdtemp(dir) != NULL);
		atexit(remove_dir);
	}
	is_made = true;
	path = mem_printf("%s/ledger.jsonl", dir);
	fd = fd_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	expect(fd >= 0 && fd_write_all(fd, data, size) == 0);
}

/* Lines from the end, against a plain reading from the beginning. */
static size_t compare_lines(struct ledger *l, struct str text)
{
	AUTO(ledger_lines_release) struct ledger_lines lines;
	struct ledger_event forth, back;
	size_t n = 0, met = 0;
	uint64_t sum = 0, other = 0;

	while (text.n) {
		if (!ledger_event_read(str_cut(&text, '\n'), &forth))
			continue;
		n++;
		sum += forth.generation * n;
	}
	ledger_lines_init(&lines, l);
	/* blocks of few bytes, so that all is cut somewhere */
	lines.block = 7;
	while (ledger_lines_next(&lines, &back, ERR_IGNORED) > 0) {
		expect(met < n);
		other += back.generation * (n - met++);
	}
	expect(met == n && sum == other);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ledger_routine which = {"r", "/m.toml", true, NULL};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(ledger_freep) struct ledger *l = NULL;
	AUTO(ledger_walk_release) struct ledger_walk w = {.since_ns = 0};
	AUTO(ledger_walk_release) struct ledger_walk at = {.since_ns = 0};
	struct ledger_told told, *near;
	const struct ledger_run *run;
	size_t n_near, n_lines, n = 0;
	int r;

	put(data, size);
	expect(ledger_open_read(dir, &l, ERR_IGNORED) == 0);
	n_lines = compare_lines(l, (struct str){(const char *)data, size});
	ledger_walk_init(&w, l, &arena);
	ledger_walk_init(&at, l, &arena);
	while ((r = ledger_walk_next(&w, &run, ERR_IGNORED)) > 0)
		expect(ledger_walk_at(&at, n++)->generation == run->generation);
	expect(r == 0 && n <= n_lines && !ledger_walk_at(&at, n));
	expect(ledger_told(l, &which, &arena, &told, ERR_IGNORED) == 0);
	expect(ledger_told_near(l, which.file, &arena, &near, &n_near,
				ERR_IGNORED) == 0);
	for (size_t k = 0; k < n_near; k++)
		expect(strcmp(near[k].routine, which.name) != 0 ||
		       near[k].generation == told.generation);
	return 0;
}
