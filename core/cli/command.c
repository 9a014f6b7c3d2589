#include "core/cli/command.h"

#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/paths.h"

const struct command commands[] = {
#define COMMAND(ident, synopsis, help) \
	{#ident, synopsis, help, options_##ident, cmd_##ident},
#include "core/cli/commands.def"
#undef COMMAND
	{0},
};

/* What every command takes. */
static const struct option common[] = {
	{"config", 'c', "FILE", "read this configuration file"},
	{"lax", 0, NULL, "unknown keys are warnings"},
	{"quiet", 'q', NULL, "errors only"},
	{"verbose", 'v', NULL, "say more on stderr"},
	{"help", 'h', NULL, "print this"},
	{0},
};

bool cli_json_errors;

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

/* What is longer has its help on the next line. */
#define OPTION_COLUMN 30

static void print_options(const struct option *o)
{
	for (; o->name; o++) {
		char left[128];

		snprintf(left, sizeof(left), "%s%c%s--%s%s%s",
			 o->letter ? "-" : " ", o->letter ? o->letter : ' ',
			 o->letter ? ", " : "  ", o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		if (strlen(left) > OPTION_COLUMN)
			printf("  %s\n  %*s %s\n", left, OPTION_COLUMN, "",
			       o->help);
		else
			printf("  %-*s %s\n", OPTION_COLUMN, left, o->help);
	}
}

void command_help(const struct command *cmd)
{
	printf("usage: matins %s%s%s\n\n%s\n\n", cmd->name,
	       *cmd->synopsis ? " " : "", cmd->synopsis, cmd->help);
	print_options(cmd->options);
	if (cmd->options->name)
		printf("\n");
	print_options(common);
	printf("\nThe manual page says more: man matins\n");
}

static const struct option *find_long(const struct option *o, struct str name)
{
	for (; o->name; o++)
		if (str_is(name, o->name))
			return o;
	return NULL;
}

static const struct option *find_letter(const struct option *o, char letter)
{
	for (; o->name; o++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

static size_t collect(const char **names, size_t n, size_t max,
		      const struct option *o)
{
	for (; o->name && n < max; o++)
		names[n++] = o->name;
	return n;
}

static int unknown_option(const struct command *cmd, const char *word,
			  struct str name, struct err *err)
{
	const char *names[128];
	const char *near;
	size_t n = collect(names, 0, ARRAY_LEN(names), cmd->options);

	n = collect(names, n, ARRAY_LEN(names), common);
	near = str_nearest(name, names, n);
	if (near)
		return err_set(err, ERR_USAGE,
			       "%s: unknown option %s; did you mean --%s?",
			       cmd->name, word, near);
	return err_set(err, ERR_USAGE,
		       "%s: unknown option %s; `matins %s --help` lists them",
		       cmd->name, word, cmd->name);
}

/* A shell leaves `~` alone behind the "=" of --option=~/path. */
static void add(struct args *a, const struct option *o, const char *value)
{
	static const char *const paths[] = {"FILE", "PATH", "DIR", "PROGRAM"};

	for (size_t i = 0; value && i < ARRAY_LEN(paths); i++)
		if (strcmp(o->value, paths[i]) == 0)
			value = path_home(value, &a->arena);
	a->given = mem_realloc(a->given, (a->n_given + 1) * sizeof(*a->given));
	a->given[a->n_given++] = (struct args_option){o->name, value};
}

static void apply(const struct command *cmd, struct args *a, const char *name)
{
	if (strcmp(name, "quiet") == 0)
		log_set_level(LOG_ERROR);
	else if (strcmp(name, "verbose") == 0)
		log_set_level(LOG_DEBUG);
	else if (strcmp(name, "json") == 0)
		cli_json_errors = true;
	else if (strcmp(name, "help") == 0 && !a->help) {
		a->help = true;
		command_help(cmd);
	}
}

/* One option at argv[*i]; moves *i over a value of its own word. */
static int one_option(const struct command *cmd, char **argv, int argc, int *i,
		      struct args *a, struct err *err)
{
	const char *word = argv[*i];
	bool is_long = word[1] == '-';
	struct str value = str_of(word + (is_long ? 2 : 1)), name;
	const struct option *o;

	name = is_long ? str_cut(&value, '=') : (struct str){value.p, 1};
	if (is_long) {
		o = find_long(cmd->options, name);
		if (!o)
			o = find_long(common, name);
	} else {
		o = find_letter(cmd->options, word[1]);
		if (!o)
			o = find_letter(common, word[1]);
		value = (struct str){word[2] ? word + 2 : NULL, 0};
		/* -qv is -q -v */
		if (o && !o->value && word[2]) {
			add(a, o, NULL);
			apply(cmd, a, o->name);
			argv[*i]++;
			argv[*i][0] = '-';
			return one_option(cmd, argv, argc, i, a, err);
		}
	}
	if (!o)
		return unknown_option(cmd, word, name, err);
	if (!o->value && value.p)
		return err_set(err, ERR_USAGE, "%s: --%s takes no value",
			       cmd->name, o->name);
	if (o->value && !value.p) {
		if (*i + 1 >= argc)
			return err_set(err, ERR_USAGE,
				       "%s: --%s needs a value: --%s %s",
				       cmd->name, o->name, o->name, o->value);
		value.p = argv[++*i];
	}
	add(a, o, o->value ? value.p : NULL);
	apply(cmd, a, o->name);
	return 0;
}

void args_find_json(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			cli_json_errors = true;
}

int args_parse(const struct command *cmd, int argc, char **argv,
	       struct args *ret, struct err *err)
{
	struct args a = {0};

	a.positional = mem_zalloc(((size_t)argc + 1) * sizeof(char *));
	/* the form of an error must not depend on what stands before it */
	args_find_json(argc, argv);
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			a.after = argv + i + 1;
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			a.positional[a.n_positional++] = argv[i];
			continue;
		}
		if (one_option(cmd, argv, argc, &i, &a, err) < 0) {
			args_release(&a);
			return -1;
		}
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
