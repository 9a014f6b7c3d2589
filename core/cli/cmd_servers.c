/*
 * `matins servers` lists the servers of the configuration with their state,
 * without starting one; `servers test` starts one and lists its tools.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/client/catalogue.h"
#include "core/doctor/access.h"
#include "core/import/launch.h"
#include "core/install/depot.h"
#include "core/run/plan.h"

const struct option options_servers[] = {{.letter = OPTIONS_TARGET}};

/* Facts of a server; texts are borrowed, "" of what is not known. */
struct row {
	const char *name, *kind, *version;
	const char *tools; /* their number */
	const char *last_sync, *state, *last_error;
};

/* Members of a row; the one that may be long stands behind. */
static const struct {
	const char *name;
	size_t at;
	bool is_number;
} columns[] = {
	{"name", offsetof(struct row, name), false},
	{"kind", offsetof(struct row, kind), false},
	{"version", offsetof(struct row, version), false},
	{"tools", offsetof(struct row, tools), true},
	{"last_sync", offsetof(struct row, last_sync), false},
	{"state", offsetof(struct row, state), false},
	{"last_error", offsetof(struct row, last_error), false},
};

static const char *member(const struct row *row, size_t i)
{
	return *(const char *const *)((const char *)row + columns[i].at);
}

/* ---- states ---- */

struct list {
	struct arena arena;
	struct config_file file;
	struct gate *gate;
	struct row *row;
	size_t n;
};

static const char *error_state(struct list *l, const struct err *err)
{
	return arena_printf(&l->arena, "error: %s", err->msg);
}

/* Judge the program as a start would, without starting it; its files are
   compared where it is an installed one, whose facts are read. */
static const char *state_of_program(struct list *l, const struct server *s,
				    struct installed_server *about)
{
	const struct config *config = &l->file.config;
	struct gate_policy policy;
	struct gate_request request = {
		.program = s->command,
		.policy = &policy,
		.stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE},
	};
	const bool is_checked = strcmp(s->integrity, "on") == 0;
	struct strlist argv = {NULL, 0};
	struct err err = ERR_INIT;
	const char *name;

	gate_policy_merge(&config->sandbox, &s->sandbox, &l->arena, &policy);
	list_add(&argv, &l->arena, s->command);
	list_add_all(&argv, &l->arena, &s->args);
	list_add(&argv, &l->arena, NULL);
	request.argv = argv.item;
	plan_cwd(&request, s->cwd, config);
	name = depot_server_of(&request, &l->arena);
	if (name && depot_read(name, &l->arena, about, ERR_IGNORED) > 0)
		return "not installed";
	if ((!is_checked || depot_check(&request, &err) == 0) &&
	    gate_check(l->gate, &request, &err) == 0)
		return "ok";
	return err.kind == ERR_NOT_FOUND ? "not installed"
					 : error_state(l, &err);
}

/* A container starts by a socket of this machine, which must be granted. */
static bool is_shut_container(const struct list *l, const struct server *s)
{
	const struct launch launch = {s->command, s->args};

	return launch_is_container(&launch) && !s->sandbox.unix_sockets.n &&
	       !l->file.config.sandbox.unix_sockets.n;
}

/* State of a server that is switched on and lacks no variable. */
static const char *state_of_found(struct list *l, const struct server *s,
				  struct installed_server *about)
{
	struct err err = ERR_INIT;
	int r;

	if (!s->url && list_has(&s->args, "***"))
		return "error: an argument is ***, which stands for a "
		       "credential: hand it over in env";
	if (!s->url && is_shut_container(l, s))
		return "error: a container needs its socket: sandbox.unix = "
		       "[\"/run/docker.sock\"]";
	if (!s->url)
		return state_of_program(l, s, about);
	r = access_needs_login(&l->file.config, state_dir_find(&l->arena), s,
			       &l->arena, &err);
	return r < 0 ? error_state(l, &err) : r ? "needs login" : "ok";
}

static const char *state_of(struct list *l, const struct server *s,
			    struct installed_server *about)
{
	const char *state, *why = NULL;

