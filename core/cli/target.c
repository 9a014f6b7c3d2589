#include "core/cli/target.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/cli/child_run.h"
#include "core/cli/put.h"
#include "core/cli/open.h"
#include "core/cli/route.h"
#include "core/client/catalogue.h"
#include "core/config/paths.h"
#include "core/mcp/wire/elicit.h"
#include "core/mcp/wire/rpc.h"
#include "core/install/depot.h"
#include "core/run/tool_policy.h"
#include "core/run/advice_command.h"
#include "core/run/plan.h"
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

/* A text of the server: its further lines are set in. */
static void show(const struct ask_person *p, struct str s, struct buf *out)
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

static void question_free(struct question *q)
{
	for (size_t i = 0; q->values && i < q->what.n_fields; i++)
		buf_release(&q->values[i]);
	free(q->values);
	arena_release(&q->arena);
	free(q);
}

static void begin_next(struct ask_person *p);

static void answer(struct ask_person *p, enum elicit_action action)
{
	AUTO(buf_release) struct buf values = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;
	struct str why;
	struct jw w = jw_begin(&values);

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
		log_warning("the answer is not sent unchanged: %.*s",
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
		show(p, f->choices[i].title, out);
	}
	if (f->format.n) {
		buf_adds(out, ", ");
		show(p, f->format, out);
	}
	if (f->least.p)
		buf_addf(out, ", at least %.*s", STR_ARG(f->least));
	if (f->most.p)
		buf_addf(out, ", at most %.*s", STR_ARG(f->most));
	buf_adds(out, f->required ? ")" : "; may be left out)");
}

static void show_field(const struct ask_person *p, struct buf *out)
{
	const struct elicit_field *f = &p->first->what.fields[p->first->at];

	if (f->description.n) {
		buf_adds(out, "    ");
		show(p, f->description, out);
		buf_addc(out, '\n');
	}
	buf_adds(out, "  ");
	show(p, f->title.n ? f->title : f->name, out);
	describe(p, f, out);
	if (f->def.p) {
		buf_adds(out, " [");
		show(p, f->def, out);
		buf_addc(out, ']');
	}
	buf_adds(out, ": ");
}

static void show_review(const struct ask_person *p, struct buf *out)
{
	struct question *q = p->first;

	buf_addf(out, "This would be sent to %s:\n", p->server);
	for (size_t i = 0; i < q->what.n_fields; i++) {
		const struct elicit_field *f = &q->what.fields[i];

		buf_adds(out, "  ");
		show(p, f->name, out);
		buf_adds(out, " = ");
		if (q->values[i].n)
			show(p, buf_str(&q->values[i]), out);
		else
			show(p, f->def.p ? f->def : STR("(left out)"), out);
		buf_addc(out, '\n');
	}
	buf_adds(out, "Send it? y: yes, a: again, d: decline, c: cancel: ");
}

/* Ask for the field, or for the decision; that on a page stands already. */
static void ask_now(const struct ask_person *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (p->first->what.url.p)
		return;
	if (p->first->at == p->first->what.n_fields)
		show_review(p, &out);
	else
		show_field(p, &out);
	live_put(&out);
}

/* Show a URL with its host in bold, and warn of Punycode and of an @. */
static void show_url(const struct ask_person *p, struct str url,
		     struct buf *out)
{
	const bool is_plain = !put_has_colour(STDERR_FILENO);
	size_t at = str_starts(url, "https://") ? 8 : 7, n = at;

	while (n < url.n && !strchr("/?#", url.p[n]))
		n++;
	buf_adds(out, "\n    ");
	show(p, (struct str){url.p, at}, out);
	buf_adds(out, is_plain ? "" : "\033[1m");
	show(p, (struct str){url.p + at, n - at}, out);
	buf_adds(out, is_plain ? "" : "\033[0m");
	show(p, str_skip(url, n), out);
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

