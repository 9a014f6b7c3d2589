/*
 * An MCP server that speaks WebSocket (ws://, wss://), as some do outside of
 * the specification: one message of text each way, sub-protocol `mcp`.
 *
 * It begins as a request of HTTP, with the headers and credentials of one;
 * then it is a plain stream of messages, and the session is that of stdio.
 * Nothing is sent again when it breaks.
 *
 * source  RFC 6455
 */
#ifndef CORE_TRANSPORT_WEBSOCKET_H
#define CORE_TRANSPORT_WEBSOCKET_H

#include "core/transport/remote.h"

/* Does this URL ask for it? */
bool transport_is_websocket(const char *url) MUST_USE;

/*
 * As transport_remote(); `kind` is not read, http and https mean ws and wss.
 */
int transport_websocket(const struct remote_options *options,
			struct transport **ret, struct err *err) MUST_USE;

#endif
