#include "core/client/audited.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"

/* The arguments as the audit has them: an object, or the names of its members.
 */
static void write_args(struct str params, const struct scrub *scrub,
		       bool is_full, struct buf *out)
{
	AUTO(buf_release) struct buf names = BUF_INIT(BUF_UNBOUNDED);
	struct str given = params.n ? params : STR("{}");
	struct jw w;

	if (!is_full) {
		jw_init(&w, &names, false);
		jw_array(&w);
		for (struct scan_iter it = scan_over(given); scan_next(&it);)
			jw_raw(&w, it.key);
		jw_end(&w);
		given = buf_str(&names);
	}
	if (scrub_is_empty(scrub))
		scan_compact(given, out);
	else
		(void)scrub_json(scrub, given, out);
	/* a line is one line */
	for (size_t i = 0; i < out->n; i++)
		if (out->p[i] == '\n' || out->p[i] == '\r')
			out->p[i] = ' ';
}

int audited_begin(struct audit **a, const struct client_call *call,
		  const char *server, const struct scrub *scrub, bool is_full,
		  struct clock *clock, struct audited **ret, struct err *err)
{
	struct audited *made = mem_zalloc(sizeof(*made));
	struct audit_entry *e = &made->entry;

	made->args = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	made->tool = mem_strdup(call->tool);
	made->origin = mem_strdup(call->origin ? call->origin : "command line");
	made->begin_ns = clock->now_ns(clock);
	write_args(call->params, scrub, is_full, &made->args);
	audit_new_id(e->id);
	e->origin = made->origin;
	e->server = server;
	e->tool = made->tool;
	e->args = buf_str(&made->args);
	sha256_hex(call->params.n ? call->params : STR("{}"), e->args_sha256);
	e->wall_ns = clock->wall_ns(clock);
	*ret = made;
	if ((*a || audit_open(a, err) == 0) && audit_write(*a, e, err) == 0)
		return 0;
	audited_end(NULL, made, NULL, clock);
	*ret = NULL;
	err->kind = ERR_PROTECTION;
	return err_wrap(err, "the call was not made, as `audit` cannot record "
			     "it");
}

static const char *state_of(const struct client_event *e)
{
	struct str is_error;

	if (!e || (e->type == CLIENT_FAILED && e->reason == REASON_CANCELLED))
		return "cancelled";
	if (e->type == CLIENT_ERROR)
		return "failed";
	if (e->type == CLIENT_FAILED)
		return REPORT_STATES[report_reason_state(e->reason)].word;
	return scan_get(e->of->result, "isError", &is_error) &&
			       scan_type(is_error) == SCAN_TRUE
		       ? "tool_error"
		       : "ok";
}

static void write_end(struct audit *a, const struct audit_entry *entry)
{
	struct err err = ERR_INIT;

	if (audit_write(a, entry, &err) < 0)
		log_error("the end of a call is not in the audit: %s", err.msg);
}

void audited_end(struct audit *a, struct audited *call,
		 const struct client_event *e, struct clock *clock)
{
	if (!call)
		return;
	call->entry.state = state_of(e);
	call->entry.ms = (clock->now_ns(clock) - call->begin_ns) / NS_PER_MS;
	call->entry.wall_ns = clock->wall_ns(clock);
	if (a)
		write_end(a, &call->entry);
	free(call->tool);
	free(call->origin);
	buf_release(&call->args);
	free(call);
}

void audited_denied(const char *audit, const struct client_call *call,
		    const char *server, struct clock *clock)
{
	const struct client_event denied = {.type = CLIENT_FAILED,
					    .reason = REASON_TOOL_POLICY};
	struct audited *made;
	struct audit *a = NULL;
	struct err err = ERR_INIT;

	if (!audit || strcmp(audit, "off") == 0)
		return;
	if (audited_begin(&a, call, server, NULL, false, clock, &made, &err) ==
	    0)
		audited_end(a, made, &denied, clock);
	else
		log_error("a denied call is not in the audit: %s", err.msg);
	audit_free(a);
}
