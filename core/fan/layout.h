/*
 * The folder of a plan: names of its files, its manifest, keys of inputs, and
 * the text of a result.
 *
 *	manifest.json        configuration, digests, where each shard begins
 *	inputs.jsonl         one input a line, as the routine gets it
 *	equal                "KEY N" of each input that is there N times
 *	results/KK/KEY.json  the result of one input, written once
 *	failed/KK/KEY        that result is a failure; empty
 *	claims/KK/KEY        a step that is not idempotent has begun
 *	running/WHO          a process at work, and how far it is
 *	dropped/KEY.WHO      a result that came second; empty
 *	retried/KEY.N        a result that `fan retry` took away
 *	tmp/                 results that are being written
 *	staged/SHARD/        results that came back from a host, not yet judged
 *	jobs.jsonl           submits, one a line
 *
 * Pure.
 */
#ifndef CORE_FAN_LAYOUT_H
#define CORE_FAN_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/base/sha256.h"
#include "core/report/report.h"

#define FAN_SCHEMA "matins-fan/1"
#define FAN_RESULT_SCHEMA "matins-fan-result/1"

/* ---- the manifest ---- */

struct manifest {
	const char *routine;
	const char *config_path; /* absolute */
	const char *config_sha256;
	struct str config_text;
	struct str leash;  /* JSON of $MATINS_CAVEATS; n = 0: none was set */
	struct str params; /* JSON: schemas by name; n = 0: none declared */
	uint64_t n;	   /* inputs */
	uint64_t n_keys;   /* inputs that differ */
	uint64_t per_shard, n_shards;
	const char *inputs_sha256; /* of inputs.jsonl */
	const char *rows_sha256;   /* of the table of shards */
};

/* Where a shard begins in inputs.jsonl, and which inputs it has. */
struct manifest_shard {
	uint64_t offset;
	char sum[17]; /* of its lines: the first hex digits of their SHA-256 */
};

/* Bytes of one row in the table of shards, which ends the manifest. */
#define MANIFEST_ROW 37
/* Text between the head and the rows. */
#define MANIFEST_TABLE "\"shards\":[\n"

/* Append all before the rows; as many bytes for every number of inputs. */
void manifest_head(const struct manifest *m, struct buf *out);
void manifest_row(const struct manifest_shard *shard, bool is_first,
		  struct buf *out);
#define MANIFEST_END "]}\n"
/*
 * Read a head.
 *
 * ret     in `arena`
 * errors  ERR_SYNTAX, ERR_CONFIG (not a matins-fan/1)
 */
int manifest_read(struct str head, struct arena *arena, struct manifest *ret,
		  struct err *err) MUST_USE;
/* Read a row; false: it is none. */
bool manifest_shard(struct str row, struct manifest_shard *ret) MUST_USE;

/* ---- keys and names ---- */

/* Write the key of an input, a line of inputs.jsonl, as 64 hex digits. */
void fan_key(const struct manifest *m, struct str input,
	     char ret[SHA256_HEX_BYTES]);

/* Bytes of the name of any file of a key, with the NUL. */
#define FAN_NAME_BYTES 128
struct fan_name {
	char text[FAN_NAME_BYTES];
};
struct fan_name fan_result_name(const char *key) MUST_USE;
struct fan_name fan_failed_name(const char *key) MUST_USE;
struct fan_name fan_claim_name(const char *key) MUST_USE;
/* Is it the name of a result in results/KK? */
bool fan_is_result(const char *name) MUST_USE;

/* ---- results ---- */

/* Read a member of an object as a text, "" where it is none, or as a number, 0
   where it is none above. */
const char *fan_word(struct str object, const char *name, struct arena *arena)
	MUST_USE;
uint64_t fan_number(struct str object, const char *name) MUST_USE;
/* Write JSON, or a text, as the value of a key; null where it is empty. */
void fan_kv_json(struct jw *w, const char *key, struct str json);
void fan_kv_text(struct jw *w, const char *key, struct str s);

enum fan_state { FAN_MISSING, FAN_OK, FAN_FAILED, FAN_TORN, N_FAN_STATES };
extern const char *const FAN_STATES[N_FAN_STATES];

struct fan_result {
	enum fan_state state;
	struct str reason; /* a word, decoded; n = 0: none */
	struct str error;  /* likewise a sentence */
	struct str report; /* JSON */
	uint64_t us;	   /* how long it took */
	struct str on;	   /* process that had it */
};

/*
 * Append the text of a result.
 *
 * ended  RFC 3339
 * who    the process
 */
void fan_result_print(const char *key, const struct report *r, uint64_t us,
		      const char *ended, const char *who, struct buf *out);
/* Read one; FAN_TORN where it is not whole, or that of another key. Borrows
   from `text`, the rest lies in `arena`. */
void fan_result_read(struct str text, const char *key, struct arena *arena,
		     struct fan_result *ret);

#endif
