/* The completion script of bash. */
#include "core/cli/completion.h"

static void print_value(const struct command *c, const struct option *o)
{
	printf("\t%s:--%s", c->name, o->name);
	if (o->letter)
		printf(" | %s:-%c", c->name, o->letter);
	printf(") ");
	switch (completion_value(o)) {
	case COMPLETION_WORDS:
		printf("words='");
		completion_print_words(o);
		printf("' ;;\n");
		return;
	case COMPLETION_FILES:
		printf("_matins_files; ");
		break;
	case COMPLETION_PROGRAMS:
		printf("_matins_programs; ");
		break;
	case COMPLETION_SERVERS:
		printf("_matins_names --servers; ");
		break;
	case COMPLETION_STEPS:
		printf("_matins_some_steps; ");
		break;
	case COMPLETION_NOTHING:
		break;
	}
	printf("return ;;\n");
}

static void print_command(const struct command *c)
{
	printf("\t%s)\n\t\toptions='--help --config --lax --quiet --verbose",
	       c->name);
	for (const struct option *o = c->options; o->name; o++)
		printf(" --%s", o->name);
	printf("'\n\t\tvalued='");
	completion_print_valued(c);
	printf("'\n\t\tfirst='");
	completion_print_first(c);
	printf("'\n\t\trest=%s ;;\n", completion_rest(c));
}

static const char begin[] =
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
	"\t\t[[ $name == \"$cur\"* ]] && COMPREPLY+=(\"$before$name\")\n"
	"\tdone < <(matins list \"${config[@]}\" \"$@\" 2>/dev/null)\n"
	"}\n"
	"_matins_steps() {\n"
	"\t((${#given[@]})) && _matins_names --steps \"${given[-1]}\"\n"
	"}\n"
	"_matins_some_steps() {\n"
	"\tif [[ $cur == *,* ]]; then\n"
	"\t\tbefore=${cur%,*},\n"
	"\t\tcur=${cur##*,}\n"
	"\tfi\n"
	"\t_matins_steps\n"
	"}\n"
	"# --view=golden is three words, or one where = breaks none\n"
	"_matins() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=''\n"
	"\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tCOMPREPLY=()\n"
	"\t[[ $cur == = ]] && cur=\n"
	"\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tif [[ $cur == --*=* ]]; then\n"
	"\t\tprev=${cur%%=*}\n"
	"\t\toption=$prev=\n"
	"\t\tcur=${cur#*=}\n"
	"\tfi\n"
	"\t_matins_offer\n"
	"\t[[ -z $option ]] || COMPREPLY=(\"${COMPREPLY[@]/#/$option}\")\n"
	"}\n"
	"_matins_offer() {\n"
	"\tlocal words='' options='' valued='' first='' rest='' seen=''\n"
	"\tlocal before='' server='' i word value\n"
	"\tlocal -a config=() given=()\n"
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

/* Between the tables: which words are no options and no values of some. */
static const char middle[] =
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif [[ $word != -* ]]; then\n"
	"\t\t\tif [[ -z $seen && \" $first \" == *\" $word \"* ]]; then\n"
	"\t\t\t\tseen=yes\n"
	"\t\t\telse\n"
	"\t\t\t\tgiven+=(\"${word//\\\\/}\")\n"
	"\t\t\tfi\n"
	"\t\t\tcontinue\n"
	"\t\tfi\n"
	"\t\tif [[ $word == --*=* ]]; then\n"
	"\t\t\tvalue=${word#*=}\n"
	"\t\t\tword=${word%%=*}\n"
	"\t\telse\n"
	"\t\t\t[[ \" $valued \" == *\" $word \"* ]] || continue\n"
	"\t\t\t[[ ${COMP_WORDS[i + 1]} == = ]] && ((++i))\n"
	"\t\t\t((++i < COMP_CWORD)) || break\n"
	"\t\t\tvalue=${COMP_WORDS[i]}\n"
	"\t\tfi\n"
	"\t\tcase $word in\n"
	"\t\t-c | --config) config=(-c \"${value/#\\~\\//$HOME/}\") ;;\n"
	"\t\t-s | --server) server=$value ;;\n"
	"\t\tesac\n"
	"\tdone\n";

/* Behind the tables: what they mean where the cursor is. */
static const char end[] =
	"\tif [[ -n $words ]]; then\n"
	"\t\t:\n"
	"\telif [[ $cur == -* || -z $first$rest ]]; then\n"
	"\t\twords=$options\n"
	"\telif [[ $rest == tools ]]; then\n"
	"\t\t[[ -z $server || -n ${given[*]} ]] ||\n"
	"\t\t\t_matins_names --tools \"$server\"\n"
	"\t\t[[ -n $server ]] && return\n"
	"\t\twords=$options\n"
	"\telif [[ -n $first && -z $seen ]]; then\n"
	"\t\twords=$first\n"
	"\telif [[ $rest == names || $rest == steps ]]; then\n"
	"\t\tif ((!${#given[@]})); then\n"
	"\t\t\t_matins_names --names\n"
	"\t\telif ((${#given[@]} == 1)) && [[ $rest == steps ]]; then\n"
	"\t\t\t_matins_steps\n"
	"\t\tfi\n"
	"\t\treturn\n"
	"\telif [[ $rest == servers ]]; then\n"
	"\t\t((${#given[@]})) || _matins_names --servers --remote\n"
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

void completion_print_bash(void)
{
	fputs(begin, stdout);
	printf("\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *c = commands; c->name; c++)
		print_command(c);
	printf("\tesac\n");
	fputs(middle, stdout);
	printf("\tcase ${COMP_WORDS[1]}:$prev in\n"
	       "\t*:-c | *:--config) _matins_files; return ;;\n");
	for (const struct command *c = commands; c->name; c++)
		for (const struct option *o = c->options; o->name; o++)
			if (o->value)
				print_value(c, o);
	printf("\tesac\n\tcase $COMP_CWORD:${COMP_WORDS[1]} in\n"
	       "\t1:*) words='");
	for (const struct command *c = commands; c->name; c++)
		printf("%s%s", c == commands ? "" : " ", c->name);
	printf("' ;;\n\tesac\n");
	fputs(end, stdout);
}
