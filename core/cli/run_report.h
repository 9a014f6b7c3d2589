/*
 * What `run` and `step` share: the options, the run, the printed report.
 */
#ifndef CORE_CLI_RUN_REPORT_H
#define CORE_CLI_RUN_REPORT_H

#include "core/base/outfile.h"
#include "core/cli/args.h"
#include "core/run/run.h"

/* Rows for the option tables of commands that run something. */
#define RUN_SELECT_OPTIONS                                           \
	{"only", 0, "A,B", "run these steps only; may be repeated"}, \
	{                                                            \
		"skip", 0, "A,B", "leave these steps out"            \
	}
#define RUN_OPTIONS                                                          \
	{"param", 'p', "KEY=VALUE", "the value of \"$input.KEY\""},          \
		{"dry-run", 'n', NULL, "judge everything, start nothing"},   \
		{"jobs", 'j', "N", "steps side by side, at most"},           \
		{"json", 0, NULL, "print the report as JSON"},               \
		{"data", 0, NULL, "print the data of the steps as JSON"},    \
		{"md", 0, NULL, "print the report as Markdown"},             \
		{"html", 0, NULL, "print the report as one HTML page"},      \
		{"pretty", 0, NULL, "indent JSON"},                          \
		{"view", 0, "full|golden",                                   \
		 "golden leaves out what varies between runs"},              \
		{"output", 'o', "FILE", "write the report to a file"},       \
		{"allow-empty", 0, NULL, "a run of nothing is a success"},   \
	{                                                                    \
		"require-ledger", 0, NULL, "fail when it cannot be recorded" \
	}

/*
 * Run `routine_name` (one step of it when step_name is given) as the options
 * say and print the report.
 *
 * returns  the exit status, or -1 with `err`
 */
int run_and_print(const struct args *args, const char *routine_name,
		  const char *step_name, struct err *err) MUST_USE;

/* How a report is printed; shared with `show`. */
struct print_options {
	const char *form; /* a row of render.c */
	bool pretty, single;
	const char *view; /* "full", "golden"; NULL = full */
	bool to_file;
	struct outfile output; /* when to_file */
};

/*
 * Also looks up the file that the report goes to.
 * errors  ERR_USAGE for two forms at once or an unknown view; outfile_open()
 */
int print_options_read(const struct args *args, struct print_options *ret,
		       struct err *err) MUST_USE;
void print_options_release(struct print_options *o);
int print_report(const struct report *r, struct print_options *o,
		 struct err *err) MUST_USE;

/* ERR_UNKNOWN_ROUTINE with the nearest name. */
int find_routine(const struct config *config, const char *name,
		 const struct routine **ret, struct err *err) MUST_USE;

#endif
