/*
 * The typed model of a configuration, and its loader.
 *
 * routine_load() turns a value tree (core/toml) into the structures below by
 * the rows of keys.def and its like; it collects all errors instead of stopping
 * at the first. Paths and ${VAR} are still as written: core/config/config.c
 * expands them. Everything lives in one arena and is never changed afterwards.
 */
#ifndef CORE_CONFIG_ROUTINE_H
#define CORE_CONFIG_ROUTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/config/findings.h"
#include "core/config/retry.h"
#include "core/secret/secret.h"
#include "core/toml/toml.h"
#include "gate/gate.h"

/* A credential reference: where a value comes from, never the value. */
struct env_ref {
	const char *name; /* of the variable of the child */
	enum secret_source source;
	const char *from; /* variable, path, or command line */
	uint32_t line, col;
};

/* A variable with a plain value, which is no secret. */
struct env_plain {
	const char *name, *value;
	bool is_secret; /* looks like a credential, and --lax took it */
};

struct env_refs {
	struct env_ref *item;
	size_t n;
	struct env_plain *plain;
	size_t n_plain;
};

/* HTTP headers of a remote server, `K = "V"` or `K = { file = "~/path" }`. */
struct header {
	const char *name, *value;
	bool is_reference; /* a variable is in the value */
};

struct headers {
	struct header *item;
	size_t n;
	struct env_ref *ref; /* credentials, by the names of their headers */
	size_t n_refs;
};

/* OAuth of a remote server; texts, and .from of references, are NULL where
   nothing is said. */
struct server_auth {
#define AUTH_TEXT(key, ...) const char *key;
#define AUTH_OWN(key, ...) const char *key;
#define AUTH_WORD(key, ...) const char *key;
#define AUTH_FLAG(key, ...) bool key;
#define AUTH_SECRET(key, ...) struct env_ref key;
#include "core/auth/auth.def"
	uint32_t line, col; /* of the table; 0 when there is none */
};

/* Types in C of the keys of a server; NULL, and .from of a reference NULL,
   where nothing is said. */
#define SERVER_TYPE_STRING const char *
#define SERVER_TYPE_WORD const char *
#define SERVER_TYPE_PROGRAM const char *
#define SERVER_TYPE_PATH const char *
#define SERVER_TYPE_URL const char *
#define SERVER_TYPE_REVISION const char *
#define SERVER_TYPE_BOOL bool
#define SERVER_TYPE_COUNT uint64_t
#define SERVER_TYPE_DURATION_MS uint64_t
#define SERVER_TYPE_SIZE_BYTES uint64_t
#define SERVER_TYPE_STRINGS struct strlist
#define SERVER_TYPE_AUDIT const char *
#define SERVER_TYPE_RATE const char *
#define SERVER_TYPE_PATTERNS struct strlist
#define SERVER_TYPE_PATHS struct strlist
#define SERVER_TYPE_COMMAND struct strlist /* ends in NULL */
#define SERVER_TYPE_PARAMS const struct toml_value *
#define SERVER_TYPE_HEADERS struct headers
#define SERVER_TYPE_REFERENCE struct env_ref
#define SERVER_TYPE_ENV struct env_refs
#define SERVER_TYPE_SANDBOX struct gate_policy
#define SERVER_TYPE_AUTH struct server_auth

/* A server, by the rows of servers.def. */
/* How the `sandbox` of a step or server is written, and so lines to add to it.
 */
enum sandbox_form {
	SANDBOX_ABSENT,
	SANDBOX_DOTTED, /* sandbox.read = [] */
	SANDBOX_INLINE, /* sandbox = { read = [] } */
	SANDBOX_TABLE,	/* [routines.r.steps.sandbox] */
};

struct server {
	const char *name;
#define SERVER(key, field, type, ...) SERVER_TYPE_##type field;
#include "core/config/servers.def"
	bool url_has_reference; /* a variable is in it, behind the host */
	const char *unset;	/* a variable that it lacks: a sentence; NULL */
	enum sandbox_form sandbox_form;
	uint32_t line, col;
};

