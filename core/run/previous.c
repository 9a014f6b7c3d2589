#include "core/run/previous.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/sha256.h"
#include "core/report/store.h"

static const struct report *load(struct ledger *l, const struct ledger_run *run,
				 struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct report *report = ARENA_NEW(arena, struct report);
	char sum[SHA256_HEX_BYTES];
	size_t n;

	if (store_get(ledger_dir(l), run->file, run->generation, &text,
		      ERR_IGNORED) < 0)
		return NULL;
	sha256_hex(buf_str(&text), sum);
	if (strcmp(sum, run->sha256) != 0)
		return NULL;
	n = text.n;
	return report_load(
		       (struct str){arena_adopt(arena, buf_steal(&text)), n},
		       arena, report, ERR_IGNORED) == 0
		       ? report
		       : NULL;
}

const struct report *previous_find(struct ledger *l,
				   const struct ledger_routine *which,
				   bool must_be_ok, struct arena *arena)
{
	struct ledger_run *runs;
	size_t n;

	if (!l || ledger_read(l, arena, &runs, &n, ERR_IGNORED) < 0)
		return NULL;
	while (n-- > 0)
		if (ledger_run_is(&runs[n], which->name, which->file) &&
		    runs[n].whole && runs[n].state == RUN_FINISHED &&
		    (runs[n].success || !must_be_ok))
			return load(l, &runs[n], arena);
	return NULL;
}

const struct report_step *previous_step(const struct report *r, struct str name)
{
	for (size_t i = 0; r && i < r->n_steps; i++)
		if (str_is(name, r->steps[i].name))
			return &r->steps[i];
	return NULL;
}
