#include "gate/policy/package.h"

#include "core/base/jdoc.h"
#include "core/base/text.h"
#include "gate/policy/semver.h"

/* npm: validate-npm-package-name. */
#define NAME_BYTES 214
/* Packages of one command, programs of one package. */
#define SPECS_MAX 16
#define BINS_MAX 1000

/* ---- names and versions ---- */

/* Letters, digits and . _ - ~, beginning with neither of . _ - */
static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!text_is_alnum(s.p[i]) && (!i || !strchr("._-~", s.p[i])))
			return false;
	return s.n && s.n <= NAME_BYTES && !str_is(s, "node_modules");
}

/* "name" or "@scope/name" */
static bool is_package_name(struct str s)
{
	struct str scope;

	if (!str_starts(s, "@"))
		return is_name(s);
	s = str_skip(s, 1);
	scope = str_cut(&s, '/');
	return is_name(scope) && is_name(s);
}

/* An archive, which npm would read as a file. */
static bool is_archive(struct str s)
{
	return str_ends(s, ".tgz") || str_ends(s, ".tar.gz") ||
	       str_ends(s, ".tar");
}

/* A version of PyPI, whole: digits first, then what versions are made of. */
static bool is_pypi_version(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= '0' && c <= '9') &&
		    (!i || !strchr("abcdefghijklmnopqrstuvwxyz.+-_!", c)))
			return false;
	}
	return s.n > 0;
}

static bool is_pypi_spec(struct str version)
{
	return !version.n || str_is(version, "latest") ||
	       is_pypi_version(version);
}

/* Split "name@version", for PyPI "name==version" as well. */
static bool read_spec(const char *word, enum package_spelling spelling,
		      struct arena *arena, struct package_spec *ret)
{
	struct str name = str_of(word);
	const char *at = *word ? strchr(word + 1, '@') : NULL;
	const char *equals =
		spelling == PACKAGE_PYPI ? strstr(word, "==") : NULL;
	const char *end = at ? at : equals;

	*ret = (struct package_spec){.written = word, .version = {NULL, 0}};
	if (end) {
		name.n = (size_t)(end - word);
		ret->version = str_of(end + (at ? 1 : 2));
	}
	if (!is_package_name(name) || is_archive(name))
		return false;
	ret->name = arena_strndup(arena, name.p, name.n);
	if (spelling == PACKAGE_PYPI)
		return name.p[0] != '@' && is_pypi_spec(ret->version);
	return !ret->version.n || (semver_kind(ret->version) != SEMVER_NONE &&
				   !is_archive(ret->version));
}

bool package_is_tag(const struct package_asked *asked,
		    const struct package_spec *spec)
{
	if (!spec->version.n)
		return false;
	return asked->tool->spelling == PACKAGE_PYPI
		       ? !is_pypi_version(spec->version)
		       : semver_kind(spec->version) == SEMVER_TAG;
}

bool package_version_fits(const struct package_asked *asked,
			  const struct package_spec *spec, const char *version)
{
	struct str v = str_trim(spec->version), is = str_of(version);

	if (!v.n || str_is(v, "*") || package_is_tag(asked, spec))
		return true;
	if (asked->tool->spelling == PACKAGE_PYPI)
		return str_eq(v, is);
	return semver_kind(v) == SEMVER_VERSION ? semver_is(is, v)
						: semver_satisfies(is, v);
}

/* ---- the words ---- */

struct reading {
	const struct strlist *argv;
	struct arena *arena;
	struct package_asked asked;
	struct package_spec *spec;
	bool has_subcommand, has_ended; /* by -- */
};

static bool add_spec(struct reading *r, const char *word)
{
	struct package_asked *a = &r->asked;

	return a->n < SPECS_MAX &&
	       read_spec(word, a->tool->spelling, r->arena, &r->spec[a->n++]);
}