	if (!s->enabled)
		return "disabled";
	if (s->unset)
		return arena_printf(&l->arena, "error: %s", s->unset);
	state = state_of_found(l, s, about);
	/* paths of a file that was not allowed are not looked at */
	if (strcmp(state, "ok") == 0 && !l->file.not_allowed)
		why = access_missing(s, &l->arena);
	return why ? arena_printf(&l->arena, "error: %s", why) : state;
}

/* Add what the catalogue knows. */
static void add_catalogue(struct list *l, struct row *row)
{
	AUTO(catalogue_release) struct catalogue c;

	if (!catalogue_read_heads(state_dir_find(&l->arena),
				  l->file.config.path, row->name, &c))
		return;
	if (c.synced || catalogue_count(&c, LISTING_TOOLS))
		row->tools = arena_printf(&l->arena, "%zu",
					  catalogue_count(&c, LISTING_TOOLS));
	if (c.synced)
		row->last_sync = arena_strdup(&l->arena, c.synced);
	if (!c.error)
		return;
	row->last_error = arena_strdup(&l->arena, c.error);
	if (strcmp(row->state, "ok") != 0)
		return;
	row->state = c.error_kind && !strcmp(c.error_kind, err_word(ERR_AUTH))
			     ? "needs login"
			     : arena_printf(&l->arena, "error: %s", c.error);
}

static void add_row(struct list *l, const struct server *s)
{
	struct installed_server about = {
		.kind = s->url ? "url" : "program",
		.version = "",
	};
	const char *state = state_of(l, s, &about);

	l->row[l->n] = (struct row){
		.name = s->name,
		.kind = about.kind,
		.version = about.version,
		.state = state,
		.tools = "",
		.last_sync = "",
		.last_error = "",
	};
	add_catalogue(l, &l->row[l->n++]);
}

/* ---- output ---- */

static void print_json(const struct list *l, struct jw *w)
{
	jw_kv_array(w, "servers");
	for (size_t i = 0; i < l->n; i++) {
		jw_object(w);
		for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
			const char *text = member(&l->row[i], k);

			jw_key(w, columns[k].name);
			if (!*text)
				jw_null(w);
			else if (columns[k].is_number)
				jw_raw(w, str_of(text));
			else
				jw_cstr(w, text);
		}
		jw_end(w);
	}
	jw_end(w);
}

/* An error may be a text of lines. */
static struct str first_line(const char *text)
{
	return (struct str){text, strcspn(text, "\n")};
}

/* The member of a row for people: an error that is the state is said once. */
static struct str shown(const struct row *row, size_t i)
{
	const char *text = member(row, i);

	return first_line(text == row->last_error &&
					  str_ends(str_of(row->state), text)
				  ? ""
				  : text);
}

/* Columns that hold nothing are left out. */
static void print_text(const struct list *l, struct buf *out)
{
	size_t width[ARRAY_LEN(columns)] = {0};

	for (size_t k = 0; k < ARRAY_LEN(columns); k++)
		for (size_t i = 0; i < l->n; i++) {
			size_t n = text_columns(shown(&l->row[i], k));

			width[k] = n > width[k] ? n : width[k];
		}
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
			const struct str text = shown(&l->row[i], k);

			if (!width[k])
				continue;
			buf_adds(out, k ? "  " : "");
			log_visible(out, text, false);
			for (size_t n = text_columns(text); n < width[k]; n++)
				buf_addc(out, ' ');
			if (columns[k].is_number)
				buf_adds(out, !text.n		  ? "      "
					      : str_is(text, "1") ? " tool "
								  : " tools");
		}
		while (out->p[out->n - 1] == ' ')
			out->n--;
		buf_addc(out, '\n');
	}
}

static void list_release(struct list *l)
{
	gate_free(l->gate);
	config_release(&l->file);
	arena_release(&l->arena);
}

