/*
 * Completion scripts: a few lines for each shell, which ask `matins
 * __complete` for every answer; see completion_answer.h.
 */
#include "core/cli/command.h"

#include "core/cli/put.h"

const struct option options_completion[] = {{0}};

static const char bash[] =
	"# bash completion of matins; `matins __complete` knows the answers\n"
	"_matins() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} before='' line\n"
	"\tlocal -a words=(\"${COMP_WORDS[@]:1:COMP_CWORD}\") found=()\n"
	"\tCOMPREPLY=()\n"
	"\t[[ $cur == = ]] && cur=\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tcase $line in\n"
	"\t\t:before\\ *) before=${line#:before } ;;\n"
	"\t\t:files)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tmapfile -t found < <(compgen -f -- \"${cur#\"$before\"}\") ;;\n"
	"\t\t:programs)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tmapfile -t found < <({ compgen -c -- \"$cur\"\n"
	"\t\t\t\tcompgen -d -- \"$cur\"; } | sort -u) ;;\n"
	"\t\t*)\n"
	"\t\t\tprintf -v line %q \"${line%%$'\\t'*}\"\n"
	"\t\t\t[[ $line == \"${cur#\"$before\"}\"* ]] && found+=(\"$line\") "
	";;\n"
	"\t\tesac\n"
	"\tdone < <(matins __complete \"${words[@]//\\\\/}\" 2>/dev/null)\n"
	"\tCOMPREPLY=(\"${found[@]/#/$before}\")\n"
	"}\n"
	"complete -o default -F _matins matins\n";

static const char zsh[] =
	"#compdef matins\n"
	"# zsh completion of matins; `matins __complete` knows the answers\n"
	"_matins() {\n"
	"\tlocal line before i\n"
	"\tlocal -a plain helped\n"
	"\ti=${words[(i)--]}\n"
	"\tif (( i < CURRENT )); then\n"
	"\t\tshift $i words\n"
	"\t\t(( CURRENT -= i ))\n"
	"\t\t_normal\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tfor line in \"${(@f)$(matins __complete "
	"\"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
	"\t\tcase $line in\n"
	"\t\t'') ;;\n"
	"\t\t:before\\ *)\n"
	"\t\t\tbefore=${line#:before }\n"
	"\t\t\tcompset -p ${#before} ;;\n"
	"\t\t:files) _files ;;\n"
	"\t\t:programs) _command_names -e ;;\n"
	"\t\t*$'\\t'*) helped+=(\"${${line%%$'\\t'*}//:/\\\\:}:"
	"${line#*$'\\t'}\") ;;\n"
	"\t\t*) plain+=(\"$line\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( $#helped )) && _describe answer helped\n"
	"\t(( $#plain )) && compadd -a plain\n"
	"}\n"
	"_matins \"$@\"\n";

static const char fish[] =
	"# fish completion of matins; `matins __complete` knows the answers\n"
	"function __matins\n"
	"\tset -l words (commandline -opc)[2..] (commandline -ct)\n"
	"\tset -l before ''\n"
	"\tfor line in (matins __complete $words 2>/dev/null)\n"
	"\t\tswitch $line\n"
	"\t\tcase ':before *'\n"
	"\t\t\tset before (string replace ':before ' '' -- $line)\n"
	"\t\tcase :files\n"
	"\t\t\t__fish_complete_path (string replace -- $before '' "
	"$words[-1]) | string replace -r '^' -- $before\n"
	"\t\tcase :programs\n"
	"\t\t\t__fish_complete_command\n"
	"\t\tcase '*'\n"
	"\t\t\techo $before$line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c matins -f -a '(__matins)'\n";

int cmd_completion(const struct args *args, struct err *err)
{
	static const struct {
		const char *shell, *script;
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	const char *shell = args->n_positional == 1 ? args->positional[0] : "";

	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (strcmp(shells[i].shell, shell) == 0)
			return put(str_of(shells[i].script), PUT_TEXT, err);
	return err_set(err, ERR_USAGE,
		       "completion: name one shell: bash, zsh or fish");
}
