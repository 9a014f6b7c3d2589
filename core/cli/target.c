#include "core/cli/target.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/cli/args.h"
#include "core/cli/key_options.h"
#include "core/cli/open.h"
#include "core/config/paths.h"
#include "core/mcp/wire/elicit.h"
#include "core/mcp/wire/rpc.h"
#include "core/run/advice.h"
#include "core/run/plan.h"
#include "core/run/remotes.h"
#include "core/secret/secret.h"

/*
 * ---- questions for a person ----
 *
 * A form is asked field by field with a review, or consent to a page that is
 * shown and never opened (EL-9 to EL-14). Several questions come one after the
 * other. Texts of a server are shown with control characters made visible and
 * without secrets.
 */

#define PORTION_BYTES 4096
/* Ceiling of a typed line. */
#define LINE_BYTES (64 * 1024)

struct question {
	struct question *next;
	uint64_t ask;
	struct arena arena;
	struct elicit what;
	size_t at;	    /* field that is asked; n_fields: the review */
	struct buf *values; /* one JSON value for each field; empty: none */
	bool begun;
};

bool ask_person_is_there(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* ---- writing ---- */

static void put_question(const struct buf *out)
{
	if (fd_write_all(STDERR_FILENO, out->p, out->n) < 0) {
		/* the end of typing will be noticed */
	}
}

/* A text of the server: its further lines are set in. */
static void show_clean(const struct ask_person *p, struct str s,
		       struct buf *out)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;

	scrub_apply(p->scrub, s, &clean);
	rest = buf_str(&clean);
	while (rest.p) {
		log_visible(out, str_cut(&rest, '\n'), false);
		buf_adds(out, rest.p ? "\n    " : "");
	}
}

static bool is_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return !no || !*no;
}

/* ---- one question ---- */

static void question_free(struct question *q)
{
	for (size_t i = 0; q->values && i < q->what.n_fields; i++)
		buf_release(&q->values[i]);
	free(q->values);
	arena_release(&q->arena);
	free(q);
}

static void begin_next(struct ask_person *p);

static void answer_first(struct ask_person *p, enum elicit_action action)
{
	AUTO(buf_release) struct buf values = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;
	struct str why;
	struct jw w;

	jw_init(&w, &values, false);
	jw_object(&w);
	for (size_t i = 0; i < q->what.n_fields; i++) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (!q->values[i].n)
			continue;
		scan_string(q->what.fields[i].key, &key);
		jw_key_str(&w, buf_str(&key));
		jw_raw(&w, buf_str(&q->values[i]));
	}
	jw_end(&w);
	elicit_answer(&q->what, action, buf_str(&values), &q->arena, &out,
		      &why);
	if (why.p)
		log_warning("the answer_first is not sent unchanged: %.*s",
			    STR_ARG(why));
	p->first = q->next;
	client_answer(p->client, q->ask, buf_str(&out));
	question_free(q);
	begin_next(p);
}

/* "string, required" and what else is known of a field. */
static void describe(const struct ask_person *p, const struct elicit_field *f,
		     struct buf *out)
{
	static const char *const types[] = {
		[ELICIT_STRING] = "text",
		[ELICIT_NUMBER] = "number",
		[ELICIT_INTEGER] = "whole number",
		[ELICIT_BOOLEAN] = "yes or no",
		[ELICIT_CHOICE] = "one of",
		[ELICIT_CHOICES] = "some of, with commas between",
	};

	buf_addf(out, " (%s", types[f->type]);
	for (size_t i = 0; i < f->n_choices; i++) {
		buf_adds(out, i ? ", " : ": ");
		show_clean(p, f->choices[i].title, out);
	}
	if (f->format.n) {
		buf_adds(out, ", ");
		show_clean(p, f->format, out);
	}
	if (f->least.p)
		buf_addf(out, ", at least %.*s", STR_ARG(f->least));
	if (f->most.p)
		buf_addf(out, ", at most %.*s", STR_ARG(f->most));
	buf_adds(out, f->required ? ")" : "; may be left out)");
}

static void ask_field(struct ask_person *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;
	const struct elicit_field *f = &q->what.fields[q->at];

	if (f->description.n) {
		buf_adds(&out, "    ");
		show_clean(p, f->description, &out);
		buf_addc(&out, '\n');
	}
	buf_adds(&out, "  ");
	show_clean(p, f->title.n ? f->title : f->name, &out);
	describe(p, f, &out);
	if (f->def.p) {
		buf_adds(&out, " [");
		show_clean(p, f->def, &out);
		buf_addc(&out, ']');
	}
	buf_adds(&out, ": ");
	put_question(&out);
}

