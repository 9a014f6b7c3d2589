#include "core/cli/policy_options.h"

#include <inttypes.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/config/keys.h"

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
	/* "none" is the default, and an empty list says it */
	if (k->type == KEY_NET && list->n == 1 &&
	    strcmp(list->item[0], "none") == 0)
		list->n = 0;
	return 0;
}

static bool read_seconds(const struct key *k, const char *text, uint64_t *ret)
{
	uint64_t ms;

	if (!str_duration_ms(str_of(text), &ms))
		return false;
	*ret = (ms + 999) / 1000;
	if (ms % 1000)
		log_warning("--%s %s: rounded up to whole seconds: %" PRIu64
			    "s",
			    k->option, text, *ret);
	return true;
}

static int read_number(const struct key *k, const char *text, uint64_t *field,
		       struct err *err)
{
	uint64_t n = 0;
	const char *example;
	bool ok;

	switch (k->type) {
	case KEY_SIZE_BYTES:
		ok = str_size_bytes(str_of(text), &n);
		example = "a size; use for example 512MiB";
		break;
	case KEY_SECONDS:
		ok = read_seconds(k, text, &n);
		example = "a duration; use for example 30s";
		break;
	default:
		ok = str_uint64(str_of(text), &n) && n <= UINT32_MAX;
		example = "a number above 0";
		break;
	}
	if (!ok || !n)
		return err_set(err, ERR_USAGE, "--%s: \"%s\" is not %s",
			       k->option, text, example);
	*field = n;
	return 0;
}

static int read_choice(const struct key *k, const char *text, unsigned *field,
		       struct err *err)
{
	const char *words[8], *near;
	struct arena arena = ARENA_INIT;
	struct str rest = str_of(k->words);
	size_t n = 0;
	int r = 0;

	while (rest.p && n < ARRAY_LEN(words)) {
		struct str word = str_cut(&rest, '|');

		words[n] = arena_strndup(&arena, word.p, word.n);
		if (str_eq(word, str_of(text)))
			*field = (unsigned)n;
		n++;
	}
	near = str_nearest(str_of(text), words, n);
	if (strcmp(words[*field], text) != 0)
		r = err_set(err, ERR_USAGE,
			    "--%s: \"%s\" is not known; did you mean %s?",
			    k->option, text, near ? near : words[0]);
	arena_release(&arena);
	return r;
}

static int read_key(const struct args *args, const struct key *k,
		    struct arena *arena, struct gate_policy *p, struct err *err)
{
	void *field = (char *)p + k->offset;
	const char *text = args_get(args, k->option);

	if (!text)
		return 0;
	switch (k->type) {
	case KEY_WORD:
	case KEY_STRING:
		*(const char **)field = text;
		return 0;
	case KEY_BOOL:
		*(bool *)field = true;
		return 0;
	case KEY_CHOICE:
		return read_choice(k, text, field, err);
	case KEY_SIZE_BYTES:
	case KEY_COUNT:
	case KEY_SECONDS:
		return read_number(k, text, field, err);
	default:
		return read_list(args, k, arena, field, err);
	}
}

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

int policy_options_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, const char *const **ret_env,
			struct err *err)
{
	struct gate_policy p = {0}, sources;
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++)
		if (keys[i].option &&
		    read_key(args, &keys[i], arena, &p, err) < 0)
			return -1;
	if (read_env(args, arena, ret_env, err) < 0)
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
	if (policy_sources_read(args, &p.write, arena, &sources, err) < 0)
		return -1;
	gate_policy_merge(&sources, &p, arena, ret);
	return 0;
}
