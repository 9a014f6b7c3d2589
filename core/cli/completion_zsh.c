/* The completion script of zsh. */
#include "core/cli/completion.h"

/* '*'{-o,--output=}'[help]:FILE:_files', '*--view=[help]:…:(full golden)' */
static void print_option(const struct option *o)
{
	const char *equals = o->value ? "=" : "";

	if (o->letter)
		printf(" \\\n\t\t\t'*'{-%c,--%s%s}'[", o->letter, o->name,
		       equals);
	else
		printf(" \\\n\t\t\t'*--%s%s[", o->name, equals);
	completion_print_quoted(o->help, "[]:\\");
	putchar(']');
	if (o->value) {
		putchar(':');
		completion_print_quoted(o->value, "[]:\\");
		putchar(':');
	}
	switch (completion_value(o)) {
	case COMPLETION_WORDS:
		putchar('(');
		completion_print_words(o);
		putchar(')');
		break;
	case COMPLETION_FILES:
		printf("_files");
		break;
	case COMPLETION_PROGRAMS:
		printf("_command_names -e");
		break;
	case COMPLETION_SERVERS:
		/* the space keeps options of compadd away from it */
		printf(" _matins_names --servers");
		break;
	case COMPLETION_STEPS:
		printf("->some_steps");
		break;
	case COMPLETION_NOTHING:
		break;
	}
	putchar('\'');
}

/* The words behind a command, by their number. */
static void print_words(const struct command *c)
{
	const char *rest = completion_rest(c);
	bool steps = !strcmp(rest, "steps");
	int n = 1;

	if (completion_has_first(c)) {
		printf(" \\\n\t\t\t'%d:word:(", n++);
		completion_print_first(c);
		printf(")'");
	}
	if (steps || !strcmp(rest, "names"))
		printf(" \\\n\t\t\t'%d:routine: _matins_names --names'", n++);
	if (steps)
		printf(" \\\n\t\t\t'%d:step:->steps'", n);
	else if (!strcmp(rest, "servers"))
		printf(" \\\n\t\t\t'%d:server: _matins_names --servers "
		       "--remote'",
		       n);
	else if (!strcmp(rest, "tools"))
		printf(" \\\n\t\t\t'%d:tool:_matins_tools'", n);
	else if (!strcmp(rest, "files"))
		printf(" \\\n\t\t\t'*:file:_files'");
	else if (!strcmp(rest, "programs"))
		printf(" \\\n\t\t\t'*:program:_normal'");
}

static void print_command(const struct command *c)
{
	printf("\t%s)\n\t\t_arguments -C '*'{-c,--config=}'[read this "
	       "configuration file]:FILE:_files' \\\n"
	       "\t\t\t'--lax' '--quiet' '--verbose' '--help'",
	       c->name);
	for (const struct option *o = c->options; o->name; o++)
		print_option(o);
	print_words(c);
	printf(" ;;\n");
}

static const char begin[] =
	"#compdef matins\n"
	"# the value of an option that was given\n"
	"_matins_value() {\n"
	"\tlocal i=${words[(i)($1|$2|$2=*)]}\n"
	"\tif (( i < CURRENT )) && [[ $words[i] == *=* ]]; then\n"
	"\t\tprint -r -- ${words[i]#*=}\n"
	"\telif (( i < CURRENT - 1 )); then\n"
	"\t\tprint -r -- $words[i+1]\n"
	"\tfi\n"
	"}\n"
	"_matins_tools() {\n"
	"\tlocal server=$(_matins_value -s --server)\n"
	"\t[[ -n $server ]] && _matins_names --tools $server\n"
	"}\n"
	"# what `matins list` prints, of the configuration that is named\n"
	"_matins_names() {\n"
	"\tlocal -a names config\n"
	"\tlocal file=$(_matins_value -c --config)\n"
	"\t[[ -z $file ]] || config=(-c ${~file})\n"
	"\tnames=(${(f)\"$(matins list $config \"$@\" 2>/dev/null)\"})\n"
	"\tcompadd -a names\n"
	"}\n"
	"_matins() {\n"
	"\tlocal -a names line state\n"
	"\tlocal curcontext=$curcontext i\n"
	"\tif (( CURRENT == 2 )); then\n\t\tnames=(\n";

/* A program behind --, then what the command itself takes. */
static const char middle[] =
	"\t\t)\n\t\t_describe command names\n\t\treturn\n\tfi\n"
	"\ti=${words[(i)--]}\n"
	"\tif (( i < CURRENT )); then\n"
	"\t\tshift $i words\n"
	"\t\t(( CURRENT -= i ))\n"
	"\t\t_normal\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tshift words\n\t(( CURRENT-- ))\n"
	"\tcase $words[1] in\n";

static const char end[] = "\tesac\n"
			  "\tcase $state in\n"
			  "\tsome_steps)\n"
			  "\t\tcompset -P '*,'\n"
			  "\t\t_matins_names --steps \"$line[1]\" ;;\n"
			  "\tsteps) _matins_names --steps \"$line[1]\" ;;\n"
			  "\tesac\n"
			  "}\n"
			  "_matins \"$@\"\n";

void completion_print_zsh(void)
{
	fputs(begin, stdout);
	for (const struct command *c = commands; c->name; c++) {
		printf("\t\t\t'%s:", c->name);
		completion_print_quoted(c->help, ":");
		printf("'\n");
	}
	fputs(middle, stdout);
	for (const struct command *c = commands; c->name; c++)
		print_command(c);
	fputs(end, stdout);
}