static void ask_review(struct ask_person *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;

	buf_addf(&out, "This would be sent to %s:\n", p->server);
	for (size_t i = 0; i < q->what.n_fields; i++) {
		const struct elicit_field *f = &q->what.fields[i];

		buf_adds(&out, "  ");
		show_clean(p, f->name, &out);
		buf_adds(&out, " = ");
		if (q->values[i].n)
			show_clean(p, buf_str(&q->values[i]), &out);
		else if (f->def.p)
			show_clean(p, f->def, &out);
		else
			buf_adds(&out, "(left out)");
		buf_addc(&out, '\n');
	}
	buf_adds(&out, "Send it? y: yes, a: again, d: decline, c: cancel: ");
	put_question(&out);
}

static void ask_now(struct ask_person *p)
{
	struct question *q = p->first;

	if (q->what.url.p || q->at == q->what.n_fields) {
		if (!q->what.url.p)
			ask_review(p);
		return;
	}
	ask_field(p);
}

/* Show a URL with its host in bold, and warn of Punycode and of an @. */
static void show_url(const struct ask_person *p, struct str url,
		     struct buf *out)
{
	size_t at = str_starts(url, "https://") ? 8 : 7, n = at;

	while (n < url.n && !strchr("/?#", url.p[n]))
		n++;
	buf_adds(out, "\n    ");
	show_clean(p, (struct str){url.p, at}, out);
	buf_adds(out, is_colour() ? "\033[1m" : "");
	show_clean(p, (struct str){url.p + at, n - at}, out);
	buf_adds(out, is_colour() ? "\033[0m" : "");
	show_clean(p, (struct str){url.p + n, url.n - n}, out);
	buf_adds(out, "\n\n");
	for (size_t i = at; i < n; i++) {
		if (n - i < 4 || strncasecmp(url.p + i, "xn--", 4) ||
		    (i > at && url.p[i - 1] != '.'))
			continue;
		buf_adds(out, "  The host name is in Punycode: it may look "
			      "like another name.\n");
		break;
	}
	if (memchr(url.p + at, '@', n - at))
		buf_adds(out,
			 "  The text before the @ is not part of the host.\n");
}

static void begin_next(struct ask_person *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;

	if (!q) {
		if (p->typed.fd >= 0)
			loop_unwatch(p->loop, &p->typed);
		return;
	}
	if (q->begun)
		return;
	q->begun = true;
	if (p->ended) {
		answer_first(p, ELICIT_CANCEL);
		return;
	}
	live_clear(p->live);
	buf_addf(&out, "\nThe server %s %s:\n  ", p->server,
		 q->what.url.p ? "asks you to visit a page" : "asks");
	show_clean(p, q->what.message, &out);
	buf_addc(&out, '\n');
	if (q->what.url.p) {
		show_url(p, q->what.url, &out);
		buf_adds(&out, "matins does not open it. y: I agree and open "
			       "it myself, d: decline, c: cancel: ");
	} else {
		buf_adds(&out, "Enter takes the value in brackets; :d "
			       "declines, :c cancels, :a begins again.\n");
	}
	put_question(&out);
	ask_now(p);
}

/* ---- typed lines ---- */

static bool is_word(struct str line, char letter, const char *word)
{
	return (line.n == 1 && (line.p[0] | 0x20) == letter) ||
	       (line.n == strlen(word) &&
		strncasecmp(line.p, word, line.n) == 0);
}

static void again(struct ask_person *p)
{
	struct question *q = p->first;

	for (size_t i = 0; i < q->what.n_fields; i++)
		buf_clear(&q->values[i]);
	q->at = 0;
	ask_now(p);
}

/* False: it is none of the three. */
static bool is_way_out(struct ask_person *p, struct str line)
{
	if (is_word(line, 'd', "decline"))
		answer_first(p, ELICIT_DECLINE);
	else if (is_word(line, 'c', "cancel"))
		answer_first(p, ELICIT_CANCEL);
	else if (!p->first->what.url.p && is_word(line, 'a', "again"))
		again(p);
	else
		return false;
	return true;
}

static void decided(struct ask_person *p, struct str line)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (is_word(line, 'y', "yes"))
		answer_first(p, ELICIT_ACCEPT);
	else if (!is_way_out(p, line)) {
		buf_adds(&out, p->first->what.url.p ? "  y, d or c: "
						    : "  y, a, d or c: ");
		put_question(&out);
	}
}

static void complain(const char *text)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, "  ");
	log_visible(&out, str_of(text), false);
	buf_addc(&out, '\n');
	put_question(&out);
}

static void filled_in(struct ask_person *p, struct str line)
{
	struct question *q = p->first;
	const struct elicit_field *f = &q->what.fields[q->at];
	struct err err = ERR_INIT;

	buf_clear(&q->values[q->at]);
	if (line.n && line.p[0] == ':' &&
	    is_way_out(p, (struct str){line.p + 1, line.n - 1}))
		return;
	if (!line.n && f->required && !f->def.p)
		complain("an answer_first is required");
	else if (line.n && elicit_typed(f, line, &q->values[q->at], &err) < 0)
		complain(err.msg);
	else
		q->at++;
	ask_now(p);
}

static void on_line(struct ask_person *p, struct str line)
{
	struct question *q = p->first;

	if (q->what.url.p || q->at == q->what.n_fields)
		decided(p, str_trim(line));
	else
		filled_in(p, str_trim(line));
}

