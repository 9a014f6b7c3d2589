#include "core/fan/submit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "gate/gate.h"

const char *const FAN_ENGINES[N_ENGINES] = {"local", "ssh", "slurm"};

/* Times that a shard is begun, before it is left for a retry, and how much
   longer each pause is. */
#define TRIES 3
#define PAUSE_NS (4 * NS_PER_S)
/* Numbers that are believed. */
#define COUNT_MAX (1 << 20)

/* ---- words ---- */

static struct submit_words words_of(const struct fan_submit *o,
				    const char *matins)
{
	return (struct submit_words){
		.matins = matins,
		.dir = results_dir(o->results),
		.routine = results_manifest(o->results)->routine,
		.jobs = o->jobs,
		.max = o->max,
		.time = o->time,
	};
}

static const char *own_path(struct arena *arena)
{
	AUTO(mem_freep) char *path = realpath("/proc/self/exe", NULL);

	return arena_strdup(arena, path ? path : "matins");
}

/* Refuse words that would be more than words in a script, and options that the
   engine does not take. */
static int judge(const struct fan_submit *o, struct err *err)
{
	const struct {
		const char *option, *value;
		enum fan_engine engine;
	} of_one[] = {
		{"time", o->time, ENGINE_SLURM},
		{"hosts", o->hosts, ENGINE_SSH},
		{"ssh-config", o->ssh_config, ENGINE_SSH},
		{"stage", o->stage, ENGINE_SSH},
	};

	if (text_has_control(str_of(results_dir(o->results))) ||
	    text_has_control(str_of(results_manifest(o->results)->routine)))
		return err_set(err, ERR_CONFIG,
			       "control characters in the path of the plan or "
			       "the name of its routine: scripts would break");
	if (o->time &&
	    (!*o->time || strspn(o->time, "0123456789:-") != strlen(o->time)))
		return err_set(err, ERR_USAGE,
			       "\"%s\" is not a time of Slurm; use for example "
			       "30 (minutes) or 1:00:00",
			       o->time);
	for (size_t i = 0; i < ARRAY_LEN(of_one); i++)
		if (of_one[i].value && of_one[i].engine != o->engine)
			return err_set(err, ERR_USAGE,
				       "--%s is for --engine %s",
				       of_one[i].option,
				       FAN_ENGINES[of_one[i].engine]);
	return 0;
}

/* ---- what was submitted ---- */

static int keep_line(const struct fan_submit *o, const struct strlist *ids,
		     struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shards = BUF_INIT(BUF_UNBOUNDED);
	const char *path =
		arena_printf(&arena, "%s/jobs.jsonl", results_dir(o->results));
	struct clock *clock = clock_system();
	char at[CLOCK_TEXT_BYTES];
	AUTO(fd_closep)
	int fd = fd_open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
	const off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char last = '\n';
	struct jw w;

	/* a line that was cut stays alone */
	if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
		buf_addc(&line, '\n');
	w = jw_begin(&line);
	clock_format(clock->wall_ns(clock), at);
	shards_print(&o->shards, 0, UINT64_MAX, &shards);
	jw_kv_cstr(&w, "engine", FAN_ENGINES[o->engine]);
	jw_kv_cstr(&w, "at", at);
	jw_kv_str(&w, "shards", buf_str(&shards));
	jw_kv_list(&w, "ids", ids);
	jw_kv_int(&w, "jobs", o->jobs);
	jw_kv_int(&w, "max", o->max);
	fan_kv_text(&w, "time", str_of(o->time));
	fan_kv_text(&w, "hosts", str_of(o->hosts));
	fan_kv_text(&w, "stage", str_of(o->stage));
	jw_end(&w);
	buf_addc(&line, '\n');
	if (fd < 0 || fd_write_all(fd, line.p, line.n) < 0)
		return err_sys(err, errno, "%s", path);
	return 0;
}

/* Take a word, or a number, of the last submit where none is given. */
static void take_word(struct str line, const char *name, struct arena *arena,
		      const char **ret)
{
	const char *word = *ret ? *ret : fan_word(line, name, arena);

	*ret = *word ? word : NULL;
}

static void take_number(struct str line, const char *name, unsigned *ret)
{
	const uint64_t n = fan_number(line, name);

	if (!*ret && n <= COUNT_MAX)
		*ret = (unsigned)n;
}

