#include "core/run/credentials.h"

#include <fcntl.h>
#include <assert.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/facts.h"
#include "core/client/program.h"
#include "core/config/paths.h"
#include "core/secret/secret.h"

/* ---- environments ---- */

static void wipe_line(char *line)
{
	mem_wipe(line, strlen(line));
	free(line);
}

/* n  bytes of the name and its "=" */
static void put_line(struct env *e, char *line, size_t n)
{
	for (size_t i = 0; i < e->n; i++) {
		if (strncmp(e->item[i], line, n) != 0)
			continue;
		wipe_line(e->item[i]);
		e->item[i] = line;
		return;
	}
	e->item = mem_realloc(e->item, (e->n + 2) * sizeof(*e->item));
	e->item[e->n++] = line;
	e->item[e->n] = NULL;
}

void env_add_lines(struct env *e, const char *const *lines)
{
	for (; lines && *lines; lines++) {
		struct str rest = str_of(*lines);

		put_line(e, mem_strdup(*lines), str_cut(&rest, '=').n + 1);
	}
}

const char *const *env_lines(const struct env *e)
{
	return (const char *const *)e->item;
}

void env_release(struct env *e)
{
	for (size_t i = 0; i < e->n; i++)
		wipe_line(e->item[i]);
	free(e->item);
	*e = (struct env){NULL, 0};
}

/* ---- values of references ---- */

/* Bounds of the program of a `cmd` reference. */
#define CMD_TIMEOUT_MS 30000
#define CMD_GRACE_MS 2000
#define CMD_STDERR_BYTES 1024

struct value {
	enum secret_source source;
	char *from;	 /* owned: who asked may be gone */
	struct buf text; /* owned, wiped */
	bool failed;	 /* asked once, and not again */
	struct err err;
};

struct credentials {
	struct credentials_context ctx;
	struct value *values; /* owned */
	size_t n, cap;
	const char *const *cancelled; /* of who asks now; or NULL */
};

struct credentials *credentials_new(const struct credentials_context *context)
{
	struct credentials *c = mem_zalloc(sizeof(*c));

	c->ctx = *context;
	return c;
}

void credentials_free(struct credentials *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		buf_wipe(&c->values[i].text);
		free(c->values[i].from);
	}
	free(c->values);
	free(c);
}

/* One run of a program that prints a value. */
struct asking {
	struct program program;
	bool has_ended;
};

static void on_ended(void *arg)
{
	((struct asking *)arg)->has_ended = true;
}

static void on_time(void *arg)
{
	child_end(&((struct asking *)arg)->program.child, CHILD_TERMINATING);
}

/*
 * Show the last line of stderr to the person, and keep it out of the report: a
 * program may print a value that is not known as one yet. Its stdout may be
 * half a value, which stderr repeats.
 */
static void show_words(const struct credentials *c, const char *name,
		       const struct program *p)
{
	AUTO(buf_release) struct buf known = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);
	struct scrub *own = scrub_new();
	struct str rest = buf_str(&p->out), line = {NULL, 0};

	while (rest.n)
		scrub_add(own, str_trim(str_cut(&rest, '\n')));
	for (rest = str_trim(child_stderr(&p->child)); rest.n;)
		line = str_cut(&rest, '\n');
	if (line.n > LIMIT_NOISE_LINE)
		line.n = LIMIT_NOISE_LINE;
	scrub_apply(c->ctx.scrub, line, &known);
	scrub_cut(own, buf_str(&known), &words);
	scrub_free(own);
	if (words.n)
		log_note("%s: its stderr ends with: %s", name,
			 buf_cstr(&words));
}

/* Does the one who asks no longer want the value? */
static bool is_cancelled(const struct credentials *c)
{
	return c->cancelled && *c->cancelled;
}

/* Turn the loop until the program has ended, by itself, because of a signal,
   or since its value is not wanted any more. */
static int wait_for_end(struct credentials *c, struct asking *a,
			struct err *err)
{
	struct loop *l = c->ctx.loop;
	struct loop_timer timer = {.fire = on_time, .arg = a};
	const char *const *cancelled = c->cancelled;
	int r = 0;

	loop_timer_in(l, &timer, CMD_TIMEOUT_MS);
	while (!a->has_ended && r == 0) {
		if (l->signal_count > 1)
			child_end(&a->program.child, CHILD_KILLING);
		else if (l->signal || is_cancelled(c))
			child_end(&a->program.child, CHILD_TERMINATING);
		r = loop_turn(l, err);
		/* a walk may have asked meanwhile */
		c->cancelled = cancelled;
	}
	loop_timer_clear(l, &timer);
	return r;
}