static void on_typed(void *arg, uint32_t events)
{
	struct ask_person *p = arg;
	char *room = buf_room(&p->line, PORTION_BYTES);
	ssize_t r = room ? read(STDIN_FILENO, room, PORTION_BYTES) : 0;
	size_t end;

	(void)events;
	if (r < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (r <= 0) {
		/* the end of the input cancels all questions */
		p->ended = true;
		while (p->first)
			answer_first(p, ELICIT_CANCEL);
		return;
	}
	p->line.n += (size_t)r;
	while (p->first &&
	       (end = str_find(buf_str(&p->line), '\n')) < p->line.n) {
		struct str line = {p->line.p, end};

		on_line(p, line);
		buf_drop(&p->line, end + 1);
	}
}

/* ---- from outside ---- */

static bool watch_typed(struct ask_person *p)
{
	struct err err = ERR_INIT;

	if (p->first->next)
		return true;
	if (!p->line.max)
		p->line = (struct buf)BUF_INIT(LINE_BYTES);
	return loop_watch(p->loop, &p->typed, STDIN_FILENO, EPOLLIN, on_typed,
			  p, &err) == 0;
}

/* Ask what CLIENT_ASKED (elicitation/create) says. */
static void ask_person(struct ask_person *p, const struct client_event *e)
{
	struct question *q = mem_zalloc(sizeof(*q));
	struct question **last = &p->first;
	struct err err = ERR_INIT;

	q->ask = e->of->ask;
	if (elicit_read(arena_str(&q->arena, e->of->params), &q->arena,
			&q->what, &err) < 0) {
		live_clear(p->live);
		log_warning("%s asks for a form that cannot be shown: %s",
			    p->server, err.msg);
		client_answer_error(p->client, q->ask, RPC_INVALID_PARAMS,
				    err.msg);
		question_free(q);
		return;
	}
	q->values = mem_zalloc((q->what.n_fields + 1) * sizeof(*q->values));
	for (size_t i = 0; i < q->what.n_fields; i++)
		q->values[i] = (struct buf)BUF_INIT(LINE_BYTES * 8);
	while (*last)
		last = &(*last)->next;
	*last = q;
	if (!watch_typed(p))
		p->ended = true;
	begin_next(p);
}

/* The server no longer wants an answer. */
static void ask_person_forget(struct ask_person *p, uint64_t ask)
{
	for (struct question **at = &p->first; *at; at = &(*at)->next) {
		struct question *q = *at;

		if (q->ask != ask)
			continue;
		*at = q->next;
		if (q->begun)
			complain("The server no longer asks.");
		question_free(q);
		break;
	}
	begin_next(p);
}

static void ask_person_release(struct ask_person *p)
{
	while (p->first) {
		struct question *q = p->first;

		p->first = q->next;
		question_free(q);
	}
	if (p->loop && p->typed.ready && p->typed.fd >= 0)
		loop_unwatch(p->loop, &p->typed);
	buf_release(&p->line);
}

/* ---- options of remote servers ---- */

/* A file of headers. */
#define HEADERS_BYTES (256 * 1024)

static const struct option rows[] = {
#include "core/cli/remote_options.def"
	{0}};

/* The first of them that was given, or NULL: they need a remote server. */
static const char *remote_options_any(const struct args *args)
{
	for (const struct option *o = rows; o->name; o++)
		if (args_has(args, o->name))
			return o->name;
	return NULL;
}

/* ---- the keys of `auth` ---- */

static int read_auth(const struct args *args, struct arena *arena,
		     struct remote_spec *spec, struct err *err)
{
	struct server_auth given = {0};

	if (option_values_read(args, SECTION_auth, arena, &given, err) < 0)
		return -1;
	/* the word is one of the row's */
	if (given.grant && !auth_grant_find(given.grant, &spec->auth.grant))
		return err_set(err, ERR_USAGE, "--oauth-grant %s", given.grant);
	if (given.audience)
		spec->auth.audience_is_token_endpoint =
			strcmp(given.audience, "token_endpoint") == 0;
	if (given.store_key)
		spec->store_key = given.store_key;
#define AUTH_TEXT(key, ...) \
	if (given.key)      \
		spec->auth.key = given.key;
#define AUTH_OWN(key, ...) \
	if (given.key)     \
		spec->key = given.key;
#define AUTH_FLAG(key, ...) spec->auth.key |= given.key;
#include "core/auth/auth.def"
	return 0;
}

/* ---- files that hold secrets ---- */

static int read_secret(const struct args *args, const char *option,
		       struct scrub *scrub, struct arena *arena,
		       struct remote_spec *spec, const char **ret,
		       struct err *err)
{
	AUTO(buf_wipe) struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
	const char *path = args_get(args, option);

	if (!path)
		return 0;
	if (secret_resolve(SECRET_FILE, path_resolve(path, NULL, arena), NULL,
			   &value, err) < 0)
		return err_wrap(err, "--%s", option);
	scrub_add(scrub, buf_str(&value));
	spec->plain.has_credentials = true;
	*ret = remote_spec_keep(spec, buf_str(&value));
	return 0;
}

static int read_secrets(const struct args *args, struct scrub *scrub,
			struct arena *arena, struct remote_spec *spec,
			struct err *err)
{
#define AUTH_SECRET(key, option, ...)                                      \
	if (read_secret(args, option, scrub, arena, spec, &spec->auth.key, \
			err) < 0)                                          \
		return -1;
#include "core/auth/auth.def"
	return 0;
}

/* ---- headers ---- */

static int add_header(struct remote_spec *spec, struct str line,
		      struct scrub *scrub, struct err *err)
{
	struct str value = line, name = str_cut(&value, ':');
	char text[128];

	if (!value.p || name.n >= sizeof(text))
		return err_set(err, ERR_USAGE,
			       "--header takes 'NAME: VALUE', or @FILE with "
			       "such lines");
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	value = str_trim(value);
	/* any header may hold a credential */
	spec->plain.has_credentials = true;
	scrub_add(scrub, value);
	if (str_starts(value, "Bearer "))
		scrub_add(scrub, (struct str){value.p + 7, value.n - 7});
	if (http_headers_set(&spec->headers, text, value, err) == 0)
		return 0;
	err->kind = ERR_USAGE;
	return err_wrap(err, "--header");
}

static int add_header_file(struct remote_spec *spec, const char *path,
			   struct scrub *scrub, struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(HEADERS_BYTES);
	struct str rest;

	if (fd_read_file(path, &text, err) < 0)
		return err_wrap(err, "--header");
	rest = buf_str(&text);
	while (rest.n) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		if (line.n && line.p[0] != '#' &&
		    add_header(spec, line, scrub, err) < 0)
			return err_wrap(err, "%s", path);
	}
	return 0;
}