	p->live->is_held = q;
	if (!q && p->typed.fd >= 0)
		loop_unwatch(p->loop, &p->typed);
	if (!q || q->begun || p->is_held)
		return;
	q->begun = true;
	if (p->ended) {
		answer(p, ELICIT_CANCEL);
		return;
	}
	live_clear(p->live);
	buf_addf(&out, "\nThe server %s %s:\n  ", p->server,
		 q->what.url.p ? "asks you to visit a page" : "asks");
	show(p, q->what.message, &out);
	buf_addc(&out, '\n');
	if (q->what.url.p) {
		show_url(p, q->what.url, &out);
		buf_adds(&out, "matins does not open it. y: I agree and open "
			       "it myself, d: decline, c: cancel: ");
	} else {
		buf_adds(&out, "Enter takes the value in brackets; :d "
			       "declines, :c cancels, :a begins again.\n");
	}
	live_put(&out);
	ask_now(p);
}

static bool is_word(struct str line, char letter, const char *word)
{
	return (line.n == 1 && (line.p[0] | 0x20) == letter) ||
	       (line.n == strlen(word) &&
		strncasecmp(line.p, word, line.n) == 0);
}

/* Decline, cancel or begin again; false: the line says none of the three. */
static bool is_way_out(struct ask_person *p, struct str line)
{
	struct question *q = p->first;

	if (is_word(line, 'd', "decline")) {
		answer(p, ELICIT_DECLINE);
	} else if (is_word(line, 'c', "cancel")) {
		answer(p, ELICIT_CANCEL);
	} else if (!q->what.url.p && is_word(line, 'a', "again")) {
		for (size_t i = 0; i < q->what.n_fields; i++)
			buf_clear(&q->values[i]);
		q->at = 0;
		ask_now(p);
	} else {
		return false;
	}
	return true;
}

static void say_line(const char *text, const char *end)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, "  ");
	log_visible(&out, str_of(text), false);
	buf_adds(&out, end);
	live_put(&out);
}

static void on_line(struct ask_person *p, struct str line)
{
	struct question *q = p->first;
	const struct elicit_field *f;
	struct err err = ERR_INIT;

	if (q->what.url.p || q->at == q->what.n_fields) {
		if (is_word(line, 'y', "yes"))
			answer(p, ELICIT_ACCEPT);
		else if (!is_way_out(p, line))
			say_line(q->what.url.p ? "y, d or c: "
					       : "y, a, d or c: ",
				 "");
		return;
	}
	f = &q->what.fields[q->at];
	buf_clear(&q->values[q->at]);
	if (line.n && line.p[0] == ':' && is_way_out(p, str_skip(line, 1)))
		return;
	if (!line.n && f->required && !f->def.p)
		say_line("an answer is required", "\n");
	else if (line.n && elicit_typed(f, line, &q->values[q->at], &err) < 0)
		say_line(err.msg, "\n");
	else
		q->at++;
	ask_now(p);
}

