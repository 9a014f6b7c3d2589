/*
 * Which notice is due, and its words, as rows of data.
 *
 *	choose ON | WAS NOW | FLAGS    ON: words, "-" for none written, "[]";
 *				       FLAGS: every, changed
 *	fill TEXT                      words in {{}}
 *	unknown TEXT                   the first that stands for nothing
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/config/notify.h"
#include "core/run/notice.h"

static int choose(struct value_row *r)
{
	const struct strlist states = value_words(r->part[1], &r->arena);
	const struct strlist flags = value_words(r->part[2], &r->arena);
	struct notify_rules rules = {.every = list_has(&flags, "every")};
	const char *kind;

	if (strcmp(r->part[0], "-") != 0)
		rules.on = value_words(r->part[0], &r->arena);
	if (strcmp(r->part[0], "[]") == 0)
		rules.on.n = 0;
	kind = notice_choose(&rules, states.item[0], states.item[1],
			     list_has(&flags, "changed"));
	buf_adds(&r->out, kind ? kind : "nothing");
	return 0;
}

static int fill(struct value_row *r)
{
	const struct notify_words words = {"a {{run}} b", "failure", "r",
					   "7",		  "failed",  "h"};

	buf_adds(&r->out, notify_fill(r->part[0], &words, &r->arena));
	return 0;
}

static int unknown(struct value_row *r)
{
	const char *word = notify_unknown(r->part[0], &r->arena);

	buf_adds(&r->out, word ? word : "none");
	return 0;
}

static const struct value_reader READERS[] = {
	{"choose", choose},
	{"fill", fill},
	{"unknown", unknown},
};
TEST_VALUES(READERS, "tests/unit/run/values/notices.transcript");
