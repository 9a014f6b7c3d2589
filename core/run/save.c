#include "core/run/save.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/place.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/config/paths.h"
#include "core/config/saves.h"
#include "core/mcp/wire/content.h"
#include "core/run/values.h"

/* ---- the folder ---- */

/* Open the folder, or else the nearest above it that is there. */
static int open_nearest(const char *path, struct outfolder *ret,
			struct str *ret_rest, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	size_t n = strlen(path);

	while (outfolder_open(ret, arena_strndup(&arena, path, n ? n : 1),
			      err) < 0) {
		if (err->sys != ENOENT || !n)
			return -1;
		*err = (struct err)ERR_INIT;
		while (n && path[--n] != '/')
			continue;
	}
	*ret_rest = str_of(path + n + (path[n] == '/'));
	return 0;
}

/* Find where the folder is to be, and make it. */
static int open_folder(struct saver *s, const char *out, bool makes,
		       struct err *err)
{
	struct outfolder nearest = OUTFOLDER_INIT;
	struct str rest;
	int rc = -1;

	if (open_nearest(out, &nearest, &rest, err) < 0)
		return -1;
	s->path = arena_printf(&s->arena, "%s%s%.*s",
			       strcmp(nearest.path, "/") ? nearest.path : "",
			       rest.n ? "/" : "", STR_ARG(rest));
	if (faccessat(nearest.fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		err_sys(err, errno, "folder %s", nearest.path);
	else if (path_check_links_of(out, &nearest, s->config, err) == 0 &&
		 /* of any file, before a folder is made for it */
		 gate_may_write(s->gate,
				arena_printf(&s->arena, "%s/-", s->path),
				err) == 0)
		rc = makes ? outfolder_enter(&nearest, rest, &s->folder, err)
			   : 0;
	outfolder_release(&nearest);
	return rc;
}

/* Programs and scripts of the plan, as they are found. */
static void find_programs(struct saver *s, const struct plan_step *p)
{
	struct gate_explained e;

	if (!p->request.program ||
	    gate_explain(s->gate, &p->request, &s->arena, &e, ERR_IGNORED) < 0)
		return;
	list_add(&s->programs, &s->arena, e.program);
	if (e.interpreter)
		list_add(&s->programs, &s->arena, e.interpreter);
	if (e.script)
		list_add(&s->programs, &s->arena, e.script);
}

void saver_open(struct saver *s, const struct plan *plan, struct gate *gate,
		const struct config *config)
{
	bool saves = false, makes = false;

	*s = (struct saver){.folder = OUTFOLDER_INIT, .arena = ARENA_INIT};
	for (size_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *p = &plan->steps[i];
		bool runs = p->is_taken || p->reason == REASON_NONE;

		if (!p->step->save || (!runs && p->reason != REASON_DRY_RUN))
			continue;
		saves = true;
		makes |= p->reason != REASON_DRY_RUN;
	}
	if (!saves || !plan->routine->out)
		return;
	s->gate = gate;
	s->config = config;
	for (size_t i = 0; i < plan->n_steps; i++)
		find_programs(s, &plan->steps[i]);
	if (open_folder(s, plan->routine->out, makes, &s->why) < 0)
		err_wrap(&s->why, "`out` of the routine");
}

void saver_release(struct saver *s)
{
	if (!s->gate)
		return;
	outfolder_release(&s->folder);
	arena_release(&s->arena);
}

/* ---- one place ---- */

static bool is_file(const char *path, const char *other, const struct stat *st)
{
	struct stat there;

	return strcmp(path, other) == 0 ||
	       (st && other[0] == '/' && stat(other, &there) == 0 &&
		stat_is_same(st, &there));
}

/* Files that the configuration runs, or reads a credential from. */
static const char *find_use(const struct saver *s, const char *path,
			    const struct stat *st)
{
	for (size_t i = 0; i < s->programs.n; i++)
		if (is_file(path, s->programs.item[i], st))
			return "a step runs it";
	for (struct config_part p = {0}; config_next(s->config, &p);) {
		const struct env_ref *ref;

		if ((p.command && is_file(path, p.command, st)) ||
		    (p.step && p.step->script &&
		     is_file(path, p.step->script, st)) ||
		    place_around(&p.sandbox->exec, path))
			return "the configuration lets programs run it";
		while ((ref = config_next_ref(&p)))
			if (ref->source == SECRET_FILE &&
			    is_file(path, ref->from, st))
				return "a credential is read from it";
	}
	return NULL;
}

/* Nothing is there, or a plain file that is no program. */
static int judge_there(const char *path, const struct stat *st, struct err *err)
{
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_OUTPUT,
			       "%s is %s; remove it, or save under another "
			       "name",
			       path, outfolder_kind(st->st_mode));
	if (st->st_mode & 0111)
		return err_set(err, ERR_POLICY,
			       "%s is not written over: it is a program; "
			       "remove it, or save under another name",
			       path);
	return access(path, W_OK) < 0 ? err_sys(err, errno, "%s", path) : 0;
}

/* Folders of the name that are there are folders, and no links to one. */
static int judge_folders(const struct saver *s, const char *path,
			 struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *slash = path + strlen(s->path);
	struct stat st;

	while ((slash = strchr(slash + 1, '/'))) {
		const char *folder =
			arena_strndup(&arena, path, (size_t)(slash - path));

		if (lstat(folder, &st) < 0)
			return errno == ENOENT
				       ? 0
				       : err_sys(err, errno, "%s", folder);
		if (!S_ISDIR(st.st_mode))
			return err_set(err, ERR_OUTPUT,
				       "%s is %s, and no folder of our own; "
				       "remove it, or save under another name",
				       folder,
				       S_ISREG(st.st_mode)
					       ? "a file"
					       : outfolder_kind(st.st_mode));
	}
	return 0;
}

/*
 * Judge the place of one file.
 * ret_mode  of the file to be: what the umask gives, and no more than the one
 *	     that is there has
 */
static int judge_place(struct saver *s, const char *path, mode_t *ret_mode,
		       struct err *err)
{
	struct stat st;
	bool is_there = lstat(path, &st) == 0;
	const char *use = find_use(s, path, is_there ? &st : NULL);

