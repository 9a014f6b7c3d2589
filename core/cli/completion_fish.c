/* The completion script of fish. */
#include "core/cli/completion.h"

static void print_condition(const struct command *c, const char *more)
{
	printf("complete -c matins -n '__fish_seen_subcommand_from %s%s'",
	       c->name, more);
}

static void print_option(const struct command *c, const struct option *o)
{
	print_condition(c, "");
	printf(" -l %s", o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	switch (completion_value(o)) {
	case COMPLETION_WORDS:
		printf(" -x -a '");
		completion_print_words(o);
		putchar('\'');
		break;
	case COMPLETION_FILES:
		printf(" -r -F");
		break;
	case COMPLETION_PROGRAMS:
		printf(" -x -a '(__fish_complete_command)'");
		break;
	case COMPLETION_SERVERS:
		printf(" -x -a '(__matins_list --servers)'");
		break;
	case COMPLETION_STEPS:
		printf(" -x -a '(__fish_complete_list , __matins_steps)'");
		break;
	case COMPLETION_NOTHING:
		printf("%s", o->value ? " -x" : "");
		break;
	}
	printf(" -d '");
	completion_print_quoted(o->help, "");
	printf("'\n");
}

/* Names of routines stand behind `n` other words. */
static void print_names(const struct command *c, int n)
{
	char at[64];

	snprintf(at, sizeof(at), "; and __matins_has_given %d", n);
	print_condition(c, at);
	printf(" -f -a '(__matins_list --names)'\n");
	if (strcmp(completion_rest(c), "steps") != 0)
		return;
	snprintf(at, sizeof(at), "; and __matins_has_given %d", n + 1);
	print_condition(c, at);
	printf(" -f -a '(__matins_steps)'\n");
}

static void print_words(const struct command *c)
{
	const char *rest = completion_rest(c);
	bool names = !strcmp(rest, "names") || !strcmp(rest, "steps");
	bool first = completion_has_first(c);

	if (first) {
		print_condition(c, "; and __matins_has_given 0");
		printf(" -f -a '");
		completion_print_first(c);
		printf("'\n");
	}
	if (names)
		print_names(c, first);
	if (!strcmp(rest, "servers")) {
		print_condition(c, "; and __matins_has_given 1");
		printf(" -f -a '(__matins_list --servers --remote)'\n");
	}
	if (!strcmp(rest, "tools")) {
		print_condition(c, "; and __matins_has_given 0");
		printf(" -f -a '(__matins_tools)'\n");
	}
	if (completion_takes(c, "PROGRAM") || completion_takes(c, "TARGET")) {
		print_condition(c, "; and __matins_is_behind_dashes");
		printf(" -a '(__fish_complete_command)'\n");
	}
	if (names || !*rest || !strcmp(rest, "servers")) {
		/* no files there */
		print_condition(c, "");
		printf(" -f\n");
	}
}

static const char begin[] =
	"# fish completion of matins\n"
	"# the words behind the command that are no options and no values\n"
	"function __matins_given\n"
	"\tset -l value no\n"
	"\tfor word in (commandline -opc)[3..]\n"
	"\t\tif test $value = yes\n"
	"\t\t\tset value no\n"
	"\t\telse if string match -q -- '-*' $word\n"
	"\t\t\tcontains -- $word $__matins_valued; and set value yes\n"
	"\t\telse\n"
	"\t\t\techo $word\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"function __matins_has_given\n"
	"\ttest (count (__matins_given)) -eq $argv[1]\n"
	"end\n"
	"# does a program stand here?\n"
	"function __matins_is_behind_dashes\n"
	"\ttest (commandline -opc)[-1] = --\n"
	"end\n"
	"# the value of an option that was given\n"
	"function __matins_value\n"
	"\tset -l words (commandline -opc)\n"
	"\tfor i in (seq 3 (count $words))\n"
	"\t\tif contains -- $words[$i] $argv; and set -q words[(math $i + "
	"1)]\n"
	"\t\t\techo $words[(math $i + 1)]\n"
	"\t\telse\n"
	"\t\t\tstring replace -f -- $argv[2]= '' $words[$i]\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"# what `matins list` prints, of the configuration that is named\n"
	"function __matins_list\n"
	"\tset -l file (__matins_value -c --config)\n"
	"\tset -q file[1]; and set argv -c $file[-1] $argv\n"
	"\tmatins list $argv 2>/dev/null\n"
	"end\n"
	"function __matins_tools\n"
	"\tset -l server (__matins_value -s --server)\n"
	"\tset -q server[1]; and __matins_list --tools $server[-1]\n"
	"end\n"
	"function __matins_steps\n"
	"\tset -l given (__matins_given)\n"
	"\tset -q given[1]; and __matins_list --steps $given[-1]\n"
	"end\n";

void completion_print_fish(void)
{
	fputs(begin, stdout);
	printf("set -g __matins_valued ");
	completion_print_valued(NULL);
	printf("\ncomplete -c matins -s c -l config -r -F -d 'read this "
	       "configuration file'\n");
	for (const struct command *c = commands; c->name; c++) {
		printf("complete -c matins -n __fish_use_subcommand -f -a %s "
		       "-d '",
		       c->name);
		completion_print_quoted(c->help, "");
		printf("'\n");
		print_words(c);
		for (const struct option *o = c->options; o->name; o++)
			print_option(c, o);
	}
}
