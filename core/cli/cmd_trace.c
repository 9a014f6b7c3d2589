/*
 * `matins trace` finds the needs of a program: it runs under a policy that lets
 * it read, and that stays shut where reading would be dangerous. All files,
 * programs and hosts that its tree opens, executes and connects to are
 * recorded, and the rows that the default policy lacks are printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/outfile.h"
#include "core/base/text.h"
#include "core/cli/child_run.h"
#include "core/cli/command.h"
#include "core/cli/key_options.h"
#include "core/cli/open.h"
#include "core/cli/param_options.h"
#include "core/cli/put.h"
#include "core/cli/rewrite.h"
#include "core/client/said.h"
#include "core/config/config.h"
#include "core/config/edit.h"
#include "core/config/keys.h"
#include "core/config/paths.h"
#include "core/report/render.h"
#include "core/run/advice_command.h"
#include "core/run/run.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

const struct option options_trace[] = {
#include "core/cli/policy_options.def"
	{"cwd", 0, "PATH",
	 "start in this folder and let the program write there"},
	PARAM_OPTIONS,
	{"verify", 0, NULL,
	 "run the program again under the printed table, and compare the exit "
	 "status"},
	{"json", 0, NULL, "print JSON instead of TOML"},
	{"output", 'o', "FILE", "write the table to a new file"},
	{"force", 0, NULL, "let -o replace an existing file"},
	{"apply", 0, NULL,
	 "put the rows that a step lacks into its configuration, and print "
	 "the lines that changed"},
	{0},
};

#define RECORD_ALL                                                \
	(GATE_RECORD_EXEC | GATE_RECORD_FILES | GATE_RECORD_NET | \
	 GATE_RECORD_LOOKS)

/* Keys that a trace finds rows of. */
#define TRACE_KEYS 8

/* Results of the traces of several steps. */
enum outcome { CHANGED, COMPLETE, FAILED, LEFT_OUT, NOT_TRACED, OUTCOMES };

/* Traces of the steps of a routine, one after the other. */
struct row_walk {
	struct arena arena;
	struct inputs_given given;
	struct strlist said; /* notes that one trace has for all */
	bool is_named;	     /* the steps are those of the command line */
	struct report done;  /* results, for conditions of later steps */
	struct strlist step[OUTCOMES];
};

struct trace {
	const struct args *args;
	const char *routine, *step;	  /* NULL: a program */
	const struct inputs_given *given; /* parameters; NULL: a program */
	struct row_walk *walk;		  /* NULL: the only trace */
	enum outcome outcome;
	struct arena arena;
	struct gate_policy asked;  /* all options */
	struct gate_policy plain;  /* options that grant nothing */
	struct gate_policy traced; /* policy of the traced run */
	struct gate_needs needs;
	struct edit_row row[TRACE_KEYS]; /* granted rows, by key */
	size_t n_rows;
	uint64_t dropped; /* records beyond the bound */
	bool has_needs;
	bool has_failed;  /* the needs could not be found; said */
	bool went_well;	  /* the program or step did its work */
	struct buf table; /* table of a step, scrubbed */
	const struct config_file *config; /* of a step; borrowed */
	struct outfile applied;		  /* file of --apply; its path is NULL
					     without */
	const char *left_out; /* a need that no trace grants, and why */
	struct outfile file;  /* of -o; its path is NULL without */
	struct err why;
	const char *tool; /* of the step; NULL without */
	bool has_refs;	  /* a step that needs results of others */
};

/* ---- the table: TOML to paste, or JSON ---- */

/* Append a text to a comment, which control characters must not end. */
static void add_plain(struct buf *out, const char *s)
{
	log_visible(out, str_of(s), false);
}

/* Walk the needs of a key: the one behind `n`, the first one behind NULL. */
static const struct gate_need *next_need(const struct trace *t, const char *key,
					 const struct gate_need *n)
{
	for (n = n ? n + 1 : t->needs.need; n < t->needs.need + t->needs.n; n++)
		if (strcmp(n->key, key) == 0)
			return n;
	return NULL;
}

static void add_row(struct buf *out, const struct gate_need *n)
{
	AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

	edit_add_string(&value, n->value);
	buf_adds(out, n->why_not ? "\t# " : "\t");
	if (n->why_not)
		add_plain(out, buf_cstr(&value));
	else
		buf_add_str(out, buf_str(&value));
	buf_adds(out, ", # ");
	add_plain(out, n->program ? n->program : "?");
	buf_addf(out, ", %" PRIu64 " time%s%s", n->count,
		 n->count == 1 ? "" : "s",
		 n->is_looked_up ? "; looked up only" : "");
	if (n->why_not) {
		buf_adds(out, "; not granted: ");
		add_plain(out, n->why_not);
	}
	buf_addc(out, '\n');
}

static bool is_list(const struct key *k)
{
	return k->type == KEY_READ_PATHS || k->type == KEY_WRITE_PATHS ||
	       k->type == KEY_PROGRAMS || k->type == KEY_NET ||
	       k->type == KEY_UNIX || k->type == KEY_STRINGS ||
	       k->type == KEY_WORDS;
}