int fan_submit_last(const struct results *r, struct arena *arena,
		    struct fan_submit *ret, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(LIMIT_MESSAGE_BYTES);
	AUTO(fd_closep) int fd = results_file(r, "jobs.jsonl");
	struct str rest, line, last = {NULL, 0};
	unsigned engine;

	if (fd >= 0 && fd_read_all(fd, &all, err) < 0)
		return -1;
	for (rest = buf_str(&all); rest.n;) {
		struct str one = str_cut(&rest, '\n');

		/* a torn line is no submit */
		if (scan_document(one, NULL, &line, ERR_IGNORED) == 0)
			last = line;
	}
	if (!last.n || !str_choose(fan_word(last, "engine", arena), FAN_ENGINES,
				   N_ENGINES, &engine))
		return err_set(
			err, ERR_UNKNOWN,
			"%s was not submitted yet: `matins fan submit %s "
			"--engine local`",
			results_dir(r), results_dir(r));
	ret->engine = engine;
	take_number(last, "jobs", &ret->jobs);
	take_number(last, "max", &ret->max);
	take_word(last, "time", arena, &ret->time);
	take_word(last, "hosts", arena, &ret->hosts);
	take_word(last, "stage", arena, &ret->stage);
	return 0;
}

/* ---- Slurm ---- */

/* Append the script of the array from a shard on, where it has a task. */
static void array_script(const struct fan_submit *o,
			 const struct submit_words *w, uint64_t base,
			 struct buf *out)
{
	AUTO(buf_release) struct buf tasks = BUF_INIT(BUF_UNBOUNDED);

	shards_print(&o->shards, base, SLURM_ARRAY, &tasks);
	if (tasks.n)
		slurm_script(w, buf_str(&tasks), base, out);
}

/*
 * before  ids with colons between them, to wait for; "": none
 * ids     gets the new one
 */
static int sbatch(const struct fan_submit *o, struct str script,
		  const char *before, struct arena *arena, struct strlist *ids,
		  struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(65536);
	struct gate_said said = {.out = &out, .arena = arena};
	const char *argv[] = {"sbatch", "--parsable", NULL, NULL};
	struct str id;

	if (*before)
		argv[2] =
			arena_printf(arena, "--dependency=afterany:%s", before);
	if (gate_run_tool(argv, script, &said, err) < 0)
		return -1;
	id = str_trim(buf_str(&out));
	id.n = str_find(id, ';');
	if (said.status || !id.n)
		return err_set(err, ERR_SYS, "sbatch: %.*s",
			       STR_ARG(said.error));
	list_add(ids, arena, arena_strndup(arena, id.p, id.n));
	/* jobs that were taken are known, whatever becomes of the rest */
	return keep_line(o, ids, err);
}

static int submit_slurm(const struct fan_submit *o, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf script = BUF_INIT(BUF_UNBOUNDED);
	const struct submit_words w = words_of(o, own_path(&arena));
	const uint64_t n = results_manifest(o->results)->n_shards;
	struct strlist ids = {NULL, 0};

	(void)!mkdir(arena_printf(&arena, "%s/log", w.dir), 0700);
	for (uint64_t base = 0; base < n; base += SLURM_ARRAY) {
		buf_clear(&script);
		array_script(o, &w, base, &script);
		/* %K of an array bounds that array alone */
		if (script.n &&
		    sbatch(o, buf_str(&script),
			   o->max && ids.n ? ids.item[ids.n - 1] : "", &arena,
			   &ids, err) < 0)
			return -1;
	}
	buf_clear(&script);
	slurm_collect_script(&w, &script);
	if (sbatch(o, buf_str(&script), list_join(&ids, ":", &arena), &arena,
		   &ids, err) < 0)
		return -1;
	log_note("submitted: jobs %s", list_join(&ids, ", ", &arena));
	return 0;
}

/* ---- processes here, and on hosts ---- */

struct crew;

/* A place where one shard runs at a time. */
struct slot {
	struct crew *crew;
	struct host *host;
	struct gate_again runs;
	int hold; /* standard input of what runs there: its end; owned, -1 */
	struct loop_watch end;
	uint64_t shard;
	enum { PREPARE, COPY_OUT, RUN, COPY_BACK } at;
	int status; /* of the run */
	bool is_busy;
};

struct host {
	struct fan_host is;
	bool is_out;
	struct stage_there there;  /* a folder of its own with the plan */
	bool has_rest;		   /* some results there are not here */
	struct gate_again removal; /* of that folder */
};

struct again {
	uint64_t shard, due_ns;
	unsigned tries;
};

