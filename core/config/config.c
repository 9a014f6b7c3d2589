#include "core/config/config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/config/references.h"
#include "core/config/config_grants.h"
#include "core/config/config_allow.h"
#include "core/config/config_check.h"
#include "core/config/config_find.h"
#include "core/config/paths.h"
#include "core/toml/toml.h"

/* ---- findings ---- */

/* `check` reads configurations; a file of --policy is judged here alone. */
static void log_further_errors(const struct config_file *file,
			       const struct finding *last)
{
	for (size_t i = 0; i < file->findings.n; i++) {
		const struct finding *f = &file->findings.item[i];
		struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (f->warning || f == last)
			continue;
		findings_place(file->path, &f->err, &text);
		log_error("%s", buf_cstr(&text));
		buf_release(&text);
	}
}

/*
 * The first error becomes the one that the caller shows; of a policy file the
 * last, behind the others.
 */
static int first_error(const struct config_file *file,
		       const struct config_options *options, struct err *err)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct findings *f = &file->findings;
	const struct finding *first = NULL;
	uint64_t more = f->dropped;

	for (size_t i = 0; i < f->n; i++) {
		if (f->item[i].warning)
			continue;
		more += first != NULL;
		if (!first || options->policy_only)
			first = &f->item[i];
	}
	assert(first);
	findings_place(file->path, &first->err, &text);
	if (options->policy_only)
		log_further_errors(file, first);
	else if (more)
		buf_addf(&text, " (and %llu more: `matins check %s`)",
			 (unsigned long long)more, file->path);
	err_at(err, first->err.kind, first->err.line, first->err.col, "%s",
	       buf_cstr(&text));
	buf_release(&text);
	return -1;
}

static void log_warnings(const struct config_file *file)
{
	for (size_t i = 0; i < file->findings.n; i++) {
		const struct finding *f = &file->findings.item[i];
		struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (!f->warning || f->note)
			continue;
		findings_place(file->path, &f->err, &text);
		log_warning("%s", buf_cstr(&text));
		buf_release(&text);
	}
}

/* ---- `~/` and ${VAR} ---- */

struct expander {
	struct config_file *file;
	const struct config_options *options;
	const struct expansion *e; /* the one at hand */
	size_t headers_cap;
};

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c == '_' || (c >= 'a' && c <= 'z') ||
		      (c >= 'A' && c <= 'Z') || (i && c >= '0' && c <= '9')))
			return false;
	}
	return s.n > 0;
}

static void remember_value(struct expander *x, const char *value)
{
	struct strlist *list = &x->file->header_values;

	list->item = mem_grow(list->item, list->n + 1, &x->headers_cap,
			      sizeof(*list->item));
	list->item[list->n++] = arena_strdup(&x->file->arena, value);
}

/* Is the URL so far complete up to its host? Keys stand in path and query. */
static bool is_behind_host(struct str url)
{
	size_t at = str_find(url, ':');

	for (at += 3; at < url.n; at++)
		if (strchr("/?", url.p[at]))
			return true;
	return false;
}

static void remember_header(struct expander *x, const char *value)
{
	struct err err;

	remember_value(x, value);
	if (strlen(value) >= LIMIT_SECRET_SCRUB_MIN)
		return;
	err_at(&err, ERR_CONFIG, x->e->line, x->e->col,
	       "a variable of this header has fewer than %d bytes; if it is a "
	       "credential, it cannot be scrubbed",
	       LIMIT_SECRET_SCRUB_MIN);
	findings_add_note(&x->file->findings, &err);
}

/* One server or step that lacks a variable does not stop the others. */
static void add_unset(struct expander *x, const char *sentence)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct expansion *e = x->e;
	struct err err;

	err_at(&err, ERR_CONFIG, e->line, e->col, "%s", sentence);
	findings_add(e->unset ? &x->file->unset : &x->file->findings, false,
		     &err);
	if (!e->unset || *e->unset)
		return;
	findings_place(x->file->path, &err, &text);
	*e->unset = arena_strdup(&x->file->arena, buf_cstr(&text));
}

/* Text between `${` and `}`. */
static bool expand_variable(struct expander *x, struct str inside,
			    struct buf *out)
{
	const struct expansion *e = x->e;
	struct str rest = inside, name = str_cut(&rest, ':');
	bool has_default = rest.n && rest.p[0] == '-';
	const char *value, *copy;