static void on_typed(void *arg, UNUSED uint32_t events)
{
	struct ask_person *p = arg;
	char *room = buf_room(&p->line, PORTION_BYTES);
	ssize_t r = room ? read(STDIN_FILENO, room, PORTION_BYTES) : 0;
	size_t end;

	if (r < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (r <= 0) {
		/* the end of the input cancels all questions */
		p->ended = true;
		while (p->first)
			answer(p, ELICIT_CANCEL);
		return;
	}
	p->line.n += (size_t)r;
	while (p->first &&
	       (end = str_find(buf_str(&p->line), '\n')) < p->line.n) {
		on_line(p, str_trim((struct str){p->line.p, end}));
		buf_drop(&p->line, end + 1);
	}
}

static void watch_typed(struct ask_person *p)
{
	if (!p->is_held && loop_watch(p->loop, &p->typed, STDIN_FILENO, EPOLLIN,
				      on_typed, p, ERR_IGNORED) < 0)
		p->ended = true;
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
	if (!p->line.max)
		p->line = (struct buf)BUF_INIT(LINE_BYTES);
	if (q == p->first)
		watch_typed(p);
	begin_next(p);
}

void target_hold_questions(struct target *t, bool holds)
{
	struct ask_person *p = &t->person;

	while (holds && p->first && !t->loop.signal &&
	       loop_turn(&t->loop, ERR_IGNORED) == 0)
		;
	p->is_held = holds;
	if (holds || !p->first)
		return;
	watch_typed(p);
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
			say_line("The server no longer asks.", "\n");
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

/* ---- options of remote servers, over the keys of the configuration ---- */

/* A file of headers. */
#define HEADERS_BYTES (256 * 1024)

static int read_secret(struct target *t, const char *option,
		       struct remote_spec *spec, const char **ret,
		       struct err *err)
{
	AUTO(buf_wipe) struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
	const char *path = args_get(t->args, option);

	if (!path)
		return 0;
	if (secret_resolve(SECRET_FILE, path_resolve(path, NULL, &t->arena),
			   NULL, &value, err) < 0)
		return err_wrap(err, "--%s", option);
	scrub_add(t->scrub, buf_str(&value));
	spec->plain.has_credentials = true;
	*ret = remote_spec_keep(spec, buf_str(&value));
	return 0;
}

/* The keys of `auth`, and files that hold secrets. */
static int read_auth(struct target *t, struct remote_spec *spec,
		     struct err *err)
{
	struct server_auth given = {0};

	if (option_values_read(t->args, SECTION_auth, &t->arena, &given, err) <
	    0)
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
#define AUTH_SECRET(key, option, ...)                               \
	if (read_secret(t, option, spec, &spec->auth.key, err) < 0) \
		return -1;
#include "core/auth/auth.def"
	return 0;
}

static int add_header(struct target *t, struct remote_spec *spec,
		      struct str line, struct err *err)
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
	scrub_add(t->scrub, value);
	if (str_starts(value, "Bearer "))
		scrub_add(t->scrub, str_skip(value, 7));
	if (http_headers_set(&spec->headers, text, value, err) == 0)
		return 0;
	err->kind = ERR_USAGE;
	return err_wrap(err, "--header");
}

static int add_header_file(struct target *t, struct remote_spec *spec,
			   const char *path, struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(HEADERS_BYTES);
	struct str rest;

	if (fd_read_file(path, &text, err) < 0)
		return err_wrap(err, "--header");
	rest = buf_str(&text);
	while (rest.n) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		if (line.n && line.p[0] != '#' &&
		    add_header(t, spec, line, err) < 0)
			return err_wrap(err, "%s", path);
	}
	return 0;
}

/* Files are read here, their secrets are added to the scrubber. */
static int read_remote_options(struct target *t, struct remote_spec *spec,
			       struct err *err)
{
	struct strlist all = args_all(t->args, "header", &t->arena);

