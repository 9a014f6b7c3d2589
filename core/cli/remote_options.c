#include "core/cli/remote_options.h"

#include "core/base/fd.h"
#include "core/cli/policy_options.h"
#include "core/config/keys.h"
#include "core/secret/secret.h"

/* A file of headers. */
#define HEADERS_BYTES (256 * 1024)

static const struct option rows[] = {
#include "core/cli/remote_options.def"
	{0}};

const char *remote_options_any(const struct args *args)
{
	for (const struct option *o = rows; o->name; o++)
		if (args_has(args, o->name))
			return o->name;
	return NULL;
}

/* ---- texts, paths, words ---- */

struct text_row {
	const char *option;
	size_t offset; /* offset of a const char * in the spec */
	enum key_type type;
};

#define TEXT(option, field, type) \
	{option, offsetof(struct remote_spec, field), KEY_##type},
static const struct text_row texts[] = {
	TEXT("ca-file", ca_file, PATH) TEXT("protocol", protocol, STRING)
#define AUTH_TEXT(key, option, type, ...) TEXT(option, auth.key, type)
#define AUTH_OWN(key, option, type, ...) TEXT(option, key, type)
#include "core/auth/auth.def"
};

static const char *read_text(const char *text, enum key_type type,
			     struct arena *arena)
{
	if (type == KEY_PATH)
		return path_resolve(text, NULL, arena);
	return type == KEY_PROGRAM ? path_program(text, NULL, arena) : text;
}

static void read_texts(const struct args *args, struct arena *arena,
		       struct remote_spec *spec)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *text = args_get(args, texts[i].option);
		char *field = (char *)spec + texts[i].offset;

		if (text)
			*(const char **)(void *)field =
				read_text(text, texts[i].type, arena);
	}
}

static int bad_word(const char *option, const char *text, const char *words,
		    struct err *err)
{
	return err_set(err, ERR_USAGE, "--%s: \"%s\" is not one of %s", option,
		       text, words);
}

/* Read one of the words in the row of the option. */
static int read_word(const struct args *args, const char *option,
		     const char **ret, struct err *err)
{
	const char *text = args_get(args, option);
	const struct option *o = rows;
	struct str rest;

	if (!text)
		return 0;
	while (strcmp(o->name, option) != 0)
		o++;
	rest = str_of(o->value);
	while (rest.n)
		if (str_is(str_cut(&rest, '|'), text)) {
			*ret = text;
			return 0;
		}
	return bad_word(option, text, o->value, err);
}

static int read_words(const struct args *args, struct remote_spec *spec,
		      struct err *err)
{
	const char *grant = NULL, *audience = NULL;

	if (read_word(args, "transport", &spec->transport, err) < 0 ||
	    read_word(args, "store-key", &spec->store_key, err) < 0 ||
	    read_word(args, "oauth-grant", &grant, err) < 0 ||
	    read_word(args, "oauth-audience", &audience, err) < 0)
		return -1;
	if (grant && !auth_grant_find(grant, &spec->auth.grant))
		return err_set(err, ERR_USAGE, "--oauth-grant %s", grant);
	if (audience)
		spec->auth.audience_is_token_endpoint =
			strcmp(audience, "token_endpoint") == 0;
#define AUTH_FLAG(key, option, ...) spec->auth.key |= args_has(args, option);
#include "core/auth/auth.def"
	return 0;
}

/* ---- files that hold secrets ---- */

static int read_secret(const struct args *args, const char *option,
		       struct scrub *scrub, struct arena *arena,
		       struct remote_spec *spec, const char **ret,
		       struct err *err)
{
	AUTO(buf_wipe) struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
	const char *path = args_get(args, option);

	if (!path)
		return 0;
	if (secret_resolve(SECRET_FILE, path_resolve(path, NULL, arena), NULL,
			   &value, err) < 0)
		return err_wrap(err, "--%s", option);
	scrub_add(scrub, buf_str(&value));
	spec->plain.has_credentials = true;
	*ret = remote_spec_keep(spec, buf_str(&value));
	return 0;
}

static int read_secrets(const struct args *args, struct scrub *scrub,
			struct arena *arena, struct remote_spec *spec,
			struct err *err)
{
#define AUTH_SECRET(key, option, ...)                                      \
	if (read_secret(args, option, scrub, arena, spec, &spec->auth.key, \
			err) < 0)                                          \
		return -1;
#include "core/auth/auth.def"
	return 0;
}

/* ---- headers ---- */

static int add_header(struct remote_spec *spec, struct str line,
		      struct scrub *scrub, struct err *err)
{
	struct str value = line, name = str_cut(&value, ':');
	char text[128];

	if (!value.p || name.n >= sizeof(text))
		return err_set(err, ERR_USAGE,
			       "--header takes 'NAME: VALUE', or @FILE with "
			       "such lines");
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	value = str_trim(value);
	/* any header may hold a credential */
	spec->plain.has_credentials = true;
	scrub_add(scrub, value);
	if (str_starts(value, "Bearer "))
		scrub_add(scrub, (struct str){value.p + 7, value.n - 7});
	if (http_headers_set(&spec->headers, text, value, err) == 0)
		return 0;
	err->kind = ERR_USAGE;
	return err_wrap(err, "--header");
}

static int add_header_file(struct remote_spec *spec, const char *path,
			   struct scrub *scrub, struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(HEADERS_BYTES);
	struct str rest;

	if (fd_read_file(path, &text, err) < 0)
		return err_wrap(err, "--header");
	rest = buf_str(&text);
	while (rest.n) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		if (line.n && line.p[0] != '#' &&
		    add_header(spec, line, scrub, err) < 0)
			return err_wrap(err, "%s", path);
	}
	return 0;
}

static int read_headers(const struct args *args, struct scrub *scrub,
			struct arena *arena, struct remote_spec *spec,
			struct err *err)
{
	struct strlist all = args_all(args, "header", arena);

	for (size_t i = 0; i < all.n; i++) {
		const char *text = all.item[i];
		int r = text[0] == '@'
				? add_header_file(spec, text + 1, scrub, err)
				: add_header(spec, str_of(text), scrub, err);

		if (r < 0)
			return -1;
	}
	return 0;
}

int remote_options_read(const struct args *args, struct scrub *scrub,
			struct arena *arena, struct remote_spec *spec,
			struct err *err)
{
	read_texts(args, arena, spec);
	if (spec->protocol && strcmp(spec->protocol, "auto") == 0)
		spec->protocol = NULL;
	spec->plain.is_allowed |= args_has(args, "insecure-http");
	spec->plain.allows_credentials |=
		args_has(args, "insecure-credentials");
	if (read_words(args, spec, err) < 0 ||
	    read_secrets(args, scrub, arena, spec, err) < 0)
		return -1;
	return read_headers(args, scrub, arena, spec, err);
}
