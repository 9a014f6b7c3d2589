#include "core/cli/args.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/paths.h"

const struct option args_common[] = {
	{"config", 'c', "FILE", "read this configuration file"},
	{"lax", 0, NULL, "unknown keys are warnings"},
	{"quiet", 'q', NULL, "errors only"},
	{"verbose", 'v', NULL, "print more on stderr"},
	{"help", 'h', NULL, "print this"},
	{0},
};

const struct option options_of_programs[] = {
#include "core/cli/policy_options.def"
	{0},
};

const struct option options_of_urls[] = {
#include "core/cli/remote_options.def"
	{.letter = OPTIONS_PROGRAM},
};

static const struct option of_targets[] = {
	{"server", 's', "SERVER", "use [servers.SERVER] of the configuration"},
	{"url", 0, "URL", "use the remote server at this URL"},
#define SERVER_OPTION(key, option, field, type, def, takes, help, ...) \
	{option, 0, takes, help},
#define SERVER_NUMBER(key, option, field, type, def, takes, help, ...) \
	{option, 0, takes, help " (" def ")"},
#include "core/config/servers.def"
	{"json", 0, NULL, "print one JSON document"},
	{.letter = OPTIONS_REMOTE},
};

const struct option *option_row(const struct option *o)
{
	static const struct option *const tables[] = {
		[OPTIONS_TARGET] = of_targets,
		[OPTIONS_REMOTE] = options_of_urls,
		[OPTIONS_PROGRAM] = options_of_programs,
	};

	while (!o->name && o->letter)
		o = tables[(unsigned char)o->letter];
	return o->name ? o : NULL;
}

bool cli_json_errors;

struct parser {
	const char *command;
	const struct option *options;
	int argc;
	char **argv;
	int at; /* index of the word */
	struct args *args;
	struct err *err;
};

const struct option *args_find(const struct option *options, struct str name,
			       char letter)
{
	const struct option *const tables[] = {options, args_common};

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (const struct option *o = option_row(tables[i]); o;
		     o = option_row(o + 1))
			if (letter ? o->letter == letter
				   : str_is(name, o->name))
				return o;
	return NULL;
}

struct args_meant args_meant(struct str word, const char *const *names,
			     size_t n)
{
	const char *near = str_nearest(word, names, n);
	struct args_meant meant = {""};

	if (near)
		snprintf(meant.text, sizeof(meant.text), "; did you mean %s?",
			 near);
	return meant;
}

struct args_meant args_meant_or(struct str word, const char *const *names,
				size_t n)
{
	struct args_meant meant = args_meant(word, names, n);
	size_t at = strlen(meant.text);

	snprintf(meant.text + at, sizeof(meant.text) - at, at ? " " : "; ");
	return meant;
}

int args_action(const struct args *a, const char *name, const void *rows,
		size_t n, size_t size, size_t *ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *given = a->n_positional ? a->positional[0] : "";
	const char **words = ARENA_ARRAY(&arena, const char *, n);
	const char *all = "";

	for (size_t i = 0; i < n; i++) {
		memcpy(&words[i], (const char *)rows + i * size,
		       sizeof(words[i]));
		all = arena_printf(&arena, "%s%s%s", all,
				   i == 0	? ""
				   : i == n - 1 ? " or "
						: ", ",
				   words[i]);
	}
	*ret = str_index(str_of(given), words, n);
	if (*ret < n)
		return 0;
	return err_set(err, ERR_USAGE, "%s: name an action: %s%s", name, all,
		       args_meant(str_of(given), words, n).text);
}

int args_bad(const char *name, const char *text, const char *want,
	     struct err *err)
{
	return err_set(err, ERR_USAGE, "--%s: \"%s\" is not %s", name, text,
		       want);
}

/* word  as it was written, with its dashes */
static int unknown_option(const struct parser *p, struct str word,
			  struct str name)
{
	const struct option *const tables[] = {p->options, args_common};
	const char *names[128], *near;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (const struct option *o = option_row(tables[i]);
		     o && n < ARRAY_LEN(names); o = option_row(o + 1))
			names[n++] = o->name;
	near = str_nearest(name, names, n);
	if (near)
		return err_set(p->err, ERR_USAGE,
			       "%s: unknown option %.*s; did you mean --%s?",
			       p->command, STR_ARG(word), near);
	return err_set(p->err, ERR_USAGE,
		       "%s: unknown option %.*s; `matins %s --help` lists them",
		       p->command, STR_ARG(word), p->command);
}

/* Options of every command take effect at once. */
static void apply(struct args *a, const char *name)
{
	if (strcmp(name, "quiet") == 0)
		log_set_level(LOG_ERROR);
	else if (strcmp(name, "verbose") == 0)
		log_set_level(LOG_DEBUG);
	else if (strcmp(name, "json") == 0)
		cli_json_errors = true;
	else if (strcmp(name, "help") == 0)
		a->help = true;
}