	*ret_mode = outfolder_mode() & (is_there ? st.st_mode : 0666);
	if (use)
		return err_set(err, ERR_POLICY,
			       "%s is not written over: %s; save under another "
			       "name",
			       path, use);
	if (gate_may_write(s->gate, path, err) < 0 ||
	    judge_folders(s, path, err) < 0)
		return -1;
	return is_there ? judge_there(path, &st, err) : 0;
}

/* A file that is to be. */
struct place_of {
	struct str name; /* as the step names it */
	const char *path;
	mode_t mode;
};

static int find_place(struct saver *s, const struct toml_member *m,
		      struct arena *arena, struct place_of *ret,
		      struct err *err)
{
	struct str name = m->value.string;
	const char *why = saves_name_refused(name);

	if (!s->gate)
		return err_set(err, ERR_POLICY,
			       "the routine names no folder: write out = "
			       "\"FOLDER\" in it");
	if (s->why.msg[0]) {
		*err = s->why;
		return -1;
	}
	if (why)
		return err_set(err, ERR_POLICY, "\"%.*s\": %s", STR_ARG(name),
			       why);
	ret->name = name;
	ret->path = arena_printf(arena, "%s/%.*s", s->path, STR_ARG(name));
	return judge_place(s, ret->path, &ret->mode, err);
}

int saver_judge(struct saver *s, const struct step *step, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct place_of ignored;

	for (size_t i = 0; i < step->save->table.n; i++)
		if (find_place(s, &step->save->table.member[i], &arena,
			       &ignored, err) < 0)
			return err_wrap(err, "save");
	return 0;
}

/* ---- what is written ---- */

/* Is it a block of `content`, and not a part of one: "$.content[0]"? */
static bool is_block(const struct ref *ref, struct arena *arena)
{
	struct str index = ref_behind(ref).path;

	return str_is(ref_first_key(ref, arena), "content") && index.n > 2 &&
	       index.p[0] == '[' && str_find(index, ']') == index.n - 1;
}

static int read_block(struct str json, struct buf *out, struct err *err)
{
	struct content_block b;

	content_read(json, &b);
	if (b.data.p)
		return content_bytes(b.data, LIMIT_MESSAGE_BYTES_MAX, out, err);
	if (b.text.p) {
		ref_add_text(b.text, out);
		return 0;
	}
	return err_set(err, ERR_UNKNOWN,
		       b.kind == CONTENT_LINK
			       ? "the block is a link, which holds no bytes; "
				 "a tool of the server may read what it leads "
				 "to"
			       : "the block holds neither text nor bytes");
}

/* The bytes that a path stands for. */
static int read_part(const struct report_step *s, const char *path,
		     struct arena *arena, struct buf *out, struct err *err)
{
	struct str value;
	struct ref ref;

