#include "core/run/parts.h"

#include <string.h>

#include "core/base/log.h"

/* Pieces of advice that a whole keeps: more say nothing new. */
#define ADVICE_MAX 8

static bool is_known(const struct report_step *s, struct str advice)
{
	for (size_t i = 0; i < s->n_advice; i++)
		if (str_eq(s->advice[i].text, advice))
			return true;
	return s->n_advice >= ADVICE_MAX;
}

static void keep_advice(struct step_run *whole, const struct report_advice *a)
{
	struct report_step *of = &whole->result;
	struct arena *arena = &whole->arena;
	struct report_advice *all =
		ARENA_ARRAY(arena, struct report_advice, of->n_advice + 1);

	if (of->n_advice)
		memcpy(all, of->advice, of->n_advice * sizeof(*all));
	all[of->n_advice++] = (struct report_advice){arena_str(arena, a->text),
						     arena_str(arena, a->toml)};
	of->advice = all;
	if (!whole->ctx->shows_advice)
		log_note("%s: %.*s%s%.*s", of->name, STR_ARG(a->text),
			 a->toml.n ? ": " : "", STR_ARG(a->toml));
}

void parts_keep_words(struct step_run *whole, const struct report_step *part)
{
	struct report_step *of = &whole->result;

	if (part->said.n && !of->said.n)
		of->said = arena_str(&whole->arena, part->said);
	for (size_t i = 0; i < part->n_advice; i++)
		if (!is_known(of, part->advice[i].text))
			keep_advice(whole, &part->advice[i]);
}
