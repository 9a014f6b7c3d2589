#include "core/run/credentials.h"

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/paths.h"
#include "core/secret/secret.h"

/* A `cmd` reference has this long. */
#define CMD_TIMEOUT_MS 30000

struct value {
	const struct env_ref *ref; /* first reference that asked */
	struct buf text;	   /* owned, wiped */
	bool failed;		   /* asked once, and not again */
	struct err err;
};

struct credentials {
	struct step_context *ctx;
	const struct gate_policy *policy;
	const struct config *config;
	struct value *values; /* owned */
	size_t n, cap;
};

struct credentials *credentials_new(struct step_context *ctx,
				    const struct gate_policy *policy,
				    const struct config *config)
{
	struct credentials *c = mem_zalloc(sizeof(*c));

	c->ctx = ctx;
	c->policy = policy;
	c->config = config;
	return c;
}

void credentials_free(struct credentials *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		buf_wipe(&c->values[i].text);
	free(c->values);
	free(c);
}

static void nothing_more(UNUSED void *arg, UNUSED struct step_run *s)
{
}

/*
 * The last line of stderr, for the person who runs it: reports are kept, and a
 * program may print a value that is not known as one yet. Its stdout may be
 * half a value, which stderr repeats.
 */
static void show_words(const struct credentials *c, const struct step_run *s)
{
	AUTO(buf_release) struct buf known = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);
	struct scrub *own = scrub_new();
	struct str rest = buf_str(&s->out);

	while (rest.n)
		scrub_add(own, str_trim(str_cut(&rest, '\n')));
	scrub_apply(c->ctx->scrub, s->words, &known);
	scrub_cut(own, buf_str(&known), &words);
	scrub_free(own);
	if (words.n)
		log_note("%s: its stderr ends with: %s", s->result.name,
			 buf_cstr(&words));
}

/* Run one program to its end, alone in the loop. */
static int run_program(struct credentials *c, const struct strlist *words,
		       struct buf *out, struct err *err)
{
	struct step_context ctx = *c->ctx;
	const struct step step = {
		.name = words->item[0],
		.type = "script",
		.timeout_ms = CMD_TIMEOUT_MS,
		.stdout_max = LIMIT_SECRET_BYTES,
		.stderr_max = 1024,
	};
	struct plan_step plan = {
		.step = &step,
		.request = {.program = words->item[0],
			    .argv = words->item,
			    .policy = c->policy,
			    .cwd = c->config->dir,
			    .stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE}},
	};
	struct step_run run;
	int r = 0;

	ctx.step_ended = nothing_more;
	ctx.verdict = NULL;
	/* the value is not known to be one yet, and must come out as it is */
	ctx.scrub = NULL;
	step_init(&run, &ctx, &plan);
	run.is_secret = true;
	step_begin(&run);
	while (run.phase != STEP_ENDED && r == 0) {
		if (ctx.loop->signal &&
		    (run.phase == STEP_RUNNING || run.phase == STEP_CLOSING))
			step_cancel(&run, "interrupted");
		if (run.phase != STEP_ENDED)
			r = loop_turn(ctx.loop, err);
	}
	if (r == 0 && run.result.reason != REASON_NONE) {
		show_words(c, &run);
		r = err_set(err, ERR_CREDENTIAL, "%.*s",
			    STR_ARG(run.result.error));
	}
	if (r == 0)
		buf_add_str(out, run.result.output);
	/* the value is nowhere else: judge_script() gives a slice of it */
	buf_wipe(&run.out);
	step_release(&run);
	return r;
}

static int run_line(void *arg, const char *line, struct buf *out,
		    struct err *err)
{
	struct credentials *c = arg;
	struct arena arena = ARENA_INIT;
	struct strlist words;
	int r;

	r = path_words(line, c->config->dir, &arena, &words, err);
	if (r == 0)
		r = run_program(c, &words, out, err);
	arena_release(&arena);
	return r;
}

static int open_file(void *arg, const char *path, struct err *err)
{
	const struct credentials *c = arg;

	return path_open(path, c->config, err);
}

int credentials_check_file(const struct credentials *c, const char *path,
			   struct err *err)
{
	AUTO(fd_closep) int fd = path_open(path, c->config, err);

	/* another cause is said by who reads it */
	return fd < 0 && err->kind == ERR_POLICY ? -1 : 0;
}

static enum secret_source source_of(const struct env_ref *ref)
{
	switch (ref->source) {
	case ENV_FROM_ENV:
		return SECRET_ENV;
	case ENV_FROM_FILE:
		return SECRET_FILE;
	case ENV_FROM_CMD:
		return SECRET_CMD;
	}
	return SECRET_ENV;
}

int credentials_value(struct credentials *c, const struct env_ref *ref,
		      struct str *ret, struct err *err)
{
	struct secret_runner runner = {
		.run = run_line, .open = open_file, .arg = c};
	struct buf text = BUF_INIT(LIMIT_SECRET_BYTES);
	struct value v = {.ref = ref};

	for (size_t i = 0; i < c->n; i++) {
		if (c->values[i].ref->source == ref->source &&
		    strcmp(c->values[i].ref->from, ref->from) == 0) {
			*ret = buf_str(&c->values[i].text);
			if (c->values[i].failed)
				*err = c->values[i].err;
			return c->values[i].failed ? -1 : 0;
		}
	}
	if (secret_resolve(source_of(ref), ref->from, &runner, &text, err) <
	    0) {
		buf_wipe(&text);
		v.failed = true;
		v.err = *err;
	} else {
		scrub_add(c->ctx->scrub, buf_str(&text));
	}
	v.text = text;
	c->values = mem_grow(c->values, c->n + 1, &c->cap, sizeof(*c->values));
	c->values[c->n++] = v;
	*ret = buf_str(&text);
	return v.failed ? -1 : 0;
}

int credentials_give(struct credentials *c, const struct env_refs *refs,
		     struct step_run *s, struct err *err)
{
	for (size_t i = 0; i < refs->n; i++) {
		struct str value;

		if (credentials_value(c, &refs->item[i], &value, err) < 0)
			return err_wrap(err, "%s", refs->item[i].name);
		step_add_env(s, refs->item[i].name, value);
	}
	return 0;
}