static int read_headers(const struct args *args, struct scrub *scrub,
			struct arena *arena, struct remote_spec *spec,
			struct err *err)
{
	struct strlist all = args_all(args, "header", arena);

	for (size_t i = 0; i < all.n; i++) {
		const char *text = all.item[i];
		int r = text[0] == '@'
				? add_header_file(spec, text + 1, scrub, err)
				: add_header(spec, str_of(text), scrub, err);

		if (r < 0)
			return -1;
	}
	return 0;
}

/*
 * Set the given options in the spec. Files are read here, their
 * secrets are added to `scrub`.
 *
 * arena   for absolute paths
 * errors  ERR_USAGE, ERR_CREDENTIAL a file that cannot be read
 */
static int remote_options_read(const struct args *args, struct scrub *scrub,
			       struct arena *arena, struct remote_spec *spec,
			       struct err *err)
{
	if (read_auth(args, arena, spec, err) < 0 ||
	    read_secrets(args, scrub, arena, spec, err) < 0)
		return -1;
	return read_headers(args, scrub, arena, spec, err);
}

/* ---- which server, its options and keys ---- */

/* A file of values. */
#define VALUE_BYTES (16 * 1024 * 1024)

/* ---- which server ---- */

static int one_target(const struct target *t, const struct args *args,
		      struct err *err)
{
	int n = (t->server != NULL) + args_has(args, "url") +
		(args->after && args->after[0]);

	if (t->server && strstr(t->server, "://"))
		return err_set(err, ERR_USAGE,
			       "--server names a server of the configuration; "
			       "use --url for a URL");
	if (n == 1)
		return 0;
	if (n)
		return err_set(err, ERR_USAGE,
			       "name only one server: --server NAME, --url "
			       "URL, or -- PROGRAM ARGS…");
	return err_set(err, ERR_USAGE,
		       "name a server: --server NAME of the configuration, "
		       "--url URL, or -- PROGRAM ARGS…");
}

static int unknown_server(const struct config *c, const char *name,
			  struct arena *arena, struct err *err)
{
	struct strlist known = {ARENA_ARRAY(arena, const char *, c->n_servers),
				c->n_servers};
	const char *near;

	for (size_t i = 0; i < known.n; i++)
		known.item[i] = c->servers[i].name;
	near = str_nearest(str_of(name), known.item, known.n);
	if (near || !known.n)
		return err_set(err, ERR_UNKNOWN_SERVER,
			       "%s has no server %s%s%s%s", c->path, name,
			       near ? "; did you mean " : "", near ? near : "",
			       near ? "?" : "");
	return err_set(
		err, ERR_UNKNOWN_SERVER, "%s has no server %s; it has %s%s",
		c->path, name, known.item[0],
		known.n > 1 ? " and others (`matins list --servers`)" : "");
}

/* The configuration, which only --server cannot do without. */
static int open_config(struct target *t, const struct args *args,
		       struct err *err)
{
	const char *server = t->server;
	const struct config_options options = {
		.path = args_get(args, "config"),
		.lax = args_has(args, "lax"),
		.server = server,
		/* without a server only [sandbox] is read */
		.routine = server ? NULL : "",
		.optional = !server,
	};

