#include "core/cli/command.h"

#include <ctype.h>
#include <stdio.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/cli/cmd_do.h"
#include "core/cli/install.h"
#include "core/cli/key_options.h"
#include "core/cli/param_options.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/client/catalogue.h"
#include "core/config/config.h"
#include "core/config/params.h"
#include "core/config/paths.h"
#include "core/config/references.h"
#include "core/install/unpack.h"
#include "core/server/brief.h"
#include "gate/gate.h"

const struct command commands[] = {
#define COMMAND(ident, synopsis, help, min, max, usage, more)  \
	{#ident, synopsis,	  help,	      min, max, usage, \
	 more,	 options_##ident, cmd_##ident},
#include "core/cli/commands.def"
#undef COMMAND
	{0},
};

/* The help of a longer option stands on the next line. */
#define OPTION_COLUMN 30

static int find_command(const char *name, const struct command **ret,
			struct err *err)
{
	const char *names[ARRAY_LEN(commands)];
	size_t n = 0;

	for (const struct command *c = commands; c->name; c++) {
		names[n++] = c->name;
		if (strcmp(c->name, name) != 0)
			continue;
		*ret = c;
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "unknown command %s%s`matins help` lists them", name,
		       args_meant_or(str_of(name), names, n).text);
}

/* ---- help ---- */

static void print_options(const struct option *o)
{
	for (o = option_row(o); o; o = option_row(o + 1)) {
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

static void explain(const struct command *cmd)
{
	printf("usage: matins %s%s%s\n\n%s\n\n", cmd->name,
	       *cmd->synopsis ? " " : "", cmd->synopsis, cmd->help);
	print_options(cmd->options);
	if (option_row(cmd->options))
		printf("\n");
	print_options(args_common);
	printf("\nThe manual page says more: man matins\n");
}

const struct option options_help[] = {{0}};

int cmd_help(const struct args *args, struct err *err)
{
	const struct command *about;

	if (args->n_positional) {
		if (find_command(args->positional[0], &about, err) < 0)
			return -1;
		explain(about);
		return 0;
	}
	printf("usage: matins COMMAND [OPTIONS]\n\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-12s %s\n", c->name, c->help);
	printf("\n`matins COMMAND --help` explains one; "
	       "`matins --version` prints the version.\n");
	return 0;
}

/* ---- completion: scripts of the shells ---- */

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
	"\t\t\t[[ $line == *= ]] && compopt -o nospace 2>/dev/null\n"
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
	"\tlocal -a plain helped named\n"
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
	"\t\t*=|*=$'\\t'*) named+=(\"${line/=$'\\t'/=:}\") ;;\n"
	"\t\t*$'\\t'*) helped+=(\"${${line%%$'\\t'*}//:/\\\\:}:"
	"${line#*$'\\t'}\") ;;\n"
	"\t\t*) plain+=(\"$line\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( $#helped )) && _describe answer helped\n"
	"\t(( $#named )) && _describe parameter named -S ''\n"
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

/* ---- completion: answers ---- */

/* A command line up to the word that is completed. */
struct line {
	const struct command *command;
	struct str word; /* word to complete */
	const struct option
		*of;	     /* the word is the value of this; NULL: of none */
	struct str param;    /* of NAME=VALUE: the name; p = NULL: not yet */
	bool is_behind;	     /* the word stands behind "--" */
	size_t n_behind;     /* words between "--" and it */
	const char *routine; /* the last word that is no option */
	size_t n_given;	     /* words before it that are no options */
	const char *config, *server; /* values of -c and -s; NULL without */
	struct arena arena;
	struct config_file file;
	struct buf before; /* the part of the word that stays */
	struct buf out;
};

static void add_line(struct line *l, struct str value, const char *help)
{
	log_visible(&l->out, value, false);
	if (help) {
		buf_addc(&l->out, '\t');
		log_visible(&l->out, str_of(help), false);
	}
	buf_addc(&l->out, '\n');
}

/* ---- reading the line ---- */

/* Take the next word of a synopsis; n = 0 at the end. */
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

static bool takes(const struct line *l, const char *kind)
{
	const char *p = l->command->synopsis;
	struct str word;

	while ((word = next_word(&p)).n)
		if (str_is(word, kind))
			return true;
	return false;
}

/* --name, --name=VALUE, -n, -nVALUE; NULL: no option with a value */
static const struct option *find_valued(const struct line *l, const char *word,
					const char **ret_value)
{
	const bool is_long = word[1] == '-';
	struct str value = str_of(word + 2), name = {NULL, 0};
	const struct option *o;

	if (is_long)
		name = str_cut(&value, '=');
	else if (!value.n)
		value.p = NULL;
	o = args_find(l->command->options, name, is_long ? '\0' : word[1]);
	*ret_value = value.p;
	return o && o->value ? o : NULL;
}

/* -p NAME=VALUE */
static bool is_assignment(const struct option *o)
{
	return o->value && strcmp(o->value, "NAME=VALUE") == 0;
}

/* An option before the word: moves *i over its value; the word may be it. */
static void read_option(struct line *l, int argc, char **argv, int *i)
{
	const char *value;
	const struct option *o = find_valued(l, argv[*i], &value);

	if (!o)
		return;
	if (!value) {
		if (*i + 2 < argc && strcmp(argv[*i + 1], "=") == 0)
			++*i;
		if (++*i >= argc - 1) {
			l->of = o;
			return;
		}
		value = argv[*i];
		/* bash makes three words of NAME=VALUE */
		if (is_assignment(o) && strcmp(argv[*i + 1], "=") == 0) {
			*i += 2;
			l->param = str_of(value);
			l->of = *i >= argc - 1 ? o : NULL;
		}
	}
	if (strcmp(o->name, "config") == 0)
		l->config = path_home(value, &l->arena);
	else if (strcmp(o->name, "server") == 0)
		l->server = value;
}

/* The value behind the "=" of the word itself. */
static void read_word(struct line *l, const char *word)
{
	const char *value;

	l->word = str_of(word);
	if (l->of && strcmp(word, "=") == 0)
		l->word = STR("");
	if (l->of || strncmp(word, "--", 2) != 0 || !strchr(word, '='))
		return;
	l->of = find_valued(l, word, &value);
	if (!l->of)
		return;
	buf_add_str(&l->before, (struct str){word, (size_t)(value - word)});
	l->word = str_of(value);
}

static void read_line(struct line *l, int argc, char **argv)
{
	for (int i = 1; i < argc - 1 && !l->of && !l->is_behind; i++) {
		if (strcmp(argv[i], "--") == 0) {
			l->is_behind = true;
			l->n_behind = (size_t)(argc - i - 2);
		} else if (argv[i][0] == '-' && argv[i][1]) {
			read_option(l, argc, argv, &i);
		} else {
			/* steps stand behind the routine, as actions before */
			if (!l->n_given || !takes(l, "STEP"))
				l->routine = argv[i];
			l->n_given++;
		}
	}
	if (!l->is_behind)
		read_word(l, argv[argc - 1]);
}

/* ---- names of the configuration ---- */

static const struct config *open_names(struct line *l)
{
	const struct config_options options = {
		.path = l->config,
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};

	return config_open(&options, &l->file, ERR_IGNORED) == 0
		       ? &l->file.config
		       : NULL;
}

static void add_routines(struct line *l)
{
	const struct config *c = open_names(l);

	for (size_t i = 0; c && i < c->n_routines; i++)
		add_line(l, str_of(c->routines[i].name),
			 c->routines[i].description);
}

static void add_actions(struct line *l)
{
	const struct config *c = open_names(l);

	for (size_t i = 0; c && i < c->n_actions; i++)
		add_line(l, str_of(c->actions[i].name),
			 c->actions[i].description);
}

static void add_steps(struct line *l)
{
	const struct config *c = l->routine ? open_names(l) : NULL;
	const struct routine *r = c ? config_routine(c, l->routine) : NULL;

	for (size_t i = 0; r && i < r->n_steps; i++)
		add_line(l, str_of(r->steps[i].name), NULL);
}

static void add_servers(struct line *l, bool is_remote)
{
	const struct config *c = open_names(l);

	for (size_t i = 0; c && i < c->n_servers; i++)
		if (!is_remote || c->servers[i].url)
			add_line(l, str_of(c->servers[i].name), NULL);
}

/* Tools as an earlier command listed them; SERVER.TOOL unless the server is
   named by an option. */
static void add_tools(struct line *l)
{
	const struct config *c = open_names(l);
	const char *state_dir = state_dir_find(&l->arena);

	for (size_t k = 0; c && k < c->n_servers; k++) {
		const char *server = c->servers[k].name;
		struct strlist names = {NULL, 0};

		if (!l->server || strcmp(l->server, server) == 0)
			names = catalogue_tools(state_dir, c->path, server,
						&l->arena);
		for (size_t i = 0; i < names.n; i++)
			add_line(l,
				 str_of(l->server
						? names.item[i]
						: arena_printf(&l->arena,
							       "%s.%s", server,
							       names.item[i])),
				 NULL);
	}
}

/* ---- values of options ---- */

/* "none|private|FILE": words, and what stands for another value. */
static void add_words(struct line *l, const char *words)
{
	struct str rest = str_of(words);

	while (rest.p) {
		struct str word = str_cut(&rest, '|');

		if (str_is(word, "FILE"))
			buf_adds(&l->out, ":files\n");
		else if (!isupper((unsigned char)*word.p))
			add_line(l, word, NULL);
	}
}

/* ---- parameters of the routine ---- */

/* Values that one may have, as -p takes them. */
static void add_choices(struct line *l, const struct schema_property *p)
{
	for (size_t i = 0; !p->is_list && i < p->n_choices; i++) {
		struct str value = p->choice[i].value;

		add_line(l,
			 scan_type(value) == SCAN_STRING
				 ? scan_decoded(value, SIZE_MAX, &l->arena)
				 : value,
			 NULL);
	}
	if (!p->n_choices && p->types == SCHEMA_TYPE_BOOLEAN) {
		add_line(l, STR("true"), NULL);
		add_line(l, STR("false"), NULL);
	}
}

static void add_name(struct line *l, struct str name, struct str help)
{
	const char *text = arena_printf(&l->arena, "%.*s=", STR_ARG(name));

	add_line(l, str_of(text),
		 help.n ? arena_strndup(&l->arena, help.p, help.n) : NULL);
}

static void add_params(struct line *l)
{
	const struct config *c = l->routine ? open_names(l) : NULL;
	const struct routine *r = c ? config_routine(c, l->routine) : NULL;
	AUTO(params_release) struct params p = {.n = 0};
	struct strlist used = {NULL, 0};
	struct str rest = l->word, name = str_cut(&rest, '=');

	if (!r || params_read(r, &l->arena, &p, ERR_IGNORED) < 0)
		return;
	if (!l->param.p && rest.p) {
		l->param = name;
		buf_addf(&l->before, "%.*s=", STR_ARG(name));
	}
	if (!p.schema && !l->param.p)
		used = references_inputs(r, &l->arena);
	for (size_t i = 0; i < p.n; i++)
		if (!l->param.p)
			add_name(l, p.item[i].name, p.item[i].description);
		else if (str_eq(p.item[i].name, l->param))
			add_choices(l, &p.item[i]);
	for (size_t i = 0; i < used.n; i++)
		if (*used.item[i])
			add_name(l, str_of(used.item[i]), STR(""));
}

static void add_values(struct line *l)
{
	const char *value = l->of->value, *name;
	size_t n = l->word.n;

	if (!strcmp(l->of->name, "require")) {
		for (size_t i = 0; (name = gate_require_name(i)); i++)
			add_line(l, str_of(name), NULL);
	} else if (strchr(value, '|') && islower((unsigned char)*value)) {
		add_words(l, value);
	} else if (!strcmp(value, "FILE") || !strcmp(value, "PATH") ||
		   !strcmp(value, "DIR")) {
		buf_adds(&l->out, ":files\n");
	} else if (is_assignment(l->of)) {
		add_params(l);
	} else if (!strcmp(value, "PROGRAM")) {
		buf_adds(&l->out, ":programs\n");
	} else if (!strcmp(value, "SERVER")) {
		add_servers(l, false);
	} else if (!strcmp(value, "ROUTINE")) {
		add_routines(l);
	} else if (!strcmp(value, "A,B")) {
		/* the part before the last comma of the list stays */
		while (n && l->word.p[n - 1] != ',')
			n--;
		buf_add_str(&l->before, (struct str){l->word.p, n});
		add_steps(l);
	}
}

/* ---- words behind a command ---- */

static void add_commands(struct line *l)
{
	for (const struct command *c = commands; c->name; c++)
		add_line(l, str_of(c->name), c->help);
}

/* The words that may stand first; false: the command has none of its own. */
static bool add_first(struct line *l, bool is_asked)
{
	const char *p = l->command->synopsis;
	struct str word;
	bool any = takes(l, "COMMAND");

	while ((word = next_word(&p)).n) {
		if (!islower((unsigned char)word.p[0]))
			continue;
		any = true;
		if (is_asked)
			add_line(l, word, NULL);
	}
	if (takes(l, "COMMAND") && is_asked)
		add_commands(l);
	if (!takes(l, "TOOL") || takes(l, "TARGET"))
		return any;
	for (const struct tool *t = brief_tools; is_asked && t->name; t++)
		add_line(l, str_of(t->name), NULL);
	return true;
}

static void add_options(struct line *l)
{
	const struct option *const tables[] = {args_common,
					       l->command->options};
	size_t n = l->command->name ? ARRAY_LEN(tables) : 1;

	for (size_t i = 0; i < n; i++)
		for (const struct option *o = option_row(tables[i]); o;
		     o = option_row(o + 1))
			add_line(l,
				 str_of(arena_printf(&l->arena, "--%s",
						     o->name)),
				 o->help);
}

static void add_given(struct line *l)
{
	const bool has_first = add_first(l, l->n_given == 0);
	/* words before it, without the first where the command has its own */
	const size_t n = l->n_given - has_first;

	if (has_first && !l->n_given)
		return;
	if (takes(l, "ACTION")) {
		if (n == 0)
			add_actions(l);
		else
			add_options(l);
	} else if (takes(l, "ROUTINE")) {
		if (n == 0)
			add_routines(l);
		else if (n < l->command->max && takes(l, "STEP"))
			add_steps(l);
	} else if (takes(l, "PROGRAM")) {
		buf_adds(&l->out, n ? ":files\n" : ":programs\n");
	} else if (takes(l, "SERVER")) {
		if (n == 0 || l->command->max == COMMAND_ANY)
			add_servers(l, takes(l, "login"));
	} else if (takes(l, "TOOL") && takes(l, "TARGET")) {
		if (n == 0)
			add_tools(l);
		if (!l->server)
			add_options(l);
	} else if (takes(l, "FILE") || takes(l, "DIR") || takes(l, "A")) {
		buf_adds(&l->out, ":files\n");
	} else if (!has_first) {
		add_options(l);
	}
}

/* ---- all ---- */

static void answer_line(struct line *l, int argc, char **argv)
{
	static const struct option none[] = {{0}};
	static const struct command common = {.options = none};
	struct command own;
	int at = 0;

	/* options before the command */
	l->command = &common;
	for (; at < argc - 1 && !l->of && argv[at][0] == '-' && argv[at][1];
	     at++)
		read_option(l, argc, argv, &at);
	if (at < argc - 1) {
		for (l->command = commands; l->command->name; l->command++)
			if (strcmp(l->command->name, argv[at]) == 0)
				break;
		if (!l->command->name)
			return;
		if (l->command->run == cmd_do) {
			own = *l->command;
			(void)!do_options(argc - at - 1, argv + at, &l->arena,
					  &own, ERR_IGNORED);
			l->command = &own;
		}
		read_line(l, argc - at, argv + at);
	} else if (argc) {
		read_word(l, argv[argc - 1]);
	}
	if (l->is_behind)
		buf_adds(&l->out, l->n_behind ? ":files\n" : ":programs\n");
	else if (l->of)
		add_values(l);
	else if (str_starts(l->word, "-"))
		add_options(l);
	else if (l->command->name)
		add_given(l);
	else
		add_commands(l);
}

/*
 * `matins __complete WORDS…`: answers for the last word. The completion scripts
 * of the shells ask for everything here.
 *
 * The value of an option is said by its row: "full|golden" are words, FILE and
 * the like are files, SERVER is one of the configuration, A,B are steps of the
 * routine, NAME=VALUE is a parameter of it. The words behind a command are said
 *by its synopsis: small letters stand for themselves, ROUTINE, STEP, COMMAND
 *and TOOL for the names of those.
 *
 * Print the answers, a line each, and not only those that begin as the last
 * word does: "VALUE" or "VALUE<tab>HELP". Before them may stand
 *
 *	:before TEXT	the last word begins with TEXT, the answers do not
 *	:files		names of files are answers, too
 *	:programs	names of programs are answers, too
 *
 * Nothing is started, no server is asked, and a configuration that cannot be
 * read has no names.
 *
 * argv  the words behind "matins"; the last one is completed and may be "".
 *	 "=" alone may stand between an option and its value, as in bash
 */
static int completion_answer(int argc, char **argv, struct err *err)
{
	struct line l = {
		.arena = ARENA_INIT,
		.before = BUF_INIT(BUF_UNBOUNDED),
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	int r;

	answer_line(&l, argc, argv);
	if (l.before.n)
		buf_addf(&lines, ":before %s\n", buf_cstr(&l.before));
	buf_add_str(&lines, buf_str(&l.out));
	r = put(buf_str(&lines), PUT_TEXT, err);
	buf_release(&l.before);
	buf_release(&l.out);
	config_release(&l.file);
	arena_release(&l.arena);
	return r;
}

/* ---- one command ---- */

static int run_command(const struct command *cmd, int argc, char **argv,
		       struct err *err)
{
	AUTO(args_release) struct args args = {0};

	if (args_parse(cmd->name, cmd->options, argc - 1, argv + 1, &args,
		       err) < 0)
		return -1;
	if (args.help) {
		explain(cmd);
		if (cmd->more_help)
			cmd->more_help(&args);
		return 0;
	}
	if (args.n_positional < cmd->min || args.n_positional > cmd->max)
		return err_set(err, ERR_USAGE, "%s: %s", cmd->name, cmd->usage);
	return cmd->run(&args, err);
}

/* Run `do` with options of its action, and errors in its own form. */
static int run_do(const struct command *cmd, int argc, char **argv,
		  struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct command own = *cmd;
	int r = do_options(argc, argv, &arena, &own, err);

	if (r == 0)
		r = run_command(&own, argc, argv, err);
	return r < 0 ? do_failed(argc, argv, err) : r;
}

int command_run(int argc, char **argv, struct err *err)
{
	const struct command *cmd;

	/* a command of completion scripts only, so it has no row */
	if (strcmp(argv[0], "__complete") == 0)
		return completion_answer(argc - 1, argv + 1, err);
	/* likewise, of `matins add` in its sandbox */
	if (strcmp(argv[0], UNPACK_COMMAND) == 0 && argc == 3)
		return unpack(argv[1], argv[2], err);
	args_find_json(argc, argv);
	if (find_command(argv[0], &cmd, err) < 0)
		return -1;
	return (cmd->run == cmd_do ? run_do : run_command)(cmd, argc, argv,
							   err);
}