struct crew {
	const struct fan_submit *o;
	struct stage stage;
	struct arena arena;
	struct host *host;
	size_t n_hosts;
	struct slot *slot;
	size_t n_slots, n_busy;
	size_t range; /* of the shards: the next one is in it */
	uint64_t next;
	struct again *again; /* shards to be begun once more */
	size_t n_again, at_again;
	struct loop_timer pause;
	bool has_failed, has_left;
	bool is_stopped;
};

/* The next shard that is begun once more; NULL: there is none. */
static const struct again *next_again(struct crew *c)
{
	while (c->at_again < c->n_again && c->again[c->at_again].tries >= TRIES)
		c->at_again++;
	return c->at_again < c->n_again ? &c->again[c->at_again] : NULL;
}

static bool next_shard(struct crew *c, uint64_t *ret)
{
	const struct again *again;
	const struct shard_set *s = &c->o->shards;

	if (c->range < s->n) {
		if (c->next < s->range[c->range].from)
			c->next = s->range[c->range].from;
		*ret = c->next++;
		c->range += c->next > s->range[c->range].to;
		return true;
	}
	again = next_again(c);
	if (!again || again->due_ns > loop_now(c->o->loop))
		return false;
	*ret = again->shard;
	c->at_again++;
	return true;
}

/* A shard that has not ended: once more, behind all others, and on the same
   host after a pause. */
static void put_back(struct crew *c, uint64_t shard, bool is_out)
{
	unsigned tries = 1;

	for (size_t i = 0; i < c->n_again; i++)
		tries += c->again[i].shard == shard;
	c->has_left |= tries >= TRIES;
	c->again =
		arena_grow(&c->arena, c->again, c->n_again, sizeof(*c->again));
	c->again[c->n_again++] = (struct again){
		shard, loop_now(c->o->loop) + (is_out ? 0 : tries * PAUSE_NS),
		tries};
}

static int start_run(struct crew *c, struct slot *s, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct submit_words w = words_of(
		c->o, s->host->is.matins ? s->host->is.matins : "matins");
	const char *shard =
		arena_printf(&arena, "%llu", (unsigned long long)s->shard);
	const char *jobs = arena_printf(&arena, "%u", c->o->jobs);
	const char *const here[] = {"matins", "fan", "exec", w.dir, "--shard",
				    shard,    "-j",  jobs,   "-q",  NULL};
	struct strlist ssh = {NULL, 0};
	AUTO(fd_closep) int null = fd_open("/dev/null", O_RDWR, 0);
	AUTO(fd_closep) int in = -1;
	int fd[4] = {null, null, c->o->said, null};

	if (null < 0)
		return err_sys(err, errno, "/dev/null");
	if (c->o->engine == ENGINE_LOCAL)
		return gate_again_start(here, fd, &s->runs, err);
	if (c->o->stage)
		w.dir = stage_dir(&c->stage, s->host->is.name, &arena);
	/* the connection that ends, ends what runs there */
	in = fd_pipe(&fd[0], &s->hold) < 0 ? -1 : fd[0];
	if (in < 0)
		return err_sys(err, errno, "a pipe");
	shard_command(&w, shard, &line);
	buf_adds(&line, " --until-eof -q");
	stage_ssh_line(c->o->ssh_config, s->host->is.name, &line, &arena, &ssh);
	return gate_start_tool(ssh.item, fd, &s->runs, err);
}

static void leave_out(struct host *h, const char *why)
{
	if (!h->is_out)
		log_error("%s is left out: %s", h->is.name, why);
	h->is_out = true;
}

/* Keep what came back; false: it is not all of the shard. */
static bool took(struct crew *c, const struct slot *s)
{
	struct err err = ERR_INIT;
	uint64_t missing;

	if (stage_take(&c->stage, s->shard, &missing, &err) < 0) {
		log_error("%s", err.msg);
		return false;
	}
	if (missing && s->status != 75)
		log_warning("%s: %llu results of shard %llu did not come back",
			    s->host->is.name, (unsigned long long)missing,
			    (unsigned long long)s->shard);
	return !missing;
}

static bool has_run(int status)
{
	return status == 0 || status == 2;
}

