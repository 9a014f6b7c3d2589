/*
 * The JSON Schema of the configuration, for editors.
 */
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/config/keys.h"

const struct option options_schema[] = {{0}};

int cmd_schema(UNUSED const struct args *args, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	keys_print_schema(&out);
	return put(buf_str(&out), PUT_JSON, err);
}
