#include "core/client/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/loop.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/client/recording.h"
#include "core/config/paths.h"
#include "core/report/golden.h"
#include "core/transport/items.h"

/*
 * ---- replay ----
 *
 * A transport that no server is behind: it says what a recording has.
 */

struct replay {
	struct transport base; /* first */
	struct items items;
	struct recording *of;
	bool is_over;
};

static struct replay *of(const struct transport *t)
{
	return (struct replay *)t;
}

static void end(struct transport *t)
{
	struct replay *r = of(t);
	const struct transport_item over = {
		.type = TRANSPORT_OVER,
		.exit = r->of->end,
	};

	if (!r->is_over)
		items_add(&r->items, &over);
	r->is_over = true;
}

/* Say what comes next. */
static void go_on(struct replay *r)
{
	struct transport_item item;

	for (;;) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (r->is_over || !recording_next(r->of, &item, &text))
			break;
		if (item.type == TRANSPORT_MESSAGE)
			items_add_message(&r->items, buf_str(&text), &text);
		else
			items_add(&r->items, &item);
	}
	if (recording_is_over(r->of))
		end(&r->base);
}

static void take(struct replay *r, struct str message)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	struct transport_item lost = {
		.type = TRANSPORT_LOST,
		.loss = TRANSPORT_DIFFERS,
	};

	if (recording_take(r->of, message, &why)) {
		go_on(r);
		return;
	}
	/* a notice expects nothing; when a call is given up, time decides */
	lost.id = scan_some(message, "id");
	if (!lost.id.p)
		return;
	if (!scan_some(message, "method").p)
		lost.id.p = NULL;
	err_set(&lost.err, ERR_PEER, "%s", buf_cstr(&why));
	items_add(&r->items, &lost);
}

static int in_fd(const struct transport *t)
{
	return of(t)->items.event;
}

/* All is taken, so that messages come whole. */
static ssize_t send(struct transport *t, struct str bytes)
{
	size_t n = bytes.n;

	while (bytes.n)
		take(of(t), str_cut(&bytes, '\n'));
	return (ssize_t)n;
}

static void next(struct transport *t, struct transport_item *ret)
{
	items_next(&of(t)->items, ret);
}

static void free_replay(struct transport *t)
{
	items_release(&of(t)->items);
	free(t);
}

#define REPLAY(lines)                                                 \
	{                                                             \
		.name = "replay", .in_fd = in_fd, .send = send,       \
		.end_output = end, .free = free_replay, .next = next, \
		.is_lines = lines                                     \
	}
static const struct transport_type of_messages = REPLAY(false);
static const struct transport_type of_lines = REPLAY(true);

/* r  borrowed. errors  ERR_SYS */
static int replay_new(struct recording *recording, struct transport **ret,
		      struct err *err)
{
	struct replay *r = mem_zalloc(sizeof(*r));

	r->base.type =
		recording->kind == RECORDING_LINES ? &of_lines : &of_messages;
	r->of = recording;
	if (items_init(&r->items, err) < 0) {
		free_replay(&r->base);
		return -1;
	}
	go_on(r);
	*ret = &r->base;
	return 0;
}

#define PROGRAMS "programs.jsonl"
#define SESSION_END ".session.jsonl"
/* Behind the name of a session, until the programs of its run are there. */
#define NEW_END ".new"
/* All files of a recording, bytes. */
#define RECORDING_BYTES LIMIT_MESSAGE_BYTES_MAX
/* Bytes between two looks at whether a signal came. */
#define PORTION (4 * 1024 * 1024)
/* Begins each file, of whatever version. */
#define FILE_BEGIN "{\"schema\":\"matins-"

/* A file of the new recording. */
struct tape_file {
	struct outfolder_file to, waits;
	struct outfolder_draft draft;
};

struct tape {
	struct tape_options o;
	bool is_replay;
	struct arena arena;
	struct outfolder folder;
	struct tape_server *servers;
	struct recording *first, **end; /* in the order of their begin */
	struct tape_file *files;	/* arena; one without a name ends it */
	size_t bytes;			/* read so far */
	bool is_open; /* recording, and nothing is in its place yet */
	size_t there; /* bytes of the path that was there before */
};

bool tape_is_replay(const struct tape *t)
{
	return t && t->is_replay;
}

/* ---- arguments ---- */

