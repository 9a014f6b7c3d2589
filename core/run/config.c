#include "core/run/config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/report/path.h"
#include "core/run/plan.h"
#include "core/secret/secret.h"
#include "core/toml/toml.h"
#include "gate/gate.h"

/* ---- where it lies ---- */

struct place {
	const char *path; /* NULL when its variable is not set */
	const char *who;  /* "$NAME" or "" named it; NULL: a usual place */
	bool in_cwd;
};

/* Variables that are set to nothing count as not set. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static const char *beneath(struct arena *arena, const char *folder,
			   const char *rest)
{
	return folder ? arena_printf(arena, "%s/%s", folder, rest) : NULL;
}

#define N_PLACES 7

static void find_places(struct arena *arena, const char *named,
			struct place place[N_PLACES])
{
	const char *home = variable("HOME");
	const char *xdg = variable("XDG_CONFIG_HOME");
	const char *own =
		xdg && xdg[0] == '/'
			? beneath(arena, xdg, "matins/config.toml")
			: beneath(arena, home, ".config/matins/config.toml");

	place[0] = (struct place){named, "", false};
	place[1] = (struct place){variable("MATINS_CONFIG"), "$MATINS_CONFIG",
				  false};
	place[2] = (struct place){"matins.toml", NULL, true};
	place[3] = (struct place){own, NULL, false};
	place[4] = (struct place){variable("MODULEX_CONFIG"), "$MODULEX_CONFIG",
				  false};
	place[5] = (struct place){"modulex.toml", NULL, true};
	place[6] = (struct place){beneath(arena, home, ".modulex/config.toml"),
				  NULL, false};
}

static int not_found(const struct place *place, struct err *err)
{
	struct buf list = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < N_PLACES; i++)
		if (place[i].path)
			buf_addf(&list, "%s%s", list.n ? ", " : "",
				 place[i].path);
	err_set(err, ERR_UNKNOWN,
		"there is no configuration; looked for %s; `matins init` "
		"writes a starter file, --config names one",
		buf_cstr(&list));
	buf_release(&list);
	return -1;
}

/* A fifo must not make us wait for its writer: it is refused later. */
static int open_place(const struct place *p, int *ret_fd, struct err *err)
{
	int fd = fd_open(p->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	const char *who = p->who ? p->who : "";

	if (fd < 0 && !p->who && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return err_set(err, ERR_CONFIG, "%s%s%s: %s", who,
			       *who ? " " : "", p->path, strerror(errno));
	*ret_fd = fd;
	return 0;
}

static int find(const struct config_options *options, struct config_file *file,
		int *ret_fd, struct err *err)
{
	struct place place[N_PLACES];

	find_places(&file->arena, options->path, place);
	for (size_t i = 0; i < N_PLACES; i++) {
		int fd = -1;

		if (!place[i].path)
			continue;
		if (open_place(&place[i], &fd, err) < 0)
			return -1;
		if (fd < 0)
			continue;
		file->path = arena_strdup(&file->arena, place[i].path);
		file->found_in_cwd = place[i].in_cwd;
		*ret_fd = fd;
		return 0;
	}
	return not_found(place, err);
}

/* ---- whether to trust it ---- */

/* A group that has nobody but the user in it, as Debian makes them. */
static bool is_own_group(gid_t gid)
{
	const struct group *g = gid == getegid() ? getgrgid(gid) : NULL;
	const struct passwd *p = g ? getpwuid(geteuid()) : NULL;

	if (!p || strcmp(g->gr_name, p->pw_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, p->pw_name) != 0)
			return false;
	return true;
}

static int check_trust(const struct config_file *file, int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_CONFIG, "%s: %s", file->path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_CONFIG, "%s: not a regular file",
			       file->path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(err, ERR_CONFIG,
			       "%s belongs to another user (uid %u), who "
			       "could make you run anything; copy it, or "
			       "`chown %u %s`",
			       file->path, st.st_uid, geteuid(), file->path);
	if ((st.st_mode & S_IWOTH) ||
	    ((st.st_mode & S_IWGRP) && !is_own_group(st.st_gid)))
		return err_set(err, ERR_CONFIG,
			       "%s is writable by others, who could make you "
			       "run anything; `chmod go-w %s`",
			       file->path, file->path);
	return 0;
}

/* ---- findings ---- */

void config_add_place(const struct config_file *file, const struct err *err,
		      struct buf *out)
{
	buf_adds(out, file->path);
	if (err->line)
		buf_addf(out, ":%u:%u", err->line, err->col);
	buf_addf(out, ": %s", err->msg);
}

static void add_finding(struct config_file *file, bool warning, uint32_t line,
			uint32_t col, const char *fmt, ...) PRINTF(5, 6);

static void add_finding(struct config_file *file, bool warning, uint32_t line,
			uint32_t col, const char *fmt, ...)
{
	struct err err = {.kind = ERR_CONFIG, .line = line, .col = col};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
	va_end(ap);
	findings_add(&file->findings, warning, &err);
}

/* The first error becomes the one that the caller shows. */
static int first_error(const struct config_file *file, struct err *err)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct findings *f = &file->findings;
	const struct finding *first = NULL;
	uint64_t more = f->dropped;

	for (size_t i = 0; i < f->n; i++) {
		if (f->item[i].warning)
			continue;
		more += first != NULL;
		if (!first)
			first = &f->item[i];
	}
	assert(first);
	config_add_place(file, &first->err, &text);
	if (more)
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
		config_add_place(file, &f->err, &text);
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

static void remember_header(struct expander *x, const char *value)
{
	struct strlist *list = &x->file->header_values;
	struct err err;

	list->item = mem_grow(list->item, list->n + 1, &x->headers_cap,
			      sizeof(*list->item));
	list->item[list->n++] = arena_strdup(&x->file->arena, value);
	if (strlen(value) >= LIMIT_SECRET_SCRUB_MIN)
		return;
	err_at(&err, ERR_CONFIG, x->e->line, x->e->col,
	       "a variable of this header has fewer than %d bytes; if it is a "
	       "credential, it cannot be scrubbed",
	       LIMIT_SECRET_SCRUB_MIN);
	findings_add_note(&x->file->findings, &err);
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
		add_finding(x->file, false, e->line, e->col,
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
		add_finding(x->file, false, e->line, e->col,
			    "\"%s\" needs the variable %s, which is not set; "
			    "set it, or write ${%s:-default}",
			    e->key, copy, copy);
		return false;
	}
	if (e->kind == EXPAND_HEADER)
		remember_header(x, value);
	buf_adds(out, value);
	return true;
}

/* `~` and `~/…` where a path is meant. */
static bool expand_home(struct expander *x, struct str *text, struct buf *out)
{
	const struct expansion *e = x->e;
	bool is_path = e->kind != EXPAND_URL && e->kind != EXPAND_HEADER;
	const char *home = variable("HOME");

	if (!is_path || !(str_is(*text, "~") || str_starts(*text, "~/")))
		return true;
	if (!home) {
		add_finding(x->file, false, e->line, e->col,
			    "\"%s\" needs the variable HOME, which is not set",
			    e->key);
		return false;
	}
	buf_adds(out, home);
	text->p++;
	text->n--;
	return true;
}

/* False after an error, which is in the findings. */
static bool expand_text(struct expander *x, struct buf *out)
{
	const struct expansion *e = x->e;
	struct str text = str_of(*e->slot);

	if (!expand_home(x, &text, out))
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
			add_finding(x->file, false, e->line, e->col,
				    "\"%s\": a ${ without }", e->key);
			return false;
		}
		inside = str_cut(&text, '}');
		if (!expand_variable(x, inside, out))
			return false;
	}
	return true;
}

