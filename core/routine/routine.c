#include "core/routine/routine.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/routine/keys.h"
#include "core/routine/load.h"

/* ---- findings ---- */

/* A place for one more; at the bound, errors take that of a warning. */
static struct finding *findings_new(struct findings *f, bool warning)
{
	size_t i = f->n;

	if (f->n < LIMIT_CONFIG_ERRORS) {
		f->item =
			mem_grow(f->item, f->n + 1, &f->cap, sizeof(*f->item));
		return &f->item[f->n++];
	}
	f->dropped++;
	while (!warning && i-- > 0)
		if (f->item[i].warning)
			return &f->item[i];
	return NULL;
}

void findings_add(struct findings *f, bool warning, const struct err *err)
{
	struct finding *new = findings_new(f, warning);

	f->has_error |= !warning;
	if (new)
		*new = (struct finding){.warning = warning, .err = *err};
}

void findings_add_note(struct findings *f, const struct err *err)
{
	struct finding *new = findings_new(f, true);

	if (new)
		*new = (struct finding){true, true, *err};
}

static bool is_before(const struct err *a, const struct err *b)
{
	return a->line != b->line ? a->line < b->line : a->col < b->col;
}

/* By insertion: it keeps the order of equals, and there are few. */
void findings_sort(struct findings *f)
{
	for (size_t i = 1; i < f->n; i++) {
		struct finding moving = f->item[i];
		size_t j = i;

		for (; j && is_before(&moving.err, &f->item[j - 1].err); j--)
			f->item[j] = f->item[j - 1];
		f->item[j] = moving;
	}
}

const char *finding_severity(const struct finding *f)
{
	return f->note ? "note" : f->warning ? "warning" : "error";
}

void findings_release(struct findings *f)
{
	free(f->item);
	*f = (struct findings){0};
}

static void add_finding(struct loader *l, bool warning, uint32_t line,
			uint32_t col, const char *fmt, va_list ap)
{
	struct err err = {.kind = ERR_CONFIG, .line = line, .col = col};

	vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
	findings_add(l->findings, warning, &err);
}

void load_error(struct loader *l, uint32_t line, uint32_t col, const char *fmt,
		...)
{
	va_list ap;

	va_start(ap, fmt);
	add_finding(l, false, line, col, fmt, ap);
	va_end(ap);
}

void load_warning(struct loader *l, uint32_t line, uint32_t col,
		  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_finding(l, true, line, col, fmt, ap);
	va_end(ap);
}

/* ---- tables by the rows of keys.def ---- */

static void (*const readers[])(struct loader *l, const struct key *k,
			       const struct toml_member *m, void *object) = {
#define KEY_TYPE(name, text) read_##name,
#include "core/routine/key_types.def"
#undef KEY_TYPE
};

static bool belongs(const struct key *k, enum key_section section,
		    enum key_section more)
{
	return k->section == section || k->section == more;
}

/* The texts in the table are ours: they read as what they say. */
static void set_default(const struct key *k, void *object)
{
	void *field = (char *)object + k->offset;
	struct str def = str_of(k->def);
	bool ok = true;

	switch (k->type) {
	case KEY_BOOL:
		*(bool *)field = str_is(def, "true");
		break;
	case KEY_COUNT:
		ok = str_uint64(def, field);
		break;
	case KEY_DURATION_MS:
		ok = str_duration_ms(def, field);
		break;
	case KEY_SIZE_BYTES:
		ok = str_size_bytes(def, field);
		break;
	case KEY_WORD:
		*(const char **)field = k->def;
		break;
	default: /* "auto" and the like: nothing is pinned */
		break;
	}
	assert(ok);
	(void)ok;
}

static void set_defaults(enum key_section section, enum key_section more,
			 void *object)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++)
		if (keys[i].def && belongs(&keys[i], section, more))
			set_default(&keys[i], object);
}

/* Which step types know the key; NULL when none does. */
static const char *types_with_key(struct loader *l, const char *name)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);
	const char *text = NULL;

	for (size_t i = 0; i < n; i++)
		if (key_find(kinds[i].section, name))
			text = text ? arena_printf(l->arena, "%s or %s", text,
						   kinds[i].name)
				    : kinds[i].name;
	return text;
}