	if (config_open(&options, &t->file, err) < 0)
		return -1;
	t->config = t->file.path ? &t->file.config : NULL;
	return 0;
}

static void merge_policy(struct target *t, const struct gate_policy *more)
{
	struct gate_policy base = t->policy;

	gate_policy_merge(&base, more, &t->arena, &t->policy);
}

static void from_server(struct target *t)
{
	const struct server *s = &t->keys;
	const char **argv = ARENA_ARRAY(&t->arena, const char *, s->args.n + 2);

	argv[0] = s->command;
	for (size_t i = 0; i < s->args.n; i++)
		argv[i + 1] = s->args.item[i];
	merge_policy(t, &s->sandbox);
	t->name = s->name;
	if (!s->command)
		return;
	t->request.program = s->command;
	t->request.argv = argv;
	plan_cwd(&t->request, s->cwd, t->config);
}

static void from_line(struct target *t, char **argv)
{
	t->name = "the server";
	t->request.program = path_program(argv[0], NULL, &t->arena);
	t->request.argv = (const char *const *)argv;
	t->request.cwd = path_resolve(".", NULL, &t->arena);
}

static int find_server(struct target *t, const struct args *args,
		       struct err *err)
{
	const char *name = t->server;
	const struct server *s;

	if (one_target(t, args, err) < 0)
		return -1;
	t->url = args_get(args, "url");
	if (open_config(t, args, err) < 0)
		return -1;
	if (!name) {
		t->keys = server_by_default();
		t->keys.name = t->keys.url = t->url;
		return 0;
	}
	s = config_server(t->config, name);
	if (!s)
		return unknown_server(t->config, name, &t->arena, err);
	if (s->unset)
		return err_set(err, ERR_CONFIG, "%s", s->unset);
	t->keys = *s;
	t->url = s->url;
	return 0;
}

/* Options for the gate apply to programs only. */
static const struct option of_programs[] = {
#include "core/cli/policy_options.def"
	{0}};

static int check_remote(const struct target *t, const struct args *args,
			struct err *err)
{
	const char *option;

	if (!t->url) {
		option = remote_options_any(args);
		return option ? err_set(err, ERR_USAGE,
					"--%s is for remote servers (--url, or "
					"a server with a \"url\"); this server "
					"is a program",
					option)
			      : 0;
	}
	for (const struct option *o = of_programs; o->name; o++)
		/* a {cmd} reference of its credentials runs under these */
		if (args_has(args, o->name) && !t->server)
			return err_set(
				err, ERR_USAGE,
				"--%s is for programs; a URL starts none",
				o->name);
	return 0;
}

/* ---- options ---- */

/* Read values for an answer, which without --elicit mean `accept`. */
static int read_content(const struct args *args, struct target *t,
			struct err *err)
{
	const char *content = args_get(args, "elicit-content");
	AUTO(buf_release) struct buf text = BUF_INIT(VALUE_BYTES);
	struct str value;

	if (!content)
		return 0;
	if (target_read_value(content, &text, err) < 0)
		return err_wrap(err, "--elicit-content");
	if (scan_document(buf_str(&text), NULL, &value, err) < 0 ||
	    scan_type(value) != SCAN_OBJECT)
		return err_set(err, ERR_USAGE,
			       "--elicit-content must be a JSON object");
	t->asks.content = arena_str(&t->arena, value);
	if (!args_has(args, "elicit")) {
		t->asks.has_elicit = true;
		t->asks.elicit = ELICIT_ACCEPT;
	}
	return 0;
}

static int read_roots(const struct args *args, struct target *t,
		      struct err *err)
{
	struct strlist roots = args_all(args, "root", &t->arena);

	for (size_t i = 0; i < roots.n; i++) {
		if (asks_add_root(&t->asks, roots.item[i],
				  t->url ? NULL : &t->policy, &t->arena,
				  err) < 0) {
			err->kind = ERR_USAGE;
			return err_wrap(err, "--root");
		}
	}
	return 0;
}

/* Set the keys by their options, and the session by the keys. */
static int read_keys(const struct args *args, struct target *t, struct err *err)
{
	struct server *keys = &t->keys;

	if (option_values_read(args, SECTION_server, &t->arena, keys, err) < 0)
		return -1;
	t->strict |= keys->strict;
	t->session.protocol = keys->protocol;
	t->session.message_max = keys->stdout_max;
	t->session.request_timeout_ms = keys->timeout_ms;
	/* a short timeout also bounds the handshake */
	if (args_has(args, "timeout"))
		t->session.initialize_timeout_ms = keys->timeout_ms;
	if (asks_of_server(keys, &t->policy, &t->arena, &t->asks, err) < 0)
		return -1;
	return read_content(args, t, err) < 0 ? -1 : read_roots(args, t, err);
}

