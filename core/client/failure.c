#include "core/client/failure.h"

enum step_reason failure_of_spawn(const struct err *err)
{
	static const enum step_reason reasons[] = {
		[ERR_NOT_FOUND] = REASON_NO_COMMAND,
		[ERR_LEASH] = REASON_LEASH,
		[ERR_POLICY] = REASON_POLICY,
		[ERR_PROTECTION] = REASON_PROTECTION,
		[ERR_PIN] = REASON_PIN,
		[ERR_CREDENTIAL] = REASON_NO_CREDENTIAL,
		[ERR_REPLAY] = REASON_REPLAY,
		[ERR_DEADLINE] = REASON_DEADLINE_SPAWN,
		[ERR_SERVER_EXIT] = REASON_SERVER_EXIT,
	};

	return err->kind < ARRAY_LEN(reasons) && reasons[err->kind]
		       ? reasons[err->kind]
		       : REASON_TRANSPORT;
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