	if (!is_name(name) || (rest.p && !has_default)) {
		findings_addf(&x->file->findings, false, e->line, e->col,
			      "\"%s\": write ${NAME} or ${NAME:-default}",
			      e->key);
		return false;
	}
	copy = arena_strndup(&x->file->arena, name.p, name.n);
	value = getenv(copy);
	if (has_default && (!value || !*value)) {
		buf_add(out, rest.p + 1, rest.n - 1);
		return true;
	}
	if (!value) {
		add_unset(x, arena_printf(&x->file->arena,
					  "\"%s\" needs the variable %s, which "
					  "is not set; set it, or write "
					  "${%s:-default}",
					  e->key, copy, copy));
		return false;
	}
	if (e->kind == EXPAND_HEADER)
		remember_header(x, value);
	else if (e->kind == EXPAND_URL && is_behind_host(buf_str(out)))
		remember_value(x, value);
	buf_adds(out, value);
	return true;
}

/* `~` and `~/…` of a path need HOME. */
static bool has_home(struct expander *x)
{
	const struct expansion *e = x->e;
	bool is_path = e->kind != EXPAND_URL && e->kind != EXPAND_HEADER;
	struct str text = str_of(*e->slot);

	if (!is_path || !(str_is(text, "~") || str_starts(text, "~/")) ||
	    env_text("HOME"))
		return true;
	add_unset(x, arena_printf(&x->file->arena,
				  "\"%s\" needs the variable HOME, which is "
				  "not set",
				  e->key));
	return false;
}

/* False after an error, which is in the findings. */
static bool expand_text(struct expander *x, struct buf *out)
{
	const struct expansion *e = x->e;
	struct str text = str_of(*e->slot);

	if (!has_home(x))
		return false;
	while (text.n) {
		struct str inside;

		if (!str_starts(text, "${")) {
			buf_addc(out, text.p[0]);
			text = (struct str){text.p + 1, text.n - 1};
			continue;
		}
		text = (struct str){text.p + 2, text.n - 2};
		if (str_find(text, '}') == text.n) {
			findings_addf(&x->file->findings, false, e->line,
				      e->col, "\"%s\": a ${ without }", e->key);
			return false;
		}
		inside = str_cut(&text, '}');
		if (!expand_variable(x, inside, out))
			return false;
	}
	return true;
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return true;
	return false;
}

static void check_url(struct expander *x, struct str url)
{
	const struct expansion *e = x->e;
	bool is_known = str_starts(url, "http://") ||
			str_starts(url, "https://") ||
			str_starts(url, "ws://") || str_starts(url, "wss://");

	if (!is_known || has_control(url) || str_find(url, ' ') < url.n)
		findings_addf(
			&x->file->findings, false, e->line, e->col,
			"\"%s\" must be a URL that begins with https:// (or "
			"wss://; http:// and ws:// for loopback), without "
			"blanks",
			e->key);
}

/* Path quoted so that a shell takes one word. */
static const char *quoted(struct arena *arena, const char *path)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *copy;

	if (strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789/._-+,@%") == strlen(path))
		return path;
	buf_addc(&out, '\'');
	for (; *path; path++)
		if (*path == '\'')
			buf_adds(&out, "'\\''");
		else
			buf_addc(&out, *path);
	buf_addc(&out, '\'');
	copy = arena_strdup(arena, out.p);
	buf_release(&out);
	return copy;
}

