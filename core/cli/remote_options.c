#include "core/cli/remote_options.h"

#include "core/base/fd.h"
#include "core/cli/key_options.h"
#include "core/config/paths.h"
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

/* ---- the keys of `auth` ---- */

static int read_auth(const struct args *args, struct arena *arena,
		     struct remote_spec *spec, struct err *err)
{
	struct server_auth given = {0};

	if (option_values_read(args, SECTION_auth, arena, &given, err) < 0)
		return -1;
	/* the word is one of the row's */
	if (given.grant && !auth_grant_find(given.grant, &spec->auth.grant))
		return err_set(err, ERR_USAGE, "--oauth-grant %s", given.grant);
	if (given.audience)
		spec->auth.audience_is_token_endpoint =
			strcmp(given.audience, "token_endpoint") == 0;
	if (given.store_key)
		spec->store_key = given.store_key;
#define AUTH_TEXT(key, ...) \
	if (given.key)      \
		spec->auth.key = given.key;
#define AUTH_OWN(key, ...) \
	if (given.key)     \
		spec->key = given.key;
#define AUTH_FLAG(key, ...) spec->auth.key |= given.key;
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
	if (read_auth(args, arena, spec, err) < 0 ||
	    read_secrets(args, scrub, arena, spec, err) < 0)
		return -1;
	return read_headers(args, scrub, arena, spec, err);
}
