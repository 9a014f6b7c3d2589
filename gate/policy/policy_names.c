/* The vocabulary of a policy: profiles, guarantees, mechanisms. */
#include "core/base/limits.h"
#include "gate/policy/policy_names.h"

struct name_row {
	const char *name, *help;
	const char *then; /* without it: what is possible; remedy */
};

static const struct name_row PROFILES[] = {
#define PROFILE(id, name, groups, help) {name, help, NULL},
#include "gate/policy/profiles.def"
#undef PROFILE
};

static const struct name_row GUARANTEES[] = {
#define GUARANTEE(id, name, help, lost) {name, help, lost},
#include "gate/policy/guarantees.def"
#undef GUARANTEE
};

static const struct name_row MECHANISMS[] = {
#define MECHANISM(id, name, help, remedy) {name, help, remedy},
#include "gate/policy/mechanisms.def"
#undef MECHANISM
};

const char *profile_name(enum policy_profile p)
{
	return PROFILES[p].name;
}

const char *guarantee_name(enum guarantee g)
{
	return GUARANTEES[g].name;
}

const char *gate_require_name(size_t turn)
{
	if (turn < N_GUARANTEES)
		return GUARANTEES[turn].name;
	turn -= N_GUARANTEES;
	return turn < N_MECHANISMS ? MECHANISMS[turn].name : NULL;
}

const char *guarantee_help(enum guarantee g)
{
	return GUARANTEES[g].help;
}

const char *guarantee_lost(enum guarantee g)
{
	return GUARANTEES[g].then;
}

const char *mechanism_name(enum mechanism m)
{
	return MECHANISMS[m].name;
}

const char *mechanism_help(enum mechanism m)
{
	return MECHANISMS[m].help;
}

const char *mechanism_remedy(enum mechanism m)
{
	return MECHANISMS[m].then;
}

/* Index of the row, or -1. */
static int find_name(const struct name_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* "did you mean ...?", or the whole vocabulary, which is short. */
static void add_names(struct buf *out, const char *asked,
		      const struct name_row *rows, size_t n)
{
	const char *names[N_GUARANTEES + N_MECHANISMS + N_PROFILES];
	const char *near;

	for (size_t i = 0; i < n; i++)
		names[i] = rows[i].name;
	near = str_nearest(str_of(asked), names, n);
	if (near) {
		buf_addf(out, "did you mean \"%s\"?", near);
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s", i ? ", " : "use one of ", rows[i].name);
}

/* ---- what a policy names of it ---- */

static int unknown_require(const char *name, struct err *err)
{
	struct name_row all[N_GUARANTEES + N_MECHANISMS];
	AUTO(buf_release) struct buf names = BUF_INIT(LIMIT_ERR_MSG);

	memcpy(all, GUARANTEES, sizeof(GUARANTEES));
	memcpy(all + N_GUARANTEES, MECHANISMS, sizeof(MECHANISMS));
	add_names(&names, name, all, ARRAY_LEN(all));
	return err_set(err, ERR_POLICY,
		       "require: \"%s\" is neither a guarantee nor a "
		       "mechanism; %s",
		       name, buf_cstr(&names));
}

int policy_read_require(const struct strlist *require, struct policy *p,
			struct err *err)
{
	for (size_t i = 0; i < require->n; i++) {
		const char *name = require->item[i];
		int g = find_name(GUARANTEES, ARRAY_LEN(GUARANTEES), name);
		int m = find_name(MECHANISMS, ARRAY_LEN(MECHANISMS), name);

		if (g < 0 && m < 0)
			return unknown_require(name, err);
		if (g >= 0)
			p->guarantees_required |= POLICY_BIT(g);
		if (m >= 0)
			p->mechanisms_required |= POLICY_BIT(m);
	}
	return 0;
}

int policy_read_profile(const char *name, struct policy *p, struct err *err)
{
	int i = PROFILE_DEFAULT;
	AUTO(buf_release) struct buf names = BUF_INIT(LIMIT_ERR_MSG);

	if (name)
		i = find_name(PROFILES, ARRAY_LEN(PROFILES), name);
	if (i < 0) {
		add_names(&names, name, PROFILES, ARRAY_LEN(PROFILES));
		return err_set(err, ERR_POLICY,
			       "profile: \"%s\" is not known; %s", name,
			       buf_cstr(&names));
	}
	p->profile = (enum policy_profile)i;
	return 0;
}