/* Find the granted row that stands in place of a list: net = "all". */
static const struct gate_need *find_word(const struct trace *t,
					 const struct key *k)
{
	const struct gate_need *n = NULL;

	while (k->type == KEY_NET && (n = next_need(t, k->name, n)))
		if (!n->why_not && gate_net_is_word(n->value))
			return n;
	return NULL;
}

static void add_list(const struct trace *t, const struct key *k,
		     const struct strlist *given, struct buf *out)
{
	const struct gate_need *word = find_word(t, k), *n = NULL;

	if (!given->n && !next_need(t, k->name, NULL))
		return;
	buf_addf(out, "%s = %s", k->name, word ? "" : "[\n");
	if (word) {
		edit_add_string(out, word->value);
		buf_adds(out, " # ");
		add_plain(out, word->program);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; !word && i < given->n; i++) {
		buf_addc(out, '\t');
		edit_add_string(out, given->item[i]);
		buf_adds(out, ", # as given\n");
	}
	/* beside a word rows without a grant are comments */
	while ((n = next_need(t, k->name, n)))
		if (!word || n->why_not)
			add_row(out, n);
	buf_adds(out, word ? "" : "]\n");
}

/* Add keys, with the values that were given on the command line. */
static void add_keys(struct trace *t, bool lists, struct buf *out)
{
	for (const struct key *k = NULL; (k = key_next(SECTION_sandbox, k));) {
		struct strlist given;

		if (k->type == KEY_PROGRAM_RULES || is_list(k) != lists)
			continue;
		given = key_values(k, &t->plain, &t->arena);
		if (lists) {
			add_list(t, k, &given, out);
			continue;
		}
		if (!given.n)
			continue;
		buf_addf(out, "%s = ", k->name);
		if (k->type == KEY_WORD || k->type == KEY_CHOICE ||
		    k->type == KEY_STRING)
			edit_add_string(out, given.item[0]);
		else
			buf_adds(out, given.item[0]);
		buf_addc(out, '\n');
	}
}

/* Name what the trace could not follow. */
static void add_refused(struct buf *out, const struct gate_need *n)
{
	buf_adds(out, strcmp(n->key, "exec") == 0 ? "the trace could not run "
		      : strcmp(n->key, "write") == 0
			      ? "the trace refused to write "
			      : "the trace refused a connection to ");
	edit_add_string(out, n->value);
	buf_adds(out, ", so what the program does behind that is not known");
}

/* Rows without a grant stand in comments, with the reason. */
static void add_toml(struct trace *t, const char *table, struct buf *out)
{
	size_t before;

	buf_addf(out, "%s\n", table);
	before = out->n;
	/* a table reads better with its lists at the end */
	add_keys(t, false, out);
	add_keys(t, true, out);
	if (out->n == before)
		buf_adds(out, t->went_well ? "# nothing: the default policy is "
					     "enough\n"
					   : "# nothing was found\n");
	if (!t->went_well)
		buf_adds(out, "# incomplete: the traced run failed, so the "
			      "needs behind that are missing\n");
	for (size_t i = 0; i < t->needs.n; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		if (!t->needs.need[i].was_refused)
			continue;
		add_refused(&line, &t->needs.need[i]);
		buf_addf(&line, "; trace again with --%s ",
			 t->needs.need[i].key);
		text_add_word(&line, t->needs.need[i].value);
		buf_adds(out, "# incomplete: ");
		add_plain(out, buf_cstr(&line));
		buf_addc(out, '\n');
	}
	if (t->dropped)
		buf_adds(out,
			 "# incomplete: the program used more paths than a "
			 "trace keeps; trace a smaller piece of its work\n");
}

/* Values that were given, and needs that are granted; none: no member. */
static void add_json_lists(struct trace *t, struct jw *w)
{
	for (const struct key *k = NULL; (k = key_next(SECTION_sandbox, k));) {
		const struct strlist given =
			key_values(k, &t->plain, &t->arena);
		struct strlist all = {NULL, 0};

		for (size_t i = 0; is_list(k) && i < given.n; i++)
			list_add(&all, &t->arena, given.item[i]);
		for (const struct gate_need *n = NULL;
		     is_list(k) && (n = next_need(t, k->name, n));)
			if (!n->why_not)
				list_add(&all, &t->arena, n->value);
		if (all.n)
			jw_kv_list(w, k->name, &all);
	}
}

/*
 * {"sandbox": {…}, "needs": […], "dropped": n, "failed": true}; dropped counts
 * events whose path found no row; failed stands there where the run did.
 */
static void add_json(struct trace *t, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, true);
	jw_object(&w);
	jw_kv_object(&w, "sandbox");
	add_json_lists(t, &w);
	jw_end(&w);
	jw_kv_array(&w, "needs");
	for (size_t i = 0; i < t->needs.n; i++) {
		const struct gate_need *n = &t->needs.need[i];

		jw_object(&w);
		jw_kv_cstr(&w, "key", n->key);
		jw_kv_cstr(&w, "value", n->value);
		jw_kv_cstr(&w, "program", n->program ? n->program : "?");
		jw_kv_int(&w, "count", (int64_t)n->count);
		jw_kv_opt(&w, "not_granted", n->why_not);
		if (n->was_refused)
			jw_kv_bool(&w, "refused_in_trace", true);
		if (n->is_looked_up)
			jw_kv_bool(&w, "looked_up", true);
		jw_end(&w);
	}
	jw_end(&w);
	jw_kv_int(&w, "dropped", (int64_t)t->dropped);
	if (!t->went_well)
		jw_kv_bool(&w, "failed", true);
	jw_end(&w);
	buf_addc(out, '\n');
}

