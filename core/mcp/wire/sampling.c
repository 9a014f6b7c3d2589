#include "core/mcp/wire/sampling.h"

#include "core/base/scan.h"

static bool has_role(struct str object)
{
	struct str role = scan_some(object, "role");

	return scan_is(role, "user") || scan_is(role, "assistant");
}

/* ---- content ---- */

/* Types of blocks, and the texts that each must have. */
static const struct block_type {
	const char *name;
	const char *since; /* date of the revision */
	const char *texts[3];
} block_types[] = {
	{"text", "", {"text"}},
	{"image", "", {"data", "mimeType"}},
	{"audio", "2025-03-26", {"data", "mimeType"}},
};

static int check_block(struct str block, const char *date, enum err_kind kind,
		       struct err *err)
{
	struct str type = scan_some(block, "type");
	size_t i = 0;

	if (scan_is(type, "tool_use") || scan_is(type, "tool_result"))
		return err_set(err, kind,
			       "sampling with tools was not declared");
	while (i < ARRAY_LEN(block_types) &&
	       !scan_is(type, block_types[i].name))
		i++;
	if (i == ARRAY_LEN(block_types) ||
	    strcmp(date, block_types[i].since) < 0)
		return err_set(err, kind,
			       "content must be text, image or, since "
			       "2025-03-26, audio");
	for (const char *const *text = block_types[i].texts; *text; text++)
		if (!scan_text(block, *text).p)
			return err_set(err, kind, "content of type %s needs %s",
				       block_types[i].name, *text);
	return 0;
}

/* Check one block, or a list of them. */
static int check_content(struct str message, const char *date,
			 enum err_kind kind, struct err *err)
{
	struct str content;

	if (!scan_get(message, "content", &content))
		return err_set(err, kind, "content is missing");
	if (scan_type(content) != SCAN_ARRAY)
		return check_block(content, date, kind, err);
	if (strcmp(date, "2025-11-25") < 0)
		return err_set(err, kind,
			       "in MCP %s content is one block, not a list",
			       date);
	for (struct scan_iter it = scan_over(content); scan_next(&it);)
		if (check_block(it.value, date, kind, err) < 0)
			return -1;
	return 0;
}

/* ---- the request ---- */

int sampling_check_request(struct str params, struct err *err)
{
	struct str messages = scan_some(params, "messages");
	struct str most = scan_some(params, "maxTokens");
	int64_t n;

	if (!most.p || !scan_int64(most, &n) || n < 1)
		return err_set(
			err, ERR_PEER,
			"maxTokens is required: an integer of 1 or more");
	if (scan_some(params, "tools").p || scan_some(params, "toolChoice").p)
		return err_set(err, ERR_PEER,
			       "sampling with tools was not declared");
	if (!messages.p || scan_type(messages) != SCAN_ARRAY)
		return err_set(err, ERR_PEER, "messages is required: an array");
	for (struct scan_iter it = scan_over(messages); scan_next(&it);) {
		if (!has_role(it.value))
			return err_set(
				err, ERR_PEER,
				"a message needs a role: user or assistant");
		/* blocks of all revisions are handed on */
		if (check_content(it.value, "9999", ERR_PEER, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the result ---- */

int sampling_check_result(struct str result,
			  const struct mcp_revision *revision, struct err *err)
{
	struct str reason = scan_some(result, "stopReason");

	if (scan_type(result) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "the result must be an object");
	if (!has_role(result))
		return err_set(err, ERR_SYNTAX,
			       "role is required: user or assistant");
	if (!scan_text(result, "model").p)
		return err_set(err, ERR_SYNTAX, "model is required: a string");
	if (reason.p && scan_type(reason) != SCAN_STRING)
		return err_set(err, ERR_SYNTAX, "stopReason must be a string");
	return check_content(result, revision->date, ERR_SYNTAX, err);
}
