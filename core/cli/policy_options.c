#include "core/cli/policy_options.h"

#include <inttypes.h>
#include <unistd.h>

#include "core/base/log.h"

enum kind { LIST, PATHS, PROGRAMS, WORD, SIZE, COUNT, DURATION };

/* One row per option of POLICY_OPTIONS with its place in the policy. */
static const struct row {
	const char *name;
	enum kind kind;
	size_t offset;
} rows[] = {
	{"read", PATHS, offsetof(struct gate_policy, read)},
	{"write", PATHS, offsetof(struct gate_policy, write)},
	{"exec", PROGRAMS, offsetof(struct gate_policy, exec)},
	{"net", LIST, offsetof(struct gate_policy, net)},
	{"require", LIST, offsetof(struct gate_policy, require)},
	{"syscalls", LIST, offsetof(struct gate_policy, syscalls)},
	{"profile", WORD, offsetof(struct gate_policy, profile)},
	{"user", WORD, offsetof(struct gate_policy, user)},
	{"memory", SIZE, offsetof(struct gate_policy, memory_bytes)},
	{"file-size", SIZE, offsetof(struct gate_policy, file_size_bytes)},
	{"processes", COUNT, offsetof(struct gate_policy, processes)},
	{"files", COUNT, offsetof(struct gate_policy, files)},
	{"cpu", DURATION, offsetof(struct gate_policy, cpu_seconds)},
};

static int read_list(const struct args *args, const struct row *row,
		     struct arena *arena, void *field, struct err *err)
{
	struct strlist *list = field;

	*list = args_all(args, row->name, arena);
	/* an unset variable of a script must not grant the current folder */
	for (size_t i = 0; i < list->n; i++)
		if (!*list->item[i])
			return err_set(err, ERR_USAGE, "--%s: empty",
				       row->name);
	for (size_t i = 0; i < list->n; i++)
		if (row->kind == PATHS)
			list->item[i] =
				path_resolve(list->item[i], NULL, arena);
		else if (row->kind == PROGRAMS)
			list->item[i] =
				path_program(list->item[i], NULL, arena);
	/* "none" is the default, and an empty list says it */
	if (strcmp(row->name, "net") == 0 && list->n == 1 &&
	    strcmp(list->item[0], "none") == 0)
		list->n = 0;
	return 0;
}

static int read_number(const struct row *row, const char *text, void *field,
		       struct err *err)
{
	uint64_t n;
	bool ok;

	switch (row->kind) {
	case SIZE:
		ok = str_size_bytes(str_of(text), &n) && n;
		break;
	case DURATION:
		ok = str_duration_ms(str_of(text), &n) && n;
		if (ok && n % 1000)
			log_warning("--%s %s: counted in whole seconds: "
				    "%" PRIu64 "s",
				    row->name, text, n / 1000 + 1);
		n = (n + 999) / 1000;
		break;
	default:
		ok = str_uint64(str_of(text), &n) && n;
		break;
	}
	if (!ok || (row->kind != SIZE && n > UINT32_MAX))
		return err_set(err, ERR_USAGE,
			       row->kind == SIZE
				       ? "--%s %s: a size is due, in KiB, "
					 "MiB or GiB: 512MiB"
			       : row->kind == DURATION
				       ? "--%s %s: a duration is due, in s, "
					 "m or h: 30s"
				       : "--%s %s: a number over 0 is due",
			       row->name, text);
	if (row->kind == SIZE)
		*(uint64_t *)field = n;
	else
		*(uint32_t *)field = (uint32_t)n;
	return 0;
}

static int read_row(const struct args *args, const struct row *row,
		    struct arena *arena, struct gate_policy *p, struct err *err)
{
	void *field = (char *)p + row->offset;
	const char *text = args_get(args, row->name);

	if (!text)
		return 0;
	switch (row->kind) {
	case LIST:
	case PATHS:
	case PROGRAMS:
		return read_list(args, row, arena, field, err);
	case WORD:
		*(const char **)field = text;
		return 0;
	default:
		return read_number(row, text, field, err);
	}
}

static int read_choice(const struct args *args, const char *name,
		       const char *const *words, size_t n, size_t *ret,
		       struct err *err)
{
	const char *text = args_get(args, name);
	const char *near;

	if (!text)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], text) == 0) {
			*ret = i;
			return 0;
		}
	}
	near = str_nearest(str_of(text), words, n);
	return err_set(err, ERR_USAGE, "--%s %s: did you mean %s?", name, text,
		       near ? near : words[0]);
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
				       "--env %s: not set here; write %s=VALUE",
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
	/* in the order of enum gate_isolate */
	static const char *const isolate[] = {"auto", "require", "off"};
	static const char *const tmp[] = {"private", "shared"};
	struct gate_policy p = {0}, sources;
	size_t chosen_isolate = 0, chosen_tmp = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (read_row(args, &rows[i], arena, &p, err) < 0)
			return -1;
	if (read_choice(args, "isolate", isolate, ARRAY_LEN(isolate),
			&chosen_isolate, err) < 0 ||
	    read_choice(args, "tmp", tmp, ARRAY_LEN(tmp), &chosen_tmp, err) <
		    0 ||
	    read_env(args, arena, ret_env, err) < 0)
		return -1;
	p.isolate = (enum gate_isolate)chosen_isolate;
	p.tmp_shared = chosen_tmp == 1;
	p.record_exec = args_has(args, "record-exec");
	/* names that do not exist are wrong usage on a command line */
	if (gate_policy_check(&p, err) < 0) {
		if (err->kind == ERR_POLICY)
			err->kind = ERR_USAGE;
		return -1;
	}
	if (p.user && geteuid() != 0)
		log_warning("--user %s: only root can change users; it stays "
			    "who you are",
			    p.user);
	if (policy_sources_read(args, &p.write, arena, &sources, err) < 0)
		return -1;
	gate_policy_merge(&sources, &p, arena, ret);
	return 0;
}