static void add_table(struct trace *t, const char *table, struct buf *out)
{
	if (args_has(t->args, "json"))
		add_json(t, out);
	else
		add_toml(t, table, out);
}

/* "2 read, 1 exec" */
static const char *count_rows(struct trace *t)
{
	const char *all = "";

	for (size_t i = 0; i < t->n_rows; i++)
		all = arena_printf(&t->arena, "%s%s%zu %s", all, i ? ", " : "",
				   t->row[i].values.n, t->row[i].key);
	return *all ? all : "nothing";
}

static int put_table(struct trace *t, const struct buf *table, struct err *err)
{
	/* the strings of TOML know \uNNNN as well */
	if (!t->file.path)
		return put(buf_str(table), PUT_JSON, err);
	if (outfile_write_str(&t->file, buf_str(table), err) < 0)
		return -1;
	log_note("trace: wrote %s, which grants: %s", t->file.path,
		 count_rows(t));
	return 0;
}

/* ---- rows ---- */

static struct edit_row *row_of(struct trace *t, const char *key)
{
	size_t i = 0;

	while (i < t->n_rows && strcmp(t->row[i].key, key) != 0)
		i++;
	if (i == TRACE_KEYS)
		return NULL;
	if (i == t->n_rows)
		t->row[t->n_rows++] = (struct edit_row){.key = key};
	return &t->row[i];
}

static void keep_rows(struct trace *t)
{
	for (size_t i = 0; i < t->needs.n; i++) {
		const struct gate_need *n = &t->needs.need[i];
		struct edit_row *row = n->why_not ? NULL : row_of(t, n->key);

		if (!row)
			continue;
		list_add(&row->values, &t->arena, n->value);
		row->is_word |= strcmp(n->key, "net") == 0 &&
				gate_net_is_word(n->value);
	}
}

/* ---- before: the policy of the trace ---- */

/* Drop the grants of the options: the trace is to find them. */
static void drop_grants(struct trace *t)
{
	const struct strlist none = {NULL, 0};

	t->plain = t->asked;
	t->plain.read = t->plain.write = t->plain.exec = t->plain.net = none;
	t->plain.record_exec = false;
}

/* Several traces have much to say in common: it is said by the first one. */
static bool is_news(struct trace *t, const char *sentence)
{
	struct row_walk *w = t->walk;

	if (w && list_has(&w->said, sentence))
		return false;
	if (w)
		list_add(&w->said, &w->arena,
			 arena_strdup(&w->arena, sentence));
	return true;
}

static int open_policy(struct trace *t, struct gate *gate, const char *cwd,
		       struct err *err)
{
	struct strlist says;

	if (gate_trace_policy(gate, &t->asked, cwd, true, &t->arena, &t->traced,
			      &says, err) < 0)
		return -1;
	for (size_t i = 0; i < says.n; i++)
		if (is_news(t, says.item[i]))
			log_note("trace: %s", says.item[i]);
	return 0;
}

static int find_needs(struct trace *t, struct gate *gate,
		      const struct gate_request *plain,
		      const struct gate_verdict *v, bool went_well,
		      struct err *err)
{
	if (!v->n_records)
		return err_set(err, ERR_PROTECTION,
			       "nothing was recorded: this kernel or an outer "
			       "sandbox allows no seccomp listener");
	t->dropped = v->records_dropped;
	t->went_well = went_well;
	if (gate_needs(gate, plain, &t->traced, v, went_well, &t->arena,
		       &t->needs, err) < 0)
		return -1;
	keep_rows(t);
	return 0;
}

/* ---- --apply ---- */

static void leave_out(struct trace *t, const struct gate_need *n,
		      const struct scrub *scrub)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&text, "%s ", n->key);
	edit_add_string(&text, n->value);
	buf_addf(&text, ": %s", n->why_not);
	scrub_apply(scrub, buf_str(&text), &clean);
	t->left_out = arena_printf(&t->arena, "%s%s%s",
				   t->left_out ? t->left_out : "",
				   t->left_out ? "; " : "", buf_cstr(&clean));
}

/*
 * Take over the needs as they are written. Keys, tokens and rows with a
 * credential in them are named in a warning and left out.
 */
static void apply_rows(struct trace *t, const struct gate *gate,
		       const struct scrub *scrub)
{
	const struct gate_need *lost = NULL;

	/* rows that were not written are missed most: all are said */
	for (size_t i = 0; i < t->needs.n; i++) {
		const struct gate_need *n = &t->needs.need[i];

		if (n->why_not && strcmp(n->key, "write") == 0)
			leave_out(t, n, scrub);
		else if (n->why_not && !lost)
			lost = n;
	}
	if (lost && !t->left_out)
		leave_out(t, lost, scrub);
	for (size_t i = 0; i < t->n_rows; i++) {
		struct edit_row *row = &t->row[i];
		struct strlist found = row->values;

		row->values = (struct strlist){NULL, 0};
		for (size_t k = 0; k < found.n; k++) {
			const char *value = found.item[k];

			if ((*value == '/' && gate_is_secret(gate, value)) ||
			    (scrub && scrub_finds(scrub, str_of(value))))
				log_warning("trace: a row of %s is left out, "
					    "it names keys, tokens or a "
					    "credential",
					    row->key);
			else
				list_add_new(&row->values, &t->arena,
					     rewrite_path(t->config->config.dir,
							  row->key, value,
							  &t->arena));
		}
	}
}