static int judge_end(const struct credentials *c, const struct program *p,
		     struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct gate_verdict *v = &p->child.verdict;

	if (p->is_over)
		return err_set(err, ERR_CREDENTIAL,
			       "the program printed more than %d bytes",
			       LIMIT_SECRET_BYTES);
	if (c->ctx.loop->signal)
		return err_set(err, ERR_CREDENTIAL, "cancelled: interrupted");
	if (is_cancelled(c))
		return err_set(err, ERR_CREDENTIAL, "cancelled: %s",
			       *c->cancelled);
	if (p->child.is_told_to)
		return err_set(err, ERR_CREDENTIAL,
			       "the program did not end within %d s",
			       CMD_TIMEOUT_MS / 1000);
	if (!v->exited || v->exit_status)
		return err_set(err, ERR_CREDENTIAL, "the program %s",
			       facts_say_end(v, &arena));
	return 0;
}

/* Run a command line to its end, alone in the loop. */
static int run_line(void *arg, const char *line, struct buf *out,
		    struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct credentials *c = arg;
	struct asking a = {.has_ended = false};
	struct program_options options = {
		.loop = c->ctx.loop,
		/* nothing scrubs: the value must come out as it is */
		.grace_ms = CMD_GRACE_MS,
		.stderr_max = CMD_STDERR_BYTES,
		.stdout_max = LIMIT_SECRET_BYTES,
		.ended = on_ended,
		.arg = &a,
	};
	struct gate_request request = {
		.policy = c->ctx.policy,
		.cwd = c->ctx.config->dir,
		.stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE},
	};
	struct strlist words;
	int r;

	if (path_words(line, request.cwd, &arena, &words, err) < 0)
		return -1;
	request.argv = words.item;
	request.program = options.name = words.item[0];
	program_init(&a.program, &options);
	r = program_start(&a.program, c->ctx.gate, &request, err);
	if (r < 0) {
		err->kind = ERR_CREDENTIAL;
	} else if ((r = wait_for_end(c, &a, err)) == 0) {
		r = judge_end(c, &a.program, err);
		if (r < 0)
			show_words(c, options.name, &a.program);
		else
			buf_add_str(out, str_trim(buf_str(&a.program.out)));
	}
	program_release(&a.program);
	return r;
}

static int open_file(void *arg, const char *path, struct err *err)
{
	const struct credentials *c = arg;

	return path_open(path, O_RDONLY, c->ctx.config, err);
}

static int credentials_check_file(const struct credentials *c, const char *path,
				  struct err *err)
{
	AUTO(fd_closep) int fd = path_open(path, O_RDONLY, c->ctx.config, err);

	/* the reader reports any other cause */
	return fd < 0 && err->kind == ERR_POLICY ? -1 : 0;
}

static int credentials_value(struct credentials *c, const struct env_ref *ref,
			     struct str *ret, struct err *err)
{
	struct secret_runner runner = {
		.run = run_line, .open = open_file, .arg = c};
	struct value v = {.source = ref->source,
			  .text = BUF_INIT(LIMIT_SECRET_BYTES)};

	for (size_t i = 0; i < c->n; i++) {
		if (c->values[i].source == ref->source &&
		    strcmp(c->values[i].from, ref->from) == 0) {
			*ret = buf_str(&c->values[i].text);
			if (c->values[i].failed)
				*err = c->values[i].err;
			return c->values[i].failed ? -1 : 0;
		}
	}
	if (c->ctx.is_replay && (ref->source == SECRET_CMD ||
				 secret_resolve(ref->source, ref->from, &runner,
						&v.text, ERR_IGNORED) < 0)) {
		buf_wipe(&v.text);
		buf_adds(&v.text, ref->from);
	} else if (!c->ctx.is_replay &&
		   secret_resolve(ref->source, ref->from, &runner, &v.text,
				  err) < 0) {
		buf_wipe(&v.text);
		/* another may ask again */
		if (is_cancelled(c))
			return -1;
		v.failed = true;
		v.err = *err;
	} else {
		scrub_add(c->ctx.scrub, buf_str(&v.text));
	}
	v.from = mem_strdup(ref->from);
	c->values = mem_grow(c->values, c->n + 1, &c->cap, sizeof(*c->values));
	c->values[c->n++] = v;
	*ret = buf_str(&v.text);
	return v.failed ? -1 : 0;
}

static int give(struct credentials *c, const struct env_refs *refs,
		struct env *env, struct err *err)
{
	for (size_t i = 0; i < refs->n_plain; i++) {
		const struct env_plain *p = &refs->plain[i];

		if (p->is_secret)
			scrub_add(c->ctx.scrub, str_of(p->value));
		put_line(env, mem_printf("%s=%s", p->name, p->value),
			 strlen(p->name) + 1);
	}
	for (size_t i = 0; i < refs->n; i++) {
		struct str value;

		if (credentials_value(c, &refs->item[i], &value, err) < 0)
			return err_wrap(err, "%s", refs->item[i].name);
		put_line(env,
			 mem_printf("%s=%.*s", refs->item[i].name,
				    STR_ARG(value)),
			 strlen(refs->item[i].name) + 1);
	}
	return 0;
}

