/*
 * completion/complete: what could stand for an argument of a prompt or of a
 * resource template (COM-1 to COM-4).
 */
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"

const struct option options_complete[] = {
	{"context", 0, "NAME=TEXT", "an argument that is already set"},
#include "core/cli/target_options.def"
	{0},
};

/* A server gives this many at most (COM-2). */
#define VALUES_MAX 100

/* ---- asking ---- */

static int write_ref(struct jw *w, const char *text, struct err *err)
{
	static const struct {
		const char *prefix, *type, *member;
	} refs[] = {
		{"prompt:", "ref/prompt", "name"},
		{"resource:", "ref/resource", "uri"},
	};

	for (size_t i = 0; i < ARRAY_LEN(refs); i++) {
		size_t n = strlen(refs[i].prefix);

		if (strncmp(text, refs[i].prefix, n) || !text[n])
			continue;
		jw_kv_object(w, "ref");
		jw_kv_cstr(w, "type", refs[i].type);
		jw_kv_cstr(w, refs[i].member, text + n);
		jw_end(w);
		return 0;
	}
	return err_set(
		err, ERR_USAGE,
		"complete: \"%s\" is neither prompt:NAME nor resource:TEMPLATE",
		text);
}

static int write_context(struct jw *w, const struct args *args,
			 struct arena *arena, struct err *err)
{
	struct strlist given = args_all(args, "context", arena);
	char **words = ARENA_ARRAY(arena, char *, given.n + 1);
	const struct str none = {NULL, 0};
	struct str values;

	if (!given.n)
		return 0;
	for (size_t i = 0; i < given.n; i++)
		words[i] = arena_strdup(arena, given.item[i]);
	if (tool_args_read(words, given.n, NULL, none, arena, &values, err) < 0)
		return err_wrap(err, "--context");
	jw_kv_object(w, "context");
	jw_kv_raw(w, "arguments", values);
	jw_end(w);
	return 0;
}

static int write_params(const struct args *args, struct arena *arena,
			struct buf *out, struct err *err)
{
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	if (write_ref(&w, args->positional[0], err) < 0)
		return -1;
	jw_kv_object(&w, "argument");
	jw_kv_cstr(&w, "name", args->positional[1]);
	jw_kv_cstr(&w, "value",
		   args->n_positional > 2 ? args->positional[2] : "");
	jw_end(&w);
	if (write_context(&w, args, arena, err) < 0)
		return -1;
	jw_end(&w);
	return 0;
}

/* ---- the answer ---- */

static int print_values(struct target *t, struct str values, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	size_t n = 0;

	scan_iter_init(&it, values);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (!scan_string(it.value, &text))
			continue;
		if (n++ == VALUES_MAX) {
			log_warning("%s sent more than %d values; showing the "
				    "first ones",
				    t->name, VALUES_MAX);
			break;
		}
		target_show(t, buf_str(&text), false, &out);
		buf_addc(&out, '\n');
	}
	live_clear(&t->live);
	return target_write(buf_str(&out), err);
}

static int print_all(struct target *t, struct str result, struct err *err)
{
	struct str completion, values, v;

	if (!scan_get_some(result, "completion", &completion) ||
	    !scan_get_some(completion, "values", &values) ||
	    scan_type(values) != SCAN_ARRAY)
		return err_set(err, ERR_PEER,
			       "the server's answer lacks completion.values");
	if (t->json)
		return target_put_json(t, result, err);
	if (print_values(t, values, err) < 0)
		return -1;
	if (scan_get(completion, "hasMore", &v) && scan_type(v) == SCAN_TRUE)
		log_note("the server has more values");
	return 0;
}

static int complete(struct target *t, struct str params, struct err *err)
{
	struct client_call call = {
		.method = "completion/complete",
		.params = params,
	};
	struct str result;

	if (target_result(t, &call, "completing", &t->arena, &result, err) < 0)
		return -1;
	return print_all(t, result, err);
}

int cmd_complete(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct target t;
	int status;

	if (write_params(args, &arena, &params, err) < 0)
		return -1;
	status = target_open(&t, args, err);
	if (status == 0)
		status = complete(&t, buf_str(&params), err);
	return target_close(&t, status, err);
}
