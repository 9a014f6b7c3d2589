/*
 * Content of results as people see it, and its binary blocks as files.
 */
#ifndef CORE_CLI_CONTENT_SHOW_H
#define CORE_CLI_CONTENT_SHOW_H

#include "core/base/outfile.h"
#include "core/cli/target.h"

/*
 * Print blocks on stdout: text as it is, others as a line each.
 *
 * content  JSON array
 * raw      control characters also reach a terminal
 */
int content_print(struct target *t, struct str content, bool raw,
		  struct err *err) MUST_USE;

/* Files of one command. */
struct content_files {
	const char *dir; /* NULL: nothing is saved */
	struct outfolder folder;
	size_t max;	 /* bytes of one file; LIMIT_MESSAGE_BYTES_MAX */
	struct buf said; /* their paths, a line each */
	bool failed;	 /* a file could not be saved; printed on stderr */
};

#define CONTENT_FILES_INIT                                                \
	{                                                                 \
		.folder = OUTFOLDER_INIT, .said = BUF_INIT(BUF_UNBOUNDED) \
	}

/*
 * Open the folder before the server starts: it might write there.
 *
 * dir     of --save, made where it is not there; NULL: save nothing
 * errors  ERR_SYS
 */
int content_files_open(struct content_files *f, const char *dir,
		       struct err *err) MUST_USE;
/* A link that the server may have made leads nowhere else: ERR_OUTPUT. */
int content_files_check(const struct content_files *f, const struct target *t,
			struct err *err) MUST_USE;
/* Print the paths of saved files: on stdout, or as a note on stderr. */
int content_files_report(const struct content_files *f, bool on_stderr,
			 struct err *err) MUST_USE;
void content_files_release(struct content_files *f);

/*
 * Save the bytes that a block carries, if it carries any. The name is made
 * from the bytes; a file of that name that holds them already is taken for
 * it, anything else there is left alone and said.
 *
 * json  a block; or with `item` an item of `contents` of resources/read
 */
void content_save(struct content_files *f, struct str json, bool item);
/* Save all blocks of an array. */
void content_save_all(struct content_files *f, struct str array, bool items);

#endif
