#include "core/cli/option_values.h"

#include <inttypes.h>

#include "core/base/log.h"
#include "core/config/paths.h"
#include "core/mcp/wire/mcp.h"

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
	*ret = ms / 1000 + (ms % 1000 != 0);
	if (ms % 1000)
		log_warning("--%s %s: rounded up to whole seconds: %" PRIu64
			    "s",
			    k->option, text, *ret);
	return true;
}

static int read_number(const struct key *k, const char *text, uint64_t *field,
		       struct err *err)
{
	AUTO(buf_release) struct buf bounds = BUF_INIT(BUF_UNBOUNDED);
	uint64_t n = 0;
	const char *want;
	bool ok;

	switch (k->type) {
	case KEY_SIZE_BYTES:
		ok = str_size_bytes(str_of(text), &n);
		want = "a size; use for example 512MiB";
		break;
	case KEY_SECONDS:
		ok = read_seconds(k, text, &n);
		want = "a duration; use for example 30s";
		break;
	case KEY_DURATION_MS:
		ok = str_duration_ms(str_of(text), &n);
		want = "a duration; use for example 30s";
		break;
	default:
		ok = str_uint64(str_of(text), &n);
		want = "a number above 0";
		break;
	}
	if (!ok)
		return args_bad(k->option, text, want, err);
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

static int read_command(const struct key *k, const char *text,
			struct arena *arena, struct strlist *field,
			struct err *err)
{
	if (path_words(text, NULL, arena, field, err) == 0)
		return 0;
	err->kind = ERR_USAGE;
	return err_wrap(err, "--%s", k->option);
}

static int read_key(const struct args *args, const struct key *k,
		    struct arena *arena, void *object, struct err *err)
{
	void *field = (char *)object + k->offset;
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
		word = read_word(k, text, err);
		*(const char **)field = text;
		return word < 0 ? -1 : 0;
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
		return read_command(k, text, arena, field, err);
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
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++)
		if (keys[i].section == section && keys[i].option &&
		    read_key(args, &keys[i], arena, object, err) < 0)
			return -1;
	return 0;
}
