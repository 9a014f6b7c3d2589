/*
 * `matins fan`: one routine for thousands of inputs, on many machines.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/cli/command.h"
#include "core/cli/live.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/fan/collect.h"
#include "core/fan/shard.h"
#include "core/fan/planner.h"
#include "core/fan/submit.h"

#define PER_SHARD_MAX 1000000
#define JOBS_MAX 1024

const struct option options_fan[] = {
	{"inputs", 0, "FILE", "plan: inputs as JSONL or CSV; - is stdin"},
	{"per-shard", 0, "N", "plan: inputs of one shard (100)"},
	{"output", 'o', "DIR|FILE",
	 "plan: the folder; collect: .json, .jsonl, .md or .html, - is stdout"},
	{"shard", 0, "N",
	 "exec: which one, from 0; default: as the scheduler says"},
	{"jobs", 'j', "N",
	 "exec, submit: N inputs of a shard side by side (1)"},
	{"yes", 'y', NULL,
	 "exec: agree to tools that `confirm` of a server names"},
	{"until-eof", 0, NULL, "exec: end when standard input does"},
	{"engine", 0, "local|ssh|slurm", "submit: who runs the shards"},
	{"max", 0, "N", "submit, retry: shards at once, at most"},
	{"time", 0, "TIME", "submit, retry: Slurm's limit for one shard"},
	{"hosts", 0, "FILE", "submit, retry: lines HOST [SLOTS] [PATH]"},
	{"ssh-config", 0, "FILE", "submit, retry: options of ssh"},
	{"stage", 0, "FOLDER",
	 "submit, retry: copy DIR to FOLDER of each host, results back"},
	{"print", 0, NULL, "submit: print the scripts, and submit nothing"},
	{"failed", 0, NULL, "retry: only inputs that failed"},
	{"missing", 0, NULL, "retry: only inputs without a result"},
	{"claims", 0, NULL, "retry: only inputs that failed as claimed"},
	{"deep", 0, NULL, "status: open each result, however many there are"},
	{"watch", 0, NULL, "status: until all inputs have a result"},
	{"golden", 0, NULL, "collect: leave out the values that vary"},
	{"json", 0, NULL, "print JSON; collect: the report is JSON"},
	{"md", 0, NULL, "collect: the report is Markdown"},
	{"html", 0, NULL, "collect: the report is one HTML page"},
	{0},
};

struct fan_work {
	const struct args *args;
	struct results *results; /* NULL for plan */
	struct arena *arena;
	struct loop loop; /* of a submit that waits */
};

/* ---- plan ---- */

static int do_plan(struct fan_work *w, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct args *args = w->args;
	unsigned per_shard = FAN_PER_SHARD;
	struct fan_plan plan = {
		.file = &file,
		.inputs = args_get(args, "inputs"),
		.dir = args_get(args, "output"),
	};
	struct manifest m;
	struct page page;
	int r;

	if (!plan.inputs || !plan.dir || strcmp(plan.dir, "-") == 0)
		return err_set(err, ERR_USAGE,
			       "fan plan: name the inputs, and a folder for "
			       "the plan: fan plan %s --inputs FILE -o DIR",
			       args->positional[1]);
	if (args_count(args, "per-shard", PER_SHARD_MAX, &per_shard, err) < 0 ||
	    open_config(args,
			(struct config_options){.routine = args->positional[1],
						.text = &text},
			&file, err) < 0 ||
	    find_routine(&file.config, args->positional[1], &plan.routine,
			 err) < 0)
		return -1;
	plan.text = buf_str(&text);
	plan.per_shard = per_shard;
	if (fan_plan(&plan, &m, err) < 0)
		return -1;
	page_open(&page, args);
	if (page.is_json) {
		jw_kv_cstr(&page.w, "dir", plan.dir);
		jw_kv_int(&page.w, "inputs", (int64_t)m.n);
		jw_kv_int(&page.w, "keys", (int64_t)m.n_keys);
		jw_kv_int(&page.w, "shards", (int64_t)m.n_shards);
	} else {
		buf_addf(&page.out,
			 "%s: %llu input%s in %llu shard%s; %llu equal to "
			 "others\n",
			 plan.dir, (unsigned long long)m.n, m.n == 1 ? "" : "s",
			 (unsigned long long)m.n_shards,
			 m.n_shards == 1 ? "" : "s",
			 (unsigned long long)(m.n - m.n_keys));
	}
	r = page_put(&page, err);
	page_release(&page);
	return r;
}