/*
 * The parent of what was written so far: as the kernel sees it where it
 * exists, so that ".." behind a symbolic link means what open(2) makes of it.
 */
static void go_up(struct buf *path)
{
	AUTO(mem_freep) char *real = path->n ? realpath(path->p, NULL) : NULL;
	const char *slash;

	if (real) {
		buf_clear(path);
		buf_adds(path, real);
	}
	slash = path->n ? strrchr(path->p, '/') : NULL;
	if (!slash)
		return;
	path->n = (size_t)(slash - path->p);
	path->p[path->n] = '\0';
}

/* Beneath the file's folder unless absolute; without ".", ".." and "//". */
static const char *absolute(struct expander *x, struct str path)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = path;
	const char *copy;

	if (!str_starts(path, "/"))
		buf_adds(&out, x->file->config.dir);
	if (out.n == 1) /* the folder is "/" */
		buf_clear(&out);
	while (rest.p) {
		struct str part = str_cut(&rest, '/');

		if (str_is(part, ".."))
			go_up(&out);
		else if (part.n && !str_is(part, "."))
			buf_addf(&out, "/%.*s", STR_ARG(part));
	}
	copy = arena_strdup(&x->file->arena, out.n ? out.p : "/");
	buf_release(&out);
	return copy;
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
	bool http = str_starts(url, "http://") || str_starts(url, "https://");

	if (!http || has_control(url) || str_find(url, ' ') < url.n)
		add_finding(x->file, false, e->line, e->col,
			    "\"%s\" takes a URL that begins with https:// or "
			    "http:// and has no blanks",
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
		add_finding(x->file, true, e->line, e->col,
			    "\"read\" grants %s, which does not exist", path);
	else
		add_finding(x->file, false, e->line, e->col,
			    "\"write\" grants %s, which does not exist; "
			    "`mkdir -p %s`",
			    path, quoted(&x->file->arena, path));
}