static void end_shard(struct crew *c, struct slot *s)
{
	int status = s->status;

	s->is_busy = false;
	c->n_busy--;
	c->has_failed |= status == 2;
	if (has_run(status))
		return;
	/* 75, or a signal: it is the shard that was cut */
	if (status != 75 && status <= 128)
		leave_out(s->host,
			  arena_printf(&c->arena, "status %d of shard %llu",
				       status, (unsigned long long)s->shard));
	else if (status == 255)
		leave_out(s->host, "ssh failed");
	put_back(c, s->shard, s->host->is_out);
}

static const char *why_out(struct crew *c, const struct slot *s, int status)
{
	if (s->at == PREPARE)
		return status == 255
			       ? "ssh failed"
			       : arena_printf(&c->arena,
					      "it has no folder %s to enter: "
					      "make one there, or name another "
					      "by --stage",
					      c->o->stage);
	return arena_printf(&c->arena, "rsync ended with status %d", status);
}

static void begin_stage(struct crew *c, struct slot *s);

static void on_end(void *arg, uint32_t events)
{
	struct slot *s = arg;
	struct crew *c = s->crew;
	int status;
	bool is_through;

	(void)events;
	loop_unwatch(c->o->loop, &s->end);
	status = gate_again_wait(&s->runs);
	fd_closep(&s->hold);
	/* what a killed submit left may be in use for a moment more */
	is_through = status == 0 || (s->at == PREPARE && status == 1);
	if (s->at == RUN) {
		s->status = status;
		is_through = has_run(status) || status == 75;
	} else if (!is_through && !c->is_stopped) {
		leave_out(s->host, why_out(c, s, status));
	} else if (status == 0 && s->at == PREPARE) {
		stage_cleaned(&c->stage, &s->host->there);
	}
	/* what ran when it was stopped still comes back */
	if (c->o->stage && is_through && s->at != COPY_BACK &&
	    (s->at == RUN || !c->is_stopped)) {
		s->at++;
		begin_stage(c, s);
		return;
	}
	if (c->o->stage && (s->at != COPY_BACK || !took(c, s))) {
		s->host->has_rest = true;
		if (has_run(s->status))
			s->status = 75;
	}
	end_shard(c, s);
}

/* Begin what the slot is at. */
static void begin_stage(struct crew *c, struct slot *s)
{
	struct stage_there *there = &s->host->there;
	struct err err = ERR_INIT;
	int r;

	s->runs = (struct gate_again){0, -1};
	if (s->at == RUN)
		r = start_run(c, s, &err);
	else if (s->at == PREPARE)
		r = stage_clean(&c->stage, there, false, &c->arena, &s->runs,
				&err);
	else if (there->mark < 0 && stage_mark(&c->stage, there, &err) < 0)
		r = -1;
	else
		r = stage_start(&c->stage, there->host, s->shard,
				s->at == COPY_BACK, &s->runs, &err);
	if (r == 0)
		r = loop_watch(c->o->loop, &s->end, s->runs.pidfd, EPOLLIN,
			       on_end, s, &err);
	if (r == 0)
		return;
	gate_again_signal(&s->runs, SIGTERM);
	(void)gate_again_wait(&s->runs);
	fd_closep(&s->hold);
	leave_out(s->host, err.msg);
	s->host->has_rest = true;
	s->status = 75;
	end_shard(c, s);
}

static void begin_slot(struct crew *c, struct slot *s, uint64_t shard)
{
	s->shard = shard;
	s->status = 75;
	s->at = !c->o->stage		  ? RUN
		: s->host->there.mark < 0 ? PREPARE
					  : COPY_OUT;
	s->is_busy = true;
	c->n_busy++;
	begin_stage(c, s);
}

/* A host is told to end its shard, and then sends what it has; a second signal
   ends all at once. */
static void on_signal(void *arg, int signal)
{
	struct crew *c = arg;

	(void)signal;
	for (size_t i = 0; i < c->n_slots; i++) {
		struct slot *s = &c->slot[i];

		if (s->hold >= 0 && !c->is_stopped)
			fd_closep(&s->hold);
		else if (s->is_busy && (s->at != COPY_BACK || c->is_stopped))
			gate_again_signal(&s->runs, SIGTERM);
	}
	if (!c->is_stopped && c->o->engine == ENGINE_SSH)
		log_note("the hosts are told to end; a second signal does not "
			 "wait for them");
	c->is_stopped = true;
}

/* Begin a shard in each slot that is free. */
static void begin_all(struct crew *c)
{
	uint64_t shard;

	for (size_t i = 0; i < c->n_slots && !c->is_stopped; i++) {
		struct slot *s = &c->slot[i];

		if (s->is_busy || s->host->is_out ||
		    (c->o->max && c->n_busy >= c->o->max) ||
		    !next_shard(c, &shard))
			continue;
		begin_slot(c, s, shard);
	}
}

