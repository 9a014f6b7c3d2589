#include "core/install/kinds.h"

#include <ctype.h>
#include <string.h>

#include "core/base/text.h"

static const char *const names[] = {
#define KIND(ident, name) name,
	INSTALL_KINDS(KIND)
#undef KIND
};

int install_kind_find(const char *word, enum install_kind *ret, struct err *err)
{
	const size_t i = str_index(str_of(word), names, ARRAY_LEN(names));
	const char *near = str_nearest(str_of(word), names, ARRAY_LEN(names));

	*ret = (enum install_kind)i;
	if (i < ARRAY_LEN(names))
		return 0;
	return err_set(err, ERR_USAGE,
		       "add: \"%s\" is not a kind of server%s%s; `matins add "
		       "--help` lists them",
		       word, near ? "; did you mean " : "", near ? near : "");
}

const char *install_kind_name(enum install_kind kind)
{
	return names[kind];
}

/* ---- names ---- */

/* Words at the ends of names, which say that it is a server. */
static const char *const common_begins[] = {"mcp-server-", "server-", "mcp-"};
static const char *const common_ends[] = {"-mcp-server", "-server", "-mcp"};

/* The first label of a host that says something. */
static struct str host_label(struct str url)
{
	static const char *const common[] = {"mcp", "www", "api"};
	struct str host, label;
	size_t at = str_find(url, '/');

	host = at + 2 < url.n ? str_skip(url, at + 2) : url;
	host.n = str_find(host, '/');
	do
		label = str_cut(&host, '.');
	while (host.n &&
	       str_index(label, common, ARRAY_LEN(common)) < ARRAY_LEN(common));
	label.n = str_find(label, ':');
	return label;
}

/* The last part of a path. */
static struct str last_part(struct str path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	for (size_t i = path.n; i; i--)
		if (path.p[i - 1] == '/')
			return str_skip(path, i);
	return path;
}

static const char *const file_ends[] = {".tgz", ".tar.gz", ".whl", ".mcpb",
					".dxt"};

bool install_is_file(const char *source)
{
	for (size_t i = 0; i < ARRAY_LEN(file_ends); i++)
		if (str_ends(str_of(source), file_ends[i]))
			return true;
	return false;
}

bool install_is_inside(const char *path)
{
	struct str rest = str_of(path);

	while (rest.n)
		if (str_is(str_cut(&rest, '/'), ".."))
			return false;
	return *path && *path != '/';
}

/* "name@1.2", "name==1.2" and "name[extra]" without what stands behind; a scope
   begins with the same character. */
static struct str without_version(struct str name)
{
	for (size_t i = 1; i < name.n; i++)
		if (strchr("@=<>~![ ", name.p[i]))
			return (struct str){name.p, i};
	return name;
}

const char *install_newest(const char *source, struct arena *arena)
{
	struct str name = without_version(str_of(source));

	return install_is_file(source) || strchr(source, ':')
		       ? source
		       : arena_strndup(arena, name.p, name.n);
}

/* The name of a file of a package, which its version follows: name-1.2.tgz */
static struct str without_end(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(file_ends); i++)
		if (str_ends(name, file_ends[i]))
			name.n -= strlen(file_ends[i]);
	for (size_t i = 1; i + 1 < name.n; i++)
		if (name.p[i] == '-' && text_is_digit(name.p[i + 1]))
			return (struct str){name.p, i};
	return name;
}

static struct str package_name(enum install_kind kind, const char *source)
{
	struct str name = str_of(source);

	if (kind == INSTALL_URL)
		return host_label(name);
	if (kind == INSTALL_CUSTOM)
		return last_part(name);
	return install_is_file(source) ? without_end(last_part(name))
				       : last_part(without_version(name));
}

const char *install_name(enum install_kind kind, const char *source,
			 struct arena *arena)
{
	struct str name = package_name(kind, source);
	char *text;

	text = arena_strndup(arena, name.p, name.n < 64 ? name.n : 64);
	for (char *p = text; *p; p++)
		if (!text_is_alnum(*p))
			*p = '-';
	name = str_of(text);
	for (size_t i = 0; i < ARRAY_LEN(common_begins); i++)
		if (str_starts(name, common_begins[i]) &&
		    name.n > strlen(common_begins[i]))
			name = str_skip(name, strlen(common_begins[i]));
	for (size_t i = 0; i < ARRAY_LEN(common_ends); i++)
		if (str_ends(name, common_ends[i]) &&
		    name.n > strlen(common_ends[i]))
			name.n -= strlen(common_ends[i]);
	return name.n && *name.p != '-' ? arena_strndup(arena, name.p, name.n)
					: "server";
}

/* ---- words ---- */

struct strlist install_words(const char *const *words, const char *tree,
			     bool (*is_file)(void *arg, const char *path),
			     void *arg, struct arena *arena)
{
	struct strlist all = {NULL, 0};

	for (; words && *words; words++) {
		const char *word = *words;

		while (str_starts(str_of(word), "./"))
			word += 2;
		if (*word && *word != '/' && *word != '-' &&
		    !strstr(word, "..") && is_file(arg, word))
			word = arena_printf(arena, "%s/%s", tree, word);
		else
			word = *words;
		list_add(&all, arena, word);
	}
	return all;
}