int credentials_give(struct credentials *c, const struct env_refs *refs,
		     const char *const *cancelled, struct env *env,
		     struct err *err)
{
	int r;

	c->cancelled = cancelled;
	r = give(c, refs, env, err);
	c->cancelled = NULL;
	return r;
}

/* ---- remote servers ---- */

const char *remote_spec_keep(struct remote_spec *spec, struct str value)
{
	size_t i = 0;

	while (i < ARRAY_LEN(spec->secret) && spec->secret[i])
		i++;
	assert(i < ARRAY_LEN(spec->secret));
	spec->secret[i] = mem_strndup(value.p, value.n);
	return spec->secret[i];
}

void remote_spec_release(struct remote_spec *spec)
{
	for (size_t i = 0; i < ARRAY_LEN(spec->secret); i++) {
		if (spec->secret[i])
			mem_wipe(spec->secret[i], strlen(spec->secret[i]));
		free(spec->secret[i]);
	}
	http_headers_release(&spec->headers);
	*spec = (struct remote_spec){0};
}

/* {NULL, 0} where nothing is referred to; borrowed as credentials_value(). */
static int value_of(struct credentials *c, const struct env_ref *ref,
		    const char *what, struct str *ret, struct err *err)
{
	*ret = (struct str){NULL, 0};
	if (ref->from && credentials_value(c, ref, ret, err) < 0)
		return err_wrap(err, "%s", what);
	return 0;
}

static int add_headers(const struct server *s, struct credentials *c,
		       struct http_headers *ret, struct err *err)
{
	AUTO(buf_wipe) struct buf bearer = BUF_INIT(BUF_UNBOUNDED);
	struct str token, api_key;

	for (size_t i = 0; i < s->headers.n; i++)
		if (http_headers_set(ret, s->headers.item[i].name,
				     str_of(s->headers.item[i].value), err) < 0)
			return err_wrap(err, "headers");
	for (size_t i = 0; i < s->headers.n_refs; i++) {
		const struct env_ref *ref = &s->headers.ref[i];

		if (value_of(c, ref, ref->name, &token, err) < 0 ||
		    (token.p &&
		     http_headers_set(ret, ref->name, token, err) < 0))
			return err_wrap(err, "headers");
	}
	if (value_of(c, &s->token, "token", &token, err) < 0 ||
	    value_of(c, &s->api_key, "api_key", &api_key, err) < 0)
		return -1;
	if (token.p) {
		buf_addf(&bearer, "Bearer %.*s", STR_ARG(token));
		if (http_headers_set(ret, "Authorization", buf_str(&bearer),
				     err) < 0)
			return err_wrap(err, "token");
	}
	if (api_key.p &&
	    http_headers_set(ret, s->api_key_header, api_key, err) < 0)
		return err_wrap(err, "api_key");
	return 0;
}

static int read_auth(const struct server_auth *from, struct credentials *c,
		     struct remote_spec *spec, struct err *err)
{
	struct auth_options *ret = &spec->auth;
	struct str value;

	ret->audience_is_token_endpoint =
		from->audience && strcmp(from->audience, "token_endpoint") == 0;
#define AUTH_TEXT(key, ...) ret->key = from->key;
#define AUTH_FLAG(key, ...) ret->key = from->key;
#include "core/auth/auth.def"
	if ((from->assertion_file &&
	     credentials_check_file(c, from->assertion_file, err) < 0) ||
	    (from->idp_id_token_file &&
	     credentials_check_file(c, from->idp_id_token_file, err) < 0))
		return -1;
	/* the words were checked when the file was read */
	if (from->grant && !auth_grant_find(from->grant, &ret->grant))
		return err_set(err, ERR_CONFIG, "grant %s", from->grant);
		/* borrowed from `c`, which wipes and frees the values */
#define AUTH_SECRET(key, ...)                               \
	if (value_of(c, &from->key, #key, &value, err) < 0) \
		return -1;                                  \
	ret->key = value.p;
#include "core/auth/auth.def"
	return 0;
}

int remote_spec_of_server(const struct server *s,
			  struct credentials *credentials,
			  struct remote_spec *ret, struct err *err)
{
	struct remote_spec spec = {
		.server = s,
		.name = s->name,
		.is_named = true,
		.url = s->url,
		.plain = plain_http_of(s),
		.message_max = s->stdout_max,
#define AUTH_OWN(key, ...) .key = s->auth.key,
#include "core/auth/auth.def"
		.store_key = s->auth.store_key,
	};

	if (read_auth(&s->auth, credentials, &spec, err) < 0 ||
	    add_headers(s, credentials, &spec.headers, err) < 0) {
		remote_spec_release(&spec);
		return err_wrap(err, "server %s", s->name);
	}
	*ret = spec;
	return 0;
}