/* ---- exec ---- */

/* Variables of schedulers, and the number of their first task. */
static const struct {
	const char *name;
	uint64_t first;
} task_numbers[] = {
	{"SLURM_ARRAY_TASK_ID", 0},
	{"JOB_COMPLETION_INDEX", 0},
	{"PARALLEL_SEQ", 1},
};

/* n  of the plan; the only one needs no number */
static int find_shard(const struct args *args, uint64_t n, uint64_t *ret,
		      struct err *err)
{
	const char *text = args_get(args, "shard"), *name = "--shard";
	uint64_t first = 0;

	for (size_t i = 0; !text && i < ARRAY_LEN(task_numbers); i++) {
		name = task_numbers[i].name;
		text = env_text(name);
		first = task_numbers[i].first;
	}
	*ret = 0;
	if (!text && n == 1)
		return 0;
	if (!text)
		return err_set(err, ERR_USAGE,
			       "fan exec: name a --shard, 0 to %llu; neither "
			       "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX nor "
			       "PARALLEL_SEQ is set",
			       (unsigned long long)n - 1);
	if (!str_uint64(str_of(text), ret) || *ret < first)
		return err_set(err, ERR_USAGE, "%s: \"%s\" is not a shard",
			       name, text);
	*ret -= first;
	return 0;
}

static int say_done(const struct fan_exec *o, const struct fan_done *d,
		    const struct args *args, struct err *err)
{
	const struct {
		const char *name, *words;
		uint64_t n;
	} rows[] = {
		{"inputs", d->n == 1 ? "input" : "inputs", d->n},
		{"had", "had results already", d->had},
		{"ok", "ok", d->ok},
		{"failed", "failed", d->failed},
		{"dropped", "dropped as second", d->dropped},
		{"held", "claimed elsewhere", d->held},
		{"cut", "not done", d->cut},
	};
	struct page page;
	int r;

	page_open(&page, args);
	if (page.is_json)
		jw_kv_int(&page.w, "shard", (int64_t)o->shard);
	else
		buf_addf(&page.out,
			 "shard %llu:", (unsigned long long)o->shard);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (page.is_json)
			jw_kv_int(&page.w, rows[i].name, (int64_t)rows[i].n);
		else if (rows[i].n)
			buf_addf(&page.out, "%s %llu %s", i ? "," : "",
				 (unsigned long long)rows[i].n, rows[i].words);
	if (!page.is_json)
		buf_adds(&page.out, "\n");
	r = page_put(&page, err);
	page_release(&page);
	return r;
}

static int do_exec(struct fan_work *w, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	struct fan_exec o = {
		.results = w->results,
		.file = &file,
		.jobs = 1,
		.confirmed = args_has(w->args, "yes"),
		.until_eof = args_has(w->args, "until-eof"),
	};
	struct fan_done done;

	if (find_shard(w->args, results_manifest(w->results)->n_shards,
		       &o.shard, err) < 0 ||
	    args_count(w->args, "jobs", JOBS_MAX, &o.jobs, err) < 0 ||
	    fan_open_config(results_manifest(w->results), &file, err) < 0 ||
	    fan_exec(&o, &done, err) < 0 ||
	    say_done(&o, &done, w->args, err) < 0)
		return -1;
	return done.exit_status;
}

/* ---- status ---- */

/* is_live  what runs is known a second late, and is left out */
static void add_counts(const struct fan_counts *c, bool is_live,
		       struct buf *out)
{
	const unsigned long long left = c->running + c->missing,
				 rate = c->per_second_1000;

