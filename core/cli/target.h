/*
 * The server that a command talks to: from the configuration (--server NAME),
 * a program of the command line (-- PROGRAM ARGS…), or a URL.
 *
 *	const struct option options_tools[] = {
 *	#include "core/cli/target_options.def"
 *		{0}};
 *
 *	struct target t;
 *	if (target_open(&t, &args, err) == 0)
 *		... target_ask(&t, &call, &arena, &answer, err) ...
 *	return target_close(&t, status, err);
 *
 * The server is ended with its whole tree by target_close(), also after an
 * error, which it prints; Ctrl-C is an orderly end as well. Everything that a
 * server sends and that is shown goes through target_show() or target_put():
 * secrets are taken out.
 */
#ifndef CORE_CLI_TARGET_H
#define CORE_CLI_TARGET_H

#include "core/base/arena.h"
#include "core/cli/args.h"
#include "core/cli/live.h"
#include "core/cli/key_options.h"
#include "core/mcp/wire/listing.h"
#include "core/client/asks.h"
#include "core/client/client.h"
#include "core/config/config.h"
#include "core/run/remotes.h"
#include "core/client/eras.h"

/*
 * Questions of a server, answered by a person on the terminal. Zeroed, with the
 * borrowed members set, it is ready.
 */
struct question;

struct ask_person {
	struct loop *loop;	   /* borrowed, as are the next three */
	const struct scrub *scrub; /* may be NULL */
	struct live *live;
	const char *server; /* name of the server, for the prompt */
	struct client *client;
	struct question *first; /* owned; the first one is being asked */
	struct loop_watch typed;
	struct buf line; /* begin of a typed line */
	bool ended;	 /* stdin has ended */
};

struct target {
	struct arena arena;
	struct config_file file;
	const struct config *config; /* NULL: there is none */
	const char *name;	     /* name of the server, for people */
	struct gate_policy policy; /* of the server; commands of references get
				      that of the configuration */
	struct gate_request request; /* request of a program */
	const char *server;	     /* name in the configuration */
	struct server keys; /* of that server, or by default; options over */
	const char *url;    /* URL of a remote server; NULL: a program */
	struct remotes *remotes; /* NULL: none */
	struct remote_server *remote;
	struct env env;
	const char *const *given_env; /* --env; goes over the server's */
	struct asks asks;
	struct ask_person person;
	struct session_options session;
	struct loop loop;
	bool has_loop;
	struct gate *gate;
	struct scrub *scrub;
	struct eras *eras;
	struct credentials *credentials;
	struct client *client;
	struct live live;
	struct loop_timer tick;
	bool json;	     /* --json */
	bool has_many_calls; /* --batch */
	bool strict;	     /* --strict, or the server's key */
	bool has_failed;     /* the failure has been printed */
	bool has_hinted;     /* target_hint() has said its line */
};

/*
 * Read the options, find the server, start it and shake hands.
 *
 * errors  ERR_USAGE  no target, or two; everything else that can fail
 */
int target_open(struct target *t, const struct args *args, struct err *err)
	MUST_USE;

/*
 * Like target_open(), without starting the server.
 *
 * server  name in the configuration; NULL: by the options
 */
int target_prepare(struct target *t, const struct args *args,
		   const char *server, struct err *err) MUST_USE;

/*
 * End the server, print the error, release everything.
 *
 * status  status of the command, or -1 with err
 * returns the exit status, or -1 with an err that main.c prints
 */
int target_close(struct target *t, int status, struct err *err) MUST_USE;

/* Print the forms of a target, and the presets, on stdout; for --help. */
void target_help(void);

/* ---- one request ---- */

enum target_outcome {
	TARGET_RESULT,
	TARGET_ERROR,  /* the server's own */
	TARGET_FAILED, /* no answer arrived */
};

struct target_answer {
	enum target_outcome outcome;
	struct str result; /* JSON */
	int64_t code;
	struct str
		message; /* message of the server's error, decoded; else ours */
	struct str data; /* JSON; {NULL, 0} without */
	const char *kind; /* "rpc_error", "deadline_call", … */
	uint64_t line;	  /* line of the --batch file; 0 without */
};

/*
 * Ask, wait for the answer; on the terminal a live line says `what`.
 *
 * call   on_event and arg are set here
 * arena  where the answer lives
 * errors ERR_PEER, ERR_SYS  it could not be asked
 */
int target_ask(struct target *t, struct client_call *call, const char *what,
	       struct arena *arena, struct target_answer *ret, struct err *err)
	MUST_USE;

/*
 * Like target_ask(), but an answer without a result is an error, printed with
 * its details.
 */
int target_result(struct target *t, struct client_call *call, const char *what,
		  struct arena *arena, struct str *ret, struct err *err)
	MUST_USE;

/*
 * List all pages; warnings go to stderr. Errors as above.
 */
int target_list(struct target *t, enum listing_kind kind, struct listing *ret,
		struct err *err) MUST_USE;
/*
 * Like target_list(), for a command that can do without the list: returns 1,
 * with a warning on stderr, when the server does not give it.
 */
int target_try_list(struct target *t, enum listing_kind kind,
		    struct listing *ret, struct err *err) MUST_USE;

/*
 * "NAME has no tool X; did you mean Y?" Of tools, the message names the options
 * that make some servers offer more of them.
 * errors  ERR_UNKNOWN_TOOL or ERR_UNKNOWN_PROMPT by the listing, always
 */
int target_unknown(const struct target *t, const struct listing *l,
		   const char *name, struct err *err);

/*
 * {"error":{kind, message, code, data, line, stderr}} without newline, the
 * last four where they exist; appended. stderr is the end of the server's
 * stderr when it gave no answer.
 */
void target_write_error(const struct target *t, const struct target_answer *a,
			struct buf *out);
/* Print it on stderr, and with --json as a document on stdout as well. */
void target_print_error(struct target *t, const struct target_answer *a);
/* "SIGINT" and so on; static. */
const char *target_signal_name(int signal) MUST_USE;
/* Set the error of a command that a signal ended; returns -1. */
int target_interrupted(const struct target *t, struct err *err);
/* One sentence about an answer; appended. */
void target_say_error(const struct target *t, const struct target_answer *a,
		      struct buf *out);

/*
 * Print one line with the grants of the sandbox and the option for more, when
 * the text of a failing server or tool names a refused or missing file. Printed
 * once, and not with --quiet.
 *
 * said  the text of its error, or the end of its stderr
 */
void target_hint(struct target *t, struct str said);
/* Like target_hint(), for the texts of a CallToolResult. content: JSON array */
void target_hint_content(struct target *t, struct str content);

/* ---- showing ---- */

/* Report whether a person can answer: stdin and stderr are terminals. */
bool ask_person_is_there(void) MUST_USE;

/* Write one JSON document and a newline to stdout, without secrets. */
int target_put_json(struct target *t, struct str json, struct err *err)
	MUST_USE;
/*
 * Write text to stdout, without secrets; on a terminal controls are made
 * visible. A newline is added where it does not end in one.
 */
int target_put_text(struct target *t, struct str text, struct err *err)
	MUST_USE;
/* Like target_put_text(), into `out` and without a newline. */
void target_show(const struct target *t, struct str text, bool keep_newlines,
		 struct buf *out);
/* Write to stdout. errors ERR_SYS, EPIPE among them */
int target_write(struct str bytes, struct err *err) MUST_USE;

/* "@FILE", "@-" (stdin) or the text itself; appended. errors ERR_USAGE */
int target_read_value(const char *text, struct buf *out, struct err *err)
	MUST_USE;

#endif