static void check_header(struct expander *x, struct str value)
{
	if (has_control(value))
		add_finding(x->file, false, x->e->line, x->e->col,
			    "the value of a header has a control character");
}

static void finish_expansion(struct expander *x, const struct buf *text)
{
	const struct expansion *e = x->e;
	struct str s = buf_str(text);

	switch (e->kind) {
	case EXPAND_PATH:
		*e->slot = absolute(x, s);
		break;
	case EXPAND_READ:
	case EXPAND_WRITE:
		*e->slot = absolute(x, s);
		check_grant(x, *e->slot);
		break;
	case EXPAND_PROGRAM:
		*e->slot = str_find(s, '/') < s.n
				   ? absolute(x, s)
				   : arena_strndup(&x->file->arena, s.p, s.n);
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
	return name && wanted && !strcmp(name, wanted);
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

static void expand_all(struct config_file *file,
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

/* ---- checks that need more than the loader knows ---- */

static void check_policy(struct config_file *file, const struct sandbox *s)
{
	struct gate_policy policy = plan_policy(s);
	struct err err = ERR_INIT;

	/* what is not used was not expanded; paths are judged at spawn */
	policy.read = policy.write = policy.exec = (struct strlist){NULL, 0};
	if (s->line && gate_policy_check(&policy, &err) < 0)
		add_finding(file, false, s->line, s->col, "%s", err.msg);
}

static void check_refs(struct config_file *file, const struct env_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++) {
		const struct env_ref *ref = &refs->item[i];
		struct err err = ERR_INIT;
		struct strlist words;

		if (ref->source == ENV_FROM_CMD &&
		    secret_split_words(str_of(ref->from), &file->arena, &words,
				       &err) < 0)
			add_finding(file, false, ref->line, ref->col,
				    "command of %s: %s", ref->name, err.msg);
	}
}

/* Those that are no strings have an error and are not in the list. */
static const struct toml_value *rule_place(const struct golden_rules *rules,
					   size_t i)
{
	const struct toml_value *list = rules->written;

	return list->array.n == rules->ignore.n ? &list->array.item[i] : list;
}

static void check_rules(struct config_file *file,
			const struct golden_rules *rules)
{
	for (size_t i = 0; i < rules->ignore.n; i++) {
		const struct toml_value *at = rule_place(rules, i);
		const char *rule = rules->ignore.item[i];
		struct err err = ERR_INIT;
		struct path *path;

		if (path_parse(rule, &file->arena, &path, &err) < 0)
			add_finding(file, false, at->line, at->col,
				    "\"ignore\" of [golden]: %s", err.msg);
	}
}

static void check_all_rules(struct config_file *file)
{
	const struct config *c = &file->config;

	check_rules(file, &c->golden);
	for (size_t i = 0; i < c->n_routines; i++)
		check_rules(file, &c->routines[i].golden);
}

/* A remote server that a step uses, said at the first such step. */
static void check_transports(struct config_file *file)
{
	const struct config *c = &file->config;

	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];

			if (s->enabled && s->server && s->server->url)
				add_finding(file, true, s->server_line,
					    s->server_col,
					    "server \"%s\" has a url, and this "
					    "version has no HTTP transport: "
					    "the step will fail",
					    s->server_name);
		}
	}
}