	if (read_auth(t, spec, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const char *s = all.item[i];

		if ((*s == '@' ? add_header_file(t, spec, s + 1, err)
			       : add_header(t, spec, str_of(s), err)) < 0)
			return -1;
	}
	return 0;
}

/* ---- which server, its options and keys ---- */

/* A file of values. */
#define VALUE_BYTES (16 * 1024 * 1024)

bool target_is_named(const struct args *args)
{
	return args_has(args, "server") || args_has(args, "url") ||
	       (args->after && args->after[0]);
}

static int one_target(const struct target *t, struct err *err)
{
	const struct args *args = t->args;
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

static void merge_policy(struct target *t, const struct gate_policy *more)
{
	struct gate_policy base = t->policy;

	gate_policy_merge(&base, more, &t->arena, &t->policy);
}

/* The program of the server, of the configuration or the command line. */
static void find_program(struct target *t)
{
	const struct server *s = &t->keys;
	char **words = t->args->after;
	const char **argv;

	if (t->server) {
		merge_policy(t, &s->sandbox);
		t->name = s->name;
		if (!s->command)
			return;
		argv = ARENA_ARRAY(&t->arena, const char *, s->args.n + 2);
		argv[0] = t->request.program = s->command;
		for (size_t i = 0; i < s->args.n; i++)
			argv[i + 1] = s->args.item[i];
		t->request.argv = argv;
		plan_cwd(&t->request, s->cwd, t->config);
	} else if (t->url) {
		t->name = t->url;
	} else {
		t->name = "the server";
		t->request.program = path_program(words[0], NULL, &t->arena);
		t->request.argv = (const char *const *)words;
		t->request.cwd = path_resolve(".", NULL, &t->arena);
	}
}

static int set_server(struct target *t, struct err *err)
{
	const struct config_options options = {
		.path = args_get(t->args, "config"),
		.lax = args_has(t->args, "lax"),
		.sha256 = args_get(t->args, "sha256"),
		.quiet = t->is_survey,
		.server = t->server,
		/* without a server only [sandbox] is read */
		.routine = t->server ? NULL : "",
		.optional = !t->server,
	};
	const struct server *s;

	if (one_target(t, err) < 0)
		return -1;
	t->url = args_get(t->args, "url");
	if (config_open(&options, &t->file, err) < 0)
		return -1;
	t->config = t->file.path ? &t->file.config : NULL;
	if (!t->server) {
		t->keys = server_by_default();
		t->keys.name = t->keys.url = t->url;
		return 0;
	}
	if (find_server(t->config, t->server, &s, err) < 0)
		return -1;
	if (s->unset)
		return err_set(err, ERR_CONFIG, "%s", s->unset);
	t->keys = *s;
	t->url = s->url;
	return 0;
}

/* Options for the gate apply to programs only, those of a login to a URL. */
static int check_remote(const struct target *t, struct err *err)
{
	for (const struct option *o = options_of_urls; !t->url && o->name; o++)
		if (args_has(t->args, o->name))
			return err_set(err, ERR_USAGE,
				       "--%s is for remote servers (--url, or "
				       "a server with a \"url\"); this server "
				       "is a program",
				       o->name);
	/* a {cmd} reference of a named server's credentials runs under these */
	for (const struct option *o = options_of_programs;
	     t->url && !t->server && o->name; o++)
		if (args_has(t->args, o->name))
			return err_set(
				err, ERR_USAGE,
				"--%s is for programs; a URL starts none",
				o->name);
	return 0;
}

/* Read values for an answer, which without --elicit mean `accept`. */
static int read_content(struct target *t, struct err *err)
{
	const char *content = args_get(t->args, "elicit-content");
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
	if (!args_has(t->args, "elicit")) {
		t->asks.has_elicit = true;
		t->asks.elicit = ELICIT_ACCEPT;
	}
	return 0;
}

/* Set the keys by their options, and the session by the keys. */
static int read_keys(struct target *t, struct err *err)
{
	const struct strlist roots = args_all(t->args, "root", &t->arena);
	const struct gate_policy *policy = t->url ? NULL : &t->policy;
	struct server *keys = &t->keys;

	if (option_values_read(t->args, SECTION_server, &t->arena, keys, err) <
	    0)
		return -1;
	t->strict |= keys->strict;
	t->session.protocol = keys->protocol;
	t->session.message_max = keys->stdout_max;
	t->session.request_timeout_ms = keys->timeout_ms;
	/* a short timeout also bounds the handshake */
	if (args_has(t->args, "timeout"))
		t->session.initialize_timeout_ms = keys->timeout_ms;
	if (asks_of_server(keys, &t->policy, &t->arena, &t->asks, err) < 0 ||
	    read_content(t, err) < 0)
		return -1;
	for (size_t i = 0; i < roots.n; i++) {
		if (asks_add_root(&t->asks, roots.item[i], policy, &t->arena,
				  err) < 0) {
			err->kind = ERR_USAGE;
			return err_wrap(err, "--root");
		}
	}
	return 0;
}

/* Keys of the server first, then options. */
static int read_options(struct target *t, struct err *err)
{
	struct gate_policy more;
	const char *off;

	if (set_server(t, err) < 0 || check_remote(t, err) < 0 ||
	    policy_options_read(t->args, &t->arena, &more, &t->given_env, err) <
		    0)
		return -1;
	if (t->config)
		t->policy = t->config->sandbox;
	find_program(t);
	merge_policy(t, &more);
	if (read_keys(t, err) < 0)
		return -1;
	off = t->starts ? tool_policy_off(t->config, &t->keys, &t->arena)
			: NULL;
	return off ? err_set(err, ERR_DISABLED, "%s", off) : 0;
}

/* ---- opening ---- */

static int open_own_gate(struct target *t, struct err *err)
{
	struct arena *arena = &t->arena;
	const char *browser = args_get(t->args, "browser");
	const char *store = args_get(t->args, "token-store");
	struct gate_wish wish = {
		.config = t->config,
		.exec = &t->policy.exec,
		.files = policy_files(t->args, arena),
		.token_store = store ? path_resolve(store, NULL, arena) : NULL,
	};

	/* a program of the configuration is declared there */
	if (t->request.program && !t->server)
		list_add(&wish.named, arena, t->request.program);
	if (browser)
		list_add(&wish.named, arena,
			 path_program(browser, NULL, arena));
	if (args_has(t->args, "sampling"))
		list_add(&wish.named, arena, t->asks.sampling.item[0]);
	t->eras = eras_open(state_dir_find(arena));
	return open_gate(&wish, arena, &t->gate, err);
}

static int open_remote(struct target *t, struct err *err)
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
	if (remote_spec_of_server(&t->keys, t->credentials, &spec, err) < 0)
		return -1;
	spec.is_named = t->server;
	spec.timeout_ms = t->keys.timeout_ms;
	if (read_remote_options(t, &spec, err) < 0) {
		remote_spec_release(&spec);
		return -1;
	}
	t->remotes = remotes_new(&options);
	if (remote_server_new(t->remotes, &spec, &t->remote, err) < 0)
		return -1;
	/* a URL is shown without its secrets */
	if (!t->server)
		t->name = t->remote->text;
	return 0;
}

/* Check the sampler before the server starts: it must be allowed to run. */
static int make_sampler(struct target *t, struct err *err)
{
	const struct sampler_options options = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.name = t->name,
		.words = t->asks.sampling,
		.cwd = args_has(t->args, "sampling")
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

static void on_signal(void *arg, int signal)
{
	struct target *t = arg;

	live_clear(&t->live);
	if (!t->client)
		return;
	if (t->loop.signal_count > 1)
		client_kill(t->client);
	else
		client_stop(
			t->client,
			arena_printf(&t->arena, "SIG%s", sigabbrev_np(signal)),
			CLIENT_GRACE_STOPPED_MS);
}

/* Judge the program; a server whose files are gone is said to be that. */
static int check_program(struct target *t, struct err *err)
{
	struct err why = ERR_INIT;

	if (gate_check(t->gate, &t->request, err) == 0)
		return 0;
	if (depot_check(&t->request, &why) < 0 && why.kind == ERR_NOT_FOUND)
		*err = why;
	return -1;
}

/*
 * Open the parts in the order in which they need each other. Signals are taken
 * before anything can hang. The gate judges the program and the sampler before
 * a secret is read for them; credentials run their commands through the gate;
 * --env replaces a variable that they gave; a remote server needs both. The
 * features to declare come last: they depend on all of this.
 */
static int open_all(struct target *t, struct err *err)
{
	struct mcp_declared *declared = &t->session.declared;

	if (read_options(t, err) < 0 ||
	    loop_init(&t->loop, clock_system(), err) < 0)
		return -1;
	t->has_loop = true;
	t->loop.on_signal = on_signal;
	t->loop.on_signal_arg = t;
	live_open(&t->live, &t->loop);
	if (loop_take_signals(&t->loop, err) < 0 || open_own_gate(t, err) < 0)
		return -1;
	t->person.server = t->name;
	t->person.scrub = t->scrub;
	t->credentials = credentials_new(&(struct credentials_context){
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.policy = &t->file.config.sandbox,
		.config = &t->file.config,
	});
	t->request.policy = &t->policy;
	if (!t->url && check_program(t, err) < 0)
		return -1;
	if (make_sampler(t, err) < 0)
		return -1;
	if (!t->url && credentials_give(t->credentials, &t->keys.env, NULL,
					&t->env, err) < 0)
		return -1;
	env_add_lines(&t->env, t->given_env);
	if (t->url && open_remote(t, err) < 0)
		return -1;
	asks_declare(&t->asks, declared);
	declared->tasks = true;
	/* a list is that of a step, or of a call in a script */
	if (!t->asks.has_elicit && !t->is_listing && ask_person_is_there())
		declared->elicit_form = declared->elicit_url = true;
	return 0;
}

static void scrub_filter(struct buf *line, void *arg)
{
	scrub_log_filter(line, arg);
}

/* survey  the server of a survey; NULL: it is none */
static int prepare(struct target *t, const struct args *args,
		   enum target_how how, const char *survey, struct err *err)
{
	*t = (struct target){
		.args = args,
		.server = survey	       ? survey
			  : how == TARGET_FIND ? args->positional[1]
					       : args_get(args, "server"),
		.tool = args->positional[0],
		.starts = how != TARGET_FIND,
		.is_survey = survey,
		.is_listing = survey || how == TARGET_LIST,
		.catches = survey || how == TARGET_CATCH,
		.json = args_has(args, "json"),
		.strict = args_has(args, "strict"),
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
	if (how == TARGET_TOOL && t->tool && !target_is_named(args) &&
	    route_word(args, t->tool, &t->arena, &t->server, &t->tool, err) < 0)
		return -1;
	return open_all(t, err);
}

const struct strlist *target_grants(const struct target *t)
{
	static const struct strlist none = {NULL, 0};

	return t->url ? &none : &t->policy.write;
}

const char *target_denial(struct target *t, struct str item, bool *ret_asks)
{
	*ret_asks = false;
	return t->server ? tool_policy_listed(&t->keys, item, target_grants(t),
					      ret_asks, &t->arena)
			 : NULL;
}

void target_help(const struct args *args)
{
	printf("\nTARGET is --server SERVER of the configuration, --url URL, "
	       "or -- PROGRAM ARGS….\nPrograms run in the sandbox; the options "
	       "of `exec` grant more.\n");
	policy_recipes_help(args);
}

/* ---- starting ---- */

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
	} else if (strcmp(e->of->method, "elicitation/create") == 0 &&
		   !t->is_survey) {
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

/* A server that takes as long to answer, while it prints something else, may
   be none. */
#define DOUBT_MS 5000

static void say_doubt(void *arg)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct target *t = arg;

	client_say_noise(t->client, &line);
	if (!line.n)
		return;
	live_clear(&t->live);
	log_note("%s printed \"%s\", which is no MCP message; its answer is "
		 "waited for (Ctrl-C ends that, and --timeout bounds it)",
		 t->name, buf_cstr(&line));
}

static int wait_ready(struct target *t, struct err *err)
{
	struct loop_timer doubt = {.fire = say_doubt, .arg = t};
	int r;

	loop_timer_in(&t->loop, &doubt, DOUBT_MS);
	r = client_wait_ready(t->client, err);
	loop_timer_clear(&t->loop, &doubt);
	return r;
}

/* Log how the server describes itself; its name also heads its questions. */
static void say_server(struct target *t)
{
	const struct mcp_peer *s = client_server(t->client);
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	target_show(t, s->name, false, &name);
	t->person.server =
		arena_printf(&t->arena, "%s (%s)",
			     name.n ? buf_cstr(&name) : "without a name",
			     t->url ? t->remote->text : t->request.argv[0]);
	if (log_level() < LOG_DEBUG)
		return;
	target_show(t, s->version, false, &text);
	buf_addf(&text, ", MCP %s%s, offers ", s->revision->date,
		 mcp_peer_note(s));
	target_show(t, s->capabilities, false, &text);
	log_debug("%s is %s %s", t->name, buf_cstr(&name), buf_cstr(&text));
	if (!s->instructions.n)
		return;
	buf_clear(&text);
	target_show(t, s->instructions, false, &text);
	log_debug("%s sent instructions, which are only shown: %s", t->name,
		  buf_cstr(&text));
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
		.url = t->url ? t->remote->url.text.p : NULL,
		.session = t->session,
		.show_stderr = log_level() >= LOG_DEBUG,
		.is_edited = strcmp(t->keys.integrity, "off") == 0,
		.audit = t->keys.audit,
		.rate = t->keys.rate,
		.max_concurrent = t->keys.max_concurrent,
		.throttle_key =
			t->server ? arena_printf(&t->arena, "%s/%s",
						 t->config->path, t->server)
				  : NULL,
		.audited_as =
			t->server || t->url ? t->name : t->request.program,
		.watches_lists = args_has(t->args, "batch"),
		.on_event = on_client,
		.arg = t,
	};

	t->request.env = env_lines(&t->env);
	for (int i = 0; i < 3; i++)
		t->request.stdio[i] = GATE_PIPE;
	t->client = client_new(&context, &options);
	t->person.client = t->client;
	live_begin(&t->live, t->url ? "connecting" : "starting the server");
	if (client_start(t->client, err) < 0 || wait_ready(t, err) < 0)
		return -1;
	live_clear(&t->live);
	say_server(t);
	return 0;
}

/* Did the server refuse for want of a login? */
static bool wants_login(const struct target *t)
{
	return t->client && client_failure(t->client) == REASON_AUTH;
}

void target_note(struct target *t, const struct err *why)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	struct err said = ERR_INIT;

