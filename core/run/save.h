/*
 * Files that steps save: parts of their results, in the folder that the
 * routine names (`save`, `out`).
 *
 * Folder and programs are looked up before anything starts. A program that
 * may write in the folder leads no file elsewhere: from there on no link is
 * followed, and a file is made beside the old one and renamed. It is on disk
 * when the report says that it was saved.
 */
#ifndef CORE_RUN_SAVE_H
#define CORE_RUN_SAVE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/outfile.h"
#include "core/report/report.h"
#include "core/run/plan.h"
#include "gate/gate.h"

/* The folder of one routine. */
struct saver {
	struct gate *gate; /* NULL: nothing is to be saved */
	const struct config *config;
	struct outfolder folder; /* not of a dry run */
	const char *path;	 /* absolute, without links */
	struct arena arena;
	struct strlist programs; /* programs of the steps */
	struct err why;		 /* the folder cannot be used */
};

/* Look up the folder, and make it unless all is a dry run. Where that fails,
   saver_judge() says so. */
void saver_open(struct saver *s, const struct plan *plan, struct gate *gate,
		const struct config *config);
/* Of a zeroed one: nothing. */
void saver_release(struct saver *s);

/*
 * May the step save its files?
 * errors  ERR_LEASH, ERR_POLICY, ERR_OUTPUT, ERR_SYS
 */
int saver_judge(struct saver *s, const struct step *step, struct err *err)
	MUST_USE;

/* Is a part of an earlier result that is to be saved another than the tool
   gave: with "***" for the value of a credential, with U+FFFD for bytes of a
   program that are no text, or without white space at its ends? */
bool saver_is_other(const struct step *step, const struct report_step *kept,
		    struct arena *arena) MUST_USE;

/*
 * Write the files of a step that was ok; none where one of them is not there.
 *
 * raw      the result before secrets were taken out; NULL: there were none
 * printed  all bytes of a program whose text is the output; .p = NULL: none
 * is_kept  of an earlier run: a file that holds its bytes stays as it is
 * ret      JSON array of what was written: path, bytes, sha256; in `arena`
 * errors   as above, and ERR_UNKNOWN, ERR_SYNTAX, ERR_CREDENTIAL
 */
int saver_write(struct saver *s, const struct step *step,
		const struct report_step *result, const struct report_step *raw,
		struct str printed, bool is_kept, struct arena *arena,
		struct str *ret, struct err *err) MUST_USE;

/* The facts of a step with another array of what was saved; n = 0: none. */
struct str saver_facts(struct str run, struct str saved, struct arena *arena)
	MUST_USE;

#endif
