/*
 * An archive of others (ZIP), unpacked into an empty folder. The one door to
 * libarchive, which is loaded on first use. For a process of its own that sees
 * nothing else: `matins __unpack ARCHIVE FOLDER`, started in the gate.
 */
#ifndef CORE_INSTALL_UNPACK_H
#define CORE_INSTALL_UNPACK_H

#include "core/base/attr.h"
#include "core/base/err.h"

/* Entries, bytes of a name, folders in it, bytes of all files, and bytes for
   each of the archive beyond the first ones. */
#define UNPACK_ENTRIES_MAX 50000
#define UNPACK_NAME_BYTES 1024
#define UNPACK_DEPTH_MAX 32
#define UNPACK_BYTES_MAX (UINT64_C(1) << 30)
#define UNPACK_FREE_BYTES (UINT64_C(64) << 20)
#define UNPACK_RATIO_MAX 100

/*
 * Folders, regular files and links that stay within. Of the rights of a file
 * only that to execute is kept.
 *
 * to      absolute; there, and empty
 * errors  ERR_SYNTAX   not an archive, or damaged
 *	   ERR_POLICY   an entry leads out, is no file, folder or link, or is
 *			there twice: the message has its name
 *	   ERR_LIMIT    one of the bounds above
 *	   ERR_UNKNOWN  libarchive is missing, with what to install
 *	   ERR_SYS
 */
int unpack(const char *archive, const char *to, struct err *err) MUST_USE;

#endif