	if (!t->server || t->loop.signal ||
	    (why && (why->kind == ERR_SYS || why->kind == ERR_USAGE)))
		return;
	if (why) {
		target_show(t, str_of(why->msg), false, &clean);
		(void)err_set(&said, wants_login(t) ? ERR_AUTH : why->kind,
			      "%s", buf_cstr(&clean));
	}
	(void)catalogue_note(state_dir_find(&t->arena), t->config->path,
			     t->server, why ? &said : NULL, target_now(t));
}

static void on_paused(UNUSED void *arg)
{
}

/* Turn the loop until then; 1: a signal came first. */
static int wait_until(struct target *t, uint64_t due_ns, struct err *err)
{
	struct loop_timer timer = {.fire = on_paused, .arg = t};
	int r = 0;

	loop_timer_set(&t->loop, &timer, due_ns);
	while (r == 0 && !t->loop.signal && loop_now(&t->loop) < due_ns)
		r = loop_turn(&t->loop, err);
	loop_timer_clear(&t->loop, &timer);
	return r < 0 ? -1 : t->loop.signal != 0;
}

int target_again(struct target *t, struct backoff *b, struct err *err)
{
	int r;

	if (client_finish(t->client, err) < 0)
		return -1;
	backoff_ended(b, client_has_answered(t->client), loop_now(&t->loop));
	log_note("%s ended, and is started again in %u s", t->name,
		 (unsigned)(b->pause_ms / 1000));
	r = wait_until(t, b->not_before_ns, err);
	if (r != 0)
		return r;
	client_free(t->client);
	return start_client(t, err);
}

