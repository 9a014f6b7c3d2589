/*
 * Completion scripts, printed from the same tables as the help.
 *
 * What a value may be is said by the row of its option: "full|golden" are its
 * words, FILE and the like are files. What may stand behind a command is said
 * by its synopsis: words in small letters stand for themselves, ROUTINE,
 * COMMAND and TOOL for the names of those.
 */
#include <ctype.h>

#include "core/cli/command.h"
#include "core/server/brief.h"
#include "gate/gate.h"

const struct option options_completion[] = {{0}};

/* ---- what the tables say ---- */

static bool is_choice(const char *value)
{
	return value && strchr(value, '|') && islower((unsigned char)*value);
}

static bool is_file(const char *value)
{
	static const char *const kinds[] = {"FILE", "PATH", "DIR"};

	for (size_t i = 0; value && i < ARRAY_LEN(kinds); i++)
		if (!strcmp(value, kinds[i]))
			return true;
	return false;
}

static bool is_program(const char *value)
{
	return value && !strcmp(value, "PROGRAM");
}

static bool is_net(const struct option *o)
{
	return o->value && !strcmp(o->name, "net");
}

static bool is_require(const struct option *o)
{
	return o->value && !strcmp(o->name, "require");
}

/* One of the configuration's, asked when it is needed. */
static bool is_server(const char *value)
{
	return value && strcmp(value, "SERVER") == 0;
}

/* "a|b" as "a b" */
static void print_choice(const char *value)
{
	for (; *value; value++)
		putchar(*value == '|' ? ' ' : *value);
}

/* The words of a value, if there are some; true when they are printed. */
static bool print_words(const struct option *o, const char *before,
			const char *after)
{
	const char *name;

	if (!is_choice(o->value) && !is_net(o) && !is_require(o))
		return false;
	printf("%s", before);
	if (is_choice(o->value))
		print_choice(o->value);
	else if (is_net(o))
		printf("none loopback all");
	else
		for (size_t i = 0; (name = gate_require_name(i)); i++)
			printf("%s%s", i ? " " : "", name);
	printf("%s", after);
	return true;
}

/* One word of a synopsis, moved over; n = 0 at the end. */
static struct str next_word(const char **p)
{
	struct str word;

	while (**p && !isalpha((unsigned char)**p))
		(*p)++;
	word = (struct str){*p, 0};
	while (isalpha((unsigned char)**p))
		(*p)++;
	word.n = (size_t)(*p - word.p);
	return word;
}

static bool takes(const struct command *c, const char *kind)
{
	const char *p = c->synopsis;
	struct str word;

	while ((word = next_word(&p)).n)
		if (str_is(word, kind))
			return true;
	return false;
}

/* TOOL of other commands is one of a server, which is not asked here. */
static bool has_brief_tools(const struct command *c)
{
	return takes(c, "TOOL") && !takes(c, "TARGET");
}

/* The words that may stand first behind a command; returns their number. */
static size_t print_first(const struct command *c)
{
	const char *p = c->synopsis;
	struct str word;
	size_t n = 0;

	while ((word = next_word(&p)).n)
		if (islower((unsigned char)word.p[0]))
			printf("%s%.*s", n++ ? " " : "", STR_ARG(word));
	if (takes(c, "COMMAND"))
		for (const struct command *o = commands; o->name; o++)
			printf("%s%s", n++ ? " " : "", o->name);
	if (has_brief_tools(c))
		for (const struct tool *t = brief_tools; t->name; t++)
			printf("%s%s", n++ ? " " : "", t->name);
	return n;
}

/*
 * What stands behind the first word: "names" of routines, "programs" and what
 * follows one, "files", "".
 */
static const char *kind_of_rest(const struct command *c)
{
	if (takes(c, "ROUTINE"))
		return "names";
	if (takes(c, "PROGRAM"))
		return "programs";
	return takes(c, "FILE") || takes(c, "A") ? "files" : "";
}

/* Inside single quotes, with a backslash before each of `special`. */
static void print_quoted(const char *s, const char *special)
{
	for (; *s; s++) {
		if (*s == '\'')
			printf("'\\''");
		else if (strchr(special, *s))
			printf("\\%c", *s);
		else
			putchar(*s);
	}
}

/* ---- bash ---- */

static void print_bash_value(const struct command *c, const struct option *o)
{
	printf("\t%s:--%s", c->name, o->name);
	if (o->letter)
		printf(" | %s:-%c", c->name, o->letter);
	printf(") ");
	if (print_words(o, "words='", "' ;;\n"))
		return;
	if (is_server(o->value)) {
		printf("_matins_names --servers; return ;;\n");
		return;
	}
	printf("%sreturn ;;\n", is_program(o->value) ? "_matins_programs; "
				: is_file(o->value)  ? "_matins_files; "
						     : "");
}

