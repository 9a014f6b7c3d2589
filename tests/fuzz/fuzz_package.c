/*
 * Packages: the first byte picks what the rest is read as. Whatever it says,
 * no program lies outside the folder of its package, and names, which are put
 * into paths, lead nowhere else.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gate/path/npm_prefix.h"
#include "gate/policy/package.h"
#include "gate/policy/semver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void expect_inside(const char *path)
{
	expect(path[0] != '/' && strcmp(path, "..") != 0 &&
	       strncmp(path, "../", 3) != 0 && !strstr(path, "/../") &&
	       !str_ends(str_of(path), "/.."));
}

static void read_words(struct str in, struct arena *arena)
{
	static const char *const launchers[] = {"npx", "npm", "bunx", "uvx",
						"pipx"};
	struct package_asked a;

	for (size_t i = 0; i < ARRAY_LEN(launchers); i++) {
		struct str rest = in;
		struct strlist argv = {NULL, 0};

		list_add(&argv, arena, launchers[i]);
		while (rest.n) {
			struct str word = str_cut(&rest, '\n');

			list_add(&argv, arena,
				 arena_strndup(arena, word.p, word.n));
		}
		if (!package_read(launchers[i], NULL, &argv, arena, &a))
			continue;
		expect(a.n > 0 && a.program && a.args.n < argv.n);
		for (size_t k = 0; k < a.n; k++) {
			expect_inside(a.spec[k].name);
			(void)!package_version_fits(&a, &a.spec[k], "1.2.3");
		}
	}
}

static void read_json(struct str in, struct arena *arena)
{
	struct err err = ERR_INIT;
	struct package p;

	if (package_json(in, arena, &p, &err) < 0)
		return;
	for (size_t i = 0; i < p.n_bins; i++) {
		expect(package_bin(&p, p.bin[i].name) != NULL);
		if (package_path_is_inside(p.bin[i].path))
			expect_inside(p.bin[i].path);
	}
	(void)!package_bin(&p, NULL);
}

static void read_version(struct str in)
{
	struct str version = str_cut(&in, '\n');

	if (semver_satisfies(version, in))
		expect(semver_kind(version) == SEMVER_VERSION &&
		       semver_kind(in) <= SEMVER_RANGE);
	if (semver_is(version, in))
		expect(semver_is(in, version));
}

static void read_link(struct str in, struct arena *arena)
{
	struct str link = package_shim(in);
	const char *folder, *path;

	if (package_split(link.n ? link : in, arena, &folder, &path)) {
		expect_inside(folder);
		expect_inside(path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str in = {(const char *)data + 1, size - 1};

	if (!size)
		return 0;
	switch (data[0]) {
	case 'w':
		read_words(in, &arena);
		break;
	case 'j':
		read_json(in, &arena);
		break;
	case 'v':
		read_version(in);
		break;
	case 'l':
		read_link(in, &arena);
		break;
	default:
		(void)!npm_setting(in, "prefix", &arena);
	}
	return 0;
}
