#include "gate/policy/allow.h"

#include "core/base/place.h"
#include "core/base/scan.h"

/* Rows that a refusal shows when none is near. */
#define ROWS_SHOWN 3

/* ---- paths ---- */

bool allow_axis_covers(const struct gate_axis *axis, const char *path)
{
	return axis->all || place_around(&axis->only, path);
}

/* ---- questions ---- */

static const char *leash_source(const struct gate_leash *leash)
{
	return leash->source ? leash->source : "the leash";
}

/* "; nearest: ..." or the first rows, so that the refusal can be acted on. */
static void add_nearest(struct buf *out, const struct strlist *rows,
			const char *asked)
{
	const char *near = str_nearest(str_of(asked), rows->item, rows->n);

	if (near) {
		buf_addf(out, "; nearest row: \"%s\"", near);
		return;
	}
	if (!rows->n) {
		buf_adds(out, "; it names nothing");
		return;
	}
	buf_adds(out, "; it names ");
	for (size_t i = 0; i < rows->n && i < ROWS_SHOWN; i++)
		buf_addf(out, "%s\"%s\"", i ? ", " : "", rows->item[i]);
	if (rows->n > ROWS_SHOWN)
		buf_addf(out, " and %zu more", rows->n - ROWS_SHOWN);
}

int allow_exec(const struct gate_leash *leash, const char *asked,
	       const char *resolved, struct err *err)
{
	const struct strlist *rows = &leash->exec.only;
	AUTO(buf_release) struct buf near = BUF_INIT(LIMIT_ERR_MSG);

	if (leash->exec.all)
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];

		/* exact; so a bare row never meets a path */
		if (strcmp(row, asked) == 0)
			return 0;
		if (resolved && strchr(row, '/') && strcmp(row, resolved) == 0)
			return 0;
	}
	add_nearest(&near, rows, asked);
	return err_set(err, ERR_LEASH, "the leash (%s) does not allow \"%s\"%s",
		       leash_source(leash), asked, buf_cstr(&near));
}

int allow_generation(const struct gate_leash *leash, uint64_t generation,
		     struct err *err)
{
	char text[32];

	if (leash->generations.all)
		return 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)generation);
	if (list_has(&leash->generations.only, text))
		return 0;
	return err_set(err, ERR_LEASH,
		       "the leash (%s) is not valid for generation %s: "
		       "valid_for_generation does not list it",
		       leash_source(leash), text);
}

int allow_calls(const struct gate_leash *leash, uint64_t used, struct err *err)
{
	if (leash->calls_unlimited || used < leash->max_calls)
		return 0;
	return err_set(err, ERR_LEASH,
		       "the leash (%s) allows at most %llu program%s in a run",
		       leash_source(leash),
		       (unsigned long long)leash->max_calls,
		       leash->max_calls == 1 ? "" : "s");
}

/* ---- the JSON form ---- */

struct leash_parse {
	struct arena *arena;
	struct err *err;
};

static int parse_string(struct leash_parse *lp, const char *member,
			struct str value, const char **ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);

	if (!scan_string(value, &text) || !text.n ||
	    memchr(text.p, '\0', text.n))
		return err_set(
			lp->err, ERR_CONFIG,
			"leash: %s.only: each row must be a string that is "
			"not empty",
			member);
	*ret = arena_strndup(lp->arena, text.p, text.n);
	return 0;
}

static int parse_number(struct leash_parse *lp, const char *member,
			struct str value, const char **ret)
{
	int64_t n;

	if (scan_type(value) != SCAN_NUMBER || !scan_int64(value, &n) || n < 0)
		return err_set(lp->err, ERR_CONFIG,
			       "leash: %s.only: each row is a whole number, "
			       "0 or more",
			       member);
	*ret = arena_printf(lp->arena, "%lld", (long long)n);
	return 0;
}

typedef int parse_row(struct leash_parse *lp, const char *member,
		      struct str value, const char **ret);

/* The one member of {"only": ...} or {"at_most": ...}. */
static bool sole_member(struct str value, const char *name, struct str *ret)
{
	return scan_type(value) == SCAN_OBJECT && scan_count(value) == 1 &&
	       scan_get(value, name, ret);
}

static int parse_axis(struct leash_parse *lp, const char *member,
		      struct str value, parse_row *row, struct gate_axis *ret)
{
	struct gate_axis axis = {.all = scan_is(value, "all")};
	struct str only;

