/*
 * A configuration file: parsed, loaded, its references, its values as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/scan.h"
#include "core/config/references.h"
#include "core/config/routine.h"
#include "core/toml/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(const struct toml_value *root)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	const struct scan_limits limits = {.depth = 1024, .members = 1 << 20};
	struct err err = ERR_INIT;
	struct str value;

	toml_to_json(root, &json);
	if (scan_document(buf_str(&json), &limits, &value, &err) < 0)
		abort();
}

/* Lookalikes are warnings; names of inputs are known once. */
static void check_references(const struct toml_value *root,
			     const struct config *config, struct arena *arena)
{
	struct findings findings = {0};

	references_check(root, NULL, &findings);
	if (findings.has_error)
		abort();
	findings_release(&findings);
	for (size_t i = 0; config && i < config->n_routines; i++) {
		struct strlist all =
			references_inputs(&config->routines[i], arena);

		for (size_t k = 1; k < all.n; k++)
			if (!strcmp(all.item[k], all.item[k - 1]))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = ARENA_INIT;
	struct findings findings = {0};
	struct config config;
	struct toml_value root;
	struct err err = ERR_INIT;
	struct str text = {(const char *)data, size};

	if (toml_parse(&arena, text, &root, &err) == 0) {
		check_json(&root);
		/* an error has a finding, and a finding is an error */
		if ((routine_load(&root, size % 2, false, &arena, &config,
				  &findings) < 0) != findings.has_error)
			abort();
		check_references(&root, findings.has_error ? NULL : &config,
				 &arena);
	} else if (err.kind != ERR_CONFIG && err.kind != ERR_LIMIT) {
		abort();
	} else if (!err.line && err.kind == ERR_CONFIG) {
		abort();
	}
	findings_release(&findings);
	arena_release(&arena);
	return 0;
}
