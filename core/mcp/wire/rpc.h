/*
 * JSON-RPC 2.0 envelopes and ids, for both sides of a conversation.
 *
 * Reading: rpc_read() classifies one proved object by its members and gives
 * slices of it. Nothing is copied, numbers and strings stay as they came.
 *
 *	struct str value;
 *	struct rpc_message m;
 *	if (scan_document(line, NULL, &value, err) < 0)
 *		return -1;
 *	switch (rpc_read(value, &m)) {
 *	case RPC_REQUEST:
 *		if (scan_is(m.method, "ping"))
 *			rpc_write_result(out, &m.id, STR("{}"));
 *
 * Writing: one message at the end of a buffer, on one line that ends in a
 * newline, whatever white space the raw slices in it had.
 *
 *	struct rpc_writer w;
 *	rpc_begin_request(&w, out, 1, "tools/call");
 *	jw_key(&w.jw, "params"); jw_object(&w.jw); ... jw_end(&w.jw);
 *	rpc_end(&w);
 *
 * Batches (arrays) are the caller's: it walks the elements with scan_next().
 */
#ifndef CORE_MCP_WIRE_RPC_H
#define CORE_MCP_WIRE_RPC_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/base/str.h"

/* The codes of JSON-RPC 2.0; others are read and passed on as numbers. */
#define RPC_PARSE_ERROR (-32700)
#define RPC_INVALID_REQUEST (-32600)
#define RPC_METHOD_NOT_FOUND (-32601)
#define RPC_INVALID_PARAMS (-32602)
#define RPC_INTERNAL_ERROR (-32603)

enum rpc_type {
	RPC_INVALID,	  /* an object, but no message of JSON-RPC */
	RPC_REQUEST,	  /* method and id */
	RPC_NOTIFICATION, /* method alone; an id of null counts as none */
	RPC_RESULT,	  /* id and result, error absent or null */
	RPC_ERROR,	  /* error; the id may be absent or null */
};

enum rpc_id_type {
	RPC_ID_NONE,   /* absent or null */
	RPC_ID_INT,    /* a number that is an integer within 64 bits */
	RPC_ID_STRING, /* any string, "" too */
	RPC_ID_OTHER,  /* fraction, huge number, true, object, ... */
};

struct rpc_id {
	enum rpc_id_type type;
	int64_t number; /* RPC_ID_INT only */
	struct str raw; /* as it came, for echoing; "null" for RPC_ID_NONE */
};

enum rpc_version {
	RPC_VERSION_OK,	    /* "jsonrpc":"2.0" */
	RPC_VERSION_OTHER,  /* a jsonrpc member with another value */
	RPC_VERSION_ABSENT, /* no jsonrpc member */
};

struct rpc_message {
	enum rpc_type type;
	enum rpc_version version;
	struct rpc_id id;
	struct str whole;  /* the object */
	struct str method; /* JSON string with its quotes: use scan_is() */
	struct str params; /* "{}" when absent, null or an empty array */
	struct str result; /* any JSON; RPC_RESULT only */
	/* RPC_ERROR only: */
	int64_t code;	    /* RPC_INTERNAL_ERROR when it was not an integer */
	struct str message; /* JSON string with quotes, or {NULL, 0} */
	struct str data;    /* any JSON; {NULL, 0} when absent */
	struct str raw_error; /* the error member as it came */
	/* Oddities that are tolerated (RW-55, RW-56). */
	bool both;	/* a result and an error: it counts as the error */
	bool bad_error; /* code or message missing or of another type */
};

/*
 * Classify one object that scan_document() or scan_value() has proved.
 *
 * Decides by members, never by their order; the last duplicate counts,
 * unknown members are ignored.
 *
 * object   anything else than an object is RPC_INVALID
 * returns  ret->type; slices live as long as `object`
 * source   JSON-RPC 2.0; MCP 2025-11-25, basic, "Messages"
 */
enum rpc_type rpc_read(struct str object, struct rpc_message *ret);
/* Classify an object whose members were noted; NULL: they were not. */
enum rpc_type rpc_read_noted(struct str object,
			     const struct scan_members *members,
			     struct rpc_message *ret);

/* Read an id from its slice; also for progress tokens. */
struct rpc_id rpc_read_id(struct str raw) MUST_USE;

/*
 * Read the number that an id stands for: an integer, or a string of exactly its
 * decimal digits. False: it answers no request of ours (ID-4).
 */
bool rpc_id_number(const struct rpc_id *id, uint64_t *ret) MUST_USE;

struct rpc_writer {
	struct jw jw;	 /* write members or the value here */
	struct buf *out; /* borrowed */
	size_t from;	 /* where the message begins in out */
};

/*
 * Begin a message at the end of `out`. For a request and a notification the
 * object is open behind "method": the caller may write the key "params" and
 * one value. For a result the caller writes exactly one value. rpc_end()
 * closes the message and ends its line.
 */
void rpc_begin_request(struct rpc_writer *w, struct buf *out, uint64_t id,
		       const char *method);
void rpc_begin_notification(struct rpc_writer *w, struct buf *out,
			    const char *method);
void rpc_begin_result(struct rpc_writer *w, struct buf *out,
		      const struct rpc_id *id);
void rpc_end(struct rpc_writer *w);

/* Whole messages. `id` may be NULL (null); `data` {NULL, 0} is left out. */
void rpc_write_result(struct buf *out, const struct rpc_id *id,
		      struct str result);
void rpc_write_error(struct buf *out, const struct rpc_id *id, int64_t code,
		     const char *message, struct str data);

#endif