/* dir  of --save, made where it is not there; NULL: save nothing */
static int open_files(struct saved_files *f, const char *dir, struct err *err)
{
	*f = (struct saved_files){
		.dir = dir,
		.folder = OUTFOLDER_INIT,
		.max = LIMIT_MESSAGE_BYTES_MAX,
		.said = BUF_INIT(BUF_UNBOUNDED),
	};
	if (!dir)
		return 0;
	if (!*dir)
		return err_set(err, ERR_USAGE, "--save: empty");
	if (fd_mkdirs(dir, 0777) < 0)
		return err_sys(err, errno, "--save: mkdir %s", dir);
	if (outfolder_open(&f->folder, dir, err) < 0 ||
	    state_dir_check(dir, f->folder.path, err) < 0)
		return err_wrap(err, "--save");
	return 0;
}

/* ---- the end ---- */

/* Print an error; statuses that only `exec` uses become 1. */
static int fail(struct target *t, struct err *err)
{
	struct target_answer a = {.outcome = TARGET_FAILED};

	if (t->catches && wants_login(t))
		err->kind = ERR_AUTH;
	if (t->catches && t->failure)
		return err_set(err, ERR_PEER, "%s", t->failure);
	if (t->catches && t->client && *client_failure_details(t->client))
		return err_set(err, err->kind, "%s; %s",
			       arena_strdup(&t->arena, err->msg),
			       client_failure_details(t->client));
	if (t->catches)
		return -1;
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
	if (t->has_loop)
		loop_release(&t->loop);
	outfolder_release(&t->files.folder);
	buf_release(&t->files.said);
	env_release(&t->env);
	config_release(&t->file);
	arena_release(&t->arena);
}