static void on_pause(void *arg)
{
	(void)arg;
}

/* Is a shard to be begun again, and a host left for it? Be woken then. */
static bool is_pausing(struct crew *c)
{
	const struct again *again = next_again(c);
	const uint64_t soon = loop_now(c->o->loop) + NS_PER_S / 10;
	size_t in = 0;

	while (in < c->n_hosts && c->host[in].is_out)
		in++;
	if (!again || c->is_stopped || in == c->n_hosts)
		return false;
	loop_timer_set(c->o->loop, &c->pause,
		       again->due_ns > soon ? again->due_ns : soon);
	return true;
}

static int run_crew(struct crew *c, struct err *err)
{
	c->pause = (struct loop_timer){.fire = on_pause};
	/* one turn may end all that run: new ones are begun before the look */
	while (begin_all(c), is_pausing(c) || c->n_busy)
		if (loop_turn(c->o->loop, err) < 0)
			return -1;
	loop_timer_clear(c->o->loop, &c->pause);
	return 0;
}

/* Shards that are not done, and are not begun again. */
static bool is_unfinished(struct crew *c)
{
	return c->is_stopped || c->has_left || c->range < c->o->shards.n ||
	       next_again(c);
}

static void say_stays(struct crew *c, const struct host *h, const char *why)
{
	log_warning("%s: its folder %s stays until the next submit with this "
		    "--stage: %s",
		    h->is.name, stage_dir(&c->stage, h->is.name, &c->arena),
		    why);
}

/* Remove the folder of each host of which all results are here, or will not be
   waited for; one that was left out may run still. */
static void remove_copies(struct crew *c)
{
	const bool is_over = c->is_stopped || !is_unfinished(c);

	for (size_t i = 0; i < c->n_hosts; i++) {
		struct host *h = &c->host[i];
		struct err why = ERR_INIT;

		h->removal = (struct gate_again){0, -1};
		if (h->there.mark < 0)
			continue;
		if (h->is_out)
			say_stays(c, h, "the host was left out");
		else if (h->has_rest && !is_over)
			say_stays(c, h, "not all of its results are here");
		else if (stage_clean(&c->stage, &h->there, true, &c->arena,
				     &h->removal, &why) < 0)
			say_stays(c, h, why.msg);
	}
	for (size_t i = 0; i < c->n_hosts; i++) {
		struct host *h = &c->host[i];
		int status = gate_again_wait(&h->removal);

		if (status > 0)
			say_stays(c, h, "it cannot be removed");
		else if (status == 0)
			stage_cleaned(&c->stage, &h->there);
		fd_closep(&h->there.mark);
	}
}

static int read_hosts(struct crew *c, struct fan_host **ret, size_t *ret_n,
		      struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);

	if (fd_read_file(c->o->hosts, &text, err) < 0)
		return err_wrap(err, "--hosts");
	if (hosts_read(buf_str(&text), &c->arena, ret, ret_n, err) < 0)
		return err_wrap(err, "%s", c->o->hosts);
	return 0;
}

static int find_hosts(struct crew *c, struct err *err)
{
	struct fan_host *host = ARENA_NEW(&c->arena, struct fan_host);
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n_hosts = 1;

	host->name = "this machine";
	host->slots = c->o->max ? c->o->max : n > 0 ? (unsigned)n : 1;
	if (c->o->engine == ENGINE_SSH &&
	    read_hosts(c, &host, &n_hosts, err) < 0)
		return -1;
	for (size_t i = 0; c->o->stage && i < n_hosts; i++)
		if (stage_judge_host(host[i].name, err) < 0)
			return err_wrap(err, "%s", c->o->hosts);
	c->n_hosts = n_hosts;
	c->host = ARENA_ARRAY(&c->arena, struct host, n_hosts);
	for (size_t i = 0; i < n_hosts; i++) {
		c->host[i].is = host[i];
		c->host[i].there =
			(struct stage_there){.host = host[i].name, .mark = -1};
		c->n_slots += host[i].slots;
	}
	c->slot = ARENA_ARRAY(&c->arena, struct slot, c->n_slots);
	n = 0;
	/* by turns: few shards are spread over all hosts */
	for (unsigned turn = 0; (size_t)n < c->n_slots; turn++)
		for (size_t i = 0; i < c->n_hosts; i++)
			if (turn < c->host[i].is.slots)
				c->slot[n++] = (struct slot){
					.crew = c,
					.host = &c->host[i],
					.end = {.fd = -1},
					.hold = -1,
				};
	return 0;
}