	buf_addf(out, "%llu of %llu: %llu ok, %llu failed",
		 (unsigned long long)c->ok + c->failed,
		 (unsigned long long)c->total, (unsigned long long)c->ok,
		 (unsigned long long)c->failed);
	if (!is_live) {
		buf_addf(out, ", %llu running, %llu missing",
			 (unsigned long long)c->running,
			 (unsigned long long)c->missing);
		if (c->duplicates)
			buf_addf(out, ", %llu dropped as second",
				 (unsigned long long)c->duplicates);
		if (c->torn)
			buf_addf(out, "; %llu files are torn",
				 (unsigned long long)c->torn);
	}
	if (!rate || !left)
		return;
	buf_addf(out, "; %llu", rate / 1000);
	if (rate < 10000)
		buf_addf(out, ".%llu", rate / 100 % 10);
	buf_addf(out, " a second, %llu s left", left * 1000 / rate);
}

/* said  text of before: the same is not printed twice */
static int say_counts(const struct args *args, const struct fan_counts *c,
		      struct buf *said, struct err *err)
{
	const int64_t left = (int64_t)(c->running + c->missing),
		      rate = (int64_t)c->per_second_1000;
	struct page page;
	char text[48];
	int r;

	page_open(&page, args);
	if (page.is_json) {
		jw_kv_int(&page.w, "total", (int64_t)c->total);
		jw_kv_int(&page.w, "ok", (int64_t)c->ok);
		jw_kv_int(&page.w, "failed", (int64_t)c->failed);
		jw_kv_int(&page.w, "running", (int64_t)c->running);
		jw_kv_int(&page.w, "missing", (int64_t)c->missing);
		jw_kv_int(&page.w, "duplicates", (int64_t)c->duplicates);
		jw_key(&page.w, "per_second");
		snprintf(text, sizeof(text), "%lld.%03lld",
			 (long long)rate / 1000, (long long)rate % 1000);
		jw_raw(&page.w, str_of(text));
		jw_key(&page.w, "left_s");
		if (rate || !left)
			jw_int(&page.w, rate ? left * 1000 / rate : 0);
		else
			jw_null(&page.w);
		jw_kv_bool(&page.w, "looked", c->is_looked);
	} else {
		add_counts(c, false, &page.out);
		if (c->missing && !c->running && !rate)
			buf_adds(&page.out, "; nothing runs");
		buf_adds(&page.out, c->is_looked ? "\n"
						 : "; by their names, --deep "
						   "opens each result\n");
	}
	if (!page.is_json && str_eq(buf_str(&page.out), buf_str(said))) {
		page_release(&page);
		return 0;
	}
	buf_clear(said);
	buf_add_str(said, buf_str(&page.out));
	r = page_put(&page, err);
	page_release(&page);
	return r;
}

static int do_status(struct fan_work *w, struct err *err)
{
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	struct fan_counts c;

	do {
		if (results_count(w->results, args_has(w->args, "deep"), &c,
				  err) < 0 ||
		    say_counts(w->args, &c, &said, err) < 0)
			return -1;
	} while (args_has(w->args, "watch") && c.running + c.missing &&
		 sleep(1) == 0);
	return 0;
}

/* ---- collect ---- */

/* The form that an option names, else that of the end of the file's name. */
static int find_form(const struct args *args, const char *path,
		     enum fan_form *ret, struct err *err)
{
	const bool is_stdout = path && strcmp(path, "-") == 0;
	unsigned form = is_stdout ? FAN_JSONL : N_FAN_FORMS, n = 0;

	for (unsigned i = 0; i < N_FAN_FORMS; i++) {
		const bool is_named = args_has(args, FAN_FORMS[i] + 1);

		n += is_named;
		if (is_named || (!n && str_ends(str_of(path), FAN_FORMS[i])))
			form = i;
	}
	*ret = form;
	if (n > 1)
		return err_set(err, ERR_USAGE,
			       "fan collect: use one of --json, --md and "
			       "--html");
	if (!path || form == N_FAN_FORMS)
		return err_set(err, ERR_USAGE,
			       "fan collect: name the report: -o FILE.json, "
			       ".jsonl, .md or .html, or -o - for standard "
			       "output");
	return 0;
}