static void print_bash_command(const struct command *c)
{
	printf("\t%s)\n\t\toptions='--help --config --lax --quiet --verbose",
	       c->name);
	for (const struct option *o = c->options; o->name; o++)
		printf(" --%s", o->name);
	printf("'\n\t\tfirst='");
	print_first(c);
	printf("'\n\t\trest=%s ;;\n", kind_of_rest(c));
}

static const char bash_begin[] =
	"# bash completion of matins\n"
	"_matins_files() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"_matins_programs() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(\n"
	"\t\t{ compgen -c -- \"$cur\"; compgen -d -- \"$cur\"; } | sort -u)\n"
	"}\n"
	"# not by compgen -W, which would expand what stands in a name\n"
	"_matins_names() {\n"
	"\tlocal name\n"
	"\twhile IFS= read -r name; do\n"
	"\t\tprintf -v name %q \"$name\"\n"
	"\t\t[[ $name == \"$cur\"* ]] && COMPREPLY+=(\"$name\")\n"
	"\tdone < <(matins list --names \"$@\" 2>/dev/null)\n"
	"}\n"
	"_matins() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} i\n"
	"\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal words='' options='' first='' rest='' seen=''\n"
	"\tlocal -a config=()\n"
	"\tCOMPREPLY=()\n"
	"\t# bash makes --view=golden three words\n"
	"\t[[ $cur == = ]] && cur=\n"
	"\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\t# a program and its arguments\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\t[[ ${COMP_WORDS[i]} == -- ]] || continue\n"
	"\t\tif ((i + 1 == COMP_CWORD)); then\n"
	"\t\t\t_matins_programs\n"
	"\t\telse\n"
	"\t\t\t_matins_files\n"
	"\t\tfi\n"
	"\t\treturn\n"
	"\tdone\n";

/* Behind the tables: what they mean where the cursor is. */
static const char bash_end[] =
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n"
	"\t\t-c | --config)\n"
	"\t\t\tconfig=(-c \"${COMP_WORDS[i + 1]/#\\~\\//$HOME/}\") ;;\n"
	"\t\tesac\n"
	"\t\t[[ \" $first \" == *\" ${COMP_WORDS[i]} \"* ]] && seen=yes\n"
	"\tdone\n"
	"\tif [[ -n $words ]]; then\n"
	"\t\t:\n"
	"\telif [[ $cur == -* || -z $first$rest ]]; then\n"
	"\t\twords=$options\n"
	"\telif [[ -n $first && -z $seen ]]; then\n"
	"\t\twords=$first\n"
	"\telif [[ $rest == names ]]; then\n"
	"\t\t_matins_names \"${config[@]}\"\n"
	"\t\treturn\n"
	"\telif [[ $rest == programs ]]; then\n"
	"\t\t_matins_programs\n"
	"\t\treturn\n"
	"\telif [[ $rest == files ]]; then\n"
	"\t\t_matins_files\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	"}\n"
	"complete -o default -F _matins matins\n";