	if (axis.all) {
		*ret = axis;
		return 0;
	}
	if (!sole_member(value, "only", &only) || scan_type(only) != SCAN_ARRAY)
		return err_set(lp->err, ERR_CONFIG,
			       "leash: %s: write \"all\" or {\"only\":[...]}",
			       member);
	axis.only.item =
		ARENA_ARRAY(lp->arena, const char *, scan_count(only) + 1);
	for (struct scan_iter it = scan_over(only); scan_next(&it);) {
		if (row(lp, member, it.value, &axis.only.item[axis.only.n]) < 0)
			return -1;
		axis.only.n++;
	}
	*ret = axis;
	return 0;
}

static int parse_max_calls(struct leash_parse *lp, struct str value,
			   struct gate_leash *ret)
{
	struct str at_most;
	int64_t n;

	ret->calls_unlimited = scan_is(value, "unlimited");
	if (ret->calls_unlimited)
		return 0;
	if (!sole_member(value, "at_most", &at_most) ||
	    !scan_int64(at_most, &n) || n < 0)
		return err_set(lp->err, ERR_CONFIG,
			       "leash: max_calls: write \"unlimited\" or "
			       "{\"at_most\":N}");
	ret->max_calls = (uint64_t)n;
	return 0;
}

static const char *const MEMBERS[] = {
	"fs_read", "fs_write",	"exec", /* sets of rows */
	"net",	   "max_calls", "valid_for_generation",
};

/*
 * Each of the six once, and nothing else: a member that is written twice or
 * misspelled would be a bound that does not bind.
 */
static int check_members(struct leash_parse *lp, struct str doc)
{
	unsigned seen = 0;

	if (scan_type(doc) != SCAN_OBJECT)
		return err_set(lp->err, ERR_CONFIG, "leash: not a JSON object");
	for (struct scan_iter it = scan_over(doc); scan_next(&it);) {
		size_t i = 0;

		while (i < ARRAY_LEN(MEMBERS) && !scan_is(it.key, MEMBERS[i]))
			i++;
		if (i == ARRAY_LEN(MEMBERS))
			return err_set(lp->err, ERR_CONFIG,
				       "leash: unknown member %.*s",
				       (int)(it.key.n < 64 ? it.key.n : 64),
				       it.key.p);
		if (seen & 1U << i)
			return err_set(lp->err, ERR_CONFIG,
				       "leash: %s is there twice", MEMBERS[i]);
		seen |= 1U << i;
	}
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		if (!(seen & 1U << i))
			return err_set(lp->err, ERR_CONFIG,
				       "leash: %s is missing; all six of "
				       "fs_read, fs_write, exec, net, "
				       "max_calls, valid_for_generation are "
				       "needed",
				       MEMBERS[i]);
	return 0;
}

static int parse_axes(struct leash_parse *lp, struct str doc,
		      struct gate_leash *l)
{
	const struct {
		const char *member;
		parse_row *row;
		struct gate_axis *axis;
	} axes[] = {
		{"fs_read", parse_string, &l->fs_read},
		{"fs_write", parse_string, &l->fs_write},
		{"exec", parse_string, &l->exec},
		{"net", parse_string, &l->net},
		{"valid_for_generation", parse_number, &l->generations},
	};

	for (size_t i = 0; i < ARRAY_LEN(axes); i++) {
		struct str value = {NULL, 0};

		if (!scan_get(doc, axes[i].member, &value) ||
		    parse_axis(lp, axes[i].member, value, axes[i].row,
			       axes[i].axis) < 0)
			return -1;
	}
	return 0;
}

int gate_leash_parse(struct str text, struct arena *arena,
		     struct gate_leash *ret_leash, struct err *err)
{
	struct leash_parse lp = {.arena = arena, .err = err};
	struct gate_leash leash = {.source = NULL};
	struct str doc, calls = {NULL, 0};

	if (text.n > LIMIT_CONFIG_BYTES)
		return err_set(err, ERR_CONFIG, "leash: over %d bytes",
			       LIMIT_CONFIG_BYTES);
	if (scan_document(text, NULL, &doc, err) < 0) {
		err->kind = ERR_CONFIG;
		return err_wrap(err, "leash");
	}
	if (check_members(&lp, doc) < 0 || parse_axes(&lp, doc, &leash) < 0)
		return -1;
	if (!scan_get(doc, "max_calls", &calls) ||
	    parse_max_calls(&lp, calls, &leash) < 0)
		return -1;
	*ret_leash = leash;
	return 0;
}
