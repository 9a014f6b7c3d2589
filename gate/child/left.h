/*
 * Count what a tree leaves in a folder that goes with it.
 *
 * For init at the end of its tree, and for the gate afterwards: raw system
 * calls only, bounded in time, depth and memory. Other processes of the tree
 * may still run, so nothing in the folder is believed or followed.
 */
#ifndef GATE_CHILD_LEFT_H
#define GATE_CHILD_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries of the folder that are named. */
#define LEFT_NAMES 5
/* Bytes of a name with its NUL; a longer one is cut. */
#define LEFT_NAME_BYTES 64

/* Seconds of the time that links of setup_run(), and a private folder before
   its program starts, have: what no program made or has listed. */
#define LEFT_TIME 0

/* Arguments that are looked at. */
#define LEFT_NAMED 4

/* A path of a private place that an argument names. */
struct left_named {
	const char *path; /* borrowed */
	bool is_there, is_folder;
};

struct left {
	char name[LEFT_NAMES][LEFT_NAME_BYTES];
	bool is_folder[LEFT_NAMES];
	uint32_t n_entries; /* of the folder itself, named or not */
	uint32_t n_files;   /* in it and beneath; folders do not count */
	bool is_cut;	    /* not everything was looked at */
	bool is_listed;	    /* time of access is not LEFT_TIME any more */
	struct left_named named[LEFT_NAMED]; /* paths filled in by the caller */
	size_t n_named;
	const char *home; /* looked through where the folder has no entries;
			     filled in by the caller, or NULL */
	bool in_home;	  /* the entries are of .home */
};

/*
 * Look through a folder, and for the paths of .named. Mounts in it, and links
 * that setup_run() made, are none of the tree's; nor are a HOME's own dot
 * files, where programs keep caches and settings.
 *
 * l     zeroed but for .named and .home
 * path  a folder of a file system that needs no server; NULL: none
 */
void left_count(struct left *l, const char *path, bool is_home);

#endif
