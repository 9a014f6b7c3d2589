#include "core/cli/key_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/config.h"
#include "core/config/paths.h"
#include "core/mcp/wire/mcp.h"

/* ---- one option ---- */

/* Paths become absolute; "private" is the default, and no row says it. */
static void read_sockets(struct strlist *list, struct arena *arena)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		if (!gate_unix_is_word(list->item[i]))
			list->item[n++] =
				path_resolve(list->item[i], NULL, arena);
		else if (strcmp(list->item[i], "private") != 0)
			list->item[n++] = list->item[i];
	list->n = n;
}

static int read_list(const struct args *args, const struct key *k,
		     struct arena *arena, struct strlist *list, struct err *err)
{
	*list = args_all(args, k->option, arena);
	for (size_t i = 0; i < list->n; i++) {
		/* an unset variable of a script must not grant the current
		   folder */
		if (!*list->item[i])
			return err_set(err, ERR_USAGE, "--%s: empty",
				       k->option);
		if (k->type == KEY_READ_PATHS || k->type == KEY_WRITE_PATHS)
			list->item[i] =
				path_resolve(list->item[i], NULL, arena);
		else if (k->type == KEY_PROGRAMS)
			list->item[i] =
				path_program(list->item[i], NULL, arena);
	}
	if (k->type == KEY_UNIX)
		read_sockets(list, arena);
	/* "none" is the default, and an empty list says it */
	if (k->type == KEY_NET && list->n == 1 &&
	    strcmp(list->item[0], "none") == 0)
		list->n = 0;
	return 0;
}

static int read_number(const struct key *k, const char *text, uint64_t *field,
		       struct err *err)
{
	AUTO(buf_release) struct buf bounds = BUF_INIT(BUF_UNBOUNDED);
	const char *want = "a number above 0";
	struct str s = str_of(text);
	uint64_t n = 0, ms;
	bool ok;

	if (k->type == KEY_COUNT) {
		ok = str_uint64(s, &n);
	} else if (k->type == KEY_SIZE_BYTES) {
		ok = str_size_bytes(s, &n);
		want = "a size; use for example 512MiB";
	} else {
		ok = str_duration_ms(s, &n);
		want = "a duration; use for example 30s";
	}
	if (!ok)
		return args_bad(k->option, text, want, err);
	if (k->type == KEY_SECONDS) {
		ms = n;
		n = ms / 1000 + (ms % 1000 != 0);
		if (ms % 1000)
			log_warning("--%s %s: rounded up to whole seconds: "
				    "%" PRIu64 "s",
				    k->option, text, n);
	}
	if (!key_holds(k, n, &bounds))
		return err_set(err, ERR_USAGE, "--%s must be %s, not %s",
			       k->option, buf_cstr(&bounds), text);
	*field = n;
	return 0;
}

/* Index of the text among the words of the key; -1 with an error. */
static int read_word(const struct key *k, const char *text, struct err *err)
{
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);
	int i = key_word(k, str_of(text));

	if (i >= 0)
		return i;
	key_add_words(k, "", &words);
	return err_set(err, ERR_USAGE, "--%s must be %s, not \"%s\"", k->option,
		       buf_cstr(&words), text);
}

static int read_revision(const struct key *k, const char *text,
			 const char **field, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);

	*field = strcmp(text, "auto") ? text : NULL;
	if (!*field || mcp_revision_find(str_of(text)))
		return 0;
	mcp_revision_list(&all);
	return err_set(err, ERR_USAGE,
		       "--%s: \"%s\" is not a revision of MCP; the revisions "
		       "are %s",
		       k->option, text, buf_cstr(&all));
}

static int read_key(const struct args *args, const struct key *k,
		    struct arena *arena, void *field, struct err *err)
{
	const char *text = args_get(args, k->option);
	int word;