/* Read an option; false: it is not known here. *at moves behind its value. */
static bool read_option(struct reading *r, size_t *at)
{
	const struct package_tool *t = r->asked.tool;
	struct str arg = str_of(r->argv->item[*at]), rest = arg;
	struct str name = str_cut(&rest, '=');

	r->asked.wants_bun |= str_is(arg, "--bun");
	if (str_has_word(t->flags, arg))
		return true;
	if (!str_has_word(t->from, name))
		return false;
	r->asked.is_named = true;
	if (name.n < arg.n)
		return add_spec(r, rest.p);
	return ++*at < r->argv->n && add_spec(r, r->argv->item[*at]);
}

/* Read one word in front of the program, or the program. */
static bool read_word(struct reading *r, size_t *at)
{
	const char *arg = r->argv->item[*at];

	if (strcmp(arg, "--") == 0 && r->has_subcommand) {
		r->has_ended = true;
		return true;
	}
	if (arg[0] == '-' && !r->has_ended)
		return read_option(r, at);
	if (!r->has_subcommand) {
		r->has_subcommand =
			str_has_word(r->asked.tool->subcommand, str_of(arg));
		return r->has_subcommand;
	}
	r->asked.program = arg;
	return true;
}

/* npm reads its own options behind the program, too, unless -- ends them. */
static bool read_args(struct reading *r, size_t at)
{
	bool is_mixed = r->asked.tool->order == PACKAGE_MIXED;

	for (; at < r->argv->n; at++) {
		const char *arg = r->argv->item[at];

		if (!is_mixed || r->has_ended || arg[0] != '-')
			list_add(&r->asked.args, r->arena, arg);
		else if (strcmp(arg, "--") == 0)
			r->has_ended = true;
		else if (!read_option(r, &at))
			return false;
	}
	return true;
}

static const char *launcher_name(const struct reading *r)
{
	struct str word = str_of(r->asked.tool->subcommand);
	const char *called = r->argv->item[0], *slash = strrchr(called, '/');

	word = str_cut(&word, ' ');
	return arena_printf(r->arena, "%s%s%.*s", slash ? slash + 1 : called,
			    word.n ? " " : "", STR_ARG(word));
}

bool package_read(const char *asked, const char *path,
		  const struct strlist *argv, struct arena *arena,
		  struct package_asked *ret)
{
	const struct package_tool *t = programs_tool(asked, path);
	struct reading r = {.argv = argv, .arena = arena, .asked.tool = t};
	size_t i = 1;

	if (!t || t->place == PACKAGE_NOWHERE || !argv->n)
		return false;
	r.has_subcommand = !*t->subcommand;
	r.spec = ARENA_ARRAY(arena, struct package_spec, SPECS_MAX);
	r.asked.spec = r.spec;
	for (; i < argv->n && !r.asked.program; i++)
		if (!read_word(&r, &i))
			return false;
	if (!r.asked.program || !read_args(&r, i) ||
	    (!r.asked.is_named && !add_spec(&r, r.asked.program)))
		return false;
	r.asked.launcher = launcher_name(&r);
	*ret = r.asked;
	return true;
}

/* ---- package.json ---- */

bool package_path_is_inside(const char *path)
{
	struct str rest = str_of(path);

	if (!rest.n || path[rest.n - 1] == '/')
		return false;
	while (rest.n) {
		struct str part = str_cut(&rest, '/');

		if (!part.n || str_is(part, "."))
			return false;
		if (str_is(part, ".."))
			return false;
	}
	return true;
}

/* "./dist//index.js" as "dist/index.js"; other paths as they are. */
static const char *tidy(const char *path, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_of(path);

	if (path[0] == '/')
		return path;
	while (rest.n) {
		struct str part = str_cut(&rest, '/');

		if (part.n && !str_is(part, "."))
			buf_addf(&out, "%s%.*s", out.n ? "/" : "",
				 STR_ARG(part));
	}
	return arena_strdup(arena, buf_cstr(&out));
}

