#include "core/mcp/wire/sampling.h"

#include <string.h>

#include "core/base/scan.h"

static bool is_text(struct str object, const char *name)
{
	struct str v;

	return scan_get(object, name, &v) && scan_type(v) == SCAN_STRING;
}

static bool has_role(struct str object)
{
	struct str role;

	return scan_get(object, "role", &role) &&
	       (scan_is(role, "user") || scan_is(role, "assistant"));
}

/* ---- content ---- */

/* Types of blocks, and the texts that each must have. */
static const struct block_type {
	const char *name;
	const char *since; /* date of the revision */
	const char *texts[2];
} block_types[] = {
	{"text", "", {"text", NULL}},
	{"image", "", {"data", "mimeType"}},
	{"audio", "2025-03-26", {"data", "mimeType"}},
};

static const struct block_type *find_type(struct str block)
{
	struct str type;

	if (!scan_get(block, "type", &type))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(block_types); i++)
		if (scan_is(type, block_types[i].name))
			return &block_types[i];
	return NULL;
}

static bool uses_tools(struct str block)
{
	struct str type;

	return scan_get(block, "type", &type) &&
	       (scan_is(type, "tool_use") || scan_is(type, "tool_result"));
}

static int check_block(struct str block, const char *date, enum err_kind kind,
		       struct err *err)
{
	const struct block_type *type = find_type(block);

	if (uses_tools(block))
		return err_set(err, kind,
			       "sampling with tools was not declared");
	if (!type || strcmp(date, type->since) < 0)
		return err_set(err, kind,
			       "content must be text, image or, since "
			       "2025-03-26, audio");
	for (size_t i = 0; i < ARRAY_LEN(type->texts); i++)
		if (type->texts[i] && !is_text(block, type->texts[i]))
			return err_set(err, kind, "content of type %s needs %s",
				       type->name, type->texts[i]);
	return 0;
}

/* Check one block, or a list of them. */
static int check_content(struct str message, const char *date,
			 enum err_kind kind, struct err *err)
{
	struct scan_iter it;
	struct str content;

	if (!scan_get(message, "content", &content))
		return err_set(err, kind, "content is missing");
	if (scan_type(content) != SCAN_ARRAY)
		return check_block(content, date, kind, err);
	if (strcmp(date, "2025-11-25") < 0)
		return err_set(err, kind,
			       "in MCP %s content is one block, not a list",
			       date);
	scan_iter_init(&it, content);
	while (scan_next(&it))
		if (check_block(it.value, date, kind, err) < 0)
			return -1;
	return 0;
}

/* ---- the request ---- */

static int check_message(struct str message, struct err *err)
{
	if (!has_role(message))
		return err_set(err, ERR_PEER,
			       "a message needs a role: user or assistant");
	/* blocks of all revisions are handed on */
	return check_content(message, "9999", ERR_PEER, err);
}

int sampling_check_request(struct str params, struct err *err)
{
	struct str messages, most, tools;
	struct scan_iter it;
	int64_t n;

	if (!scan_get(params, "maxTokens", &most) || !scan_int64(most, &n) ||
	    n < 1)
		return err_set(
			err, ERR_PEER,
			"maxTokens is required: an integer of 1 or more");
	if (scan_get_some(params, "tools", &tools) ||
	    scan_get_some(params, "toolChoice", &tools))
		return err_set(err, ERR_PEER,
			       "sampling with tools was not declared");
	if (!scan_get(params, "messages", &messages) ||
	    scan_type(messages) != SCAN_ARRAY)
		return err_set(err, ERR_PEER, "messages is required: an array");
	scan_iter_init(&it, messages);
	while (scan_next(&it))
		if (check_message(it.value, err) < 0)
			return -1;
	return 0;
}

/* ---- the result ---- */

int sampling_check_result(struct str result,
			  const struct mcp_revision *revision, struct err *err)
{
	struct str reason;

	if (scan_type(result) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "the result must be an object");
	if (!has_role(result))
		return err_set(err, ERR_SYNTAX,
			       "role is required: user or assistant");
	if (!is_text(result, "model"))
		return err_set(err, ERR_SYNTAX, "model is required: a string");
	if (scan_get_some(result, "stopReason", &reason) &&
	    scan_type(reason) != SCAN_STRING)
		return err_set(err, ERR_SYNTAX, "stopReason must be a string");
	return check_content(result, revision->date, ERR_SYNTAX, err);
}