static void put_argument(const struct tape *t, const char *word, struct jw *w)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *home = path_own_home(0), *dir = t->o.config->dir;

	if (dir && place_covers(dir, word) && strcmp(dir, "/") != 0)
		buf_addf(&text, ".%s", word + strlen(dir));
	else if (home && place_covers(home, word) && strcmp(home, "/") != 0)
		buf_addf(&text, "~%s", word + strlen(home));
	else
		buf_adds(&text, word);
	jw_str(w, buf_str(&text));
}

/* The arguments behind the program, without secrets; argv  may be NULL */
static struct str args_of(struct tape *t, const char *const *argv)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_array(&w);
	for (size_t i = 1; argv && argv[0] && argv[i]; i++)
		put_argument(t, argv[i], &w);
	jw_end(&w);
	scrub_json(t->o.scrub, buf_str(&out), &clean);
	return arena_str(&t->arena, buf_str(&clean));
}

/* ---- files ---- */

/* Open a file of the folder, and nothing that is elsewhere; -1 and errno. */
static int open_file(const struct tape *t, const char *name)
{
	AUTO(fd_closep)
	int fd = openat(t->folder.fd, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	errno = !S_ISREG(st.st_mode)				  ? EINVAL
		: (size_t)st.st_size > RECORDING_BYTES - t->bytes ? EFBIG
								  : 0;
	return errno ? -1 : fd_steal(&fd);
}

/* As fd_read_all(), but a signal ends it. */
static int read_portions(int fd, struct buf *text, struct err *err)
{
	ssize_t r;

	do {
		char *room = buf_room(text, PORTION);

		if (!room)
			return err_set(err, ERR_LIMIT, "it grows meanwhile");
		r = read(fd, room, PORTION);
		if (r < 0)
			return err_sys(err, errno, "read");
		text->n += (size_t)r;
		text->p[text->n] = '\0';
		if (text->n > PORTION && loop_signal_waits())
			return err_set(err, ERR_REPLAY, "interrupted");
	} while (r);
	return 0;
}

static int read_text(struct tape *t, const char *name, struct str *ret,
		     struct err *err)
{
	AUTO(buf_release)
	struct buf text = BUF_INIT(RECORDING_BYTES + PORTION - t->bytes);
	AUTO(fd_closep) int fd = open_file(t, name);

	if (fd < 0)
		return err_sys(err, errno, "%s/%s", t->o.dir, name);
	if (read_portions(fd, &text, err) < 0)
		return err_wrap(err, "%s/%s", t->o.dir, name);
	t->bytes += text.n;
	ret->n = text.n;
	ret->p = text.n ? arena_adopt(&t->arena, buf_steal(&text)) : "";
	return 0;
}

static bool is_session(const char *name)
{
	return str_ends(str_of(name), SESSION_END) ||
	       str_ends(str_of(name), SESSION_END NEW_END);
}

/* Refuse to replace a file that no recording has. */
static int check_file(struct tape *t, const char *name, struct err *err)
{
	AUTO(fd_closep) int fd = open_file(t, name);
	char begin[sizeof(FILE_BEGIN) - 1];

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0 &&
	    read(fd, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
	    !memcmp(begin, FILE_BEGIN, sizeof(begin)))
		return 0;
	return err_set(
		err, ERR_OUTPUT,
		"%s/%s is not a file of a recording: name another folder "
		"for --record",
		t->o.dir, name);
}

static int read_file(struct tape *t, const char *name, struct err *err)
{
	struct str text;

	if (read_text(t, name, &text, err) < 0)
		return -1;
	return recording_read(text, &t->arena, loop_signal_waits, &t->first,
			      err) < 0
		       ? err_wrap(err, "%s/%s", t->o.dir, name)
		       : 0;
}

static int remove_file(struct tape *t, const char *name, struct err *err)
{
	if (check_file(t, name, err) < 0)
		return -1;
	return unlinkat(t->folder.fd, name, 0) < 0 && errno != ENOENT
		       ? err_sys(err, errno, "%s/%s", t->o.dir, name)
		       : 0;
}

/* Call a function for each file of a session, in order. */
static int each_session(struct tape *t,
			int (*fn)(struct tape *t, const char *name,
				  struct err *err),
			struct err *err)
{
	struct strlist names = {NULL, 0};
	AUTO(dir_closep) DIR *folder = opendir(t->folder.path);
	struct dirent *entry;

	if (!folder)
		return err_sys(err, errno, "%s", t->o.dir);
	while ((entry = readdir(folder)))
		if (is_session(entry->d_name))
			list_add(&names, &t->arena,
				 arena_strdup(&t->arena, entry->d_name));
	list_sort(&names);
	for (size_t i = 0; i < names.n; i++)
		if (fn(t, names.item[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the end of a recording ---- */

static const char *file_of(struct tape *t, const struct recording *r)
{
	const char *name = golden_file_name(r->name, &t->arena);
	int n = (int)strlen(name) - 5; /* ".json" */

	if (r->nth == 1 && r->start == 1)
		return arena_printf(&t->arena, "%.*s" SESSION_END, n, name);
	return arena_printf(&t->arena, "%.*s-%llu.%llu" SESSION_END, n, name,
			    (unsigned long long)r->nth,
			    (unsigned long long)r->start);
}

/* Write it beside its place, under a name: to place it takes no room. */
static int draft_file(struct tape *t, struct tape_file *f, const char *name,
		      struct str content, struct err *err)
{
	const struct fd_text text = fd_text_of(&content);

	f->to = f->waits = (struct outfolder_file){
		.name = name,
		.shown = arena_printf(&t->arena, "%s/%s", t->o.dir, name),
		.mode = outfolder_mode(),
		.how = OUTFILE_REPLACE,
	};
	if (is_session(name))
		f->waits.name = arena_printf(&t->arena, "%s" NEW_END, name);
	if (outfolder_draft(&t->folder, &f->to, &text, &f->draft, err) < 0)
		return -1;
	return outfolder_name(&t->folder, &f->draft, f->to.shown, err);
}

/* Draft all files, that of the programs last. ret_n  also of what failed */
static int draft_all(struct tape *t, size_t *ret_n, struct err *err)
{
	AUTO(buf_release) struct buf programs = BUF_INIT(BUF_UNBOUNDED);

	for (const struct recording *r = t->first; r; r = r->next) {
		AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);

		if (!r->end.is_known && !r->why)
			continue;
		if (r->kind >= RECORDING_PROGRAM) {
			recording_write(r, &programs);
			continue;
		}
		recording_write(r, &own);
		if (draft_file(t, &t->files[(*ret_n)++], file_of(t, r),
			       buf_str(&own), err) < 0)
			return -1;
	}
	return draft_file(t, &t->files[(*ret_n)++], PROGRAMS,
			  buf_str(&programs), err);
}

/* Remove a session of an earlier recording. */
static int remove_old(struct tape *t, const char *name, struct err *err)
{
	for (const struct tape_file *f = t->files; f->to.name; f++)
		if (!strcmp(f->to.name, name))
			return 0;
	return remove_file(t, name, err);
}

/* Sessions of a run count with the programs of that run alone: so those, the
   last, are put in place between the arrival of the new ones and the end of
   the old. */
static int place_all(struct tape *t, struct err *err)
{
	if (check_file(t, PROGRAMS, err) < 0 ||
	    each_session(t, check_file, err) < 0)
		return -1;
	for (struct tape_file *f = t->files; f->to.name; f++)
		if (outfolder_place(&t->folder, &f->draft, &f->waits, err) < 0)
			return -1;
	for (const struct tape_file *f = t->files; f->to.name; f++)
		if (f->to.name != f->waits.name &&
		    renameat(t->folder.fd, f->waits.name, t->folder.fd,
			     f->to.name) < 0)
			return err_sys(err, errno, "write %s", f->to.shown);
	return each_session(t, remove_old, err);
}

int tape_end(struct tape *t, struct err *err)
{
	size_t n = 2;
	int rc;

	for (const struct recording *r = t->first; r; r = r->next)
		n++;
	t->files = ARENA_ARRAY(&t->arena, struct tape_file, n);
	n = 0;
	outfolder_sweep(&t->folder);
	rc = draft_all(t, &n, err);
	if (rc == 0)
		rc = place_all(t, err);
	for (size_t i = 0; i < n; i++)
		outfolder_drop(&t->folder, &t->files[i].draft);
	t->is_open = rc < 0;
	return rc;
}

/* ---- begin and end ---- */

static struct tape *tape_new(const struct tape_options *o, bool is_replay)
{
	struct tape *t = mem_zalloc(sizeof(*t));

	*t = (struct tape){
		.o = *o,
		.is_replay = is_replay,
		.folder = OUTFOLDER_INIT,
	};
	t->end = &t->first;
	return t;
}

static struct recording *add(struct tape *t, enum recording_kind kind,
			     const char *name, struct str args)
{
	struct recording *r = ARENA_NEW(&t->arena, struct recording);

	*r = (struct recording){
		.arena = &t->arena,
		.kind = kind,
		.name = arena_strdup(&t->arena, name),
		.args = args,
		.nth = 1,
		.start = 1,
		.run = t->first ? t->first->start : 0,
		.scrub = t->o.scrub,
		.held = {BUF_INIT(BUF_UNBOUNDED), BUF_INIT(BUF_UNBOUNDED)},
	};
	*t->end = r;
	t->end = &r->next;
	return r;
}

/* Cut the last part off a path of n bytes; returns what is left. */
static size_t cut_part(char *path, size_t n)
{
	while (n && path[n - 1] == '/')
		n--;
	while (n && path[n - 1] != '/')
		n--;
	path[n] = '\0';
	return n;
}

/* Bytes of a path that lead to a folder which is there. */
static size_t bytes_there(const char *dir)
{
	AUTO(mem_freep) char *path = mem_printf("%s", dir);
	size_t n = strlen(path);

	while (n && access(path, F_OK) < 0)
		n = cut_part(path, n);
	return n;
}

/* Remove folders that were made for a recording which is not to be. */
static void remove_made(const struct tape *t)
{
	AUTO(mem_freep) char *path = mem_printf("%s", t->o.dir);
	size_t n = strlen(path);

	while (n > t->there && rmdir(path) == 0)
		n = cut_part(path, n);
}

int tape_record(const struct tape_options *o, const struct tape_run *run,
		struct tape **ret, struct err *err)
{
	struct tape *t = *ret = tape_new(o, false);
	struct recording *r = add(t, RECORDING_RUN, "run", STR("[]"));

	r->nth = run->generation;
	r->start = (uint64_t)run->begin_wall_ns;
	recording_end(r, &(struct transport_exit){0});
	t->there = bytes_there(o->dir);
	t->is_open = true;
	if (fd_mkdirs(o->dir, 0777) < 0)
		return err_sys(err, errno, "create %s", o->dir);
	if (outfolder_open(&t->folder, o->dir, err) < 0 ||
	    state_dir_check(o->dir, t->folder.path, err) < 0 ||
	    path_check_links_of(o->dir, &t->folder, o->config, err) < 0 ||
	    check_file(t, PROGRAMS, err) < 0)
		return -1;
	return each_session(t, check_file, err);
}

/* Drop sessions of a run that did not come to its end. */
static void drop_others(struct tape *t, uint64_t run)
{
	struct recording **at = &t->first;

	while (*at) {
		if ((*at)->run && (*at)->run != run)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

int tape_replay(const struct tape_options *o, struct tape_run *ret_run,
		struct tape **ret, struct err *err)
{
	struct tape *t = *ret = tape_new(o, true);

	if (outfolder_open(&t->folder, o->dir, err) < 0)
		return -1;
	if (read_file(t, PROGRAMS, err) < 0)
		return err_wrap(err, "no whole recording");
	if (each_session(t, read_file, err) < 0)
		return -1;
	for (struct recording *r = t->first; r; r = r->next) {
		r->scrub = t->o.scrub;
		if (r->kind == RECORDING_RUN)
			*ret_run = (struct tape_run){r->nth, (int64_t)r->start};
	}
	drop_others(t, (uint64_t)ret_run->begin_wall_ns);
	return 0;
}

void tape_free(struct tape *t)
{
	if (!t)
		return;
	if (t->is_open)
		remove_made(t);
	outfolder_release(&t->folder);
	arena_release(&t->arena);
	free(t);
}

bool tape_has(const struct tape *t, const char *name)
{
	if (!tape_is_replay(t))
		return false;
	for (const struct recording *r = t->first; r; r = r->next)
		if (r->kind <= RECORDING_PROGRAM && !strcmp(r->name, name))
			return true;
	return false;
}

/* ---- what was recorded of a name ---- */

/* Begin the replay of one. */
static int use(const struct recording *r, struct str args, struct err *err)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	bool is_program = r->kind == RECORDING_PROGRAM;

	if (!str_eq(r->args, args)) {
		recording_say(r->args, args, &why);
		return err_set(err, ERR_REPLAY,
			       "the %s of \"%s\" %s from the recording: %s",
			       is_program ? "command" : "arguments", r->name,
			       is_program ? "differs" : "differ",
			       buf_cstr(&why));
	}
	if (!r->why)
		return 0;
	*err = *r->why;
	return -1;
}

/* ---- servers ---- */

/* The first server of that name that no other one is, with these arguments
   where there is one. */
static struct recording *choose(struct tape *t, const char *name,
				struct str args)
{
	struct recording *best = NULL;

	for (struct recording *r = t->first; r; r = r->next) {
		bool is_like = str_eq(r->args, args);

		if (r->kind >= RECORDING_PROGRAM || r->start != 1 ||
		    r->is_taken || strcmp(r->name, name) != 0)
			continue;
		if (!best || is_like > str_eq(best->args, args) ||
		    (is_like == str_eq(best->args, args) && r->nth < best->nth))
			best = r;
	}
	return best;
}

struct tape_server *tape_server(struct tape *t, const char *name,
				const char *const *argv)
{
	struct tape_server *s = ARENA_NEW(&t->arena, struct tape_server);
	struct recording *r;

	*s = (struct tape_server){
		.tape = t,
		.name = arena_strdup(&t->arena, name),
		.args = args_of(t, argv),
		.nth = 1,
		.scrub = t->o.scrub,
		.next = t->servers,
	};
	for (const struct tape_server *o = t->servers; o; o = o->next)
		s->nth += !strcmp(o->name, name);
	t->servers = s;
	if (!t->is_replay)
		return s;
	r = choose(t, name, s->args);
	s->nth = r ? r->nth : 0;
	if (r)
		r->is_taken = true;
	return s;
}

struct recording *tape_begin(struct tape_server *s, enum recording_kind kind)
{
	struct recording *r = add(s->tape, kind, s->name, s->args);

	r->nth = s->nth;
	r->start = ++s->starts;
	r->scrub = s->scrub;
	return r;
}

struct recording *tape_last(const struct tape_server *s)
{
	for (struct recording *r = s->tape->first; r; r = r->next)
		if (r->kind < RECORDING_PROGRAM && !strcmp(r->name, s->name) &&
		    r->nth == s->nth && r->start == s->starts)
			return r;
	return NULL;
}

int tape_open(void *arg, struct transport **ret, struct err *err)
{
	struct tape_server *s = arg;
	struct recording *r;

	s->starts++;
	r = tape_last(s);
	if (!r)
		return err_set(err, ERR_REPLAY,
			       "%s has no session %llu of \"%s\": record it "
			       "again with --record",
			       s->tape->o.dir, (unsigned long long)s->starts,
			       s->name);
	return use(r, s->args, err) < 0 ? -1 : replay_new(r, ret, err);
}

/* ---- programs ---- */

/* Take the first one that is like it, or say the difference. */
static int find_program(struct tape *t, const char *name, struct str args,
			struct str input, struct recording **ret,
			struct err *err)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	const struct recording *like = NULL;

	for (struct recording *r = t->first; r; r = r->next) {
		bool is_like = str_eq(r->args, args);

		if (r->kind != RECORDING_PROGRAM || r->is_taken ||
		    strcmp(r->name, name) != 0)
			continue;
		if (is_like)
			buf_clear(&why);
		if (is_like && (r->why || recording_take(r, input, &why))) {
			r->is_taken = true;
			*ret = r;
			return use(r, args, err);
		}
		like = !like || is_like ? r : like;
	}
	if (!like)
		return err_set(err, ERR_REPLAY,
			       "%s has no more of the program of \"%s\": "
			       "record it again with --record",
			       t->o.dir, name);
	return use(like, args, err) < 0 ? -1
					: err_set(err, ERR_REPLAY, "\"%s\": %s",
						  name, buf_cstr(&why));
}

int tape_program(struct tape *t, const char *name, const char *const *argv,
		 struct str input, struct recording **ret, struct err *err)
{
	struct str args = args_of(t, argv);

	if (!input.p)
		input = STR("");
	if (t->is_replay)
		return find_program(t, name, args, input, ret, err);
	*ret = add(t, RECORDING_PROGRAM, name, args);
	recording_note(*ret, RECORDED_TO, input);
	return 0;
}

/* ---- refused steps ---- */

void tape_refuse(struct tape *t, const char *step, const struct err *why)
{
	if (t && !t->is_replay)
		recording_fail(add(t, RECORDING_STEP, step, STR("[]")), why);
}

const struct err *tape_refused(struct tape *t, const char *step)
{
	if (!tape_is_replay(t))
		return NULL;
	for (const struct recording *r = t->first; r; r = r->next)
		if (r->kind == RECORDING_STEP && !strcmp(r->name, step))
			return r->why;
	return NULL;
}
