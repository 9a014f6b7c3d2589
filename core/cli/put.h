/*
 * Results on standard output. In a pipe or a file they are byte for byte; on a
 * terminal nothing in them is obeyed: see log_visible() and
 * log_visible_json().
 */
#ifndef CORE_CLI_PUT_H
#define CORE_CLI_PUT_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/base/outfile.h"
#include "core/cli/args.h"
#include "core/report/report.h"

enum put_form {
	PUT_TEXT,
	PUT_JSON,
	PUT_COLOURED, /* all but our colours went through log_visible() */
};

/* errors  ERR_SYS */
int put(struct str bytes, enum put_form form, struct err *err) MUST_USE;

/* A terminal that may be sent colours: not with NO_COLOR or TERM=dumb. */
bool put_has_colour(int fd) MUST_USE;

/* Do the variables of the locale say that texts are UTF-8? */
bool put_has_utf8(void) MUST_USE;

/* Columns of a terminal, less one: a line that fills it would be two. 0: the
   descriptor is none, or does not say. */
size_t put_columns(int fd) MUST_USE;

/* One document of a command: text, or with --json one JSON object. */
struct page {
	bool is_json;
	enum put_form form; /* PUT_TEXT unless is_json; may be set */
	struct buf out;	    /* for text */
	struct jw w;	    /* for JSON: inside of the object */
};

/* Ends with page_release(), for AUTO(). */
void page_open(struct page *p, const struct args *args);
/* End the object, print. errors ERR_SYS */
int page_put(struct page *p, struct err *err) MUST_USE;
void page_release(struct page *p);

/*
 * Look up the file of --output, before anything starts that might write there.
 * Without one, and with "-", the path of the file stays NULL.
 */
int open_output(const struct args *args, struct outfile *f, struct err *err)
	MUST_USE;

/* ---- reports, of `run`, `step` and `show` ---- */

/* Rows for a command's table of options. */
#define REPORT_OPTIONS                                                   \
	{"json", 0, NULL, "print the report as JSON"},                   \
		{"data", 0, NULL,                                        \
		 "print the data of the steps as JSON; the JSON that a " \
		 "program prints is that of a step of type harness"},    \
		{"md", 0, NULL, "print the report as Markdown"},         \
		{"html", 0, NULL, "print the report as one HTML page"},  \
		{"pretty", 0, NULL, "indent JSON"},                      \
		{"view", 0, "full|golden",                               \
		 "golden leaves out the values that vary between runs"}, \
	{                                                                \
		"output", 'o', "FILE",                                   \
			"write the report to a file, as its ending "     \
			".html, .md or .json says"                       \
	}

/* The form of a printed report. */
struct print_options {
	const char *form; /* a name that render_find() knows */
	bool pretty, single;
	const char *view;      /* "full", "golden"; NULL = full */
	struct outfile output; /* path NULL: print on stdout */
};

/*
 * Also looks up the file that the report goes to; outfile_release() ends it.
 * errors  ERR_USAGE for two forms at once or an unknown view; outfile_open()
 */
int print_options_read(const struct args *args, struct print_options *ret,
		       struct err *err) MUST_USE;
int print_report(const struct report *r, struct print_options *o,
		 struct err *err) MUST_USE;

#endif
