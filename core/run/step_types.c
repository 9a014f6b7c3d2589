#include "core/run/step_types.h"

#include <assert.h>
#include <string.h>

const struct step_type *step_type_find(const struct step *step)
{
	static const struct {
		const char *name;
		const struct step_type *type, *without_tool;
	} types[] = {
		{"mcp-client", &step_type_mcp, &step_type_subprocess},
		{"script", &step_type_script, &step_type_script},
		{"harness", &step_type_harness, &step_type_harness},
	};

	if (step->instead)
		return &step_type_script;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(step->type, types[i].name) == 0)
			return step->tool ? types[i].type
					  : types[i].without_tool;
	assert(!"a row of step_types.def without behaviour");
	return NULL;
}