/*
 * Print the last lines of a server that failed or was given up. Also with
 * --quiet: often they alone name the cause.
 */
static void say_details(struct target *t)
{
	const char *details =
		t->client ? client_failure_details(t->client) : "";

	if (*details && !t->loop.signal)
		log_error("%s", details);
	if (t->client && client_failure(t->client) != REASON_NONE)
		target_hint(t, client_stderr(t->client));
}

/* The command that traces a step of the server and its tool; NULL: there is no
   such step. */
static const char *trace_step(struct target *t)
{
	const struct config *c = t->config;

	for (size_t k = 0; t->tool && k < c->n_routines; k++) {
		const struct routine *r = &c->routines[k];

		for (size_t i = 0; i < r->n_steps; i++) {
			const struct step *s = &r->steps[i];

			if (s->server && s->tool && s->enabled &&
			    strcmp(s->server->name, t->server) == 0 &&
			    strcmp(s->tool, t->tool) == 0)
				return advice_about(c, "trace",
						    advice_words(r->name,
								 s->name,
								 &t->arena),
						    &t->arena);
		}
	}
	return NULL;
}

/* The command that traces the program of a target; NULL: none can. */
static const char *trace_command(struct target *t)
{
	if (!client_is_ready(t->client))
		return advice_command(&t->request, &t->arena);
	return t->server ? trace_step(t)
			 : "matins trace ROUTINE STEP, of a step that calls "
			   "the tool";
}

