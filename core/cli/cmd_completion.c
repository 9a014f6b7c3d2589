/* Completion: the command, and what the tables say; see completion.h. */
#include "core/cli/command.h"
#include "core/cli/completion.h"

#include <ctype.h>

#include "core/server/brief.h"
#include "gate/gate.h"

const struct option options_completion[] = {{0}};

/* ---- values ---- */

static bool is_one_of(const char *value, const char *const *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(value, kinds[i]))
			return true;
	return false;
}

enum completion_kind completion_value(const struct option *o)
{
	static const char *const files[] = {"FILE", "PATH", "DIR"};

	if (!o->value)
		return COMPLETION_NOTHING;
	if (!strcmp(o->name, "net") || !strcmp(o->name, "require") ||
	    (strchr(o->value, '|') && islower((unsigned char)*o->value)))
		return COMPLETION_WORDS;
	if (is_one_of(o->value, files, ARRAY_LEN(files)))
		return COMPLETION_FILES;
	return !strcmp(o->value, "PROGRAM")  ? COMPLETION_PROGRAMS
	       : !strcmp(o->value, "SERVER") ? COMPLETION_SERVERS
	       : !strcmp(o->value, "A,B")    ? COMPLETION_STEPS
					     : COMPLETION_NOTHING;
}

void completion_print_words(const struct option *o)
{
	const char *name;

	if (!strcmp(o->name, "net")) {
		printf("none loopback all");
	} else if (!strcmp(o->name, "require")) {
		for (size_t i = 0; (name = gate_require_name(i)); i++)
			printf("%s%s", i ? " " : "", name);
	} else {
		for (const char *p = o->value; *p; p++)
			putchar(*p == '|' ? ' ' : *p);
	}
}

static void print_valued(const struct option *o)
{
	for (; o->name; o++) {
		if (!o->value)
			continue;
		printf(" --%s", o->name);
		if (o->letter)
			printf(" -%c", o->letter);
	}
}

void completion_print_valued(const struct command *c)
{
	printf("--config -c");
	if (c) {
		print_valued(c->options);
		return;
	}
	for (c = commands; c->name; c++)
		print_valued(c->options);
}

/* ---- what stands behind a command ---- */

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

bool completion_takes(const struct command *c, const char *kind)
{
	const char *p = c->synopsis;
	struct str word;

	while ((word = next_word(&p)).n)
		if (str_is(word, kind))
			return true;
	return false;
}

/* TOOL of other commands is one of a server. */
static bool has_brief_tools(const struct command *c)
{
	return completion_takes(c, "TOOL") && !completion_takes(c, "TARGET");
}

bool completion_has_first(const struct command *c)
{
	return islower((unsigned char)*c->synopsis) ||
	       completion_takes(c, "last") || completion_takes(c, "COMMAND") ||
	       has_brief_tools(c);
}

void completion_print_first(const struct command *c)
{
	const char *p = c->synopsis;
	struct str word;
	size_t n = 0;

	while ((word = next_word(&p)).n)
		if (islower((unsigned char)word.p[0]))
			printf("%s%.*s", n++ ? " " : "", STR_ARG(word));
	if (completion_takes(c, "COMMAND"))
		for (const struct command *o = commands; o->name; o++)
			printf("%s%s", n++ ? " " : "", o->name);
	if (has_brief_tools(c))
		for (const struct tool *t = brief_tools; t->name; t++)
			printf("%s%s", n++ ? " " : "", t->name);
}

const char *completion_rest(const struct command *c)
{
	if (completion_takes(c, "STEP"))
		return "steps";
	if (completion_takes(c, "ROUTINE"))
		return "names";
	if (completion_takes(c, "PROGRAM"))
		return "programs";
	if (completion_takes(c, "SERVER"))
		return "servers";
	if (completion_takes(c, "TOOL") && completion_takes(c, "TARGET"))
		return "tools";
	return completion_takes(c, "FILE") || completion_takes(c, "DIR") ||
			       completion_takes(c, "A")
		       ? "files"
		       : "";
}

void completion_print_quoted(const char *s, const char *special)
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

/* ---- the command ---- */

int cmd_completion(const struct args *args, struct err *err)
{
	static const struct {
		const char *shell;
		void (*print)(void);
	} shells[] = {
		{"bash", completion_print_bash},
		{"zsh", completion_print_zsh},
		{"fish", completion_print_fish},
	};
	const char *shell = args->n_positional == 1 ? args->positional[0] : "";

	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		if (strcmp(shells[i].shell, shell) == 0) {
			shells[i].print();
			return 0;
		}
	}
	return err_set(err, ERR_USAGE,
		       "completion: name one shell: bash, zsh or fish");
}