/* Say what stays to be done by hand where a key has another value already. */
static void say_left(const struct trace *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);
		const struct edit_row *row = &t->row[i];

		if (!row->is_left)
			continue;
		edit_add_value(&value, row);
		log_warning("trace: sandbox.%s has a value that cannot be "
			    "joined with what the step needs%s; to allow it, "
			    "write %s = %s there",
			    row->key,
			    strcmp(row->key, "net") == 0
				    ? " (\"loopback\" is a network of its own, "
				      "without the services of this machine)"
				    : "",
			    row->key, buf_cstr(&value));
	}
}

/* Say why the file stays as it is. */
static void say_unchanged(const struct trace *t)
{
	log_note("trace: step %s %s; %s stays as it is%s%s", t->step,
		 t->went_well && t->left_out ? "has all that a trace may grant"
		 : t->went_well
			 ? "has all that it needs"
			 : "failed, and there is nothing to add that a trace "
			   "may grant; needs behind the failure are not known",
		 t->config->path, t->left_out ? "; left out: " : "",
		 t->left_out ? t->left_out : "");
}

/* Words that name the step in a command, with the parameters of this trace. */
static const char *words_again(const struct trace *t, const char *name,
			       struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, name);
	for (size_t i = 0; t->given && i < t->given->params.n; i++) {
		buf_adds(&out, " -p ");
		text_add_word(&out, t->given->params.item[i]);
	}
	return arena_strdup(arena, buf_cstr(&out));
}

/*
 * Write the file, keep its allowance where it had one, and print the lines
 * that changed.
 * errors  ERR_CONFIG  it changed meanwhile, or cannot be edited; ERR_SYS,
 *	   ERR_OUTPUT
 */
static int apply_write(struct trace *t, struct err *err)
{
	AUTO(buf_release) struct buf old = BUF_INIT(LIMIT_CONFIG_BYTES);
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);

	if (rewrite_read(t->config, "trace", &old, err) < 0 ||
	    edit_sandbox(buf_str(&old), t->routine, t->step, t->row, t->n_rows,
			 &text, err) < 0)
		return err_wrap(err, "--apply");
	say_left(t);
	if (str_eq(buf_str(&old), buf_str(&text))) {
		say_unchanged(t);
		return 0;
	}
	if (rewrite_check(t->config->path, buf_str(&text), err) < 0 ||
	    outfile_write_str(&t->applied, buf_str(&text), err) < 0)
		return err_wrap(err, "--apply");
	rewrite_allow(t->config, "trace", buf_str(&text));
	t->outcome = t->went_well ? CHANGED : FAILED;
	buf_addf(&diff, "--- %s\n+++ %s\n", t->config->path, t->config->path);
	edit_diff(buf_str(&old), buf_str(&text), &diff);
	log_note("trace: wrote %s; to run the step: %s%s%s%s", t->config->path,
		 advice_about(&t->config->config, t->has_refs ? "run" : "step",
			      words_again(t,
					  t->has_refs ? t->routine
						      : advice_words(t->routine,
								     t->step,
								     &t->arena),
					  &t->arena),
			      &t->arena),
		 t->went_well ? ""
			      : "; the traced run failed, so rows may be "
				"missing: trace again when it works",
		 t->left_out ? "; left out: " : "",
		 t->left_out ? t->left_out : "");
	return put(buf_str(&diff), PUT_TEXT, err);
}

/* ---- -- PROGRAM ARGS ---- */

/* found  programs of an earlier trace, for --verify; NULL: this is the trace */
static int open_own_gate(struct trace *t, const char *program,
			 const struct strlist *found, struct gate **ret,
			 struct err *err)
{
	struct gate_wish wish = {
		.exec = found ? found : &t->asked.exec,
		.is_trace = !found,
	};

	list_add(&wish.named, &t->arena, program);
	return open_gate(&wish, &t->arena, ret, err);
}

/* Add the caller's PATH: the trace is to find the caller's programs. */
static const char *const *with_path(struct trace *t, const char *const *env)
{
	const char *path = getenv("PATH");
	const char **all;
	size_t n = 0;

	while (env && env[n])
		if (strncmp(env[n++], "PATH=", 5) == 0)
			return env;
	all = ARENA_ARRAY(&t->arena, const char *, n + 2);
	for (size_t i = 0; i < n; i++)
		all[i] = env[i];
	if (path)
		all[n] = arena_printf(&t->arena, "PATH=%s", path);
	return all;
}

/*
 * Run to the end; output goes to stderr, for stdout is for the policy. stdin
 * is the caller's unless it is a terminal.
 *
 * again  read stdin from its beginning where it can seek, else an empty one
 */