static void print_bash(void)
{
	fputs(bash_begin, stdout);
	printf("\tcase ${COMP_WORDS[1]}:$prev in\n"
	       "\t*:-c | *:--config) _matins_files; return ;;\n");
	for (const struct command *c = commands; c->name; c++)
		for (const struct option *o = c->options; o->name; o++)
			if (o->value)
				print_bash_value(c, o);
	printf("\tesac\n\tcase $COMP_CWORD:${COMP_WORDS[1]} in\n"
	       "\t1:*) words='");
	for (const struct command *c = commands; c->name; c++)
		printf("%s%s", c == commands ? "" : " ", c->name);
	printf("' ;;\n\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *c = commands; c->name; c++)
		print_bash_command(c);
	printf("\tesac\n");
	fputs(bash_end, stdout);
}

/* ---- zsh ---- */

/* '--view[help]:full|golden:(full golden)' */
static void print_zsh_option(const struct option *o)
{
	printf(" \\\n\t\t\t'*--%s[", o->name);
	print_quoted(o->help, "[]:\\");
	putchar(']');
	if (o->value) {
		putchar(':');
		print_quoted(o->value, "[]:\\");
		putchar(':');
	}
	if (is_program(o->value))
		printf("_command_names -e");
	else if (is_server(o->value))
		printf("_matins_servers");
	else if (!print_words(o, "(", ")") && is_file(o->value))
		printf("_files");
	putchar('\'');
}

static void print_zsh_command(const struct command *c)
{
	const char *rest = kind_of_rest(c);

	printf("\t%s)\n\t\t_arguments '*'{-c,--config}'[read this "
	       "configuration file]:FILE:_files' \\\n"
	       "\t\t\t'--lax' '--quiet' '--verbose' '--help'",
	       c->name);
	for (const struct option *o = c->options; o->name; o++)
		print_zsh_option(o);
	if (islower((unsigned char)*c->synopsis) || takes(c, "last") ||
	    takes(c, "COMMAND") || has_brief_tools(c)) {
		printf(" \\\n\t\t\t'1:word:(");
		print_first(c);
		printf(")'");
	}
	if (*rest)
		printf(" \\\n\t\t\t'*:%s:_%s'", rest,
		       !strcmp(rest, "names")	   ? "matins_names"
		       : !strcmp(rest, "programs") ? "normal"
						   : "files");
	printf(" ;;\n");
}

static void print_zsh(void)
{
	printf("#compdef matins\n"
	       "_matins_names() {\n"
	       "\tlocal -a names\n"
	       "\tnames=(${(f)\"$(matins list --names 2>/dev/null)\"})\n"
	       "\tcompadd -a names\n"
	       "}\n"
	       "_matins_servers() {\n"
	       "\tlocal -a names\n"
	       "\tnames=(${(f)\"$(matins list --servers 2>/dev/null)\"})\n"
	       "\tcompadd -a names\n"
	       "}\n"
	       "_matins() {\n"
	       "\tlocal -a names\n"
	       "\tif (( CURRENT == 2 )); then\n\t\tnames=(\n");
	for (const struct command *c = commands; c->name; c++) {
		printf("\t\t\t'%s:", c->name);
		print_quoted(c->help, ":");
		printf("'\n");
	}
	printf("\t\t)\n\t\t_describe command names\n\t\treturn\n\tfi\n"
	       "\tshift words\n\t(( CURRENT-- ))\n"
	       "\tcase $words[1] in\n");
	for (const struct command *c = commands; c->name; c++)
		print_zsh_command(c);
	printf("\tesac\n}\n_matins \"$@\"\n");
}

/* ---- fish ---- */

static void print_fish_condition(const struct command *c)
{
	printf("complete -c matins -n '__fish_seen_subcommand_from %s'",
	       c->name);
}

static void print_fish_option(const struct command *c, const struct option *o)
{
	print_fish_condition(c);
	printf(" -l %s", o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (is_program(o->value))
		printf(" -x -a '(__fish_complete_command)'");
	else if (is_server(o->value))
		printf(" -x -a '(matins list --servers 2>/dev/null)'");
	else if (!print_words(o, " -x -a '", "'") && o->value)
		printf(is_file(o->value) ? " -r -F" : " -x");
	printf(" -d '");
	print_quoted(o->help, "");
	printf("'\n");
}

static void print_fish_words(const struct command *c)
{
	print_fish_condition(c);
	printf("%s -a '", strcmp(kind_of_rest(c), "names") && *kind_of_rest(c)
				  ? ""
				  : " -f");
	print_first(c);
	printf("%s'\n",
	       takes(c, "ROUTINE") ? " (matins list --names 2>/dev/null)" : "");
}

static void print_fish(void)
{
	printf("# fish completion of matins\n"
	       "complete -c matins -s c -l config -r -F -d 'read this "
	       "configuration file'\n");
	for (const struct command *c = commands; c->name; c++) {
		printf("complete -c matins -n __fish_use_subcommand -f -a %s "
		       "-d '",
		       c->name);
		print_quoted(c->help, "");
		printf("'\n");
		print_fish_words(c);
		for (const struct option *o = c->options; o->name; o++)
			print_fish_option(c, o);
	}
}

int cmd_completion(const struct command *cmd, int argc, char **argv,
		   struct err *err)
{
	static const struct {
		const char *shell;
		void (*print)(void);
	} shells[] = {
		{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
	struct args a;
	const char *shell;
	bool help;

	if (args_parse(cmd, argc, argv, &a, err) < 0)
		return -1;
	shell = a.n_positional == 1 ? a.positional[0] : "";
	help = a.help;
	args_release(&a);
	if (help)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		if (strcmp(shells[i].shell, shell) == 0) {
			shells[i].print();
			return 0;
		}
	}
	return err_set(err, ERR_USAGE,
		       "completion: name one shell: bash, zsh or fish");
}