	if (ref_read_self(str_of(path), &ref, err) < 0 ||
	    values_of_result(s, &ref, arena, &value, err) < 0)
		return -1;
	if (is_block(&ref, arena))
		return read_block(value, out, err);
	ref_add_text(value, out);
	return 0;
}

/* A file holds what the tool gave, or nothing is written: one with "***" in
   the place of a secret would be another, and no file gets the secret. */
static int check_secrets(const struct report_step *raw, const char *path,
			 struct str bytes, struct arena *arena, struct err *err)
{
	AUTO(buf_wipe) struct buf before = BUF_INIT(BUF_UNBOUNDED);

	if (read_part(raw, path, arena, &before, ERR_IGNORED) == 0 &&
	    str_eq(buf_str(&before), bytes))
		return 0;
	return err_set(err, ERR_CREDENTIAL,
		       "it held the value of a credential, which no file gets; "
		       "save a part without it");
}

static bool is_masked(const struct step *step, const struct report_step *kept,
		      struct arena *arena)
{
	const struct toml_value *save = step->save;
	struct str value;
	struct ref ref;

	if (!scan_some(kept->run, "scrubbed").n)
		return false;
	for (size_t i = 0; i < save->table.n; i++)
		if (ref_read_self(str_of(save->table.member[i].key), &ref,
				  ERR_IGNORED) == 0 &&
		    values_of_result(kept, &ref, arena, &value, ERR_IGNORED) ==
			    0 &&
		    memmem(value.p, value.n, "***", 3))
			return true;
	return false;
}

/* Does it save what a program printed, of which results have the text? */
static bool is_stdout(const struct step *step)
{
	return strcmp(step->type, "script") == 0 &&
	       toml_get(step->save, "$.output");
}

/*
 * Find what a program printed, of which an earlier run kept the text without
 * white space at its ends: it has as many bytes, or was saved then with a last
 * newline.
 *
 * returns  .p = NULL: it is not known
 */
static struct str find_stdout(const struct report_step *kept,
			      struct arena *arena)
{
	struct str bytes = scan_some(scan_some(kept->run, "stdout"), "bytes");
	struct scan_iter saved = scan_over(scan_some(kept->run, "saved"));
	struct str line =
		str_of(arena_printf(arena, "%.*s\n", STR_ARG(kept->output)));
	char hex[SHA256_HEX_BYTES];
	uint64_t n;

	/* bytes that were no text: U+FFFD stands for each */
	if (!str_uint64(bytes, &n) ||
	    memmem(kept->output.p, kept->output.n, "\357\277\275", 3))
		return (struct str){NULL, 0};
	if (n == kept->output.n)
		return kept->output;
	sha256_hex(line, hex);
	while (n == line.n && scan_next(&saved))
		if (str_is(scan_decoded(scan_some(saved.value, "sha256"),
					SIZE_MAX, arena),
			   hex))
			return line;
	return (struct str){NULL, 0};
}

bool saver_is_other(const struct step *step, const struct report_step *kept,
		    struct arena *arena)
{
	if (!step->save || !kept->run.n)
		return false;
	return (is_stdout(step) && !find_stdout(kept, arena).p) ||
	       is_masked(step, kept, arena);
}

/* ---- files ---- */

struct file {
	const char *key; /* the path into the result */
	struct place_of at;
	struct buf bytes;
	struct outfolder folder;
	struct outfolder_file to;
	struct outfolder_draft draft;
};

static int read_file(struct saver *s, const struct toml_member *m,
		     const struct report_step *result,
		     const struct report_step *raw, struct str printed,
		     struct arena *arena, struct file *f, struct err *err)
{
	f->key = m->key;
	if (find_place(s, m, arena, &f->at, err) < 0 ||
	    read_part(result, f->key, arena, &f->bytes, err) < 0 ||
	    (raw &&
	     check_secrets(raw, f->key, buf_str(&f->bytes), arena, err) < 0))
		return err_wrap(err, "save %s", f->key);
	/* not its text, but all bytes */
	if (printed.p && strcmp(f->key, "$.output") == 0) {
		buf_clear(&f->bytes);
		buf_add_str(&f->bytes, printed);
	}
	return 0;
}

/* Write the file beside its place. Folders of the name are entered one by one,
   no link is followed. */
static int draft_file(const struct saver *s, struct file *f, bool is_kept,
		      struct err *err)
{
	const char *slash = memrchr(f->at.name.p, '/', f->at.name.n);
	size_t n = slash ? (size_t)(slash - f->at.name.p) : 0;
	struct str bytes = buf_str(&f->bytes);
	const struct fd_text text = fd_text_of(&bytes);