static int do_collect(struct fan_work *w, struct err *err)
{
	AUTO(outfile_release) struct outfile out = OUTFILE_INIT;
	const char *path = args_get(w->args, "output");
	struct fan_collect o = {
		.results = w->results,
		.out = &out,
		.is_golden = args_has(w->args, "golden"),
	};
	struct fan_collected c;

	if (find_form(w->args, path, &o.form, err) < 0 ||
	    open_output(w->args, &out, err) < 0)
		return -1;
	if (!out.path) {
		path = out.path = "standard output";
		out.stream = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		if (out.stream < 0)
			return err_sys(err, errno, "%s", path);
	}
	if (fan_collect(&o, &c, err) < 0)
		return -1;
	if (c.exit_status)
		log_note("%s: %llu inputs: %llu ok, %llu failed, %llu missing",
			 path, (unsigned long long)c.total,
			 (unsigned long long)c.ok, (unsigned long long)c.failed,
			 (unsigned long long)c.missing);
	return c.exit_status;
}

/* ---- submit, retry ---- */

static int read_submit(struct fan_work *w, struct fan_submit *o,
		       struct err *err)
{
	const struct args *args = w->args;

	*o = (struct fan_submit){
		.results = w->results,
		.time = args_get(args, "time"),
		.hosts = args_get(args, "hosts"),
		.ssh_config = args_get(args, "ssh-config"),
		.stage = args_get(args, "stage"),
	};
	if (args_count(args, "jobs", JOBS_MAX, &o->jobs, err) < 0 ||
	    args_count(args, "max", JOBS_MAX * JOBS_MAX, &o->max, err) < 0)
		return -1;
	return 0;
}

/* A path that another submit reads from another folder. */
static const char *whole_path(const char *path, struct arena *arena)
{
	AUTO(mem_freep) char *real = path ? realpath(path, NULL) : NULL;

	return real ? arena_strdup(arena, real) : path;
}

/* Number of inputs that failed as claimed: `fan retry` leaves them alone. */
static int count_claimed(struct fan_work *w, uint64_t *ret, struct err *err)
{
	const struct fan_retry which = {.claims = true, .is_count = true};
	struct shard_set shards = {.n = 0};
	int r = fan_needs_claims(results_manifest(w->results), err);

	*ret = 0;
	return r <= 0 ? r
		      : fan_retry(w->results, &which, w->arena, &shards, ret,
				  err);
}

/* Append the command that runs what is left, with what jobs.jsonl has not. */
static int add_retry(struct fan_work *w, const struct fan_submit *o,
		     const struct fan_counts *c, struct buf *out,
		     struct err *err)
{
	uint64_t claimed = 0;
	struct stat st;

	if (c->failed && count_claimed(w, &claimed, err) < 0)
		return -1;
	buf_adds(out, "; `matins fan retry ");
	text_add_word(out, results_dir(w->results));
	if (claimed)
		buf_adds(out, claimed == c->total - c->ok
				      ? " --claims"
				      : " --failed --missing --claims");
	/* a list that came through a pipe is gone */
	if (o->hosts && (stat(o->hosts, &st) < 0 || !S_ISREG(st.st_mode)))
		buf_adds(out, " --hosts FILE");
	if (o->ssh_config) {
		buf_adds(out, " --ssh-config ");
		text_add_word(out, o->ssh_config);
	}
	buf_adds(out, "` runs them");
	return 0;
}

/* Say what a submit has led to, and the next command. */
static int say_submitted(struct fan_work *w, const struct fan_submit *o,
			 struct err *err)
{
	AUTO(buf_release) struct buf next = BUF_INIT(BUF_UNBOUNDED);
	const char *dir = results_dir(w->results);
	struct fan_counts c;