static int run_child(struct gate *gate, struct gate_request *request,
		     bool again, struct child_end *ret, struct err *err)
{
	const bool has_input =
		!isatty(STDIN_FILENO) &&
		(!again || lseek(STDIN_FILENO, 0, SEEK_SET) == 0);
	AUTO(fd_closep)
	int in = has_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			   : fd_open("/dev/null", O_RDONLY, 0);
	int out = child_is_pumped(STDERR_FILENO) ? GATE_PIPE : STDERR_FILENO;
	int r;

	if (in < 0)
		return err_sys(err, errno, "stdin");
	request->stdio[0] = in;
	request->stdio[1] = out;
	request->stdio[2] = out == GATE_PIPE ? GATE_AS_OUT : out;
	r = child_run(gate, request, STDERR_FILENO, STDERR_FILENO, ret, err);
	loop_give_signals_back();
	return r;
}

/* Run the program again under the policy that was found. */
static int run_again(struct trace *t, struct gate_request request,
		     int *ret_status, struct err *err)
{
	struct gate_policy policy;
	struct gate *gate = NULL;
	struct child_end end;
	int r;

	gate_needs_policy(&t->plain, &t->needs, &t->arena, &policy);
	request.policy = &policy;
	request.record = 0;
	if (open_own_gate(t, request.program, &policy.exec, &gate, err) < 0)
		return -1;
	r = run_child(gate, &request, true, &end, err);
	if (r == 0) {
		*ret_status = child_end_status(&end.verdict);
		child_end_release(&end);
	}
	gate_free(gate);
	return r;
}

/* Compare the status of the traced run with that of a second one. */
static int verify(struct trace *t, const struct gate_request *plain, int status,
		  struct err *err)
{
	int second = -1;

	log_note("trace: running again under the table that was found");
	if (run_again(t, *plain, &second, err) < 0)
		return err_wrap(err, "verify");
	if (second == status) {
		log_note("trace: the second run ended the same (status %d)",
			 status);
		return status;
	}
	log_warning("trace: the second run ended with status %d, the traced "
		    "one with %d: a need cannot be seen, or the program does "
		    "not repeat itself",
		    second, status);
	return status ? status : 1;
}

static int trace_and_print(struct trace *t, struct gate *gate,
			   const struct gate_request *plain, struct err *err)
{
	AUTO(buf_release) struct buf table = BUF_INIT(BUF_UNBOUNDED);
	struct gate_request request = *plain;
	struct child_end end;
	int status = -1;

	request.policy = &t->traced;
	request.record = RECORD_ALL;
	request.env = with_path(t, plain->env);
	if (run_child(gate, &request, false, &end, err) < 0)
		return -1;
	if (find_needs(t, gate, plain, &end.verdict,
		       child_end_status(&end.verdict) == 0, err) == 0) {
		add_table(t, "[sandbox]", &table);
		if (put_table(t, &table, err) == 0)
			status = child_end_status(&end.verdict);
	}
	child_end_release(&end);
	return status;
}

static int trace_program(struct trace *t, struct err *err)
{
	char **argv = t->args->after;
	const char *cwd = args_get(t->args, "cwd");
	struct gate_request plain = {
		.argv = (const char *const *)argv,
		.policy = &t->plain,
		.output_may_be_large = true,
	};
	struct gate *gate = NULL;
	int status = -1;

	if (policy_options_read(t->args, &t->arena, &t->asked, &plain.env,
				err) < 0 ||
	    path_check_links(t->file.path, &t->file.folder, &t->asked.write,
			     err) < 0)
		return -1;
	drop_grants(t);
	plain.program = path_program(argv[0], NULL, &t->arena);
	plain.cwd = path_resolve(cwd ? cwd : ".", NULL, &t->arena);
	if (open_own_gate(t, plain.program, NULL, &gate, err) < 0)
		return -1;
	if (open_policy(t, gate, plain.cwd, err) == 0)
		status = trace_and_print(t, gate, &plain, err);
	gate_free(gate);
	return status >= 0 && args_has(t->args, "verify")
		       ? verify(t, &plain, status, err)
		       : status;
}

/* ---- ROUTINE STEP ---- */

/* A step behind all others: one that is named runs in any case. */
static int begin_after(struct trace *t, struct plan_step *p, struct err *err)
{
	const char *after = p->step->after;
	struct step *always = ARENA_NEW(&t->arena, struct step);
	bool has_failed = t->walk && t->walk->step[FAILED].n;

	if (t->walk && !t->walk->is_named && strcmp(after, "always") != 0 &&
	    (strcmp(after, "failure") == 0) != has_failed)
		return err_set(err, ERR_USAGE,
			       "step %s would be skipped: after = \"%s\", and "
			       "%s step failed; it runs for %s",
			       t->step, after, has_failed ? "a" : "no",
			       advice_about(&t->config->config, "trace",
					    advice_words(t->routine, t->step,
							 &t->arena),
					    &t->arena));
	*always = *p->step;
	always->after = "always";
	p->step = always;
	return 0;
}

/* Say why a step that starts no program is not traced. */
static int say_no_program(struct trace *t, const struct step *step,
			  struct err *err)
{
	if (step->routine)
		return err_set(err, ERR_USAGE,
			       "%s runs routine %s; trace that: %s", step->name,
			       step->routine,
			       advice_about(&t->config->config, "trace",
					    advice_words(step->routine, NULL,
							 &t->arena),
					    &t->arena));
	return err_set(err, ERR_USAGE, "%s is %s: there is no program to trace",
		       step->name,
		       step->message   ? "answered by a person"
		       : step->is_sync ? "done by matins itself"
				       : "a remote server");
}

