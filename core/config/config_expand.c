/* `~/` and ${VAR}: what stands in a configuration for something else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/config/config_inner.h"
#include "core/config/paths.h"
#include "core/secret/secret.h"

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

/* Of a URL so far: what comes next is path or query, where keys stand. */
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
	config_add_place(x->file, &err, &text);
	*e->unset = arena_strdup(&x->file->arena, buf_cstr(&text));
}

/* What stands between `${` and `}`. */
static bool expand_variable(struct expander *x, struct str inside,
			    struct buf *out)
{
	const struct expansion *e = x->e;
	struct str rest = inside, name = str_cut(&rest, ':');
	bool has_default = rest.n && rest.p[0] == '-';
	const char *value, *copy;

	if (!is_name(name) || (rest.p && !has_default)) {
		config_add_finding(x->file, false, e->line, e->col,
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

/* Where a path is meant, `~` and `~/…` need HOME. */
static bool has_home(struct expander *x)
{
	const struct expansion *e = x->e;
	bool is_path = e->kind != EXPAND_URL && e->kind != EXPAND_HEADER;
	struct str text = str_of(*e->slot);

	if (!is_path || !(str_is(text, "~") || str_starts(text, "~/")) ||
	    config_variable("HOME"))
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
			config_add_finding(x->file, false, e->line, e->col,
					   "\"%s\": a ${ without }", e->key);
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
		config_add_finding(
			x->file, false, e->line, e->col,
			"\"%s\" takes a URL that begins with https:// (or "
			"wss://; http:// and ws:// for loopback) and has no "
			"blanks",
			e->key);
}

/* Something that the shell takes as one word. */
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
		config_add_finding(x->file, true, e->line, e->col,
				   "\"read\" grants %s, which does not exist",
				   path);
	else
		config_add_finding(x->file, false, e->line, e->col,
				   "\"write\" grants %s, which does not exist; "
				   "`mkdir -p %s`",
				   path, quoted(&x->file->arena, path));
}

static void check_header(struct expander *x, struct str value)
{
	if (has_control(value))
		config_add_finding(
			x->file, false, x->e->line, x->e->col,
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

static bool uses_server(const struct routine *r, const char *server)
{
	for (size_t i = 0; r && i < r->n_steps; i++)
		if (config_is_named(r->steps[i].server_name, server))
			return true;
	return false;
}

static bool is_used(const struct expander *x, const struct expansion *e)
{
	const struct config_options *o = x->options;

	if ((!o->routine && !o->server) || (!e->routine && !e->server))
		return true;
	if (e->routine)
		return config_is_named(e->routine, o->routine);
	return config_is_named(e->server, o->server) ||
	       (o->routine &&
		uses_server(config_routine(&x->file->config, o->routine),
			    e->server));
}

void config_expand(struct config_file *file,
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
