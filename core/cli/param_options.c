#include "core/cli/param_options.h"

#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"

int param_options_read(const struct args *args, struct arena *arena,
		       struct inputs_given *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const char *file = args_get(args, "params");
	int r = 0;

	*ret = (struct inputs_given){.params = args_all(args, "param", arena)};
	if (!file)
		return 0;
	r = strcmp(file, "-") == 0 ? fd_read_all(STDIN_FILENO, &text, err)
				   : fd_read_file(file, &text, err);
	if (r < 0)
		return err_wrap(err, "--params");
	if (!str_trim(buf_str(&text)).n)
		return err_set(err, ERR_USAGE,
			       "--params %s: empty; write a JSON object: "
			       "{\"NAME\": VALUE}",
			       file);
	ret->object = arena_str(arena, buf_str(&text));
	return 0;
}