static int begin_step(void *arg, struct gate *gate, struct plan_step *step,
		      struct err *err)
{
	struct trace *t = arg;

	t->outcome = LEFT_OUT;
	if (step->reason != REASON_NONE)
		return err_set(err, ERR_USAGE, "step %s would be skipped: %.*s",
			       step->step->name, STR_ARG(step->error));
	if (step->step->after && begin_after(t, step, err) < 0)
		return -1;
	if (!step->request.program)
		return say_no_program(t, step->step, err);
	/* results would grant what they name to those that made them */
	if (step->flow->has_results)
		return err_set(
			err, ERR_USAGE,
			"%s is not traced: it is given values of other "
			"steps, which a trace would grant to whoever made "
			"them; run the routine, and its report names what was "
			"refused: %s",
			t->step,
			advice_about(&t->config->config, "run", t->routine,
				     &t->arena));
	/* nothing to wait for: a package is not there, say */
	if (gate_check(gate, &step->request, err) < 0) {
		if (err->kind == ERR_NOT_FOUND)
			return -1;
		*err = (struct err)ERR_INIT;
	}
	t->plain = gate_policy_copy(&step->policy, &t->arena);
	gate_policy_merge(&step->policy, &t->asked, &t->arena, &t->asked);
	/* --apply adds to what the step has, a table stands for all of it */
	if (!args_has(t->args, "apply"))
		drop_grants(t);
	t->plain.record_exec = false;
	if (open_policy(t, gate, step->request.cwd, err) < 0)
		return -1;
	t->outcome = FAILED;
	t->tool = step->step->tool;
	t->has_refs = step->flow->is_late || step->flow->has_late_args;
	step->policy = t->traced;
	step->request.record = RECORD_ALL;
	return 0;
}

/* Begin a step whose turn it is, with the values of its references. */
static void say_begin(void *arg, const char *step)
{
	const struct trace *t = arg;

	log_note("trace: step %s really runs%s", step,
		 t->tool ? " and calls its tool" : "");
}

/* Say where the table belongs: steps without one share that of a server. */
static const char *header_of(struct trace *t, const struct step *step)
{
	bool is_own = step->sandbox_form != SANDBOX_ABSENT;

	if (step->server_name && !is_own)
		return arena_printf(&t->arena,
				    "# of server %s: paste it behind that "
				    "server, or let --apply write it\n"
				    "[servers.%s.sandbox]",
				    step->server_name, step->server_name);
	return arena_printf(&t->arena,
			    "# of step %s: paste it %s, or let --apply write "
			    "it\n[routines.%s.steps.sandbox]",
			    t->step,
			    is_own ? "in place of its sandbox"
				   : "behind that step",
			    t->routine);
}

/* The table is scrubbed: paths and hosts may contain a credential. */
static void step_ended(void *arg, struct gate *gate,
		       const struct plan_step *step,
		       const struct gate_verdict *v, bool went_well,
		       const struct scrub *scrub)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct gate_request request = step->request;
	struct trace *t = arg;
	size_t hits;

	request.policy = &t->plain;
	request.record = 0;
	t->has_needs =
		find_needs(t, gate, &request, v, went_well, &t->why) == 0;
	t->has_failed = !t->has_needs;
	if (!t->has_needs)
		return;
	for (size_t i = 0; t->applied.path && i < t->needs.n; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		if (!t->needs.need[i].was_refused)
			continue;
		add_refused(&line, &t->needs.need[i]);
		log_warning(
			"%s; once its row is there, trace again: %s --apply",
			buf_cstr(&line),
			advice_about(
				&t->config->config, "trace",
				words_again(t,
					    advice_words(t->routine, t->step,
							 &t->arena),
					    &t->arena),
				&t->arena));
	}
	if (t->applied.path) {
		apply_rows(t, gate, scrub);
		return;
	}
	add_table(t, header_of(t, step->step), &out);
	if (t->walk)
		buf_addc(&out, '\n');
	hits = (args_has(t->args, "json") ? scrub_json : scrub_apply)(
		scrub, buf_str(&out), &t->table);
	if (hits)
		log_warning("trace: rows with *** stand for names that "
			    "contain a credential; they grant nothing");
}

/* Say why the step failed, in the words of the tool or on stderr. */
static void say_failure(const struct trace *t, const struct report_step *s)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);

	if (s->state == STATE_TOOL_ERROR)
		report_step_output(&text, s);
	else
		buf_add_str(&text, s->said);
	said_join(&lines, buf_str(&text), "; ");
	log_warning("%s: %.*s%s%s", t->step, STR_ARG(s->error),
		    lines.n ? ": " : "", buf_cstr(&lines));
}

/* Keep a result: conditions of steps behind it may refer to it. */
static void hand_on(struct row_walk *w, const struct report *report)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct render_options full = {.view = VIEW_FULL};
	struct report one, *all = &w->done;

	render_find("json")->print(report, &full, &text);
	if (report_load(arena_str(&w->arena, buf_str(&text)), &w->arena, &one,
			ERR_IGNORED) < 0 ||
	    !one.n_steps)
		return;
	all->steps = arena_grow(&w->arena, all->steps, all->n_steps,
				sizeof(*all->steps));
	all->steps[all->n_steps++] = one.steps[0];
}

