#include "core/base/scan.h"
#include "core/cli/call_batch_inner.h"
#include "core/cli/list_show.h"
#include "core/cli/tool_say.h"

/* ---- tools ---- */

void batch_leave_set(struct slot *s)
{
	if (s->set)
		tool_set_leave(s->set, s->batch->set);
	s->set = NULL;
	s->check = NULL;
}

int batch_refresh_tools(struct batch *b, struct err *err)
{
	int r;

	if (!b->set || b->is_list_lost || b->at == b->text.n ||
	    !client_list_is_stale(b->t->client, LISTING_TOOLS))
		return 0;
	if (batch_flush(b, err) < 0)
		return -1;
	r = tool_set_refresh(b->t, &b->set, err);
	b->is_list_lost = r > 0;
	return r < 0 ? -1 : 0;
}

/* ---- one line ---- */

static int unknown_member(struct str json, struct err *err)
{
	static const char *const names[] = {"tool", "arguments"};
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	const char *near;

	scan_string(json, &key);
	near = str_nearest(buf_str(&key), names, ARRAY_LEN(names));
	return err_set(err, ERR_SYNTAX, "the line has a member \"%s\"; %s%s%s",
		       buf_cstr(&key), near ? "did you mean \"" : "there are ",
		       near ? near : "\"tool\" and \"arguments",
		       near ? "\"?" : "\"");
}

static int read_members(struct str line, const struct scan_members *members,
			struct str *tool, struct str *arguments,
			struct err *err)
{
	struct scan_iter it;

	*tool = *arguments = (struct str){NULL, 0};
	if (scan_type(line) != SCAN_OBJECT)
		return err_set(
			err, ERR_SYNTAX,
			"the line is no object {\"tool\":…,\"arguments\":{…}}");
	scan_iter_noted(&it, line, members);
	while (scan_next(&it)) {
		if (scan_is(it.key, "tool"))
			*tool = it.value;
		else if (scan_is(it.key, "arguments"))
			*arguments = it.value;
		else
			return unknown_member(it.key, err);
	}
	if (!tool->p || scan_type(*tool) != SCAN_STRING)
		return err_set(err, ERR_SYNTAX,
			       "\"tool\" is missing, or no string");
	if (arguments->p && scan_type(*arguments) == SCAN_NULL)
		*arguments = (struct str){NULL, 0};
	if (arguments->p && scan_type(*arguments) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "\"arguments\" is no object");
	return 0;
}

/* tool  ends in NUL */
static int check_line(struct slot *s, struct str tool, struct str arguments,
		      struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct batch *b = s->batch;
	struct tool_findings found;
	char what[40];

	if (!b->set)
		return 0;
	s->check = tool_set_find(b->set, tool);
	if (!s->check)
		return list_unknown(b->t, &b->set->list, "tool", tool.p, err);
	s->set = b->set;
	s->set->users++;
	snprintf(what, sizeof(what), "line %llu",
		 (unsigned long long)s->number);
	(void)!tool_check_arguments(s->check, arguments, what, &arena, &found);
	return tool_say(&found, b->o->rigour, err);
}

/* The line is known, and is not the first one that the text speaks of. */
static int not_json(struct err *err)
{
	return err_set(err, ERR_SYNTAX, "the line is no JSON from column %u on",
		       (unsigned)err->col);
}

static int send_line(struct slot *s, struct str line, struct err *err)
{
	struct client_call call = {.on_event = batch_on_answer, .arg = s};
	struct buf *name = &s->batch->tool;
	struct scan_members members;
	struct str value, tool;

	if (scan_members(line, &value, &members, err) < 0)
		return err->kind == ERR_SYNTAX ? not_json(err) : -1;
	if (read_members(value, &members, &tool, &call.params, err) < 0)
		return -1;
	buf_clear(name);
	scan_string(tool, name);
	if (check_line(s, buf_str(name), call.params, err) < 0)
		return -1;
	call.tool = buf_cstr(name);
	call.as_task = s->check && tool_needs_task(s->check->tool);
	return client_call(s->batch->t->client, &call, NULL, err);
}

void batch_take_line(struct batch *b, struct str line)
{
	struct slot *s;
	struct err err;

	b->number++;
	if (!str_trim(line).n && !b->too_long)
		return;
	s = batch_new_slot(b);
	b->counts.lines++;
	err_clear(&err);
	if (b->too_long)
		err_set(&err, ERR_LIMIT, "the line is over %d bytes",
			LINE_BYTES);
	else if (send_line(s, line, &err) == 0)
		return;
	batch_write_error(s, err_word(err.kind), err.msg);
	batch_finish(s);
}
