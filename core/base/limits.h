/*
 * Every ceiling of the program, with its unit and the reason for it.
 *
 * Input from outside is bounded by one of these; reaching a bound is
 * ERR_LIMIT (or a reason of a step) and never a crash.
 */
#ifndef CORE_BASE_LIMITS_H
#define CORE_BASE_LIMITS_H

/* Text of one error, bytes with the NUL; struct err must fit PIPE_BUF. */
#define LIMIT_ERR_MSG 1024

/* One configuration file, bytes: a routine is written by hand. */
#define LIMIT_CONFIG_BYTES (256 * 1024)
/* Parts of one dotted key: toml++ 3.3 recurses once per part. */
#define LIMIT_CONFIG_KEY_PARTS 64
/* Nesting of TOML arrays and inline tables, for the same reason. */
#define LIMIT_CONFIG_DEPTH 64
/* Both together on the way to one value: depth of its recursive release. */
#define LIMIT_CONFIG_PATH 256
/* Errors that one `check` prints before it stops collecting. */
#define LIMIT_CONFIG_ERRORS 100

/* Nesting of JSON from a peer. */
#define LIMIT_JSON_DEPTH 256
/* Members of one JSON object or array from a peer that we index. */
#define LIMIT_JSON_MEMBERS 100000

/* One message on stdio, or the whole stdout of a program; bytes, default. */
#define LIMIT_MESSAGE_BYTES (64 * 1024 * 1024)
/* The highest value that `stdout_max` can take. */
#define LIMIT_MESSAGE_BYTES_MAX (1024 * 1024 * 1024)
/* Tail of stderr that is kept; bytes, default of `stderr_max`. */
#define LIMIT_STDERR_BYTES (64 * 1024)
/* Lines of a server's stdout that are no messages, kept for reports. */
#define LIMIT_NOISE_BYTES 4096
/* Bytes that a report shows of a stdout that could not be used. */
#define LIMIT_KEPT_OUTPUT (64 * 1024)
/* One line of such noise as shown in a diagnostic. */
#define LIMIT_NOISE_LINE 200
/* Arguments of one call, bytes: as much as a result of another step has. */
#define LIMIT_ARGUMENTS_BYTES LIMIT_MESSAGE_BYTES
/* Bytes of answers queued towards a server that does not read. */
#define LIMIT_QUEUE_BYTES (16 * 1024 * 1024)
/* One URL, bytes; servers take less. */
#define LIMIT_URL_BYTES (16 * 1024)
/* All headers of one answer, bytes. */
#define LIMIT_HEAD_BYTES (256 * 1024)

/*
 * Values that a peer chooses, and we keep, look for and send back.
 */
/* The id of a session: servers use an UUID or a signed token. */
#define LIMIT_SESSION_ID_BYTES 1024
/*
 * An access or refresh token, the id and the secret of a client that a server
 * gives: a JWT with many claims; headers end near it.
 */
#define LIMIT_TOKEN_BYTES (16 * 1024)
/* A place in a list, which is sent back for the next page. */
#define LIMIT_CURSOR_BYTES (64 * 1024)

/* A credential: longer ones are no secrets but files. */
#define LIMIT_SECRET_BYTES (64 * 1024)
/* Shorter values cannot be scrubbed without harming ordinary text. */
#define LIMIT_SECRET_SCRUB_MIN 6

/* One report that is read back from disk. */
#define LIMIT_REPORT_BYTES (1024 * 1024 * 1024)
/* Steps of one routine. */
#define LIMIT_STEPS 4096
/* Routines that run each other, from the outermost to the innermost. */
#define LIMIT_ROUTINE_DEPTH 8
/* Elements of `foreach`. */
#define LIMIT_ITEMS 10000
/* Results of all of them together, bytes; more where stdout_max is. */
#define LIMIT_ITEMS_BYTES LIMIT_MESSAGE_BYTES
/* First line of a script: BINPRM_BUF_SIZE of the kernel. */
#define LIMIT_SHEBANG 256
/* Scripts that are interpreted by scripts: the kernel allows four. */
#define LIMIT_SHEBANG_DEPTH 4

/* One message from a client of the built-in server, bytes: arguments only. */
#define LIMIT_SERVER_BYTES (4 * 1024 * 1024)
/* One batch of such messages. */
#define LIMIT_SERVER_BATCH 1000
/* Requests of one client that are open at one time; bytes of an id of theirs.
 */
#define LIMIT_SERVER_CALLS 256
#define LIMIT_SERVER_ID_BYTES 1024
/* Resources that one client watches, or one subscription of the newer era. */
#define LIMIT_SERVER_WATCHES 64
/* One list that a person keeps (todo, deadlines), bytes. */
#define LIMIT_BRIEF_FILE_BYTES (1024 * 1024)
/* Entries of such a list that are shown. */
#define LIMIT_BRIEF_ITEMS 1000
/* Folders or file systems that one call names. */
#define LIMIT_BRIEF_PATHS 64
/* Working trees that one call looks at: each is walked whole. */
#define LIMIT_BRIEF_REPOS 200
/* Entries of one folder that are searched for working trees. */
#define LIMIT_BRIEF_FOLDER 10000

#endif