static int list_servers(const struct args *args, struct err *err)
{
	const struct config_options options = {.passive = true};
	AUTO(list_release) struct list l = {.arena = ARENA_INIT};
	AUTO(page_release) struct page page;
	const struct config *c = &l.file.config;
	struct gate_wish wish = {.config = c};

	depot_sweep();
	page_open(&page, args);
	if (open_config(args, options, &l.file, err) < 0 ||
	    open_gate(&wish, &l.arena, &l.gate, err) < 0)
		return -1;
	l.row = ARENA_ARRAY(&l.arena, struct row, c->n_servers);
	for (size_t i = 0; i < c->n_servers; i++)
		add_row(&l, &c->servers[i]);
	if (!l.n)
		log_note("%s has no servers", c->path);
	if (page.is_json)
		print_json(&l, &page.w);
	else
		print_text(&l, &page.out);
	return page_put(&page, err);
}

/* ---- test ---- */

static uint64_t now_ms(void)
{
	return clock_system()->now_ns(clock_system()) / NS_PER_MS;
}

/* One line of a text of the server, without secrets. */
static const char *plain(struct target *t, struct str text)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	target_show(t, text, false, &out);
	return arena_strdup(&t->arena, buf_cstr(&out));
}

/* The handshake is done: list the tools, and print what is known. */
static int report_test(struct target *t, void *arg, struct err *err)
{
	const uint64_t *begin_ms = arg, ready_ms = now_ms();
	const struct mcp_peer *peer = client_server(t->client);
	const bool has_tools = client_offers(t->client, "tools");
	const char *name = plain(t, peer->name);
	const char *version = plain(t, peer->version);
	AUTO(page_release) struct page page;
	struct listing tools;
	uint64_t done_ms;
	int r = 0;

	page_open(&page, t->args);
	listing_init(&tools, LISTING_TOOLS);
	if (has_tools)
		r = target_list(t, LISTING_TOOLS, true, &tools, err);
	done_ms = now_ms();
	if (r == 0 && page.is_json) {
		jw_kv_cstr(&page.w, "server", t->name);
		jw_kv_cstr(&page.w, "state", "ok");
		jw_kv_cstr(&page.w, "name", name);
		jw_kv_cstr(&page.w, "version", version);
		jw_kv_cstr(&page.w, "protocol", peer->revision->date);
		if (peer->is_assumed)
			jw_kv_bool(&page.w, "handshake", false);
		jw_kv_int(&page.w, "tools", (int64_t)tools.n);
		jw_kv_int(&page.w, "handshake_ms",
			  (int64_t)(ready_ms - *begin_ms));
		jw_kv_int(&page.w, "list_ms", (int64_t)(done_ms - ready_ms));
	} else if (r == 0) {
		buf_addf(&page.out,
			 "%s: ok, %s%s%s, MCP %s%s, %zu tool%s, handshake %llu "
			 "ms, list %llu ms\n",
			 t->name, *name ? name : "without a name",
			 *version ? " " : "", version, peer->revision->date,
			 mcp_peer_note(peer), tools.n, tools.n == 1 ? "" : "s",
			 (unsigned long long)(ready_ms - *begin_ms),
			 (unsigned long long)(done_ms - ready_ms));
	}
	listing_release(&tools);
	return r == 0 ? page_put(&page, err) : -1;
}

static int test_server(const struct args *args, struct err *err)
{
	const char *name = args->positional[1];
	struct args with = *args;
	uint64_t begin_ms = now_ms();
	int r;

	if (!name)
		return target_run(args, TARGET_LIST, report_test, &begin_ms,
				  err);
	if (args_has(args, "server"))
		return err_set(err, ERR_USAGE,
			       "servers test: name the server once");
	with.given = mem_zalloc((args->n_given + 1) * sizeof(*with.given));
	for (size_t i = 0; i < args->n_given; i++)
		with.given[i] = args->given[i];
	with.given[with.n_given++] =
		(struct args_option){.name = "server", .value = name};
	r = target_run(&with, TARGET_LIST, report_test, &begin_ms, err);
	free(with.given);
	return r;
}

int cmd_servers(const struct args *args, struct err *err)
{
	const char *action = args->positional[0];

	if (!action && !args->after && !args_has(args, "server") &&
	    !args_has(args, "url"))
		return list_servers(args, err);
	if (action && strcmp(action, "test") == 0)
		return test_server(args, err);
	return err_set(err, ERR_USAGE,
		       "servers: write `matins servers`, or `matins servers "
		       "test NAME`");
}
