/*
 * Packages that launchers are asked for. Rows are in
 * values/packages.transcript; ranges are those of npm's own semver, which
 * gave the results:
 *
 *	kind VERSION			kind of what stands behind the @
 *	fits VERSION | RANGE		does an installed version lie in it?
 *	same VERSION | VERSION		are they one?
 *	words COMMAND			packages, program, arguments
 *	wanted COMMAND | VERSION	does an installed version do?
 *	json TEXT | PROGRAM		name, version, its file; PROGRAM may be
 *- split LINK			of node_modules/.bin
 *	shim TEXT			a script of pnpm's there
 *	npmrc TEXT | KEY		a setting of npm
 */
#include "tests/unit/test.h"

#include "gate/path/npm_prefix.h"
#include "gate/policy/package.h"
#include "gate/policy/semver.h"
#include "tests/unit/values.h"

static int do_kind(struct value_row *r)
{
	static const char *const names[] = {
		[SEMVER_VERSION] = "version",
		[SEMVER_RANGE] = "range",
		[SEMVER_TAG] = "tag",
		[SEMVER_NONE] = "none",
	};

	buf_adds(&r->out, names[semver_kind(value_bytes(r, r->part[0]))]);
	return 0;
}

static int do_fits(struct value_row *r)
{
	return value_is(r, semver_satisfies(str_of(r->part[0]),
					    value_bytes(r, r->part[1])));
}

static int do_same(struct value_row *r)
{
	return value_is(r, semver_is(str_of(r->part[0]), str_of(r->part[1])));
}

static bool read_words(struct value_row *r, struct package_asked *ret)
{
	struct strlist words = value_words(r->part[0], &r->arena);

	return package_read(words.item[0], NULL, &words, &r->arena, ret);
}

static int do_words(struct value_row *r)
{
	struct package_asked a;

	if (!read_words(r, &a)) {
		buf_adds(&r->out, "left alone");
		return 0;
	}
	buf_addf(&r->out, "%s%s:", a.launcher, a.wants_bun ? " by bun" : "");
	for (size_t i = 0; i < a.n; i++)
		buf_addf(&r->out, " %s(%.*s)", a.spec[i].name,
			 STR_ARG(a.spec[i].version));
	buf_addf(&r->out, "%s %s", a.is_named ? " program" : "", a.program);
	for (size_t i = 0; i < a.args.n; i++)
		buf_addf(&r->out, " [%s]", a.args.item[i]);
	return 0;
}

static int do_wanted(struct value_row *r)
{
	struct package_asked a;

	assert_true(read_words(r, &a));
	return value_is(r, package_version_fits(&a, a.spec, r->part[1]));
}

static int do_json(struct value_row *r)
{
	const char *name = strcmp(r->part[1], "-") ? r->part[1] : NULL;
	const struct package_bin *bin;
	struct package p;

	if (package_json(value_bytes(r, r->part[0]), &r->arena, &p, &r->err) <
	    0)
		return -1;
	bin = package_bin(&p, name);
	buf_addf(&r->out, "%s %s", p.name ? p.name : "-",
		 p.version ? p.version : "-");
	if (bin)
		buf_addf(&r->out, " %s %s%s", bin->name, bin->path,
			 package_path_is_inside(bin->path) ? "" : " outside");
	return 0;
}

static int do_split(struct value_row *r)
{
	const char *folder, *path;

	if (package_split(str_of(r->part[0]), &r->arena, &folder, &path))
		buf_addf(&r->out, "%s : %s", folder, path);
	else
		buf_adds(&r->out, "elsewhere");
	return 0;
}

static int do_shim(struct value_row *r)
{
	struct str link = package_shim(value_bytes(r, r->part[0]));

	buf_addf(&r->out, "%.*s", STR_ARG(link));
	return 0;
}

static int do_npmrc(struct value_row *r)
{
	const char *value =
		npm_setting(value_bytes(r, r->part[0]), r->part[1], &r->arena);

	buf_adds(&r->out, value ? value : "-");
	return 0;
}

static const struct value_reader READERS[] = {
	{"kind", do_kind},   {"fits", do_fits},	    {"same", do_same},
	{"words", do_words}, {"wanted", do_wanted}, {"json", do_json},
	{"split", do_split}, {"shim", do_shim},	    {"npmrc", do_npmrc},
};
TEST_VALUES(READERS, "tests/unit/gate/values/packages.transcript");