static void check_grant(struct expander *x, const char *path)
{
	const struct expansion *e = x->e;
	struct stat st;

	if (stat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
		return;
	if (e->kind == EXPAND_READ)
		findings_addf(&x->file->findings, true, e->line, e->col,
			      "\"read\" grants %s, which does not exist", path);
	else
		findings_addf(&x->file->findings, false, e->line, e->col,
			      "\"write\" grants %s, which does not exist; "
			      "`mkdir -p %s`",
			      path, quoted(&x->file->arena, path));
}

static void check_header(struct expander *x, struct str value)
{
	if (has_control(value))
		findings_addf(&x->file->findings, false, x->e->line, x->e->col,
			      "the value of a header has a control character");
}

static void finish_expansion(struct expander *x, const struct buf *text)
{
	const struct expansion *e = x->e;
	const char *folder = x->file->config.dir;
	struct arena *arena = &x->file->arena;
	struct str s = buf_str(text);

	switch (e->kind) {
	case EXPAND_PATH:
		*e->slot = path_resolve(buf_cstr(text), folder, arena);
		break;
	case EXPAND_READ:
	case EXPAND_WRITE:
		*e->slot = path_resolve(buf_cstr(text), folder, arena);
		check_grant(x, *e->slot);
		break;
	case EXPAND_PROGRAM:
		*e->slot = path_program(arena_strndup(arena, s.p, s.n), folder,
					arena);
		break;
	case EXPAND_URL:
		*e->slot = arena_strndup(&x->file->arena, s.p, s.n);
		check_url(x, s);
		break;
	case EXPAND_HEADER:
		*e->slot = arena_strndup(&x->file->arena, s.p, s.n);
		check_header(x, s);
		break;
	}
}

/* ---- what of it will be used ---- */

static bool is_named(const char *name, const char *wanted)
{
	return name && wanted && strcmp(name, wanted) == 0;
}

static bool uses_server(const struct routine *r, const char *server)
{
	for (size_t i = 0; r && i < r->n_steps; i++)
		if (is_named(r->steps[i].server_name, server))
			return true;
	return false;
}

static bool is_used(const struct expander *x, const struct expansion *e)
{
	const struct config_options *o = x->options;

	if ((!o->routine && !o->server) || (!e->routine && !e->server))
		return true;
	if (e->routine)
		return is_named(e->routine, o->routine);
	return is_named(e->server, o->server) ||
	       (o->routine &&
		uses_server(config_routine(&x->file->config, o->routine),
			    e->server));
}

static void expand(struct config_file *file,
		   const struct config_options *options)
{
	struct expander x = {.file = file, .options = options};
	const struct expansion *e = file->config.expansions;

	for (; e; e = e->next) {
		AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		x.e = e;
		if (*e->slot && is_used(&x, e) && expand_text(&x, &text))
			finish_expansion(&x, &text);
	}
}

/* ---- all of it ---- */

static int parse(struct config_file *file, int fd, struct toml_value *ret_root)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct err err = ERR_INIT;

	/* one reading: the bytes that are judged are those that are parsed */
	if (fd_read_all(fd, &text, &err) < 0 ||
	    toml_parse(&file->arena, buf_str(&text), ret_root, &err) < 0) {
		findings_add(&file->findings, false, &err);
		return -1;
	}
	sha256_hex(buf_str(&text), file->sha256);
	return 0;
}

static int load(struct config_file *file, int fd,
		const struct config_options *options, struct err *err)
{
	__typeof__(routine_load) *load_tree;
	const char *path = file->config.path, *dir = file->config.dir;
	struct toml_value root;
	int r;

	if (parse(file, fd, &root) < 0)
		return first_error(file, options, err);
	load_tree = options->policy_only ? routine_load_policy : routine_load;
	r = load_tree(&root, options->lax, &file->arena, &file->config,
		      &file->findings);
	file->config.path = path;
	file->config.dir = dir;
	if (r < 0 && options->names_only)
		return first_error(file, options, err);
	file->grants = config_grants(&file->config, &file->arena);
	/* also behind errors of the loader: all are shown at once */
	if (!options->names_only)
		expand(file, options);
	if (!options->policy_only && !options->names_only && !options->server)
		references_check(&root, options->routine, &file->findings);
	config_check(file);
	findings_sort(&file->findings);
	return file->findings.has_error ? first_error(file, options, err) : 0;
}

int config_open(const struct config_options *options,
		struct config_file *ret_file, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct config_file *file = ret_file;

	*file = (struct config_file){.arena = ARENA_INIT};
	if (config_find(options, file, &fd, err) < 0)
		return options->optional && !options->path &&
				       err->kind == ERR_UNKNOWN
			       ? 0
			       : -1;
	if (load(file, fd, options, err) < 0)
		return -1;
	if (config_allow(file, options, err) < 0)
		return -1;
	if (!options->quiet)
		log_warnings(file);
	return 0;
}

static void wipe(const char *secret)
{
	/* the arena is ours to write */
	if (secret)
		mem_wipe((char *)(uintptr_t)secret, strlen(secret));
}

void config_release(struct config_file *file)
{
	const struct expansion *e = file->config.expansions;

	for (; e; e = e->next)
		if (e->kind == EXPAND_HEADER)
			wipe(*e->slot);
	for (size_t i = 0; i < file->header_values.n; i++)
		wipe(file->header_values.item[i]);
	free(file->header_values.item);
	findings_release(&file->findings);
	findings_release(&file->unset);
	arena_release(&file->arena);
	*file = (struct config_file){.arena = ARENA_INIT};
}
