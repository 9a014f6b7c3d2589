#include "core/run/advice.h"

#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"

static const char *const probes[] = {
#define PROBE(call) #call,
#include "core/run/advice.def"
#undef PROBE
};

static bool is_probe(const char *call)
{
	for (size_t i = 0; i < ARRAY_LEN(probes); i++)
		if (strcmp(probes[i], call) == 0)
			return true;
	return false;
}

/*
 * Libraries make one socket of IPv6 to learn whether the machine has it; a
 * program that connects by name asks a name server by IPv4 as well.
 */
static bool is_connection(const struct gate_denial *d)
{
	return !d->detail || strstr(d->detail, "AF_INET,") != NULL;
}

static bool is_worth_a_line(const struct gate_denial *d,
			    const struct advice_how *how)
{
	const struct gate_allow *row = &d->allow;

	if (how->all || strcmp(d->kind, "exec") == 0 ||
	    strcmp(d->kind, "net") == 0 ||
	    (row->key && strcmp(row->key, "net") == 0 && is_connection(d)))
		return true;
	return how->failed && row->key && !is_probe(d->name);
}

/* Name a host first: the whole network is seldom what a person needs. */
static void add_setting(struct buf *out, const struct gate_allow *row,
			enum advice_form form)
{
	bool is_all_net =
		strcmp(row->key, "net") == 0 && strcmp(row->value, "all") == 0;

	if (form == ADVICE_OPTION && is_all_net)
		buf_adds(out, "--net HOST, or all of it: --net all");
	else if (form == ADVICE_OPTION)
		buf_addf(out, "--%s %s", row->key, row->value);
	else {
		if (is_all_net)
			buf_adds(out, "sandbox = { net = [\"HOST\"] }, or all "
				      "of it: ");
		gate_allow_line(row, out);
	}
}

static void add_denial(struct buf *out, const struct gate_denial *d,
		       const struct advice_how *how)
{
	buf_addf(out, "denied: %s",
		 d->detail && *d->detail ? d->detail : d->name);
	/* a proxy cannot tell which program of the tree asked */
	if (strcmp(d->kind, "net") != 0) {
		buf_adds(out, " by ");
		/* the kernel keeps the first bytes of a program's name */
		scrub_cut(how->scrub, str_of(d->program ? d->program : "?"),
			  out);
	}
	buf_addf(out, ", %llu time%s", (unsigned long long)d->count,
		 d->count == 1 ? "" : "s");
	if (!d->allow.key)
		return;
	buf_adds(out, "; to allow it: ");
	add_setting(out, &d->allow, how->form);
}

struct strlist advice_denials(const struct gate_verdict *v,
			      const struct advice_how *how, struct arena *arena)
{
	struct strlist lines = {
		ARENA_ARRAY(arena, const char *, v->n_denials + 2), 0};

	for (size_t i = 0; i < v->n_denials; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		if (!is_worth_a_line(&v->denials[i], how))
			continue;
		add_denial(&line, &v->denials[i], how);
		lines.item[lines.n++] = arena_strdup(arena, buf_cstr(&line));
	}
	/* the kernel alone knows of a connection that was tried past it */
	if (v->proxy_unasked && how->failed)
		lines.item[lines.n++] = arena_printf(
			arena,
			"its network is a proxy (HTTP_PROXY, HTTPS_PROXY, "
			"ALL_PROXY), and nothing asked it; if the program "
			"tried to connect, it knows no proxy, and what there "
			"is for it is %s",
			how->form == ADVICE_OPTION ? "--net all"
						   : "net = \"all\"");
	return lines;
}