/*
 * Open the configuration and fill *t: keys of the server first, then options.
 *
 * errors  ERR_USAGE  no target, two, or an option that is not for it
 *	   ERR_UNKNOWN_SERVER  the configuration has no such server
 */
static int target_read_options(struct target *t, const struct args *args,
			       struct err *err)
{
	struct gate_policy more;
	const char *const *env;

	if (find_server(t, args, err) < 0 || check_remote(t, args, err) < 0)
		return -1;
	if (policy_options_read(args, &t->arena, &more, &env, err) < 0)
		return -1;
	if (t->config)
		t->policy = t->config->sandbox;
	if (t->server)
		from_server(t);
	else if (t->url)
		t->name = t->url;
	else
		from_line(t, args->after);
	merge_policy(t, &more);
	t->given_env = env;
	return read_keys(args, t, err);
}

#define TICK_NS (NS_PER_S / 5)

/* ---- the gate ---- */

static void scrub_filter(struct buf *line, void *arg)
{
	scrub_log_filter(line, arg);
}

static int open_own_gate(struct target *t, const struct args *args,
			 struct err *err)
{
	struct arena *arena = &t->arena;
	const char *browser = args_get(args, "browser");
	const char *store = args_get(args, "token-store");
	struct gate_wish wish = {
		.config = t->config,
		.exec = &t->policy.exec,
		.files = policy_files(args, arena),
		.token_store = store ? path_resolve(store, NULL, arena) : NULL,
	};

	/* a program of the configuration is declared there */
	if (t->request.program && !t->server)
		list_add(&wish.named, arena, t->request.program);
	if (browser)
		list_add(&wish.named, arena,
			 path_program(browser, NULL, arena));
	if (args_has(args, "sampling"))
		list_add(&wish.named, arena, t->asks.sampling.item[0]);
	t->eras = eras_open(state_dir_find(arena));
	return open_gate(&wish, arena, &t->gate, err);
}

static void make_credentials(struct target *t)
{
	t->credentials = credentials_new(&(struct credentials_context){
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.policy = &t->file.config.sandbox,
		.config = &t->file.config,
	});
}

static int make_spec(struct target *t, const struct args *args,
		     struct remote_spec *ret, struct err *err)
{
	if (remote_spec_of_server(&t->keys, t->credentials, ret, err) < 0)
		return -1;
	ret->is_named = t->server;
	ret->timeout_ms = t->keys.timeout_ms;
	if (remote_options_read(args, t->scrub, &t->arena, ret, err) == 0)
		return 0;
	remote_spec_release(ret);
	return -1;
}

static int open_remote(struct target *t, const struct args *args,
		       struct err *err)
{
	const struct remotes_options options = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.state_dir = state_dir_find(&t->arena),
		.is_terminal = ask_person_is_there(),
		.config = t->config,
	};
	struct remote_spec spec;

	for (size_t i = 0; i < t->file.header_values.n; i++)
		scrub_add(t->scrub, str_of(t->file.header_values.item[i]));
	if (make_spec(t, args, &spec, err) < 0)
		return -1;
	t->remotes = remotes_new(&options);
	if (remote_server_new(t->remotes, &spec, &t->remote, err) < 0)
		return -1;
	/* a URL is shown without its secrets */
	if (!t->server)
		t->name = remote_server_text(t->remote);
	return 0;
}

/* Check the sampler before the server starts: it must be allowed to run. */
static int make_sampler(struct target *t, const struct args *args,
			struct err *err)
{
	const struct sampler_options options = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.name = t->name,
		.words = t->asks.sampling,
		.cwd = args_has(args, "sampling")
			       ? path_resolve(".", NULL, &t->arena)
			       : t->file.config.dir,
		.policy = &t->file.config.sandbox,
	};

	if (!options.words.n)
		return 0;
	if (sampler_check(&options, err) < 0)
		return -1;
	t->asks.sampler = sampler_new(&options);
	return 0;
}

/* ---- messages beside answers ---- */

static void say_log(struct target *t, const struct session_event *e)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (log_level() < LOG_DEBUG)
		return;
	target_show(t, e->logger, false, &text);
	buf_adds(&text, e->logger.n ? ": " : "");
	target_show(t, e->message, false, &text);
	log_debug("%s, %s: %s", t->name, e->level, buf_cstr(&text));
}

static void on_asked(struct target *t, const struct client_event *e)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);

	if (asks_answer(&t->asks, t->client, e, &says)) {
		live_clear(&t->live);
		if (says.n)
			log_note("%s asked %s", t->name, buf_cstr(&says));
	} else if (strcmp(e->of->method, "elicitation/create") == 0) {
		ask_person(&t->person, e);
	} else {
		client_answer_error(
			t->client, e->of->ask, MCP_REJECTED,
			"no person and no option can answer this request");
	}
}

