/*
 * The server that a command talks to: from the configuration (--server NAME),
 * a program of the command line (-- PROGRAM ARGS…), or a URL.
 *
 *	const struct option options_tools[] = {{.letter = OPTIONS_TARGET}};
 *
 *	static int work(struct target *t, void *arg, struct err *err)
 *	{
 *		... target_result(t, &call, "asking", &result, err) ...
 *	}
 *
 *	return target_run(args, TARGET_START, work, arg, err);
 *
 * The server is ended with its whole tree, also after an error, which is
 * printed; Ctrl-C is an orderly end as well. Everything that a server sends and
 * that is shown goes through target_show() or target_put(): secrets are taken
 * out.
 */
#ifndef CORE_CLI_TARGET_H
#define CORE_CLI_TARGET_H

#include "core/base/arena.h"
#include "core/base/outfile.h"
#include "core/cli/args.h"
#include "core/cli/key_options.h"
#include "core/cli/live.h"
#include "core/cli/put.h"
#include "core/client/asks.h"
#include "core/client/backoff.h"
#include "core/client/client.h"
#include "core/client/eras.h"
#include "core/config/config.h"
#include "core/mcp/wire/listing.h"
#include "core/run/credentials.h"
#include "core/run/remotes.h"

struct question;

/*
 * Questions of a server, answered by a person on the terminal. Zeroed, with the
 * borrowed members set, it is ready.
 */
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
	bool is_held;	 /* another question has the terminal */
};

/* Files of --save. */
struct saved_files {
	const char *dir; /* NULL: nothing is saved */
	struct outfolder folder;
	size_t max;	 /* bytes of one file; LIMIT_MESSAGE_BYTES_MAX */
	struct buf said; /* their paths, a line each */
	bool failed;	 /* a file could not be saved; printed on stderr */
};

struct target {
	struct arena arena;
	const struct args *args; /* borrowed */
	struct config_file file;
	const struct config *config; /* NULL: there is none */
	const char *name;	     /* name of the server, for people */
	struct gate_policy policy; /* of the server; commands of references get
				      that of the configuration */
	struct gate_request request; /* request of a program */
	const char *server;	     /* name in the configuration */
	const char *tool;   /* first word, without the server; NULL: none */
	struct server keys; /* of that server, or by default; options over */
	const char *url;    /* URL of a remote server; NULL: a program */
	struct remotes *remotes; /* NULL: none */
	struct remote_server *remote;
	struct env env;
	const char *const *given_env; /* --env; goes over the server's */
	struct asks asks;
	struct ask_person person;
	struct saved_files files;
	struct session_options session;
	struct loop loop;
	bool has_loop;
	struct gate *gate;
	struct scrub *scrub;
	struct eras *eras;
	struct credentials *credentials;
	struct client *client;
	struct live live;
	bool starts;	     /* TARGET_START */
	bool is_survey;	     /* of target_survey() */
	bool is_listing;     /* no person answers questions of the server */
	bool is_off;	     /* switched off: nothing is started */
	bool catches;	     /* an error is the caller's to print */
	const char *failure; /* with `catches`: what would have been printed */
	bool json;	     /* --json */
	bool strict;	     /* --strict, or the server's key */
	bool has_failed;     /* the failure has been printed */
	struct str said;     /* words of the first failure that was a refusal */
	struct str asked;    /* arguments of the call, in `arena` */
};

enum target_how {
	TARGET_START,
	TARGET_TOOL,  /* likewise; without a target, the first word names the
			 server, too: core/cli/route.h */
	TARGET_CATCH, /* as TARGET_START; an error is the caller's to print */
	TARGET_LIST,  /* as TARGET_START, and no person is there */
	TARGET_FIND, /* nothing is started; the second word may name a server */
	TARGET_CALLS = 8, /* beside one of these: a tool is called, and `work`
			     comes, with is_off, to note a call that is off */
};

/*
 * Read the options, find the server, start it, shake hands, `work`, end it,
 * print the error and release everything. The folder of --save is opened before
 * the server starts, which might write there.
 *
 * work     returns the status of the command, or -1 with err
 * returns  the exit status, or -1 with an err that main.c prints
 * errors   ERR_USAGE  no target, or two; everything else that can fail
 */
int target_run(const struct args *args, enum target_how how,
	       int (*work)(struct target *t, void *arg, struct err *err),
	       void *arg, struct err *err) MUST_USE;

/* Does the command line name a target? */
bool target_is_named(const struct args *args) MUST_USE;

/*
 * Like target_run(), for one of several servers that a command asks in turn:
 * everything is declared that a server may make its lists depend on, its
 * questions are refused, and an error is the caller's to print.
 *
 * server   name in the configuration
 * returns  what `work` returns, 128 + N after signal N, or -1 with err
 */
int target_survey(const struct args *args, const char *server,
		  int (*work)(struct target *t, void *arg, struct err *err),
		  void *arg, struct err *err) MUST_USE;