/* A list has no options of a sandbox: its server has rows. */
static void say_refusals(struct target *t, const struct gate_verdict *v,
			 bool failed, const char *trace)
{
	const struct server *s =
		t->is_listing && t->server
			? config_server(&t->file.config, t->server)
			: NULL;
	struct advice_known known = {
		.verdict = v,
		.said = t->said.n ? t->said : client_stderr(t->client),
		.asked = t->asked,
		.failed = failed,
		.all = log_level() >= LOG_DEBUG,
		.is_server = true,
		.form = ADVICE_OPTION,
		.config = s ? &t->file.config : NULL,
		.scrub = t->scrub,
		.gate = t->gate,
		.request = &t->request,
		.trace = trace,
	};

	if (s)
		advice_in_server(&known, s, &t->arena);
	(void)say_advice(&known);
}

static int finish(struct target *t, int status, struct err *err)
{
	const struct gate_verdict *v;
	struct err ignored = ERR_INIT;
	const char *trace = NULL;
	int signal;

	live_clear(&t->live);
	if (status < 0)
		status = fail(t, err);
	if (status == 1)
		say_details(t);
	if (t->client && t->request.argv)
		trace = trace_command(t);
	/* an answer that was ordered and could not be given is no success */
	if (status == 0 && t->asks.is_unmet) {
		log_error("%s asked for values that --elicit-content does not "
			  "give, so the request was not accepted as ordered",
			  t->name);
		status = 1;
	}
	if (t->client && client_finish(t->client, &ignored) < 0)
		log_debug("%s", ignored.msg);
	v = t->client ? client_verdict(t->client) : NULL;
	/* even if the tool answered: "fetch failed" is an answer */
	if (v && !t->loop.signal)
		say_refusals(t, v, status == 1 || status == 2, trace);
	signal = t->has_loop ? t->loop.signal : 0;
	release(t);
	return signal ? 128 + signal : status;
}

int target_survey(const struct args *args, const char *server,
		  int (*work)(struct target *t, void *arg, struct err *err),
		  void *arg, struct err *err)
{
	struct target t;
	int status = prepare(&t, args, TARGET_START, server, err);

	if (status == 0)
		status = start_client(&t, err);
	if (status == 0)
		status = work(&t, arg, err);
	return finish(&t, status, err);
}

int target_run(const struct args *args, enum target_how how,
	       int (*work)(struct target *t, void *arg, struct err *err),
	       void *arg, struct err *err)
{
	struct saved_files files;
	struct target t;
	int status;

	if (open_files(&files, args_get(args, "save"), err) < 0)
		return -1;
	status = prepare(&t, args, how & ~TARGET_CALLS, NULL, err);
	t.files = files;
	t.is_off = status < 0 && err->kind == ERR_DISABLED;
	if (status == 0 && t.starts) {
		status = start_client(&t, err);
		target_note(&t, status < 0 ? err : NULL);
	}
	/* a link that the server may have made leads nowhere else */
	if (status == 0)
		status = path_check_links(files.dir, &files.folder,
					  &t.policy.write, err);
	if (status == 0 || (t.is_off && how & TARGET_CALLS))
		status = work(&t, arg, err);
	/* a test is of the list, too */
	if (status < 0 && how == TARGET_LIST && t.client)
		target_note(&t, err);
	return finish(&t, status, err);
}
