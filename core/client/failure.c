#include "core/client/failure.h"

enum step_reason failure_of_spawn(const struct err *err)
{
	switch (err->kind) {
	case ERR_NOT_FOUND:
		return REASON_NO_COMMAND;
	case ERR_LEASH:
		return REASON_LEASH;
	case ERR_POLICY:
		return REASON_POLICY;
	case ERR_PROTECTION:
		return REASON_PROTECTION;
	case ERR_PIN:
		return REASON_PIN;
	case ERR_CREDENTIAL:
		return REASON_NO_CREDENTIAL;
	case ERR_REPLAY:
		return REASON_REPLAY;
	case ERR_DEADLINE:
		return REASON_DEADLINE_SPAWN;
	case ERR_SERVER_EXIT:
		return REASON_SERVER_EXIT;
	default:
		return REASON_TRANSPORT;
	}
}

enum step_reason failure_of_event(const struct session_event *e,
				  const char *method)
{
	switch (e->failure) {
	case SESSION_FAIL_BAD_MESSAGE:
	case SESSION_FAIL_FRAMING:
		return REASON_BAD_MESSAGE;
	case SESSION_FAIL_BAD_RESULT:
		return REASON_NOT_CALL_TOOL_RESULT;
	case SESSION_FAIL_HANDSHAKE:
		return REASON_HANDSHAKE;
	case SESSION_FAIL_LIMIT:
		return REASON_OUTPUT_LIMIT;
	case SESSION_FAIL_TIMEOUT:
		return e->phase == SESSION_PHASE_INITIALIZE
			       ? REASON_DEADLINE_INITIALIZE
		       : method && str_ends(str_of(method), "/list")
			       ? REASON_DEADLINE_LIST
			       : REASON_DEADLINE_CALL;
	case SESSION_FAIL_EOF:
		return REASON_SERVER_EXIT;
	case SESSION_FAIL_QUEUE:
	case SESSION_FAIL_TRANSPORT:
		return REASON_TRANSPORT;
	case SESSION_FAIL_AUTH:
		return REASON_AUTH;
	case SESSION_FAIL_LEASH:
		return REASON_LEASH;
	case SESSION_FAIL_REPLAY:
		return REASON_REPLAY;
	}
	return REASON_INTERNAL;
}
