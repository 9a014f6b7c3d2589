/*
 * Files of a plan, as another machine may have left them: the first byte says
 * which. A manifest that is read is printed and read as the same one; a result
 * that is whole has a report that can be looked at; hosts have names and slots.
 */
#include <stdlib.h>

#include "core/fan/layout.h"
#include "core/fan/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void manifest(struct str text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct manifest m, same;

	if (manifest_read(text, &arena, &m, ERR_IGNORED) < 0)
		return;
	manifest_head(&m, &again);
	if (manifest_read(buf_str(&again), &arena, &same, ERR_IGNORED) < 0)
		abort();
	if (m.n != same.n || m.n_keys != same.n_keys ||
	    m.per_shard != same.per_shard || m.n_shards != same.n_shards ||
	    strcmp(m.routine, same.routine) != 0 ||
	    strcmp(m.config_path, same.config_path) != 0 ||
	    !str_eq(m.config_text, same.config_text) ||
	    !str_eq(m.leash, same.leash) || !str_eq(m.params, same.params))
		abort();
}

static void shard(struct str text)
{
	AUTO(buf_release) struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct manifest_shard row, same;

	if (!manifest_shard(text, &row))
		return;
	manifest_row(&row, true, &again);
	if (!manifest_shard(buf_str(&again), &same) ||
	    row.offset != same.offset || strcmp(row.sum, same.sum) != 0)
		abort();
}

static void result(struct str text)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789ab"
				  "cdef0123456789abcdef";
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_result r;
	struct report report;

	fan_result_read(text, key, &arena, &r);
	if (r.state == FAN_TORN)
		return;
	if ((r.state != FAN_OK && r.state != FAN_FAILED) || !r.report.n ||
	    r.report.p < text.p || r.report.p + r.report.n > text.p + text.n)
		abort();
	(void)!report_load(r.report, &arena, &report, ERR_IGNORED);
}

static void hosts(struct str text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_host *host;
	size_t n;

	if (hosts_read(text, &arena, &host, &n, ERR_IGNORED) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (!*host[i].name || *host[i].name == '-' || !host[i].slots ||
		    host[i].slots > 1024 || !*host[i].matins)
			abort();
	if (!n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str all = {(const char *)data, size};
	const struct str text = str_skip(all, size > 0);

	switch (size ? *all.p : 0) {
	case 'm':
		manifest(text);
		break;
	case 's':
		shard(text);
		break;
	case 'r':
		result(text);
		break;
	case 'h':
		hosts(text);
		break;
	default:
		break;
	}
	return 0;
}