static void unknown_key(struct loader *l, const struct toml_member *m,
			enum key_section section, enum key_section more)
{
	const char *near = key_nearest(section, more, m->key);
	const char *types =
		section == SECTION_step ? types_with_key(l, m->key) : NULL;
	void (*say)(struct loader *, uint32_t, uint32_t, const char *, ...) =
		l->lax ? load_warning : load_error;
	struct buf key = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&key, str_of(m->key), false);
	if (types)
		say(l, m->line, m->col,
		    "key \"%s\" does not fit this step; it is for type %s",
		    buf_cstr(&key), types);
	else if (near)
		say(l, m->line, m->col,
		    "unknown key \"%s\"; did you mean \"%s\"?", buf_cstr(&key),
		    near);
	else
		say(l, m->line, m->col,
		    "unknown key \"%s\" in %s; `matins steps` lists the keys",
		    buf_cstr(&key), key_section(section)->title);
	buf_release(&key);
}

static bool is_foreign(struct loader *l, const struct toml_member *m,
		       enum key_section section)
{
	struct err err;

	if (section != SECTION_top || !key_is_foreign(m->key))
		return false;
	err_at(&err, ERR_CONFIG, m->line, m->col,
	       "[%s] is a table of modulex; it is ignored", m->key);
	findings_add_note(l->findings, &err);
	return true;
}

void load_table(struct loader *l, const struct toml_value *table,
		enum key_section section, enum key_section more, void *object)
{
	set_defaults(section, more, object);
	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct key *k = key_find(section, m->key);

		if (!k)
			k = key_find(more, m->key);
		if (k)
			readers[k->type](l, k, m, object);
		else if (!is_foreign(l, m, section))
			unknown_key(l, m, section, more);
	}
}

void read_SANDBOX(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct sandbox *s = (void *)((char *)object + k->offset);

	if (m->value.type != TOML_TABLE) {
		load_wrong_type(l, k, &m->value);
		return;
	}
	s->line = m->line;
	s->col = m->col;
	load_table(l, &m->value, SECTION_sandbox, SECTION_sandbox, s);
}

static void load_program(struct loader *l, const struct toml_member *m,
			 const struct key *k, struct sandbox_program *p)
{
	p->name = m->key;
	p->line = m->line;
	p->col = m->col;
	load_table(l, &m->value, SECTION_sandbox_program,
		   SECTION_sandbox_program, p);
	p->has_args = toml_get(&m->value, "args");
	load_expand_program(l, k, m, &p->name);
}

void read_PROGRAM_RULES(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	struct sandbox *s = object;
	const struct toml_value *v = &m->value;

	if (v->type != TOML_TABLE) {
		load_wrong_type(l, k, v);
		return;
	}
	s->programs = ARENA_ARRAY(l->arena, struct sandbox_program, v->table.n);
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];

		if (from->value.type != TOML_TABLE)
			load_wrong_type(l, k, &from->value);
		else if (!*from->key)
			load_error(l, from->line, from->col,
				   "a program without a name");
		else
			load_program(l, from, k, &s->programs[s->n_programs++]);
	}
}

void read_GOLDEN(struct loader *l, const struct key *k,
		 const struct toml_member *m, void *object)
{
	if (m->value.type != TOML_TABLE)
		load_wrong_type(l, k, &m->value);
	else
		load_table(l, &m->value, SECTION_golden, SECTION_golden,
			   (char *)object + k->offset);
}

void read_CAVEATS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct caveats *caveats = (void *)((char *)object + k->offset);
	size_t n;
	const struct key *keys = keys_all(&n);

	if (m->value.type != TOML_TABLE) {
		load_wrong_type(l, k, &m->value);
		return;
	}
	caveats->present = true;
	load_table(l, &m->value, SECTION_caveats, SECTION_caveats, caveats);
	for (size_t i = 0; i < n; i++)
		if (keys[i].section == SECTION_caveats &&
		    !toml_get(&m->value, keys[i].name))
			load_error(l, m->line, m->col,
				   "[caveats] lacks \"%s\" (%s); all six must "
				   "be there",
				   keys[i].name, keys[i].help);
}

/* ---- servers ---- */

/* By presence: a value of the wrong type has its own error already. */
static void check_server(struct loader *l, const struct toml_value *from,
			 const struct server *s)
{
	bool has_command = toml_get(from, "command");
	bool has_url = toml_get(from, "url");

	if (has_command == has_url)
		load_error(l, s->line, s->col,
			   "server \"%s\" has %s; it takes exactly one of the "
			   "two",
			   s->name,
			   has_url ? "both \"command\" and \"url\""
				   : "neither \"command\" nor \"url\"");
	if (s->n_headers && !has_url)
		load_error(l, s->line, s->col,
			   "server \"%s\": \"headers\" are for a \"url\"",
			   s->name);
	if (s->args.n && !has_command)
		load_error(l, s->line, s->col,
			   "server \"%s\": \"args\" are for a \"command\"",
			   s->name);
}

