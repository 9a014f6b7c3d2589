/*
 * The server's side of an MCP session: bytes of the client in, bytes for it
 * out. Framing, envelopes and revisions are those of the client's side in
 * core/mcp; a session holds no descriptor, no process and no clock of its own.
 *
 *	struct server_session s;
 *	server_init(&s, &info, &env);
 *	for each portion that was read:
 *		server_feed(&s, bytes, &out);
 *		... write `out`, clear it ...
 *	server_end(&s, &out);
 *	server_release(&s);
 *
 * A session serves tools only and answers each request before it reads the next
 * one. Requests are carried out inside server_feed(), so a slow tool holds it
 * up.
 *
 * Both eras are spoken: a request whose `_meta` names a protocol version
 * stands alone (2026-07-28), whatever came before; the others need initialize
 * first. A client that has begun with the one may go on with the other.
 */
#ifndef CORE_SERVER_SERVER_H
#define CORE_SERVER_SERVER_H

#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/mcp/wire/frame.h"
#include "core/mcp/wire/mcp.h"
#include "core/server/brief.h"

enum server_state {
#define STATE(name, meaning) SERVER_##name,
#include "core/server/states.def"
#undef STATE
};

/* Time for which a client may keep the list of tools, milliseconds: the list
 * is the same for the life of the program. */
#define SERVER_TTL_MS 3600000

/* Description of the server for clients; all borrowed. */
struct server_info {
	const char *name, *version, *instructions;
	const struct tool *tools; /* ends with name NULL */
};

struct server_session {
	const struct server_info *info;	     /* borrowed */
	const struct tool_env *env;	     /* borrowed; for the tools */
	const struct mcp_revision *revision; /* of initialize; NULL before */
	enum server_state state;
	struct frame in;
};

void server_init(struct server_session *s, const struct server_info *info,
		 const struct tool_env *env);
void server_release(struct server_session *s);

/*
 * Take bytes of the client and append the answers to `out`.
 *
 * No input ends the session: text that is not a message is
 * answered with an error of JSON-RPC (id null where it cannot be read), and
 * notifications and responses are never answered. Where the input is cut
 * makes no difference.
 *
 * in      borrowed for the call
 * source  MCP 2025-11-25, basic/lifecycle, server/tools; JSON-RPC 2.0;
 *	   batches: MCP 2025-03-26, basic, "Batching"; requests that stand
 *	   alone: MCP 2026-07-28, basic, server/discover
 */
void server_feed(struct server_session *s, struct str in, struct buf *out);
/* The stream ended: answers what stood behind the last newline. */
void server_end(struct server_session *s, struct buf *out);

#endif