/* Nothing ran: a condition does not hold, or a value is not there. */
static int not_started(struct trace *t, const struct run_result *result,
		       struct err *err)
{
	const struct report_step *s = result->report.steps;
	bool is_due = !result->report.n_steps || s->state != STATE_SKIPPED;

	t->outcome =
		result->exit_status > 128 || is_due ? NOT_TRACED : LEFT_OUT;
	if (!is_due)
		return err_set(err, ERR_USAGE, "step %s would be skipped: %.*s",
			       t->step, STR_ARG(s->error));
	if (!result->report.n_steps || s->reason != REASON_REFERENCE || t->walk)
		return err_set(err, ERR_SYS, "%s was not started", t->step);
	return err_set(err, ERR_SYS,
		       "%s was not started: it needs the result of another "
		       "step, from the last run or from a trace of all of "
		       "them: %s",
		       t->step,
		       advice_about(&t->config->config, "trace", t->routine,
				    &t->arena));
}

static int run_step(struct trace *t, const struct config_file *file,
		    struct err *err)
{
	struct run_tracer tracer = {
		.begin = begin_step,
		.ended = step_ended,
		.arg = t,
	};
	struct run_options o = {
		.file = file,
		.only_step = t->step,
		.given = *t->given,
		.tracer = &tracer,
		.earlier = t->walk ? &t->walk->done : NULL,
		.observer = {.begun = say_begin, .arg = t},
		/* advice is of a run, and the trace shows more */
		.shows_advice = true,
	};
	struct run_result result;
	int status, r = 0;

	if (find_routine(&file->config, t->routine, &o.routine, err) < 0 ||
	    path_check_links_of(t->file.path, &t->file.folder, &file->config,
				err) < 0 ||
	    run_routine(&o, &result, err) < 0)
		return -1;
	status = result.exit_status;
	if (result.report.n_steps && result.report.steps[0].error.n &&
	    result.report.steps[0].state != STATE_SKIPPED)
		say_failure(t, &result.report.steps[0]);
	if (t->walk)
		hand_on(t->walk, &result.report);
	if (t->has_failed)
		*err = t->why;
	else if (!t->has_needs)
		r = not_started(t, &result, err);
	run_result_release(&result);
	if (t->has_failed || r < 0)
		return -1;
	t->outcome = status > 128 ? NOT_TRACED : status ? FAILED : COMPLETE;
	if (!t->applied.path)
		r = put_table(t, &t->table, err);
	else if (status <= 128)
		r = apply_write(t, err);
	else
		log_note("trace: it was ended before the step was done; %s "
			 "stays as it is",
			 t->config->path);
	return r < 0 ? -1 : status;
}

static int trace_step(struct trace *t, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {
		.routine = t->routine,
		.quiet = t->walk,
	};
	const char *const *env;

	if (policy_options_read(t->args, &t->arena, &t->asked, &env, err) < 0 ||
	    open_config(t->args, options, &file, err) < 0 ||
	    /* nothing that is traced can put another file there */
	    (args_has(t->args, "apply") &&
	     outfile_open(&t->applied, file.path, OUTFILE_DURABLE, err) < 0 &&
	     err_wrap(err, "--apply") < 0))
		return -1;
	t->config = &file;
	return run_step(t, &file, err);
}

/* Check what one trace writes, and begin it. */
static int trace(struct trace *t, struct err *err)
{
	if (open_output(t->args, &t->file, err) < 0)
		return -1;
	if (t->file.is_there && !args_has(t->args, "force"))
		return err_set(err, ERR_CONFIG,
			       "%s already exists and may be written by hand; "
			       "trace --force -o replaces it",
			       t->file.path);
	return t->step ? trace_step(t, err) : trace_program(t, err);
}

/*
 * step  NULL: the program behind --, with given NULL
 * walk  NULL: there is only this one
 */
static int trace_one(const struct args *args, const char *step,
		     const struct inputs_given *given, struct row_walk *walk,
		     struct err *err)
{
	struct trace t = {.args = args,
			  .routine = step ? args->positional[0] : NULL,
			  .step = step,
			  .given = given,
			  .walk = walk,
			  .outcome = FAILED,
			  .why = ERR_INIT,
			  .table = BUF_INIT(BUF_UNBOUNDED),
			  .file = OUTFILE_INIT,
			  .applied = OUTFILE_INIT};
	int status = trace(&t, err);

	if (walk)
		list_add(&walk->step[t.outcome], &walk->arena, step);
	buf_release(&t.table);
	outfile_release(&t.file);
	outfile_release(&t.applied);
	arena_release(&t.arena);
	return status;
}

/* ---- ROUTINE [STEP…]: one after the other ---- */

/* A routine with the steps that are named, or all where none is. */
static struct routine part_of(const struct routine *r,
			      const struct strlist *names, struct arena *arena)
{
	struct routine part = *r;

	part.steps = ARENA_ARRAY(arena, struct step, r->n_steps);
	part.n_steps = 0;
	for (size_t i = 0; i < r->n_steps; i++)
		if (!names->n || list_has(names, r->steps[i].name))
			part.steps[part.n_steps++] = r->steps[i];
	return part;
}

/*
 * The steps that are named, or all.
 * errors  ERR_UNKNOWN_STEP, and those of the configuration
 */