/*
 * Start a server again that ended by itself: wait for the end of what is left
 * and for its pause, then shake hands.
 *
 * b        counts its ends
 * returns  1: a signal came meanwhile; -1 with err: it did not start
 */
int target_again(struct target *t, struct backoff *b, struct err *err) MUST_USE;

/*
 * Note in the catalogue that a server of the configuration was reached, or why
 * not; not after a signal, nor of an error that is not the server's.
 *
 * why  NULL: it was reached
 */
void target_note(struct target *t, const struct err *why);

/* Paths that the program of the target may write; of a URL none. */
const struct strlist *target_grants(const struct target *t) MUST_USE;

/*
 * Sentence by which a call of a listed tool is denied, or with *ret_asks set a
 * person is asked; NULL: neither. It lives in t->arena.
 */
const char *target_denial(struct target *t, struct str item, bool *ret_asks)
	MUST_USE;

/* Print the forms of a target, and the recipes, on stdout; for --help. */
void target_help(const struct args *args);

/* Report whether a person can answer: stdin and stderr are terminals. */
bool ask_person_is_there(void) MUST_USE;

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
 * ret    lives in t->arena
 * errors ERR_PEER, ERR_SYS  it could not be asked
 */
int target_ask(struct target *t, struct client_call *call, const char *what,
	       struct target_answer *ret, struct err *err) MUST_USE;

/*
 * Like target_ask(), but an answer without a result is an error, printed with
 * its details.
 */
int target_result(struct target *t, struct client_call *call, const char *what,
		  struct str *ret, struct err *err) MUST_USE;

/*
 * List all pages; warnings go to stderr.
 *
 * is_needed  false: a command that can do without the list gets 1, with a
 *	      warning on stderr, when the server does not give it
 * errors     as above
 */
int target_list(struct target *t, enum listing_kind kind, bool is_needed,
		struct listing *ret, struct err *err) MUST_USE;

/* The time, as in the catalogue; in t->arena. */
const char *target_now(struct target *t) MUST_USE;

/*
 * "NAME has no tool X; did you mean Y?" Of tools, the message names the options
 * that make some servers offer more of them.
 * errors  ERR_UNKNOWN_TOOL or ERR_UNKNOWN_PROMPT by the listing, always
 */
int target_unknown(const struct target *t, const struct listing *l,
		   const char *name, struct err *err);

/*
 * Append {"error":{kind, message, code, data, line, stderr}} of CLIENT_ERROR or
 * CLIENT_FAILED without newline, the last four where they exist, and hint at
 * the sandbox. stderr is the end of the server's stderr when it gave no answer.
 *
 * line  of the --batch file
 */
void target_write_failure(struct target *t, const struct client_event *e,
			  uint64_t line, struct buf *out);
/* Print an error on stderr, and with --json as a document on stdout as well. */
void target_print_error(struct target *t, const struct target_answer *a);
/* Set the error of a command that a signal ended; returns -1. */
int target_interrupted(const struct target *t, struct err *err);
/* Let questions of the server wait, while we ask ourselves; one that is open is
   waited for. */
void target_hold_questions(struct target *t, bool holds);

/*
 * Keep the first text of a failing server or tool that names a refused or
 * missing file, for the advice at the end.
 *
 * said  the text of its error, or the end of its stderr
 */
void target_hint(struct target *t, struct str said);

/* ---- showing ---- */

/*
 * Write one document to stdout, without secrets; on a terminal controls are
 * made visible. A newline is added to JSON, and to text that does not end in
 * one.
 */
int target_put(struct target *t, struct str text, enum put_form form,
	       struct err *err) MUST_USE;
/*
 * Print blocks of a result on stdout: text as it is, others as a line each.
 *
 * content  JSON array
 * raw      control characters also reach a terminal
 */
int target_put_content(struct target *t, struct str content, bool raw,
		       struct err *err) MUST_USE;
/* Like target_put() of text, into `out` and without a newline. */
void target_show(const struct target *t, struct str text, bool keep_newlines,
		 struct buf *out);
/* Write to stdout. errors ERR_SYS, EPIPE among them */
int target_write(struct target *t, struct str bytes, struct err *err) MUST_USE;

/*
 * Save the bytes that a block carries, if it carries any. The name is made
 * from the bytes; a file of that name that holds them already is taken for
 * it, anything else there is left alone and said.
 *
 * json  a block; or with `item` an item of `contents` of resources/read
 */
void target_save(struct target *t, struct str json, bool item);
/* Save all blocks of an array. */
void target_save_all(struct target *t, struct str blocks);
/* Print the paths of saved files: on stdout, or as a note on stderr. */
int target_say_saved(struct target *t, bool on_stderr, struct err *err)
	MUST_USE;

/* "@FILE", "@-" (stdin) or the text itself; appended. errors ERR_USAGE */
int target_read_value(const char *text, struct buf *out, struct err *err)
	MUST_USE;

#endif