	if (results_count(w->results, false, &c, err) < 0)
		return -1;
	if (c.ok == c.total || c.failed) {
		buf_adds(&next, "; `matins fan collect ");
		text_add_word(&next, dir);
		buf_addf(&next, " -o report.html`%s",
			 c.failed ? " says why" : "");
	}
	if (c.ok < c.total && add_retry(w, o, &c, &next, err) < 0)
		return -1;
	log_note("%llu of %llu inputs: %llu ok, %llu failed, %llu missing%s",
		 (unsigned long long)c.ok + c.failed,
		 (unsigned long long)c.total, (unsigned long long)c.ok,
		 (unsigned long long)c.failed,
		 (unsigned long long)c.total - c.ok - c.failed,
		 buf_cstr(&next));
	return 0;
}

/* Counts on a terminal while shards run. */
struct watch {
	struct results *results;
	struct live live;
	struct loop_timer look;
	struct loop_watch heard;
	int said[2]; /* pipe of what shards say; owned, or -1 */
};

static void clear_line(void *arg)
{
	struct watch *w = arg;

	live_clear(&w->live);
}

/* A line is taken off the screen before a shard says something. */
static void on_heard(void *arg, uint32_t events)
{
	struct watch *w = arg;
	char bytes[4096];
	ssize_t n;

	(void)events;
	while ((n = read(w->said[0], bytes, sizeof(bytes))) > 0) {
		live_clear(&w->live);
		(void)!fd_write_all(STDERR_FILENO, bytes, (size_t)n);
	}
}

/* Count again after a pause, of which counting takes a twentieth. */
static void on_look(void *arg)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct watch *w = arg;
	struct loop *loop = w->live.loop;
	const uint64_t begin = loop_now(loop);
	struct fan_counts c;
	uint64_t took;

	if (results_count(w->results, false, &c, ERR_IGNORED) == 0) {
		add_counts(&c, true, &text);
		live_say(&w->live, buf_cstr(&text));
	}
	took = loop_now(loop) - begin;
	loop_timer_set(loop, &w->look,
		       begin + (took > NS_PER_S / 20 ? 20 * took : NS_PER_S));
}

