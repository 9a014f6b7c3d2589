/*
 * File that a user named for a result.
 *
 * Programs that run between the naming and the writing may be allowed to
 * write in that folder. Hence two steps: folder and file are looked up before
 * anything starts, and the result is put into that folder, never through a
 * link, a FIFO or a device that was not there before.
 *
 *	AUTO(outfile_release) struct outfile f = OUTFILE_INIT;
 *
 *	if (outfile_open(&f, path, OUTFILE_REPLACE, err) < 0)
 *		return -1;
 *	...
 *	return outfile_write(&f, &text, err);
 *
 * A regular file is replaced whole, so that a reader sees the old or the new
 * content; only where its folder takes no new file it is written in place.
 * Umask and the mode of an old file count. A link that is there at the start
 * is followed once, then. A FIFO, a device and /dev/fd/N are opened at the
 * start. Nothing waits for the reader of a FIFO.
 */
#ifndef CORE_BASE_OUTFILE_H
#define CORE_BASE_OUTFILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/fd.h"

/* A folder, held by a descriptor. */
struct outfolder {
	int fd; /* owned; -1 */
	struct arena arena;
	const char *path;     /* real and absolute */
	struct strlist links; /* folders that hold a link on the way there */
	bool is_led_astray;   /* as of struct place */
};

#define OUTFOLDER_INIT                        \
	{                                     \
		.fd = -1, .arena = ARENA_INIT \
	}

enum outfile_how {
	OUTFILE_REPLACE,
	OUTFILE_NEW,	 /* refuse a file that is there */
	OUTFILE_DURABLE, /* as REPLACE; on disk before it counts as written */
	OUTFILE_OWN,	 /* as REPLACE; named by us in the state directory, and
			    for the user alone (0600) */
};

struct outfile {
	const char *path; /* as named; borrowed */
	enum outfile_how how;
	struct outfolder folder;
	const char *name; /* in that folder; NULL: none leads to it */
	mode_t mode;	  /* of the file to be */
	bool is_there;	  /* a regular file, at the start */
	int stream;	  /* owned; open since the start, or -1 */
	int fifo;      /* owned; one that had no reader at the start, or -1 */
	bool truncate; /* the stream is a regular file */
};

#define OUTFILE_INIT                                               \
	{                                                          \
		.folder = OUTFOLDER_INIT, .stream = -1, .fifo = -1 \
	}

/*
 * Look up a file that is to be written later. Creates nothing.
 *
 * path    borrowed until outfile_release()
 * errors  ERR_SYS     no such folder, not writable, a folder itself
 *	   ERR_CONFIG  it is there, with OUTFILE_NEW
 *	   ERR_OUTPUT  its folder is matins' own: state_dir_check()
 */
int outfile_open(struct outfile *f, const char *path, enum outfile_how how,
		 struct err *err) MUST_USE;
void outfile_release(struct outfile *f);

/*
 * Write the content.
 * errors  ERR_OUTPUT  folder or file is another than at the start, or nobody
 *		       reads the FIFO
 *	   ERR_SYS
 */
int outfile_write(struct outfile *f, const struct fd_text *text,
		  struct err *err) MUST_USE;

/* A content that lies in memory. */
int outfile_write_str(struct outfile *f, struct str content, struct err *err)
	MUST_USE;

/*
 * Hold a folder for files whose names come later.
 * errors  ERR_SYS
 */
int outfolder_open(struct outfolder *d, const char *path, struct err *err)
	MUST_USE;
void outfolder_release(struct outfolder *d);
/*
 * Hold a folder in one that is held; what is missing on the way is made. No
 * link is followed, and nothing is outside.
 *
 * path    relative, none of its parts empty, "." or ".."
 * errors  ERR_SYS
 */
int outfolder_enter(const struct outfolder *from, struct str path,
		    struct outfolder *ret, struct err *err) MUST_USE;
/* Is there a plain file of that name with these bytes? */
bool outfolder_holds(const struct outfolder *d, const char *name,
		     struct str bytes) MUST_USE;
/* "a FIFO", "a folder": what is in the place of a file. Static. */
const char *outfolder_kind(mode_t mode) MUST_USE;
/* Mode of a new file: that of the umask. */
mode_t outfolder_mode(void) MUST_USE;
/* File that is written whole before it gets its place. */
struct outfolder_draft {
	bool is_there;
	int fd;
	char name[32]; /* beside its place; "": it has none yet */
};

/* File of a folder; all is borrowed. */
struct outfolder_file {
	const char *name;  /* a single part, without "/" */
	const char *shown; /* path for errors */
	mode_t mode;
	enum outfile_how how;
};

/*
 * Write a file that outfolder_place() puts in its place.
 * errors  ERR_OUTPUT, ERR_SYS: there is no draft
 */
int outfolder_draft(const struct outfolder *d, const struct outfolder_file *f,
		    const struct fd_text *text, struct outfolder_draft *ret,
		    struct err *err) MUST_USE;
/*
 * Give a draft a name beside its place, so that outfolder_place() takes no
 * room: for files that are placed together.
 * errors  ERR_SYS: the draft is still there
 */
int outfolder_name(const struct outfolder *d, struct outfolder_draft *draft,
		   const char *shown, struct err *err) MUST_USE;
/* Remove drafts with a name that killed processes left in the folder. */
void outfolder_sweep(const struct outfolder *d);
/*
 * Put a draft in its place; after that, failed or not, there is none.
 * errors  ERR_OUTPUT, ERR_SYS (EEXIST with OUTFILE_NEW)
 */
int outfolder_place(const struct outfolder *d, struct outfolder_draft *draft,
		    const struct outfolder_file *f, struct err *err) MUST_USE;
void outfolder_drop(const struct outfolder *d, struct outfolder_draft *draft);
/*
 * Put a whole file there.
 * errors  ERR_OUTPUT, ERR_SYS (EEXIST with OUTFILE_NEW)
 */
int outfolder_put(const struct outfolder *d, const struct outfolder_file *f,
		  const struct fd_text *text, struct err *err) MUST_USE;

#endif