/* One visit of everything that has a policy and credentials. */
static void visit(struct config_file *file,
		  void (*policy)(struct config_file *, const struct sandbox *),
		  void (*refs)(struct config_file *, const struct env_refs *))
{
	const struct config *c = &file->config;

	if (policy)
		policy(file, &c->sandbox);
	for (size_t i = 0; i < c->n_servers; i++) {
		if (policy)
			policy(file, &c->servers[i].sandbox);
		if (refs)
			refs(file, &c->servers[i].env);
	}
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];

			if (policy)
				policy(file, &s->sandbox);
			if (refs)
				refs(file, &s->env);
		}
	}
}

_Static_assert((int)SECRET_ENV == (int)ENV_FROM_ENV &&
		       (int)SECRET_FILE == (int)ENV_FROM_FILE &&
		       (int)SECRET_CMD == (int)ENV_FROM_CMD,
	       "sources of credentials are numbered alike");

static void check_lengths(struct config_file *file, const struct env_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++) {
		AUTO(buf_wipe) struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
		const struct env_ref *ref = &refs->item[i];
		struct err err = ERR_INIT;

		if (ref->source == ENV_FROM_CMD ||
		    secret_resolve((enum secret_source)ref->source, ref->from,
				   NULL, &value, &err) < 0 ||
		    value.n >= LIMIT_SECRET_SCRUB_MIN)
			continue;
		add_finding(file, true, ref->line, ref->col,
			    "the value of %s has fewer than %d bytes; it "
			    "cannot be scrubbed from reports",
			    ref->name, LIMIT_SECRET_SCRUB_MIN);
	}
}

void config_check_all(struct config_file *file)
{
	visit(file, NULL, check_lengths);
	check_transports(file);
	findings_sort(&file->findings);
}

/* ---- what a file that nobody named allows ---- */

#define GRANTS_SHOWN 6 /* a line is for reading */

struct grant {
	int group; /* of one kind; the widest kinds have the lowest */
	const char *key, *value;
};

struct grants {
	struct grant *item;
	size_t n, cap;
	int group;
};

static void add_grant(struct grants *g, const char *key, const char *value)
{
	for (size_t i = 0; i < g->n; i++)
		if (!strcmp(g->item[i].key, key) &&
		    !strcmp(g->item[i].value, value))
			return;
	g->item = mem_grow(g->item, g->n + 1, &g->cap, sizeof(*g->item));
	g->item[g->n++] = (struct grant){g->group, key, value};
}

static void add_grants(struct grants *g, const char *key,
		       const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		add_grant(g, key, list->item[i]);
}

static void add_words(struct grants *g, const struct sandbox *s)
{
	for (size_t i = 0; i < s->net.n; i++)
		if (!strcmp(s->net.item[i], "all"))
			add_grant(g, "net", "all");
	if (is_named(s->profile, "open"))
		add_grant(g, "profile", "open");
	if (is_named(s->isolate, "off"))
		add_grant(g, "isolate", "off");
	if (is_named(s->tmp, "shared"))
		add_grant(g, "tmp", "shared");
	if (is_named(s->user, "root"))
		add_grant(g, "user", "root");
}

static void add_writes(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "write", &s->write);
}

static void add_nets(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "net", &s->net);
}

static void add_execs(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "exec", &s->exec);
}

static void add_reads(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "read", &s->read);
}