static int submit_crew(const struct fan_submit *o, int *ret_status,
		       struct err *err)
{
	const struct strlist none = {NULL, 0};
	struct crew *c = mem_zalloc(sizeof(*c));
	int r = loop_take_signals(o->loop, err);

	c->o = o;
	c->stage = (struct stage){
		.results = o->results,
		.folder = o->stage,
		.ssh_config = o->ssh_config,
		.said = o->said,
	};
	text_random(c->stage.tag, sizeof(c->stage.tag));
	o->loop->on_signal = on_signal;
	o->loop->on_signal_arg = c;
	if (r == 0 && o->stage)
		r = stage_judge(&c->stage, err);
	if (r == 0)
		r = find_hosts(c, err);
	if (r == 0)
		r = keep_line(o, &none, err);
	if (r == 0)
		r = run_crew(c, err);
	if (r == 0)
		remove_copies(c);
	*ret_status = is_unfinished(c) ? 75 : c->has_failed ? 2 : 0;
	arena_release(&c->arena);
	free(c);
	return r;
}

/* ---- both ---- */

int fan_submit_print(const struct fan_submit *o, struct buf *out,
		     struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct submit_words w = words_of(o, own_path(&arena));
	const uint64_t n = results_manifest(o->results)->n_shards;

	if (judge(o, err) < 0)
		return -1;
	if (o->stage)
		return err_set(err, ERR_USAGE,
			       "--print prints what runs in a folder that all "
			       "machines see: leave out --stage");
	if (o->engine == ENGINE_SLURM) {
		for (uint64_t base = 0; base < n; base += SLURM_ARRAY)
			array_script(o, &w, base, out);
		return 0;
	}
	for (size_t i = 0; i < o->shards.n; i++)
		for (uint64_t k = o->shards.range[i].from;
		     k <= o->shards.range[i].to; k++) {
			shard_command(&w,
				      arena_printf(&arena, "%llu",
						   (unsigned long long)k),
				      out);
			buf_addc(out, '\n');
		}
	return 0;
}

int fan_submit(const struct fan_submit *o, int *ret_status, struct err *err)
{
	*ret_status = 0;
	if (judge(o, err) < 0)
		return -1;
	return o->engine == ENGINE_SLURM ? submit_slurm(o, err)
					 : submit_crew(o, ret_status, err);
}

/* ---- once more ---- */

/* 1: the input is to be run; 0: not; -1 */
static int judge_input(struct results *results, const struct fan_retry *which,
		       const char *key, struct buf *text, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_result result;
	bool is_claimed;
	int r;

	if (results_look(results, key, text, &arena, &result, err) < 0)
		return -1;
	if (result.state == FAN_OK)
		return 0;
	if (result.state != FAN_FAILED)
		return which->missing;
	is_claimed = str_is(result.reason, "claimed");
	if (!(is_claimed ? which->claims : which->failed))
		return 0;
	if (which->is_count)
		return 1;
	if (is_claimed) {
		r = results_holder(results, key, err);
		if (r == 1)
			log_warning("input %.16s: the process that claimed it "
				    "lives: it stays",
				    key);
		if (r < 0 || r == 1)
			return r < 0 ? -1 : 0;
	}
	/* the result first: a claim without one is never run again by itself */
	r = results_take_away(results, key, FAN_FAILED, err);
	return r < 0 || results_release(results, key, err) < 0 ? -1 : 1;
}

int fan_retry(struct results *r, const struct fan_retry *which,
	      struct arena *arena, struct shard_set *ret, uint64_t *ret_n,
	      struct err *err)
{
	const uint64_t per_shard = results_manifest(r)->per_shard;
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES_MAX);
	AUTO(results_close_inputs) struct results_inputs in = {.file = NULL};
	int more, due = 0;

	*ret_n = 0;
	if (results_open_inputs(r, RESULTS_ALL, &in, err) < 0)
		return -1;
	for (uint64_t i = 0; (more = results_next(&in, err)) > 0; i++) {
		due = judge_input(r, which, in.key, &text, err);
		if (due < 0)
			return -1;
		if (due)
			shards_add(ret, i / per_shard, arena);
		*ret_n += (unsigned)due;
	}
	return more;
}