static void load_server(struct loader *l, const struct key *k,
			const struct toml_member *m)
{
	struct server *s = &l->config->servers[l->config->n_servers];

	load_check_name(l, "server", m->key, m->line, m->col);
	if (m->value.type != TOML_TABLE) {
		load_wrong_type(l, k, &m->value);
		return;
	}
	if (config_server(l->config, m->key)) {
		load_error(l, m->line, m->col,
			   "server \"%s\" is there twice, in [servers] and in "
			   "[mcp_servers]",
			   m->key);
		return;
	}
	s->name = m->key;
	s->line = m->line;
	s->col = m->col;
	l->config->n_servers++;
	l->server = m->key;
	load_table(l, &m->value, SECTION_server, SECTION_server, s);
	l->server = NULL;
	check_server(l, &m->value, s);
}

/* Both spellings share one array, whose items must not move. */
static void make_servers(struct loader *l, const struct toml_value *root)
{
	const struct toml_value *a = toml_get(root, "servers");
	const struct toml_value *b = toml_get(root, "mcp_servers");
	size_t n = (a && a->type == TOML_TABLE ? a->table.n : 0) +
		   (b && b->type == TOML_TABLE ? b->table.n : 0);

	l->config->servers = ARENA_ARRAY(l->arena, struct server, n);
}

void read_SERVERS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	(void)object;
	if (m->value.type != TOML_TABLE) {
		load_wrong_type(l, k, &m->value);
		return;
	}
	for (size_t i = 0; i < m->value.table.n; i++)
		load_server(l, k, &m->value.table.member[i]);
}

/* ---- routines ---- */

static void check_command(struct loader *l, const struct toml_value *from,
			  const struct step *s, const struct step_kind *kind)
{
	bool may_have_server = key_find(kind->section, "server");
	bool has_command = toml_get(from, "command");
	bool has_server = may_have_server && toml_get(from, "server");

	if (has_command && has_server)
		load_error(l, s->line, s->col,
			   "both \"command\" and \"server\"; keep one");
	else if (!has_command && !has_server)
		load_error(l, s->line, s->col, "the step lacks \"command\"%s",
			   may_have_server ? " or \"server\"" : "");
	if (s->args.n && !has_command && s->server_name)
		load_error(l, s->line, s->col,
			   "\"args\" are for a \"command\"; server \"%s\" has "
			   "its own",
			   s->server_name);
	if (s->tool && !*s->tool)
		load_error(l, s->line, s->col, "\"tool\" is empty");
	if (s->params && !s->tool && s->command)
		load_warning(l, s->line, s->col,
			     "\"params\" reach a tool only; without \"tool\" "
			     "they are not used");
}

static void check_duplicate(struct loader *l, const struct routine *r,
			    const struct step *s)
{
	for (const struct step *other = r->steps; other < s; other++)
		if (s->name && other->name && !strcmp(s->name, other->name)) {
			load_error(l, s->line, s->col,
				   "step \"%s\" is there already, in line %u",
				   s->name, other->line);
			return;
		}
}

static const struct step_kind *kind_of(const struct toml_value *table)
{
	const struct toml_value *type = toml_get(table, "type");
	char name[64];

	if (!type || type->type != TOML_STRING ||
	    type->string.n >= sizeof(name))
		return NULL;
	snprintf(name, sizeof(name), "%.*s", STR_ARG(type->string));
	return step_kind_find(name);
}

static void load_step(struct loader *l, const struct key *k,
		      const struct routine *r, const struct toml_value *from,
		      struct step *s)
{
	const struct toml_value *server;
	const struct step_kind *kind;

	s->line = from->line;
	s->col = from->col;
	if (from->type != TOML_TABLE) {
		load_wrong_type(l, k, from);
		return;
	}
	kind = kind_of(from);
	/* of an unknown type any key may be right */
	load_table(l, from, SECTION_step,
		   kind ? kind->section : SECTION_step_query, s);
	server = toml_get(from, "server");
	if (server) {
		s->server_line = server->line;
		s->server_col = server->col;
	}
	if (!toml_get(from, "name"))
		load_error(l, s->line, s->col, "the step lacks \"name\"");
	if (!toml_get(from, "type"))
		load_error(l, s->line, s->col,
			   "the step lacks \"type\"; `matins steps` lists the "
			   "types");
	if (kind)
		check_command(l, from, s, kind);
	check_duplicate(l, r, s);
}