static void each_sandbox(const struct config *c, struct grants *g,
			 void (*add)(struct grants *, const struct sandbox *))
{
	add(g, &c->sandbox);
	for (size_t i = 0; i < c->n_servers; i++)
		add(g, &c->servers[i].sandbox);
	for (size_t i = 0; i < c->n_routines; i++)
		for (size_t j = 0; j < c->routines[i].n_steps; j++)
			add(g, &c->routines[i].steps[j].sandbox);
}

/* Of paths the shorter is the wider. */
static int by_width(const void *a, const void *b)
{
	const struct grant *x = a, *y = b;
	size_t nx = strlen(x->value), ny = strlen(y->value);

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (nx != ny)
		return nx < ny ? -1 : 1;
	return strcmp(x->value, y->value);
}

static void log_grants(const struct config_file *file)
{
	static void (*const kinds[])(struct grants *,
				     const struct sandbox *) = {
		add_words, add_writes, add_nets, add_execs, add_reads};
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct grants g = {0};

	for (; g.group < (int)ARRAY_LEN(kinds); g.group++)
		each_sandbox(&file->config, &g, kinds[g.group]);
	if (g.n)
		qsort(g.item, g.n, sizeof(*g.item), by_width);
	for (size_t i = 0; i < g.n && i < GRANTS_SHOWN; i++)
		buf_addf(&text, "%s%s %s", i ? ", " : "", g.item[i].key,
			 g.item[i].value);
	if (g.n > GRANTS_SHOWN)
		buf_addf(&text, ", and %zu more", g.n - GRANTS_SHOWN);
	log_note("using %s of the current folder; beyond the default policy "
		 "it grants %s",
		 file->path, g.n ? buf_cstr(&text) : "nothing");
	buf_release(&text);
	free(g.item);
}

/* ---- all of it ---- */

static int set_folder(struct config_file *file, struct err *err)
{
	AUTO(mem_freep) char *copy = mem_strdup(file->path);
	AUTO(mem_freep) char *folder = realpath(dirname(copy), NULL);
	AUTO(mem_freep) char *copy2 = mem_strdup(file->path);

	if (!folder)
		return err_set(err, ERR_CONFIG, "%s: its folder: %s",
			       file->path, strerror(errno));
	file->config.dir = arena_strdup(&file->arena, folder);
	file->config.path = arena_printf(&file->arena, "%s/%s",
					 strcmp(folder, "/") ? folder : "",
					 basename(copy2));
	return 0;
}

static int parse(struct config_file *file, int fd, struct toml_value *ret_root)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct err err = ERR_INIT;

	if (fd_read_all(fd, &text, &err) < 0 ||
	    toml_parse(&file->arena, buf_str(&text), ret_root, &err) < 0) {
		findings_add(&file->findings, false, &err);
		return -1;
	}
	return 0;
}

static int load(struct config_file *file, int fd,
		const struct config_options *options, struct err *err)
{
	struct toml_value root;

	if (parse(file, fd, &root) < 0)
		return first_error(file, err);
	if (routine_load(&root, options->lax, &file->arena, &file->config,
			 &file->findings) < 0 &&
	    options->names_only)
		return first_error(file, err);
	if (set_folder(file, err) < 0)
		return -1;
	/* also behind errors of the loader: all are shown at once */
	if (!options->names_only)
		expand_all(file, options);
	visit(file, check_policy, check_refs);
	check_all_rules(file);
	findings_sort(&file->findings);
	return file->findings.has_error ? first_error(file, err) : 0;
}

int config_open(const struct config_options *options,
		struct config_file *ret_file, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct config_file *file = ret_file;

	*file = (struct config_file){.arena = ARENA_INIT};
	if (find(options, file, &fd, err) < 0)
		return -1;
	if (check_trust(file, fd, err) < 0 || load(file, fd, options, err) < 0)
		return -1;
	if (options->quiet)
		return 0;
	log_warnings(file);
	if (file->found_in_cwd && !options->names_only)
		log_grants(file);
	return 0;
}

static void wipe(const char *secret)
{
	/* it lies in the arena, which is ours to write */
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
	arena_release(&file->arena);
	*file = (struct config_file){.arena = ARENA_INIT};
}