	if (outfolder_enter(&s->folder, str_first(f->at.name, n), &f->folder,
			    err) < 0)
		return -1;
	f->to = (struct outfolder_file){strrchr(f->at.path, '/') + 1,
					f->at.path, f->at.mode,
					OUTFILE_DURABLE};
	if (is_kept && outfolder_holds(&f->folder, f->to.name, bytes))
		return 0;
	return outfolder_draft(&f->folder, &f->to, &text, &f->draft, err);
}

static int place_file(struct file *f, struct err *err)
{
	return f->draft.is_there
		       ? outfolder_place(&f->folder, &f->draft, &f->to, err)
		       : 0;
}

static void release_file(struct file *f)
{
	if (f->folder.fd >= 0)
		outfolder_drop(&f->folder, &f->draft);
	outfolder_release(&f->folder);
	buf_release(&f->bytes);
}

/* The form of the bytes where the name promises another, as it does when the
   wrong block is named; NULL: it does not. */
static const char *find_other_form(const struct file *f)
{
	const char *dot = strrchr(f->at.path, '.');
	const char *form = content_extension(buf_str(&f->bytes));

	return dot && strcmp(dot + 1, form) != 0 &&
			       str_has_word("png jpg gif webp wav mp3 ogg mp4 "
					    "pdf zip gz",
					    str_of(dot + 1))
		       ? form
		       : NULL;
}

static void tell(struct jw *w, const struct file *f)
{
	const char *other = find_other_form(f);
	char hex[SHA256_HEX_BYTES];

	sha256_hex(buf_str(&f->bytes), hex);
	jw_object(w);
	jw_kv_cstr(w, "path", f->at.path);
	jw_kv_int(w, "bytes", (int64_t)f->bytes.n);
	jw_kv_cstr(w, "sha256", hex);
	jw_kv_opt(w, "holds", other);
	jw_end(w);
}

/* Write all of them before the first takes the place of an old one; *ret has
   those that are there. */
static int put_files(const struct saver *s, struct file *files, size_t n,
		     bool is_kept, struct arena *arena, struct str *ret,
		     struct err *err)
{
	AUTO(buf_release) struct buf told = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;
	size_t i = 0;

	while (i < n && draft_file(s, &files[i], is_kept, err) == 0)
		i++;
	if (i < n)
		return err_wrap(err, "save %s", files[i].key);
	jw_init(&w, &told, false);
	jw_array(&w);
	for (i = 0; i < n && place_file(&files[i], err) == 0; i++)
		tell(&w, &files[i]);
	jw_end(&w);
	if (i)
		*ret = arena_str(arena, buf_str(&told));
	if (i < n && i)
		err_wrap(err, "%zu of %zu are in place, up to %s", i, n,
			 files[i - 1].at.path);
	return i < n ? err_wrap(err, "save %s", files[i].key) : 0;
}

int saver_write(struct saver *s, const struct step *step,
		const struct report_step *result, const struct report_step *raw,
		struct str printed, bool is_kept, struct arena *arena,
		struct str *ret, struct err *err)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	const size_t n = step->save->table.n;
	struct file *files = ARENA_ARRAY(&own, struct file, n);
	int rc = 0;

	*ret = (struct str){NULL, 0};
	if (is_kept && saver_is_other(step, result, &own))
		return err_set(err, ERR_CREDENTIAL,
			       "save: the earlier result is not as the tool "
			       "gave it: the value of a credential was taken "
			       "out, or bytes that are no text, or white space "
			       "at its ends; save another part, or run the "
			       "step again");
	if (is_kept && is_stdout(step))
		printed = find_stdout(result, &own);
	for (size_t i = 0; i < n; i++)
		files[i] = (struct file){.bytes = BUF_INIT(BUF_UNBOUNDED),
					 .folder = OUTFOLDER_INIT};
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = read_file(s, &step->save->table.member[i], result, raw,
			       printed, &own, &files[i], err);
	if (rc == 0)
		rc = put_files(s, files, n, is_kept, arena, ret, err);
	for (size_t i = 0; i < n; i++)
		release_file(&files[i]);
	return rc;
}

struct str saver_facts(struct str run, struct str saved, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&out);

	jw_members(&w, run, "saved");
	if (saved.n)
		jw_kv_raw(&w, "saved", saved);
	jw_end(&w);
	return arena_str(arena, buf_str(&out));
}