static const char *without_scope(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* A text with a NUL in it is none. */
static const char *text_of(const struct jdoc *j, struct arena *arena)
{
	const char *text = jdoc_text(j, arena);

	return text && *text && jdoc_is(j, text) ? text : NULL;
}

/* Name and version are shown to people: neither may say anything else. */
static const char *name_of(const char *text)
{
	return text && is_package_name(str_of(text)) ? text : NULL;
}

static const char *version_of(const char *text)
{
	return text && semver_kind(str_of(text)) == SEMVER_VERSION ? text
								   : NULL;
}

static void add_bin(struct package *p, struct package_bin *bins,
		    const char *name, const char *path, struct arena *arena)
{
	if (!name || !*name || !path || p->n_bins == BINS_MAX)
		return;
	bins[p->n_bins++] =
		(struct package_bin){without_scope(name), tidy(path, arena)};
}

int package_json(struct str text, struct arena *arena, struct package *ret,
		 struct err *err)
{
	struct package p = {.name = NULL};
	struct package_bin *bins;
	struct jdoc *doc, *bin;

	if (jdoc_parse(text, arena, &doc, err) < 0)
		return -1;
	if (doc->type != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "it is not an object");
	p.name = name_of(text_of(jdoc_get(doc, "name"), arena));
	p.version = version_of(text_of(jdoc_get(doc, "version"), arena));
	bin = jdoc_get(doc, "bin");
	bins = ARENA_ARRAY(arena, struct package_bin, (bin ? bin->n : 0) + 1);
	p.bin = bins;
	if (bin && bin->type == SCAN_STRING)
		add_bin(&p, bins, p.name, text_of(bin, arena), arena);
	else if (bin && bin->type == SCAN_OBJECT)
		for (struct jdoc *b = bin->first; b; b = b->next)
			add_bin(&p, bins,
				arena_strndup(arena, b->key.p, b->key.n),
				text_of(b, arena), arena);
	*ret = p;
	return 0;
}

const struct package_bin *package_bin(const struct package *p, const char *name)
{
	bool is_one = p->n_bins > 0;

	for (size_t i = 1; i < p->n_bins && !name; i++)
		is_one &= strcmp(p->bin[i].path, p->bin[0].path) == 0;
	if (!name && is_one)
		return p->bin;
	if (!name && p->name)
		name = without_scope(p->name);
	/* of members with one name the last counts */
	for (size_t i = p->n_bins; i-- > 0 && name;)
		if (strcmp(p->bin[i].name, name) == 0)
			return &p->bin[i];
	return NULL;
}

/* ---- node_modules/.bin ---- */

/* Split "a/node_modules/@s/b/x/y" behind "a/node_modules/@s/b". */
bool package_split(struct str link, struct arena *arena,
		   const char **ret_folder, const char **ret_path)
{
	static const char modules[] = "/node_modules/";
	const char *path = arena_strndup(arena, link.p, link.n);
	const char *name = path + 3, *in, *slash;

	if (strlen(path) != link.n || strncmp(path, "../", 3) != 0)
		return false;
	path = name;
	while ((in = strstr(name, modules)))
		name = in + sizeof(modules) - 1;
	slash = strchr(name, '/');
	if (slash && name[0] == '@')
		slash = strchr(slash + 1, '/');
	if (!slash || !package_path_is_inside(path))
		return false;
	*ret_folder = arena_strndup(arena, path, (size_t)(slash - path));
	*ret_path = slash + 1;
	return true;
}

struct str package_shim(struct str script)
{
	static const char from[] = "\"$basedir/", to[] = "\" \"$@\"";
	const char *end = memmem(script.p, script.n, to, sizeof(to) - 1);
	const char *begin = NULL;

	if (!end)
		return (struct str){NULL, 0};
	for (const char *at = script.p; at < end; at++) {
		if ((size_t)(end - at) < sizeof(from) - 1 || *at == '\n')
			continue;
		if (memcmp(at, from, sizeof(from) - 1) == 0)
			begin = at + sizeof(from) - 1;
	}
	if (!begin || memchr(begin, '\n', (size_t)(end - begin)))
		return (struct str){NULL, 0};
	return (struct str){begin, (size_t)(end - begin)};
}