/* A server without a table: the keys have their defaults. */
struct server server_by_default(void) MUST_USE;

/* Keys of a server that are references, beside those of its `env`. */
enum {
	SERVER_KEY_REFERENCES = 2
#define AUTH_SECRET(...) +1
#include "core/auth/auth.def"
};
/* How many there are, with those of its headers. */
size_t server_references(const struct server *s) MUST_USE;
/* The nth of them; its .from is NULL where there is none. */
const struct env_ref *server_reference(const struct server *s, size_t nth)
	MUST_USE;

/* A tool under a name of its own. */
struct action {
	const char *name;
	const char *description; /* or NULL */
	const char *server_name, *tool;
	const struct toml_value *params; /* declared: a table, or NULL */
	struct strlist required;	 /* names of them */
	const char *pin;		 /* SHA-256 of the tool; or NULL */
	uint32_t line, col;
};

struct step {
	const char *name;
	const struct toml_value *written; /* table of the step */
	const char *type; /* a row of step_types.def, aliases resolved */
	/* Advice in place of a type of modulex; NULL for types of ours. */
	const char *instead;
	bool parallel, enabled, required;
	bool idempotent;
	struct strlist needs;		 /* names of steps */
	const struct toml_value *when;	 /* a table, or NULL */
	const struct toml_value *expect; /* likewise */
	const struct toml_value *save;	 /* likewise */
	uint64_t cache_ms;		 /* 0: it always runs */
	struct retry_rules retry;	 /* max = 0: there is none */
	const char *after;     /* "always", "failure", "success"; or NULL */
	const char *foreach;   /* a reference to an array; or NULL */
	uint64_t max_parallel; /* of foreach */
	const struct toml_value *with; /* a table that `params` holds, too */
	const char *on_refusal;	       /* "report", "fail" */
	uint64_t timeout_ms;
	struct env_refs env;
	const char *command;
	struct strlist args;
	const char *script;	    /* of a plugin; NULL without */
	const char *routine;	    /* name of one that runs; NULL without */
	const char *message;	    /* to be approved; NULL without */
	bool is_sync;		    /* lists servers, and calls nothing */
	struct strlist servers;	    /* of that; n = 0: all */
	const char *args_from_data; /* "refuse", "allow" */
	const char *cwd;
	const char *server_name;
	const struct server *server;	    /* found by name; NULL without */
	const struct toml_value *server_at; /* where it is named */
	const char *stdin_text;		    /* text for the program; or NULL */
	const char *tool;
	const char *action_name;
	const struct action *action;	 /* found by name; NULL without */
	const struct toml_value *params; /* a table, or NULL */
	struct gate_policy sandbox;
	enum sandbox_form sandbox_form;
	uint64_t stdout_max, stderr_max; /* bytes */
	const char *protocol;
	bool strict;	   /* arguments and result must fit their schemas */
	bool pin;	   /* the tool must be as it was accepted */
	const char *unset; /* as of a server */
	uint32_t line, col;
};

/* Rules of [golden] of a routine or of the file. */
struct golden_rules {
	/* as written; NULL without */
	const struct toml_value *ignore, *match, *arrays, *tolerance, *embedded;
};

#define CONFIG_TOKEN_CMD                                             \
	"[serve] token comes from a file or a variable, not from a " \
	"command"
/* Rows of [serve]. */
struct serve_keys {
	struct env_ref token; /* .from is NULL without */
};

/* Rows of [notify] of a routine or of the file. */
struct notify_rules {
	const struct toml_value *written; /* table; NULL: nobody is told */
	struct strlist on;		  /* item NULL: not written */
	bool every;
	struct strlist command; /* ends in NULL; n = 0: none */
	struct gate_policy sandbox;
	const char *format; /* "text", "json" */
	const char *url;
	struct headers headers;
	struct env_ref token; /* .from is NULL without */
	const char *ping;
	uint64_t timeout_ms; /* of an attempt */
	uint64_t attempts;
	const char *unset;     /* as of a server */
	const char *ungranted; /* a folder that the command lacks */
	uint32_t line, col;
};

