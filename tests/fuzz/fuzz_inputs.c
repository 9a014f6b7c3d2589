/*
 * A word of -p, and an object of parameters behind its line: what a routine
 * that declares its parameters takes is JSON with these names and no other, and
 * what it refuses is wrong usage.
 */
#include "core/run/inputs.h"

#include <stdlib.h>

#include "core/base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char table[] =
	"params.s = { type = \"string\", maxLength = 20, default = \"x\" }\n"
	"params.n = { type = \"integer\", minimum = 0, default = 1 }\n"
	"params.o = { type = [\"object\", \"null\", \"string\"], default = 5 "
	"}\n"
	"params.\"a/b\" = { default = true }\n";

static struct str all_of(const struct values *v, struct arena *arena)
{
	struct str json, proved;
	struct ref_string all;

	if (ref_read(STR("$input"), arena, &all, ERR_IGNORED) < 0 ||
	    values_find(v, &all.part[0].ref, arena, &json, ERR_IGNORED) < 0 ||
	    scan_document(json, NULL, &proved, ERR_IGNORED) < 0)
		abort();
	return proved;
}

static void read_inputs(const struct toml_value *params, const char *word,
			struct str object)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct config config = {.path = "x"};
	const struct routine routine = {.name = "r", .params = params};
	struct inputs_given given = {.object = object};
	struct values v = {.n_inputs = 0};
	struct err err = ERR_INIT;
	struct str json;

	list_add(&given.params, &arena, word);
	if (inputs_read(&config, &routine, &given, &arena, &v, &err) < 0) {
		if (err.kind != ERR_USAGE)
			abort();
		return;
	}
	json = all_of(&v, &arena);
	if (params && scan_count(json) != params->table.n)
		abort();
	for (size_t i = 0; params && i < params->table.n; i++)
		if (!scan_named(json, str_of(params->table.member[i].key)).p)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str object = {(const char *)data, size};
	struct str line = str_cut(&object, '\n');
	const char *word = arena_strndup(&arena, line.p, line.n);
	struct toml_value root;

	if (toml_parse(&arena, str_of(table), &root, ERR_IGNORED) < 0)
		abort();
	read_inputs(toml_get(&root, "params"), word, object);
	read_inputs(NULL, word, object);
	return 0;
}
