/*
 * Header fields of a message in Streamable HTTP of 2026-07-28: its name, and
 * arguments that a tool's schema marks with x-mcp-header. Pure.
 *
 *	http_params_read(tool, &arena, &params, err)	once for each tool
 *	for each of params: http_param_value(&params.item[i], arguments, &out)
 *		-> "Mcp-Param-" + item[i].header, out
 *	http_name_value(method, params, &out)		-> "Mcp-Name"
 * For a server: http_decode(), http_params_differ().
 *
 * Values are encoded where they need it: what is written is safe in a field.
 *
 * source  MCP 2026-07-28, basic/transports/streamable-http, server/tools
 */
#ifndef CORE_MCP_WIRE_HTTP_FIELDS_H
#define CORE_MCP_WIRE_HTTP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/*
 * Append a text as the value of a field: as it is, or as =?base64?…?= where
 * it would not survive (XH-5, XH-6).
 */
void http_encode(struct str text, struct buf *out);
/* Append the text of a value that was encoded, or was not. False: its Base64 is
   broken. */
bool http_decode(struct str value, struct buf *out) MUST_USE;

/*
 * Append the value of Mcp-Name, encoded: the name of a tool or prompt, the URI
 * of a resource, the id of a task. False: the request has no name (HM-3).
 *
 * params  proved JSON
 */
bool http_name_value(const char *method, struct str params, struct buf *out)
	MUST_USE;

/* An argument that goes into a field of its own. */
struct http_param {
	struct str header; /* "Region": behind "Mcp-Param-" */
	struct str *path;  /* keys of `properties`, decoded */
	size_t n_path;
};

struct http_params {
	struct http_param *item;
	size_t n;
};

/*
 * The annotated properties of a tool.
 *
 * tool    its object of tools/list; proved JSON
 * arena   where all of ret goes
 * errors  ERR_PEER  an annotation breaks a rule, which one, and where: the
 *		     tool must not be used over HTTP (XH-2)
 */
int http_params_read(struct str tool, struct arena *arena,
		     struct http_params *ret, struct err *err) MUST_USE;

/*
 * Append the value of a parameter in the arguments of a call, encoded. False:
 * the call has none, and gets no field (XH-4, XH-5, XH-8).
 */
bool http_param_value(const struct http_param *p, struct str arguments,
		      struct buf *out) MUST_USE;

/*
 * The field of a request that does not say what its arguments do; NULL: all
 * that the tool asks for agree.
 *
 * tool   as for http_params_read(); one that breaks a rule asks for none
 * field  value of a field of the request; NULL: it has none
 * arena  of the name that is returned
 */
const char *http_params_differ(struct str tool, struct str arguments,
			       const char *(*field)(const void *arg,
						    const char *name),
			       const void *arg, struct arena *arena) MUST_USE;

#endif