static void on_client(void *arg, const struct client_event *e)
{
	struct target *t = arg;

	switch (e->type) {
	case CLIENT_LOG:
		say_log(t, e->of);
		break;
	case CLIENT_ASKED:
		on_asked(t, e);
		break;
	case CLIENT_ASK_GONE:
		ask_person_forget(&t->person, e->of->ask);
		sampler_forget(t->asks.sampler, e->of->ask);
		break;
	case CLIENT_ENDED:
		sampler_stop(t->asks.sampler);
		break;
	case CLIENT_CHANGED:
		log_debug("%s: %s %.*s", t->name, e->of->method,
			  STR_ARG(e->of->message));
		break;
	default:
		break;
	}
}

static void on_signal(void *arg, int signal)
{
	struct target *t = arg;

	live_clear(&t->live);
	if (!t->client)
		return;
	if (t->loop.signal_count > 1)
		client_kill(t->client);
	else
		client_stop(t->client, target_signal_name(signal),
			    CLIENT_GRACE_STOPPED_MS);
}

static void on_tick(void *arg)
{
	struct target *t = arg;

	/* a person is typing */
	if (!t->person.first)
		live_draw(&t->live, loop_now(&t->loop));
	loop_timer_set(&t->loop, &t->tick, loop_now(&t->loop) + TICK_NS);
}

/* ---- opening ---- */

static int make_loop(struct target *t, struct err *err)
{
	if (loop_init(&t->loop, clock_system(), err) < 0)
		return -1;
	t->has_loop = true;
	t->tick = (struct loop_timer){.fire = on_tick, .arg = t};
	t->loop.on_signal = on_signal;
	t->loop.on_signal_arg = t;
	live_init(&t->live);
	if (t->live.on)
		on_tick(t);
	return loop_take_signals(&t->loop, err);
}

static void declare(struct target *t)
{
	struct mcp_declared *d = &t->session.declared;

	asks_declare(&t->asks, d);
	d->tasks = true;
	if (!t->asks.has_elicit && ask_person_is_there()) {
		d->elicit_form = true;
		d->elicit_url = true;
	}
}

/* Log how the server describes itself; its name also heads its questions. */
static void say_server(struct target *t)
{
	const struct mcp_peer *s = client_server(t->client);
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	target_show(t, s->name, false, &name);
	t->person.server = arena_printf(
		&t->arena, "%s (%s)",
		name.n ? buf_cstr(&name) : "without a name",
		t->url ? remote_server_text(t->remote) : t->request.argv[0]);
	if (log_level() < LOG_DEBUG)
		return;
	target_show(t, s->version, false, &text);
	buf_addf(&text, ", MCP %s, offers ", s->revision->date);
	target_show(t, s->capabilities, false, &text);
	log_debug("%s is %s %s", t->name, buf_cstr(&name), buf_cstr(&text));
	if (!s->instructions.n)
		return;
	buf_clear(&text);
	target_show(t, s->instructions, false, &text);
	log_debug("%s sent instructions, which are only shown: %s", t->name,
		  buf_cstr(&text));
}

/* The older way to ask for messages; whether it works shows by itself. */
static void ask_for_log(struct target *t)
{
	struct client_call call = {
		.method = "logging/setLevel",
		.params = STR("{\"level\":\"debug\"}"),
	};
	struct target_answer answer;
	struct err ignored = ERR_INIT;

	if (log_level() < LOG_DEBUG || !client_offers(t->client, "logging") ||
	    client_server(t->client)->revision->era != MCP_ERA_INITIALIZE)
		return;
	if (target_ask(t, &call, "asking for messages", &t->arena, &answer,
		       &ignored) < 0)
		log_debug("logging/setLevel: %s", ignored.msg);
}

static int start_client(struct target *t, struct err *err)
{
	const struct client_context context = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.eras = t->eras,
	};
	struct client_options options = {
		.name = t->name,
		.request = t->url ? NULL : &t->request,
		.open = t->url ? remote_server_open : NULL,
		.open_arg = t->remote,
		.url = t->url ? remote_server_url(t->remote) : NULL,
		.session = t->session,
		.show_stderr = log_level() >= LOG_DEBUG,
		.watches_lists = t->has_many_calls,
		.on_event = on_client,
		.arg = t,
	};

	t->request.env = env_lines(&t->env);
	for (int i = 0; i < 3; i++)
		t->request.stdio[i] = GATE_PIPE;
	t->client = client_new(&context, &options);
	t->person.client = t->client;
	live_begin(&t->live, t->url ? "connecting" : "starting the server",
		   loop_now(&t->loop));
	if (client_start(t->client, err) < 0)
		return -1;
	if (client_wait_ready(t->client, err) < 0)
		return -1;
	live_clear(&t->live);
	say_server(t);
	ask_for_log(t);
	return 0;
}

