/* Which argument of an interpreter is the script that it runs. */
#include <string.h>

#include "gate/programs_inner.h"

/* A row of programs.def, whose head says what the members are. */
struct interpreter {
	const char *names;
	const char *flags, *attached, *values;
	const char *long_flags, *long_values, *code, *run;
};

static const struct interpreter INTERPRETERS[] = {
#define INTERPRETER(names, flags, attached, values, long_flags, long_values, \
		    code, run)                                               \
	{names, flags, attached, values, long_flags, long_values, code, run},
#include "gate/programs.def"
};

static const struct interpreter *find(const char *asked, const char *path)
{
	const char *const name[] = {path, asked};

	for (size_t k = 0; k < ARRAY_LEN(name); k++)
		for (size_t i = 0; i < ARRAY_LEN(INTERPRETERS); i++)
			if (programs_is_name_of(INTERPRETERS[i].names, name[k]))
				return &INTERPRETERS[i];
	return NULL;
}

/* As programs_has_word(); a word that ends in a star is a beginning. */
static bool has_beginning(const char *words, struct str name)
{
	struct str rest = str_of(words);

	while (rest.n) {
		struct str word = str_cut(&rest, ' ');

		if (word.n && word.p[word.n - 1] == '*' && name.n >= word.n &&
		    memcmp(word.p, name.p, word.n - 1) == 0)
			return true;
	}
	return programs_has_word(words, name);
}

enum reading {
	READ_FLAG,   /* the next argument is read by itself */
	READ_VALUE,  /* the next argument belongs to it */
	READ_CODE,   /* no script is due */
	READ_UNKNOWN /* no telling */
};

/* "-Wall": letters up to the first one that takes the rest. */
static enum reading read_letters(const struct interpreter *in, const char *arg)
{
	for (const char *p = arg + 1; *p; p++) {
		const char letter[] = {arg[0], *p, '\0'};

		if (programs_has_word(in->code, str_of(letter)))
			return READ_CODE;
		if (strchr(in->attached, *p))
			return READ_FLAG;
		if (strchr(in->values, *p))
			return p[1] ? READ_FLAG : READ_VALUE;
		if (!strchr(in->flags, *p))
			return READ_UNKNOWN;
	}
	return READ_FLAG;
}

static enum reading read_option(const struct interpreter *in, const char *arg)
{
	struct str rest = str_of(arg), name = str_cut(&rest, '=');
	bool has_value = name.n < strlen(arg);

	if (programs_has_word(in->code, name))
		return READ_CODE;
	if (programs_has_word(in->long_values, name))
		return has_value ? READ_FLAG : READ_VALUE;
	if (has_beginning(in->long_flags, name))
		return READ_FLAG;
	if (arg[0] == '-' && arg[1] != '-')
		return read_letters(in, arg);
	/* whatever its name means, its value is there */
	return has_value ? READ_FLAG : READ_UNKNOWN;
}

size_t programs_script(const char *asked, const char *path,
		       const struct strlist *argv)
{
	const struct interpreter *in = find(asked, path);
	bool is_run = false;

	for (size_t i = 1; in && i < argv->n; i++) {
		const char *arg = argv->item[i];

		if (strcmp(arg, "--") == 0)
			return i + 1 < argv->n ? i + 1 : 0;
		if (!is_run && programs_has_word(in->run, str_of(arg))) {
			is_run = true;
			continue;
		}
		if (arg[0] != '-' || !arg[1])
			return i;
		switch (read_option(in, arg)) {
		case READ_VALUE:
			i++;
			break;
		case READ_FLAG:
			break;
		default:
			return 0;
		}
	}
	return 0;
}