/* value  of the option's own word; NULL: the next word is the value */
static int take_option(struct parser *p, const struct option *o,
		       const char *value)
{
	static const char *const paths[] = {"FILE", "PATH", "DIR", "PROGRAM"};
	struct args *a = p->args;

	if (!o->value && value)
		return err_set(p->err, ERR_USAGE, "%s: --%s takes no value",
			       p->command, o->name);
	if (o->value && !value) {
		if (p->at + 1 >= p->argc)
			return err_set(p->err, ERR_USAGE,
				       "%s: --%s needs a value: --%s %s",
				       p->command, o->name, o->name, o->value);
		value = p->argv[++p->at];
	}
	/* a shell leaves `~` alone behind the "=" of --option=~/path */
	for (size_t i = 0; value && i < ARRAY_LEN(paths); i++)
		if (strcmp(o->value, paths[i]) == 0)
			value = path_home(value, &a->arena);
	a->given = mem_realloc(a->given, (a->n_given + 1) * sizeof(*a->given));
	a->given[a->n_given++] = (struct args_option){o->name, value};
	apply(a, o->name);
	return 0;
}

/* -qv is -q -v; behind a letter that takes a value the rest is the value. */
static int take_letters(struct parser *p, const char *letters)
{
	for (; *letters; letters++) {
		const struct str none = {NULL, 0};
		const struct option *o = args_find(p->options, none, *letters);
		char word[] = {'-', *letters, '\0'};

		if (!o)
			return unknown_option(p, str_of(word),
					      (struct str){letters, 1});
		if (o->value)
			return take_option(p, o,
					   letters[1] ? letters + 1 : NULL);
		if (take_option(p, o, NULL) < 0)
			return -1;
	}
	return 0;
}

/* A word that begins with a dash; --name, --name=value, or letters. */
static int take_dashed(struct parser *p, const char *word)
{
	struct str value = str_of(word + 2), name;
	const struct option *o;

	if (word[1] != '-')
		return take_letters(p, word + 1);
	name = str_cut(&value, '=');
	o = args_find(p->options, name, '\0');
	return o ? take_option(p, o, value.p)
		 : unknown_option(p, str_of(word), name);
}

static int take_words(struct parser *p)
{
	struct args *a = p->args;

	for (; p->at < p->argc; p->at++) {
		char *word = p->argv[p->at];

		if (strcmp(word, "--") == 0) {
			a->after = p->argv + p->at + 1;
			return 0;
		}
		if (word[0] != '-' || !word[1])
			a->positional[a->n_positional++] = word;
		else if (take_dashed(p, word) < 0)
			return -1;
	}
	return 0;
}

void args_find_json(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			cli_json_errors = true;
}

int args_parse(const char *name, const struct option *options, int argc,
	       char **argv, struct args *ret, struct err *err)
{
	struct args a = {0};
	struct parser p = {.command = name,
			   .options = options,
			   .argc = argc,
			   .argv = argv,
			   .args = &a,
			   .err = err};

	a.positional = mem_zalloc(((size_t)argc + 1) * sizeof(char *));
	/* the form of an error must not depend on the words before --json */
	args_find_json(argc, argv);
	if (take_words(&p) < 0) {
		args_release(&a);
		return -1;
	}
	*ret = a;
	return 0;
}

void args_release(struct args *a)
{
	free(a->given);
	free(a->positional);
	arena_release(&a->arena);
	*a = (struct args){0};
}

const char *args_get(const struct args *a, const char *name)
{
	for (size_t i = a->n_given; i-- > 0;)
		if (strcmp(a->given[i].name, name) == 0)
			return a->given[i].value ? a->given[i].value : "";
	return NULL;
}

bool args_has(const struct args *a, const char *name)
{
	return args_get(a, name) != NULL;
}

struct strlist args_all(const struct args *a, const char *name,
			struct arena *arena)
{
	struct strlist all = {ARENA_ARRAY(arena, const char *, a->n_given), 0};

	for (size_t i = 0; i < a->n_given; i++)
		if (strcmp(a->given[i].name, name) == 0)
			all.item[all.n++] = a->given[i].value;
	return all;
}

int args_count(const struct args *a, const char *name, unsigned max,
	       unsigned *ret, struct err *err)
{
	const char *text = args_get(a, name);
	uint64_t n;
	char want[40];

	if (!text)
		return 0;
	snprintf(want, sizeof(want), "a number from 1 to %u", max);
	if (!str_uint64(str_of(text), &n) || n < 1 || n > max)
		return args_bad(name, text, want, err);
	*ret = (unsigned)n;
	return 0;
}
