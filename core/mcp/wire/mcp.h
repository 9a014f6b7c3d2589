/*
 * MCP requests and results as structs: what stands inside the envelopes of
 * core/mcp/wire/rpc.h, for both sides.
 *
 * Reading gives slices of the text that was read. Where a server's message
 * has to be repaired, the repair is made beside it and counted, and what was
 * right stays as it came. Nothing here sends or waits.
 */
#ifndef CORE_MCP_WIRE_MCP_H
#define CORE_MCP_WIRE_MCP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/base/str.h"

/* Codes of MCP beside those of JSON-RPC. */
#define MCP_HEADER_MISMATCH (-32020)
#define MCP_RESOURCE_NOT_FOUND (-32002) /* before 2026-07-28 */
#define MCP_MISSING_CAPABILITY (-32021)
#define MCP_UNSUPPORTED_VERSION (-32022)
#define MCP_REJECTED (-1) /* sampling, by the user */

enum mcp_era { MCP_ERA_INITIALIZE, MCP_ERA_PER_REQUEST };

enum mcp_structured {
	MCP_STRUCTURED_NONE,
	MCP_STRUCTURED_OBJECT,
	MCP_STRUCTURED_ANY,
};

struct mcp_revision {
	const char *date;
	enum mcp_era era;
	enum mcp_structured structured;
};

/* The rows of revisions.def, oldest first; static. */
const struct mcp_revision *mcp_revisions(size_t *ret_n) MUST_USE;
/* The row of a date, or NULL. */
const struct mcp_revision *mcp_revision_find(struct str date) MUST_USE;
/* The newest with the handshake; what a client asks for. */
const struct mcp_revision *mcp_revision_newest(void) MUST_USE;
/*
 * The newest revision with the handshake that is not newer than `date`, else
 * the oldest there is; for a peer that names something unknown.
 */
const struct mcp_revision *mcp_revision_nearest(struct str date) MUST_USE;
/* The newest of the other era, in which every request stands alone. */
const struct mcp_revision *mcp_revision_modern(void) MUST_USE;
/* "2024-11-05, 2025-03-26, ..." for messages; appended. */
void mcp_revision_list(struct buf *out);

/* Ranks of the levels of log messages: from 1, "debug", to 8, "emergency". */
#define MCP_LOG_INFO 2U
/* Rank of a level, JSON; 0: it is none. */
unsigned mcp_log_rank(struct str level) MUST_USE;
/* Static name of a rank from 1 on. */
const char *mcp_log_level(unsigned rank) MUST_USE;

/* Capabilities of the client; each is declared only when it can be met. */
struct mcp_declared {
	bool roots;
	bool elicit_form, elicit_url;
	bool sampling;
	bool tasks; /* results that come later; an extension since 2026 */
};
/* Write one object: the capabilities in the form of that revision. */
void mcp_write_declared(struct jw *w, const struct mcp_declared *d,
			const struct mcp_revision *revision);

/* One side of a handshake, as it introduces itself; of a session its server. */
struct mcp_peer {
	const struct mcp_revision *revision; /* NULL before it is agreed */
	struct str protocol;		     /* text, "" when absent */
	struct str capabilities;	     /* JSON object, "{}" when absent */
	struct str name, version;	     /* text, "" when absent */
	struct str instructions;	     /* of a server: text; untrusted */
	uint32_t oddities; /* missing or of another type: INI-5, RW-57 */
	bool is_assumed;   /* no handshake: it knows neither way to begin */
};
/* Words behind the revision: "", or that it is assumed. */
const char *mcp_peer_note(const struct mcp_peer *p) MUST_USE;
/*
 * Write the params of initialize, or its result, as one object.
 * key  "clientInfo" or "serverInfo"
 */
void mcp_write_peer(struct jw *w, const struct mcp_peer *p, const char *key);
/*
 * Read the params of initialize: any JSON value. Texts are decoded into the
 * arena and cut at 1 KiB, instructions at 64 KiB; `revision` stays NULL.
 *
 * errors  ERR_PEER  no protocolVersion
 */
int mcp_read_initialize(struct str params, struct arena *arena,
			struct mcp_peer *ret, struct err *err) MUST_USE;
/* Read the result of initialize, likewise. */
void mcp_read_initialize_result(struct str result, struct arena *arena,
				struct mcp_peer *ret);
/*
 * Read the result of server/discover. False: the member `supportedVersions` is
 * not an array of strings (PRB-4).
 *
 * ret_versions  that array, a slice of the result
 * source        MCP 2026-07-28, server/discover
 */
bool mcp_read_discovered(struct str result, struct arena *arena,
			 struct str *ret_versions, struct mcp_peer *ret)
	MUST_USE;

/* Hint for a program that prints one CallToolResult and is no MCP server. */
#define MCP_IS_PRINTED                                                     \
	"stdout was a CallToolResult, so this is not an MCP server: in a " \
	"routine leave out the key `tool`, and stdout is read as the result"
/*
 * Does the text look like a CallToolResult? A text that was cut is judged by
 * its beginning, so this may be wrong.
 */
bool mcp_looks_like_result(struct str text) MUST_USE;

/* tools/call: the result. */
struct mcp_tool_result {
	struct str content;    /* JSON array, as received if it was one */
	struct str structured; /* JSON; {NULL, 0} when there was none */
	bool is_error;
	uint32_t repairs; /* made to this result: TC-5, RW-57, RW-75, RW-76 */
	struct buf fixed; /* owned: a repaired content */
};

/*
 * Read a CallToolResult from any JSON value.
 *
 * revision  of the session: whether a null structuredContent is a value
 * ret       slices live as long as `value`; release with _release() also
 *           after an error
 * errors    ERR_RESULT  cannot be repaired: not an object, or
 *			  neither content nor structuredContent is in it, or
 *			  an element of content is not a block
 * source    MCP 2025-11-25, server/tools, "Tool Result"
 */
int mcp_read_tool_result(struct str value, const struct mcp_revision *revision,
			 struct mcp_tool_result *ret, struct err *err) MUST_USE;
void mcp_tool_result_release(struct mcp_tool_result *r);

#endif
