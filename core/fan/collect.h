/*
 * One report of all inputs in their order, of the results that are there now.
 * Memory does not grow with the inputs: rows are streamed.
 */
#ifndef CORE_FAN_COLLECT_H
#define CORE_FAN_COLLECT_H

#include "core/base/outfile.h"
#include "core/fan/results.h"

#define FAN_REPORT_SCHEMA "matins-fan-report/1"

/* Forms by the end of the name of the file. */
enum fan_form { FAN_JSON, FAN_JSONL, FAN_MD, FAN_HTML, N_FAN_FORMS };
extern const char *const FAN_FORMS[N_FAN_FORMS];

struct fan_collect {
	struct results *results;
	struct outfile *out;
	enum fan_form form;
	bool is_golden; /* leave out every time */
};

struct fan_collected {
	uint64_t total, ok, failed, missing;
	int exit_status; /* 0, 2 or 3 */
};

/* errors  ERR_SYS, ERR_OUTPUT; ERR_CONFIG where inputs.jsonl is another */
int fan_collect(const struct fan_collect *o, struct fan_collected *ret,
		struct err *err) MUST_USE;

#endif