void read_STEPS(struct loader *l, const struct key *k,
		const struct toml_member *m, void *object)
{
	struct routine *r = object;
	const struct toml_value *v = &m->value;

	if (v->type != TOML_ARRAY) {
		load_wrong_type(l, k, v);
		return;
	}
	if (v->array.n > LIMIT_STEPS) {
		load_error(l, m->line, m->col, "more than %d steps",
			   LIMIT_STEPS);
		return;
	}
	r->steps = ARENA_ARRAY(l->arena, struct step, v->array.n);
	r->n_steps = v->array.n;
	for (size_t i = 0; i < v->array.n; i++)
		load_step(l, k, r, &v->array.item[i], &r->steps[i]);
}

void read_ROUTINES(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	struct config *config = object;
	const struct toml_value *v = &m->value;

	if (v->type != TOML_TABLE) {
		load_wrong_type(l, k, v);
		return;
	}
	config->routines = ARENA_ARRAY(l->arena, struct routine, v->table.n);
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];
		struct routine *r = &config->routines[config->n_routines];

		load_check_name(l, "routine", from->key, from->line, from->col);
		if (from->value.type != TOML_TABLE) {
			load_wrong_type(l, k, &from->value);
			continue;
		}
		config->n_routines++;
		r->name = from->key;
		r->line = from->line;
		r->col = from->col;
		l->routine = from->key;
		load_table(l, &from->value, SECTION_routine, SECTION_routine,
			   r);
		l->routine = NULL;
		if (!r->n_steps && !toml_get(&from->value, "steps"))
			load_warning(l, r->line, r->col,
				     "routine \"%s\" has no steps", r->name);
	}
}

/* ---- what can be said when everything is read ---- */

static void unknown_server(struct loader *l, const struct step *s)
{
	const struct config *c = l->config;
	const char **names = ARENA_ARRAY(l->arena, const char *, c->n_servers);
	const char *near;

	for (size_t i = 0; i < c->n_servers; i++)
		names[i] = c->servers[i].name;
	near = str_nearest(str_of(s->server_name), names, c->n_servers);
	if (near)
		load_error(l, s->server_line, s->server_col,
			   "there is no server \"%s\"; did you mean \"%s\"?",
			   s->server_name, near);
	else
		load_error(l, s->server_line, s->server_col,
			   "there is no server \"%s\"; define it as "
			   "[servers.%s]",
			   s->server_name, s->server_name);
}

static void link_step(struct loader *l, struct step *s)
{
	if (!s->server_name)
		return;
	s->server = config_server(l->config, s->server_name);
	if (!s->server)
		unknown_server(l, s);
	else if (s->server->url && !s->tool)
		load_error(l, s->line, s->col,
			   "\"tool\" is missing: server \"%s\" has a url, "
			   "there is no stdout to read",
			   s->server_name);
	else if (s->params && !s->tool)
		load_warning(l, s->line, s->col,
			     "\"params\" reach a tool only; without \"tool\" "
			     "they are not used");
}

int routine_load(const struct toml_value *root, bool lax, struct arena *arena,
		 struct config *ret_config, struct findings *findings)
{
	struct loader l = {
		.arena = arena,
		.config = ret_config,
		.findings = findings,
		.lax = lax,
		.tail = &ret_config->expansions,
	};

	*ret_config = (struct config){0};
	make_servers(&l, root);
	load_table(&l, root, SECTION_top, SECTION_top, ret_config);
	for (size_t i = 0; i < ret_config->n_routines; i++)
		for (size_t j = 0; j < ret_config->routines[i].n_steps; j++)
			link_step(&l, &ret_config->routines[i].steps[j]);
	findings_sort(findings);
	return findings->has_error ? -1 : 0;
}

int routine_load_policy(const struct toml_value *root, bool lax,
			struct arena *arena, struct config *ret_config,
			struct findings *findings)
{
	struct loader l = {
		.arena = arena,
		.config = ret_config,
		.findings = findings,
		.lax = lax,
		.tail = &ret_config->expansions,
	};

	if (toml_get(root, "sandbox"))
		return routine_load(root, lax, arena, ret_config, findings);
	*ret_config = (struct config){.sandbox = {.line = 1, .col = 1}};
	load_table(&l, root, SECTION_sandbox, SECTION_sandbox,
		   &ret_config->sandbox);
	findings_sort(findings);
	return findings->has_error ? -1 : 0;
}

const struct routine *config_routine(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_routines; i++)
		if (!strcmp(c->routines[i].name, name))
			return &c->routines[i];
	return NULL;
}

const struct server *config_server(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_servers; i++)
		if (!strcmp(c->servers[i].name, name))
			return &c->servers[i];
	return NULL;
}
