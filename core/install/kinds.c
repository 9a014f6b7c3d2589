#include "core/install/kinds.h"

#include <ctype.h>
#include <string.h>

#include "core/base/text.h"

static const struct {
	const char *name, *source;
	bool has_words;
} kinds[] = {
#define KIND(ident, name, source, has_words) {name, source, has_words},
	INSTALL_KINDS(KIND)
#undef KIND
};

int install_kind_find(const char *word, enum install_kind *ret, struct err *err)
{
	const char *names[ARRAY_LEN(kinds)], *near;
	size_t i;

	for (i = 0; i < ARRAY_LEN(kinds); i++)
		names[i] = kinds[i].name;
	i = str_index(str_of(word), names, ARRAY_LEN(kinds));
	*ret = (enum install_kind)i;
	if (i < ARRAY_LEN(kinds))
		return 0;
	near = str_nearest(str_of(word), names, ARRAY_LEN(kinds));
	return err_set(err, ERR_USAGE,
		       "add: \"%s\" is not a kind of server%s%s; `matins add "
		       "--help` lists them",
		       word, near ? "; did you mean " : "", near ? near : "");
}

const char *install_kind_name(enum install_kind kind)
{
	return kinds[kind].name;
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

const char *install_name(enum install_kind kind, const char *source,
			 struct arena *arena)
{
	struct str name = kind == INSTALL_URL ? host_label(str_of(source))
					      : last_part(str_of(source));
	char *text;

	for (size_t i = 0; i < ARRAY_LEN(common_begins); i++)
		if (str_starts(name, common_begins[i]) &&
		    name.n > strlen(common_begins[i]))
			name = str_skip(name, strlen(common_begins[i]));
	for (size_t i = 0; i < ARRAY_LEN(common_ends); i++)
		if (str_ends(name, common_ends[i]) &&
		    name.n > strlen(common_ends[i]))
			name.n -= strlen(common_ends[i]);
	text = arena_strndup(arena, name.p, name.n < 64 ? name.n : 64);
	for (char *p = text; *p; p++)
		if (!text_is_alnum(*p) && *p != '_')
			*p = '-';
	return *text && *text != '-' ? text : "server";
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