static int open_all(struct target *t, const struct args *args, struct err *err)
{
	if (target_read_options(t, args, err) < 0 || make_loop(t, err) < 0 ||
	    open_own_gate(t, args, err) < 0)
		return -1;
	t->person.server = t->name;
	t->person.scrub = t->scrub;
	make_credentials(t);
	t->request.policy = &t->policy;
	if (!t->url && gate_check(t->gate, &t->request, err) < 0)
		return -1;
	if (make_sampler(t, args, err) < 0)
		return -1;
	if (!t->url &&
	    credentials_give(t->credentials, &t->keys.env, &t->env, err) < 0)
		return -1;
	env_add_lines(&t->env, t->given_env);
	if (t->url && open_remote(t, args, err) < 0)
		return -1;
	declare(t);
	return 0;
}

int target_prepare(struct target *t, const struct args *args,
		   const char *server, struct err *err)
{
	*t = (struct target){
		.arena = ARENA_INIT,
		.server = server ? server : args_get(args, "server"),
		.json = args_has(args, "json"),
		.strict = args_has(args, "strict"),
		.has_many_calls = args_has(args, "batch"),
		.scrub = scrub_new(),
		.session = {.client_name = "matins",
			    .client_version = MATINS_VERSION,
			    .log_level =
				    log_level() >= LOG_DEBUG ? "debug" : NULL},
		.person = {.loop = &t->loop,
			   .live = &t->live,
			   .typed = {.fd = -1}},
	};
	log_set_filter(scrub_filter, t->scrub);
	return open_all(t, args, err);
}

int target_open(struct target *t, const struct args *args, struct err *err)
{
	if (target_prepare(t, args, NULL, err) < 0)
		return -1;
	return start_client(t, err);
}

void target_help(void)
{
	printf("\nTARGET is --server SERVER of the configuration, --url URL, "
	       "or -- PROGRAM ARGS….\nPrograms run in the sandbox; the options "
	       "of `exec` grant more.\n");
	policy_presets_help();
}

/* ---- the end ---- */

/* Print an error; statuses that only `exec` uses become 1. */
static int failed(struct target *t, struct err *err)
{
	struct target_answer a = {.outcome = TARGET_FAILED};

	if (t->has_failed)
		return 1;
	if (err->kind == ERR_USAGE || err->kind == ERR_CONFIG ||
	    (err->kind == ERR_SYS && err->sys == EPIPE))
		return -1;
	a.kind = err_word(err->kind);
	if (t->has_loop && t->loop.signal) {
		a.kind = report_reason_name(REASON_CANCELLED);
		(void)!target_interrupted(t, err);
	} else if (t->client && client_failure(t->client) != REASON_NONE)
		a.kind = report_reason_name(client_failure(t->client));
	a.message = str_of(err->msg);
	target_print_error(t, &a);
	return 1;
}

static void release(struct target *t)
{
	live_release(&t->live);
	ask_person_release(&t->person);
	sampler_free(t->asks.sampler);
	client_free(t->client);
	remote_server_free(t->remote);
	remotes_free(t->remotes);
	log_set_filter(NULL, NULL);
	credentials_free(t->credentials);
	scrub_free(t->scrub);
	eras_free(t->eras);
	gate_free(t->gate);
	if (t->has_loop) {
		loop_timer_clear(&t->loop, &t->tick);
		loop_release(&t->loop);
	}
	env_release(&t->env);
	config_release(&t->file);
	arena_release(&t->arena);
}

/*
 * Print the last lines of a server that failed or was given up. Also with
 * --quiet: often they alone name the cause.
 */
static void say_details(const struct target *t)
{
	const char *details =
		t->client ? client_failure_details(t->client) : "";

	if (*details && !t->loop.signal)
		log_error("%s", details);
}

/* An answer that was ordered and could not be given is no success. */
static int answered_otherwise(const struct target *t)
{
	log_error("%s asked for values that --elicit-content does not give, so "
		  "the request was not accepted as ordered",
		  t->name);
	return 1;
}

/* Print denials even if the tool answered: "fetch failed" is an answer. */
static void say_denials(const struct target *t, int status)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct gate_verdict *v =
		t->client ? client_verdict(t->client) : NULL;
	const struct advice_how how = {
		.failed = status != 0,
		.all = log_level() >= LOG_DEBUG,
		.form = ADVICE_OPTION,
		.scrub = t->scrub,
	};
	struct strlist lines;

	if (!v || t->loop.signal)
		return;
	lines = advice_denials(v, &how, &arena);
	for (size_t i = 0; i < lines.n; i++)
		log_note("%s", lines.item[i]);
}

int target_close(struct target *t, int status, struct err *err)
{
	struct err ignored = ERR_INIT;
	int signal;

	live_clear(&t->live);
	if (status < 0)
		status = failed(t, err);
	if (status == 1) {
		say_details(t);
		if (t->client && client_failure(t->client) != REASON_NONE)
			target_hint(t, client_stderr(t->client));
	}
	if (status == 0 && t->asks.is_unmet)
		status = answered_otherwise(t);
	if (t->client && client_finish(t->client, &ignored) < 0)
		log_debug("%s", ignored.msg);
	say_denials(t, status);
	signal = t->has_loop ? t->loop.signal : 0;
	release(t);
	return signal ? 128 + signal : status;
}
