/*
 * Pages that --open shows: written where only the user reads them, in the
 * folder `pages` of the state directory; those of more than a day ago are
 * removed. The program is that of --browser, of $BROWSER, or xdg-open; no
 * configuration names it.
 */
#ifndef CORE_CLI_BROWSE_H
#define CORE_CLI_BROWSE_H

#include "core/cli/put.h"

/* Rows for a command's table of options. */
#define BROWSE_OPTIONS                                                        \
	{"open", 0, NULL, "open the HTML page in the browser"},               \
	{                                                                     \
		"browser", 0, "PROGRAM",                                      \
			"with --open: in this one; else $BROWSER or xdg-open" \
	}

/*
 * Set the form to HTML where --open asks for it.
 * errors  ERR_USAGE  another form is asked for, or --output is no file
 */
int browse_check(const struct args *args, struct print_options *print,
		 struct err *err) MUST_USE;
/*
 * Print to a file of our own: with --open, and without --output.
 *
 * name    of the file, a single part
 * arena   lives as long as `print`
 * errors  ERR_SYS
 */
int browse_begin(const struct args *args, const char *name,
		 struct print_options *print, struct arena *arena,
		 struct err *err) MUST_USE;
/*
 * Open the page, with --open; without a display print its path, and
 * say so.
 *
 * errors  gate_open_file(), with the path
 */
int browse_end(const struct args *args, const struct print_options *print,
	       struct err *err) MUST_USE;

#endif
