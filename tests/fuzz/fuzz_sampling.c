/*
 * The same text as what a server asks for and as what a program answers, in
 * every revision. What is right in one stays right in every later one, and
 * what is accepted has what sampling cannot do without.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/base/scan.h"
#include "core/mcp/wire/sampling.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void check_result(struct str v)
{
	size_t n;
	const struct mcp_revision *all = mcp_revisions(&n);
	bool was_right = false;

	for (size_t i = 0; i < n; i++) {
		struct err err = ERR_INIT;
		bool right = sampling_check_result(v, &all[i], &err) == 0;
		struct str member;

		expect(right || !was_right);
		expect(!right || (scan_get(v, "model", &member) &&
				  scan_type(member) == SCAN_STRING &&
				  scan_get(v, "content", &member)));
		was_right = right;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str v, member;
	struct err err = ERR_INIT;

	if (scan_document((struct str){(const char *)data, size}, NULL, &v,
			  &err) < 0)
		return 0;
	if (sampling_check_request(v, &err) == 0)
		expect(scan_get(v, "messages", &member) &&
		       scan_type(member) == SCAN_ARRAY &&
		       !scan_get_some(v, "tools", &member));
	check_result(v);
	return 0;
}
