#include "core/run/advice_command.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/place.h"
#include "core/base/text.h"
#include "core/config/paths.h"

/* Longest command in a hint. */
#define COMMAND_BYTES 240
/* Longest word of one that is written out: a script is none to paste. */
#define WORD_BYTES 256

const char advice_download[] =
	"npm has no network, and found no package that it needs in what it may "
	"read; where it is installed, grant its folder: --read PATH; to "
	"install "
	"it, with the host that `npm config get registry` prints: matins exec "
	"--preset npm --write . --net HOST -- npm install PACKAGE";

const char *advice_command(const struct gate_request *request,
			   struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t from;

	buf_adds(&out, "matins trace -- ");
	from = out.n;
	for (size_t i = 0; request->argv[i]; i++) {
		const char *word = request->argv[i];

		if (i && (out.n - from + strlen(word) > COMMAND_BYTES ||
			  !text_is_word(word))) {
			buf_adds(&out, " …");
			break;
		}
		buf_addf(&out, "%s%s", i ? " " : "", word);
	}
	return arena_strdup(arena, buf_cstr(&out));
}

/* Write " --" and the words of a command, quoted for a shell, up to one that is
   a text of lines. */
static const char *words_of(const struct gate_request *request,
			    struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, " --");
	for (size_t i = 0; request->argv[i]; i++) {
		if (strlen(request->argv[i]) > WORD_BYTES ||
		    strchr(request->argv[i], '\n')) {
			buf_adds(&out, " …");
			break;
		}
		buf_addc(&out, ' ');
		text_add_word(&out, request->argv[i]);
	}
	return arena_strdup(arena, buf_cstr(&out));
}

const char *advice_config(const struct config *config, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *home = path_own_home(0),
		   *file = config ? config->named : NULL;
	char real[PATH_MAX];

	if (!file)
		return "";
	buf_adds(&out, " -c ");
	/* a shell expands no `~` in quotes, nor with a quoted slash behind it
	 */
	if (home && realpath(home, real) && strcmp(real, "/") != 0 &&
	    place_covers(real, file)) {
		buf_adds(&out, "~/");
		file += strlen(real) + 1;
	}
	text_add_word(&out, file);
	return arena_strdup(arena, buf_cstr(&out));
}

const char *advice_words(const char *routine, const char *step,
			 struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	text_add_word(&out, routine);
	if (step) {
		buf_addc(&out, ' ');
		text_add_word(&out, step);
	}
	return arena_strdup(arena, buf_cstr(&out));
}

const char *advice_about(const struct config *config, const char *verb,
			 const char *words, struct arena *arena)
{
	return arena_printf(arena, "matins %s%s %s", verb,
			    advice_config(config, arena), words);
}

const char *advice_tools(const struct config *config, const char *option,
			 const char *server, const struct gate_request *request,
			 struct arena *arena)
{
	return server ? arena_printf(arena, "matins tools%s%s -s %s", option,
				     advice_config(config, arena), server)
		      : arena_printf(arena, "matins tools%s%s", option,
				     words_of(request, arena));
}

const char *advice_trace(const char *command, struct arena *arena)
{
	return arena_printf(arena, "to find everything that it needs: %s",
			    command);
}
