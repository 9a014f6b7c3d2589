/*
 * Settings of a client, edited so that its servers start by another program:
 * each byte outside of what starts them stays, comments included. Of JSON,
 * servers can be taken out, and one entry put in the place of several.
 *
 *	struct wrap w = {.src = &src, .text = text, .root = root, …};
 *	wrap_open(&w);
 *	... w.server[i].before = words, for those that are to change ...
 *	wrap_text(&w, &out, err)
 *
 * Pure. The result is read and compared before it is returned: a form that is
 * not understood is an error, never a file that means something else.
 */
#ifndef CORE_IMPORT_WRAP_H
#define CORE_IMPORT_WRAP_H

#include "core/import/clients.h"

struct wrap_server {
	const char *name;
	const struct toml_value *table;
	struct strlist words;		 /* program and arguments as written */
	const char *folder;		 /* of its project */
	bool is_project;		 /* as of the source */
	const struct toml_value *within; /* table; NULL: it stands in a list */
	struct strlist before; /* words to stand before them; none: it stays */
	/* Its member goes, from a table of JSON whose first one never does
	   without words: an entry that starts by `before` takes its place. */
	bool goes;
};

struct wrap {
	struct import_source *src;
	enum tree_format format;
	struct str text;
	struct toml_value root;
	struct wrap_server *server; /* in the arena of the source */
	size_t n;
};

/* Find the servers of the text. */
void wrap_open(struct wrap *w);
/*
 * Append the new text.
 * errors  ERR_CONFIG  a form that cannot be edited
 */
int wrap_text(const struct wrap *w, struct buf *out, struct err *err) MUST_USE;

#endif