static int watch_begin(struct watch *w, struct results *results,
		       struct loop *loop, struct err *err)
{
	*w = (struct watch){
		.results = results,
		.look = {.fire = on_look, .arg = w},
		.heard = {.fd = -1},
		.said = {-1, -1},
	};
	live_open(&w->live, loop);
	if (!w->live.on)
		return 0;
	if (fd_pipe(&w->said[0], &w->said[1]) < 0 ||
	    fcntl(w->said[0], F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, errno, "a pipe");
	live_begin(&w->live, "");
	log_set_before(clear_line, w);
	on_look(w);
	return loop_watch(loop, &w->heard, w->said[0], EPOLLIN, on_heard, w,
			  err);
}

static void watch_end(struct watch *w)
{
	log_set_before(NULL, NULL);
	if (w->said[0] >= 0)
		on_heard(w, 0);
	loop_unwatch(w->live.loop, &w->heard);
	loop_timer_clear(w->live.loop, &w->look);
	live_release(&w->live);
	fd_closep(&w->said[0]);
	fd_closep(&w->said[1]);
}

static int submit(struct fan_work *w, struct fan_submit *o, struct err *err)
{
	struct watch watch;
	struct fan_counts c;
	int status = 0, r;

	o->jobs += !o->jobs;
	o->hosts = whole_path(o->hosts, w->arena);
	o->ssh_config = whole_path(o->ssh_config, w->arena);
	if (o->engine == ENGINE_SSH && !o->hosts)
		return err_set(err, ERR_USAGE,
			       "--engine ssh: name a list of --hosts");
	if (o->ssh_config && access(o->ssh_config, R_OK) < 0)
		return err_sys(err, errno, "--ssh-config %s", o->ssh_config);
	if (results_count(w->results, false, &c, err) < 0)
		return -1;
	if (c.running)
		log_warning("%llu inputs are running: what another submit has "
			    "begun may run twice, and one result is kept",
			    (unsigned long long)c.running);
	if (loop_init(&w->loop, clock_system(), err) < 0)
		return -1;
	r = watch_begin(&watch, w->results, &w->loop, err);
	o->loop = &w->loop;
	o->said = watch.said[1] < 0 ? STDERR_FILENO : watch.said[1];
	if (r == 0)
		r = fan_submit(o, &status, err);
	watch_end(&watch);
	loop_release(&w->loop);
	loop_give_signals_back();
	if (r == 0 && o->engine == ENGINE_SLURM)
		log_note("`matins fan status %s --watch` counts results",
			 results_dir(w->results));
	else if (r == 0)
		r = say_submitted(w, o, err);
	return r < 0 ? -1 : status;
}

static int do_submit(struct fan_work *w, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *name = args_get(w->args, "engine");
	struct fan_submit o;
	unsigned engine;

	if (read_submit(w, &o, err) < 0)
		return -1;
	if (!name || !str_choose(name, FAN_ENGINES, N_ENGINES, &engine))
		return err_set(
			err, ERR_USAGE,
			"fan submit: name an engine: --engine local, ssh "
			"or slurm%s",
			args_meant(str_of(name), FAN_ENGINES, N_ENGINES).text);
	o.engine = engine;
	shards_add_range(&o.shards,
			 (struct shard_range){
				 0, results_manifest(w->results)->n_shards - 1},
			 w->arena);
	if (!args_has(w->args, "print"))
		return submit(w, &o, err);
	o.jobs += !o.jobs;
	if (fan_submit_print(&o, &out, err) < 0)
		return -1;
	return put(buf_str(&out), PUT_TEXT, err);
}

static int do_retry(struct fan_work *w, struct err *err)
{
	struct fan_retry which = {
		.failed = args_has(w->args, "failed"),
		.missing = args_has(w->args, "missing"),
		.claims = args_has(w->args, "claims"),
	};
	struct fan_submit o;
	uint64_t n;

	if (!which.failed && !which.missing && !which.claims)
		which.failed = which.missing = true;
	if (read_submit(w, &o, err) < 0 ||
	    fan_submit_last(w->results, w->arena, &o, err) < 0 ||
	    fan_retry(w->results, &which, w->arena, &o.shards, &n, err) < 0)
		return -1;
	log_note("%llu input%s in %llu shard%s", (unsigned long long)n,
		 n == 1 ? "" : "s", (unsigned long long)o.shards.n_shards,
		 o.shards.n_shards == 1 ? "" : "s");
	return n ? submit(w, &o, err) : say_submitted(w, &o, err);
}

/* ---- the command ---- */

static const struct {
	const char *word;
	bool is_new; /* it takes a routine, and makes the folder */
	int (*run)(struct fan_work *w, struct err *err);
	const char *options; /* that it takes, besides --json */
} actions[] = {
	{"plan", true, do_plan, "inputs per-shard output"},
	{"exec", false, do_exec, "shard jobs yes until-eof"},
	{"submit", false, do_submit,
	 "engine jobs max time hosts ssh-config stage print"},
	{"status", false, do_status, "deep watch"},
	{"retry", false, do_retry,
	 "failed missing claims jobs max time hosts ssh-config stage"},
	{"collect", false, do_collect, "output golden md html"},
};

static int check_options(const struct args *args, size_t action,
			 struct err *err)
{
	for (size_t i = 0; i < args->n_given; i++) {
		const char *name = args->given[i].name;

		if (strcmp(name, "json") != 0 &&
		    args_find(options_fan, str_of(name), '\0') &&
		    !args_find(args_common, str_of(name), '\0') &&
		    !str_has_word(actions[action].options, str_of(name)))
			return err_set(err, ERR_USAGE, "fan %s takes no --%s",
				       actions[action].word, name);
	}
	return 0;
}

int cmd_fan(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_work w = {.args = args, .arena = &arena};
	size_t i;
	int r;

	if (args_action(args, "fan", actions, ARRAY_LEN(actions),
			sizeof(*actions), &i, err) < 0 ||
	    check_options(args, i, err) < 0)
		return -1;
	if (actions[i].is_new)
		return actions[i].run(&w, err);
	if (results_open(args->positional[1], &w.results, err) < 0)
		return -1;
	r = actions[i].run(&w, err);
	results_close(w.results);
	return r;
}
