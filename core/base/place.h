/*
 * Place that a path leads to: the real folder, the name in it, and the folders
 * on the way that hold a link. Links are followed as open(2) follows them; the
 * last part need not exist.
 */
#ifndef CORE_BASE_PLACE_H
#define CORE_BASE_PLACE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct place {
	const char *folder;   /* real and absolute */
	const char *name;     /* "" when the path is "/" */
	struct strlist links; /* real folders that hold a link of the way */
	/* Another user, who is not root, made a link of the way. */
	bool is_led_astray;
};

/*
 * arena   holds what is returned
 * errors  ERR_SYS  a folder is missing or closed, too many links
 */
int place_find(const char *path, struct arena *arena, struct place *ret,
	       struct err *err) MUST_USE;

/* The last part of a path, which may be all of it; NULL of NULL. */
const char *place_name(const char *path) MUST_USE;

/*
 * A path is a folder or lies beneath it, compared by whole parts: "/srv/a"
 * covers "/srv/a/b", not "/srv/ab". Repeated slashes, "." and a slash at the
 * end do not count; relative paths and ".." are never covered. Texts are
 * compared, links are not followed.
 */
bool place_covers(const char *folder, const char *path) MUST_USE;
/* The first row of a list that covers the path; NULL: none does. */
const char *place_around(const struct strlist *rows, const char *path) MUST_USE;
/* Does the path lie in a folder of programs and libraries of the system? */
bool place_is_system(const char *path) MUST_USE;
/* The first row of a list that the path covers; NULL: it covers none. */
const char *place_beneath(const struct strlist *rows, const char *path)
	MUST_USE;

/*
 * Can the path stand in a line that a person pastes, between quotes of TOML or
 * as a word of a shell? Other programs and users choose names, too: one with a
 * quote, a blank, a control character or "${" would say more than the path.
 */
bool place_can_be_pasted(const char *path) MUST_USE;
/* The path, or where it cannot be pasted the word that stands for it: "PATH".
 */
const char *place_to_paste(const char *path, const char *word) MUST_USE;

#endif
