#include "core/client/digest.h"

#include <string.h>

static void add_bytes(struct sha256 *sum, const void *bytes, size_t n)
{
	uint64_t length = n;

	/* so that no two lists run together */
	sha256_add(sum, &length, sizeof(length));
	sha256_add(sum, bytes, n);
}

void digest_text(struct sha256 *sum, const char *text)
{
	if (text)
		add_bytes(sum, text, strlen(text));
	else
		add_bytes(sum, "\0none", 5);
}

void digest_number(struct sha256 *sum, uint64_t n)
{
	sha256_add(sum, &n, sizeof(n));
}

static void add_list(struct sha256 *sum, const struct strlist *list)
{
	digest_number(sum, list->n);
	for (size_t i = 0; i < list->n; i++)
		digest_text(sum, list->item[i]);
}

void digest_vector(struct sha256 *sum, const char *const *vector)
{
	size_t n = 0;

	while (vector && vector[n])
		n++;
	digest_number(sum, n);
	for (size_t i = 0; i < n; i++)
		digest_text(sum, vector[i]);
}

static void add_rule(struct sha256 *sum, const struct gate_program_rule *r)
{
	digest_text(sum, r->name);
	digest_number(sum, r->has_args);
	add_list(sum, &r->args);
	add_list(sum, &r->prefix);
	add_list(sum, &r->deny);
	digest_text(sum, r->package);
	digest_text(sum, r->sha256);
}

void digest_policy(struct sha256 *sum, const struct gate_policy *p)
{
	add_list(sum, &p->read);
	add_list(sum, &p->write);
	add_list(sum, &p->exec);
	add_list(sum, &p->net);
	digest_text(sum, p->profile);
	digest_number(sum, p->memory_bytes);
	digest_number(sum, p->file_size_bytes);
	digest_number(sum, p->processes);
	digest_number(sum, p->files);
	digest_number(sum, p->cpu_seconds);
	digest_number(sum, p->tmp_shared);
	digest_number(sum, p->isolate);
	add_list(sum, &p->require);
	add_list(sum, &p->syscalls);
	digest_text(sum, p->user);
	digest_number(sum, p->n_programs);
	for (size_t i = 0; i < p->n_programs; i++)
		add_rule(sum, &p->programs[i]);
	digest_number(sum, p->record_exec);
}