static int list_steps(const struct args *args, struct row_walk *w,
		      struct strlist *ret, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {.routine = args->positional[0]};
	const struct routine *routine;
	struct inputs_given given = w->given;
	struct strlist all = {NULL, 0};
	struct values ignored;
	struct routine named;

	*ret = (struct strlist){NULL, 0};
	for (size_t i = 1; i < args->n_positional; i++)
		list_add_new(ret, &w->arena, args->positional[i]);
	w->is_named = ret->n;
	if (ret->n == 1)
		return 0;
	if (open_config(args, options, &file, err) < 0 ||
	    find_routine(&file.config, args->positional[0], &routine, err) < 0)
		return -1;
	given.is_partial = w->is_named;
	named = part_of(routine, ret, &w->arena);
	if (inputs_read(&file.config, &named, &given, &w->arena, &ignored,
			err) < 0)
		return -1;
	for (size_t i = 0; i < routine->n_steps; i++)
		list_add(&all, &w->arena,
			 arena_strdup(&w->arena, routine->steps[i].name));
	for (size_t i = 0; i < ret->n; i++)
		if (!list_has(&all, ret->item[i]))
			return err_set(err, ERR_UNKNOWN_STEP,
				       "routine %s has no step %s%s",
				       routine->name, ret->item[i],
				       args_meant(str_of(ret->item[i]),
						  all.item, all.n)
					       .text);
	if (!ret->n)
		*ret = all;
	return 0;
}

/* "4 changed, 1 failed (c)" */
static void say_walk(struct row_walk *w, const char *routine, bool is_applied)
{
	static const char *const words[] = {
		[CHANGED] = "changed",	     [COMPLETE] = "complete",
		[FAILED] = "failed",	     [LEFT_OUT] = "left out",
		[NOT_TRACED] = "not traced",
	};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < OUTCOMES; i++) {
		const struct strlist *steps = &w->step[i];

		if (!steps->n)
			continue;
		buf_addf(&out, "%s%zu %s", out.n ? ", " : "", steps->n,
			 i == COMPLETE && !is_applied ? "traced" : words[i]);
		for (size_t k = 0; i >= FAILED && k < steps->n; k++)
			buf_addf(&out, "%s%s%s", k ? ", " : " (",
				 steps->item[k], k + 1 < steps->n ? "" : ")");
	}
	log_note("trace: %s: %s", routine, buf_cstr(&out));
}

/*
 * Trace each step in turn; each reads the file that the one before has written.
 * A step that fails is said, and the others go on; a signal ends the walk.
 */
static int walk_steps(const struct args *args, const struct strlist *steps,
		      struct row_walk *w, struct err *err)
{
	const char *routine = args->positional[0];
	int worst = 0;

	for (size_t i = 0; i < steps->n; i++) {
		struct err why = ERR_INIT;
		int status;

		if (worst > 128) {
			list_add(&w->step[NOT_TRACED], &w->arena,
				 steps->item[i]);
			continue;
		}
		status = trace_one(args, steps->item[i], &w->given, w, &why);
		if (status < 0)
			log_warning("trace: %s", why.msg);
		/* a run skips these as well, they are remote, or what they
		   are given is no trace's to grant */
		if (!w->is_named &&
		    list_has(&w->step[LEFT_OUT], steps->item[i]))
			continue;
		if (status < 0)
			status = err_exit_status(why.kind);
		if (!worst || status > 128)
			worst = status;
	}
	say_walk(w, routine, args_has(args, "apply"));
	if (w->step[LEFT_OUT].n == steps->n)
		return err_set(err, ERR_USAGE,
			       "no step of %s has a program to trace", routine);
	return worst;
}

static int trace_routine(const struct args *args, struct err *err)
{
	struct row_walk w = {.arena = ARENA_INIT};
	struct strlist steps;
	int status = -1;

	if (args_has(args, "verify"))
		return err_set(err, ERR_USAGE,
			       "trace: --verify is for programs; a step would "
			       "call its tool twice");
	if (param_options_read(args, &w.arena, &w.given, err) < 0 ||
	    list_steps(args, &w, &steps, err) < 0)
		status = -1;
	else if (steps.n == 1)
		status = trace_one(args, steps.item[0], &w.given, NULL, err);
	else if (args_has(args, "json") || args_has(args, "output"))
		err_set(err, ERR_USAGE,
			"trace: --json and -o take the table of one step: "
			"matins trace %s STEP",
			args->positional[0]);
	else
		status = walk_steps(args, &steps, &w, err);
	arena_release(&w.arena);
	return status;
}

int cmd_trace(const struct args *args, struct err *err)
{
	bool is_program = args->after && args->after[0];

	if (is_program == (args->n_positional > 0))
		return err_set(err, ERR_USAGE,
			       "trace: name a routine and steps of it, or a "
			       "program: matins trace -- PROGRAM ARGS…");
	if (args_has(args, "apply") &&
	    (is_program || args_has(args, "json") || args_has(args, "output")))
		return err_set(err, ERR_USAGE,
			       "trace: --apply writes the configuration of "
			       "ROUTINE STEP, and takes neither --json nor -o");
	open_many_files();
	return is_program ? trace_one(args, NULL, NULL, NULL, err)
			  : trace_routine(args, err);
}