	if (!text)
		return 0;
	switch (k->type) {
	case KEY_STRING:
		*(const char **)field = text;
		return 0;
	case KEY_PATH:
		*(const char **)field = path_resolve(text, NULL, arena);
		return 0;
	case KEY_PROGRAM:
		*(const char **)field = path_program(text, NULL, arena);
		return 0;
	case KEY_REVISION:
		return read_revision(k, text, field, err);
	case KEY_BOOL:
		*(bool *)field = true;
		return 0;
	case KEY_WORD:
	case KEY_AUDIT:
		*(const char **)field = text;
		return read_word(k, text, err) < 0 ? -1 : 0;
	case KEY_CHOICE:
		word = read_word(k, text, err);
		*(unsigned *)field = word < 0 ? 0 : (unsigned)word;
		return word < 0 ? -1 : 0;
	case KEY_SIZE_BYTES:
	case KEY_COUNT:
	case KEY_SECONDS:
	case KEY_DURATION_MS:
		return read_number(k, text, field, err);
	case KEY_COMMAND:
		if (path_words(text, NULL, arena, field, err) == 0)
			return 0;
		err->kind = ERR_USAGE;
		return err_wrap(err, "--%s", k->option);
	case KEY_REFERENCE:
	case KEY_HEADERS:
	case KEY_PARAMS:
	case KEY_PATHS:
		return 0;
	default:
		return read_list(args, k, arena, field, err);
	}
}

int option_values_read(const struct args *args, enum key_section section,
		       struct arena *arena, void *object, struct err *err)
{
	for (const struct key *k = NULL; (k = key_next(section, k));)
		if (k->option && read_key(args, k, arena,
					  (char *)object + k->offset, err) < 0)
			return -1;
	return 0;
}

/* ---- --policy ---- */

static int read_file(const char *path, struct arena *arena,
		     struct gate_policy *all, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {
		.path = path,
		.routine =
			"", /* read only [sandbox] of a whole configuration */
		.policy_only = true,
	};
	struct gate_policy more;

	if (!*path)
		return err_set(err, ERR_USAGE, "--policy: empty");
	if (config_open(&options, &file, err) < 0)
		return -1;
	/* the file is released */
	more = gate_policy_copy(&file.config.sandbox, arena);
	gate_policy_merge(all, &more, arena, all);
	return 0;
}

struct strlist policy_files(const struct args *args, struct arena *arena)
{
	struct strlist files = args_all(args, "policy", arena);

	for (size_t i = 0; i < files.n; i++) {
		AUTO(mem_freep) char *real = realpath(files.item[i], NULL);

		files.item[i] = real ? arena_strdup(arena, real)
				     : path_resolve(files.item[i], NULL, arena);
	}
	return files;
}

/* ---- all together ---- */

static int read_env(const struct args *args, struct arena *arena,
		    const char *const **ret_env, struct err *err)
{
	struct strlist given = args_all(args, "env", arena);
	const char **env = ARENA_ARRAY(arena, const char *, given.n + 1);

	for (size_t i = 0; i < given.n; i++) {
		const char *value;

		env[i] = given.item[i];
		if (strchr(env[i], '='))
			continue;
		value = getenv(env[i]);
		if (!value)
			return err_set(err, ERR_USAGE,
				       "--env %s: the variable is not set; "
				       "write %s=VALUE",
				       env[i], env[i]);
		env[i] = arena_printf(arena, "%s=%s", env[i], value);
	}
	*ret_env = env;
	return 0;
}

/* Grants of all --policy together; live in `arena`. */
static int read_files(const struct args *args, struct arena *arena,
		      struct gate_policy *ret, struct err *err)
{
	struct strlist files = args_all(args, "policy", arena);
	struct gate_policy all = {0};

	for (size_t i = 0; i < files.n; i++)
		if (read_file(files.item[i], arena, &all, err) < 0)
			return -1;
	*ret = all;
	return 0;
}

void policy_recipes_help(UNUSED const struct args *args)
{
	const char *name, *help = NULL;

	printf("\nRecipes of --preset. Each applies by itself to its program; "
	       "\"none\" leaves that out.\n");
	for (size_t i = 0; (name = gate_recipe(i, &help)); i++)
		printf("  %-11s  %s\n", name, help);
}

int policy_options_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, const char *const **ret_env,
			struct err *err)
{
	struct gate_policy p = {0}, files;

	if (option_values_read(args, SECTION_sandbox, arena, &p, err) < 0 ||
	    read_env(args, arena, ret_env, err) < 0)
		return -1;
	/* names that do not exist are wrong usage on a command line */
	if (gate_policy_check(&p, err) < 0) {
		if (err->kind == ERR_POLICY)
			err->kind = ERR_USAGE;
		return -1;
	}
	if (p.user && geteuid() != 0)
		log_warning(
			"--user %s: only root can change users; the program "
			"runs as you",
			p.user);
	if (read_files(args, arena, &files, err) < 0)
		return -1;
	gate_policy_merge(&files, &p, arena, ret);
	return 0;
}
