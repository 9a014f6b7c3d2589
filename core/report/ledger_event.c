#include "core/report/ledger_event.h"

#include "core/base/clock.h"
#include "core/base/scan.h"

static const char *const kinds[] = {"started", "finished", "told", "notified"};

bool ledger_event_read(struct str line, struct ledger_event *ret)
{
	struct ledger_event e;
	struct str value;

	if (scan_document(line, NULL, &e.doc, ERR_IGNORED) < 0 ||
	    !scan_get(e.doc, "generation", &value) ||
	    !str_uint64(value, &e.generation) || e.generation > INT64_MAX ||
	    !scan_get(e.doc, "event", &value))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!scan_is(value, kinds[i]))
			continue;
		e.kind = (enum ledger_event_kind)i;
		*ret = e;
		return true;
	}
	return false;
}

const char *ledger_event_text(const struct ledger_event *e, const char *name,
			      struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *copy = "";
	struct str value;

	if (scan_get(e->doc, name, &value) && scan_string(value, &text))
		copy = arena_strndup(arena, buf_cstr(&text), text.n);
	return copy;
}

/* Read the text of clock_format(); 0: another text. */
int64_t ledger_event_ns(const char *at)
{
	struct tm tm = {0};
	const char *end = strptime(at, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t ms;

	if (!end || strlen(end) != strlen(".123Z") || end[0] != '.' ||
	    end[4] != 'Z' || !str_uint64((struct str){end + 1, 3}, &ms))
		return 0;
	return (int64_t)timegm(&tm) * (int64_t)NS_PER_S +
	       (int64_t)(ms * NS_PER_MS);
}

bool ledger_event_has(const struct ledger_event *e, const char *name,
		      const char *text)
{
	struct str value;

	return scan_get(e->doc, name, &value) && scan_is(value, text);
}

void ledger_event_begin(struct jw *w, enum ledger_event_kind kind,
			uint64_t generation, const struct ledger_routine *which,
			int64_t wall_ns)
{
	char at[CLOCK_TEXT_BYTES];

	clock_format(wall_ns, at);
	jw_object(w);
	jw_kv_cstr(w, "event", kinds[kind]);
	jw_kv_uint(w, "generation", generation);
	jw_kv_cstr(w, "routine", which->name);
	jw_kv_cstr(w, "file", which->file);
	jw_kv_bool(w, "whole", which->whole);
	jw_kv_opt(w, "slot", which->slot);
	jw_kv_cstr(w, "at", at);
}