struct routine {
	const char *name;
	const char *description;
	const char *order;		 /* "file", "needs" */
	const char *on_busy;		 /* "run", "wait", "skip", "fail" */
	const struct toml_value *params; /* declared: a table, or NULL */
	const char *out; /* folder of what steps save; or NULL */
	struct step *steps;
	size_t n_steps;
	struct golden_rules golden;
	struct notify_rules notify; /* laid over those of the file */
	uint32_t line, col;
};

/*
 * A string in which `~/` and ${VAR} stand for something, or a path that is
 * relative to the file. The loader lists them, core/config/config.c replaces
 * them.
 */
enum expansion_kind {
	EXPAND_PATH,	/* becomes absolute */
	EXPAND_READ,	/* a path, granted for reading */
	EXPAND_WRITE,	/* a path, granted for writing */
	EXPAND_PROGRAM, /* a bare name stays as it is */
	EXPAND_URL,
	EXPAND_HEADER, /* values of variables are credentials */
};

struct expansion {
	const char **slot;   /* the string, in the model */
	const char *written; /* as it stands in the file */
	enum expansion_kind kind;
	const char *key;     /* for messages */
	const char *routine; /* whose it is; both NULL: of the whole file */
	const char *server;
	const char **unset; /* of that server or step, or NULL */
	uint32_t line, col;
	struct expansion *next;
};

struct config {
	const char *path;   /* of the file; for messages */
	const char *sha256; /* of its bytes, in hex */
	const char *dir;    /* folder of the file: relative paths start here */
	/* Absolute path by which commands name the file; NULL: they find it. */
	const char *named;
	struct gate_policy sandbox;
	struct gate_leash caveats; /* .source is NULL without the table */
	struct server *servers;
	size_t n_servers;
	struct action *actions;
	size_t n_actions;
	struct routine *routines;
	size_t n_routines;
	uint64_t keep_runs; /* reports kept, default 100 */
	struct golden_rules golden;
	struct notify_rules notify;
	struct expansion *expansions; /* in file order */
	struct strlist literals;      /* credentials in arguments, as found */
	struct serve_keys serve;
	bool mcp_is_off; /* [mcp] enabled = false */
	/* Tables of modulex that a plugin reads; NULL without. */
	const struct toml_value *shared, *identity;
};

/*
 * Load a tree.
 *
 * lax          unknown keys are warnings
 * policy_only  the tree is one policy: its top level are the keys of
 *		`sandbox`, or it is a configuration with a [sandbox] table,
 *		whose other tables are read and not used. Only .sandbox and
 *		.expansions of the result matter
 * returns      0 when there was no error (warnings may be); -1 with findings
 */
int routine_load(const struct toml_value *root, bool lax, bool policy_only,
		 struct arena *arena, struct config *ret,
		 struct findings *findings) MUST_USE;

/*
 * One part of a configuration: what it says of all programs, a server, a step,
 * or notices. Zeroed before the first config_next().
 */
struct config_part {
	const struct server *server;	   /* the part; NULL: another */
	const struct step *step;	   /* likewise */
	const struct notify_rules *notify; /* likewise */
	const struct env_ref *token;	   /* of notices, or of [serve] */
	const struct gate_policy *sandbox;
	const char *command; /* NULL without */
	const struct strlist *args;
	const struct env_refs *env;
	struct strlist own_args; /* of notices */
	size_t next, next_ref;
};

/*
 * Visit every part: the whole, servers, steps, notices.
 * returns  false: there are no more
 */
bool config_next(const struct config *c, struct config_part *p) MUST_USE;
/* The next reference of a part, those of a server included; NULL: no more. */
const struct env_ref *config_next_ref(struct config_part *p) MUST_USE;

/* NULL when there is none of that name. */
const struct routine *config_routine(const struct config *c, const char *name)
	MUST_USE;
/* Rules of notices that hold for a routine; NULL: there are none. */
const struct notify_rules *config_notify(const struct config *c,
					 const struct routine *r) MUST_USE;
const struct server *config_server(const struct config *c, const char *name)
	MUST_USE;
const struct action *config_action(const struct config *c, const char *name)
	MUST_USE;

#endif
