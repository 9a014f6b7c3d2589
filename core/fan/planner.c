#include "core/fan/planner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jdoc.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/config/leash.h"
#include "core/config/nest.h"
#include "core/config/params.h"
#include "core/config/references.h"
#include "core/fan/csv.h"
#include "core/fan/planned.h"
#include "core/report/canon.h"
#include "core/run/inputs.h"
#include "core/toml/toml.h"

#define READ_BYTES (1024 * 1024)
/* Folders of keys, and keys of one that are held before they are written. */
#define BUCKETS 256
#define BUCKET_HELD ((size_t)SHA256_BYTES * 128)

struct planner {
	const struct fan_plan *o;
	struct params params;
	struct arena arena, kept; /* of the text that is read; of all */
	struct manifest m;
	int dir;		 /* the draft; owned */
	const char *draft;	 /* its path */
	FILE *inputs, *manifest; /* owned */
	struct buf head;	 /* of the manifest */
	struct manifest_shard shard;
	uint64_t n_bytes; /* of inputs.jsonl */
	struct buf bucket[BUCKETS];
	bool is_spilled; /* some bucket is in a file */
	struct sha256 sum, shard_sum, rows_sum;
	struct strlist needed; /* parameters that nothing declares */
	uint64_t line, n_wrong;
	struct strlist columns; /* of CSV; n = 0: not read yet */
	bool is_csv, has_form;
};

/* ---- files of the draft ---- */

static int make(const struct planner *p, const char *name, FILE **ret,
		struct err *err)
{
	const int fd = openat(p->dir, name,
			      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	*ret = fd < 0 ? NULL : fdopen(fd, "w");
	return *ret ? 0 : err_sys(err, errno, "%s/%s", p->draft, name);
}

static int put(FILE *f, struct str bytes, struct err *err)
{
	return fwrite(bytes.p, 1, bytes.n, f) == bytes.n
		       ? 0
		       : err_sys(err, errno, "write the plan");
}

static int finish(FILE *f, struct err *err)
{
	return fclose(f) == 0 ? 0 : err_sys(err, errno, "write the plan");
}

static void bucket_name(size_t i, char ret[16])
{
	snprintf(ret, 16, "keys.%02zx", i);
}

static int spill(struct planner *p, size_t i, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct buf *b = &p->bucket[i];
	char name[16];

	bucket_name(i, name);
	fd = openat(p->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		    0600);
	if (fd < 0 || fd_write_all(fd, b->p, b->n) < 0)
		return err_sys(err, errno, "write the plan");
	p->is_spilled = true;
	buf_clear(b);
	return 0;
}

static int keep_key(struct planner *p, struct str input, struct err *err)
{
	unsigned char bytes[SHA256_BYTES];
	char hex[SHA256_HEX_BYTES];
	size_t i;

	fan_key(&p->m, input, hex);
	for (size_t k = 0; k < SHA256_BYTES; k++)
		bytes[k] = (unsigned char)text_hex((struct str){hex + 2 * k, 2},
						   2);
	i = bytes[0];
	buf_add(&p->bucket[i], bytes, sizeof(bytes));
	return p->bucket[i].n < BUCKET_HELD ? 0 : spill(p, i, err);
}

/* ---- one input ---- */

PRINTF(2, 3) static void say_wrong(struct planner *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	p->n_wrong++;
	log_error("%s:%llu: %s",
		  strcmp(p->o->inputs, "-") ? p->o->inputs : "standard input",
		  (unsigned long long)p->line,
		  arena_vprintf(&p->arena, fmt, ap));
	va_end(ap);
}

static int by_name(const void *a, const void *b)
{
	const struct input *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int c = memcmp(x->name.p, y->name.p, n);

	return c ? c : x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

/* One spelling for all that mean the same; a text of CSV that nothing declares
   is JSON where that is the same text. */
static void add_value(struct planner *p, const struct input *in,
		      struct buf *out)
{
	const struct str text = in->json.p ? in->json : in->text;
	const size_t at = out->n;
	struct jdoc *doc;

	if (jdoc_parse(text, &p->arena, &doc, ERR_IGNORED) == 0)
		canon_compact(doc, out);
	if (!in->json.p && !str_eq(str_skip(buf_str(out), at), text)) {
		out->n = at;
		jw_quote(out, in->text);
	}
}

static void print_input(struct planner *p, struct values *v, struct buf *out)
{
	if (v->n_inputs)
		qsort(v->input, v->n_inputs, sizeof(*v->input), by_name);
	buf_addc(out, '{');
	for (size_t i = 0; i < v->n_inputs; i++) {
		buf_adds(out, i ? "," : "");
		jw_quote(out, v->input[i].name);
		buf_addc(out, ':');
		add_value(p, &v->input[i], out);
	}
	buf_adds(out, "}\n");
}

static bool has_input(const struct values *v, const char *name)
{
	for (size_t i = 0; i < v->n_inputs; i++)
		if (str_is(v->input[i].name, name))
			return true;
	return false;
}

static bool lacks_needed(struct planner *p, const struct values *v)
{
	for (size_t i = 0; i < p->needed.n; i++)
		if (*p->needed.item[i] && !has_input(v, p->needed.item[i])) {
			say_wrong(p, "%s: is missing", p->needed.item[i]);
			return true;
		}
	return false;
}

/* Does a line name a parameter twice? One of its values would be lost. */
static bool has_twins(struct planner *p, struct str object)
{
	struct input *all;
	size_t n = 0;

	if (!object.n)
		return false;
	all = ARENA_ARRAY(&p->arena, struct input, scan_count(object) + 1);
	for (struct scan_iter it = scan_over(object); scan_next(&it);)
		all[n++].name = scan_decoded(it.key, SIZE_MAX, &p->arena);
	qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 1; i < n; i++)
		if (str_eq(all[i - 1].name, all[i].name)) {
			say_wrong(p, "%.*s: is there twice",
				  STR_ARG(all[i].name));
			return true;
		}
	return false;
}

/* Write the row of the shard that is read, and begin the next one. */
static int end_shard(struct planner *p, struct err *err)
{
	AUTO(buf_release) struct buf row = BUF_INIT(BUF_UNBOUNDED);
	char hex[SHA256_HEX_BYTES];

	sha256_end_text(&p->shard_sum, hex);
	snprintf(p->shard.sum, sizeof(p->shard.sum), "%.16s", hex);
	manifest_row(&p->shard, !p->m.n_shards++, &row);
	sha256_add(&p->rows_sum, row.p, row.n);
	sha256_init(&p->shard_sum);
	p->shard.offset = p->n_bytes;
	return put(p->manifest, buf_str(&row), err);
}

static int add_input(struct planner *p, const struct inputs_given *given,
		     struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct err why = ERR_INIT;
	struct values v = {.n_inputs = 0};

	if (inputs_judge(p->o->routine, &p->params, given, &p->arena, &v,
			 &why) < 0) {
		say_wrong(p, "%s", why.msg);
		return 0;
	}
	if (has_twins(p, given->object))
		return 0;
	if (!p->params.schema && lacks_needed(p, &v))
		return 0;
	/* only mistakes are looked for behind the first one */
	if (p->n_wrong)
		return 0;
	print_input(p, &v, &line);
	if (line.n > LIMIT_MESSAGE_BYTES) {
		say_wrong(p, "longer than %zu bytes",
			  (size_t)LIMIT_MESSAGE_BYTES);
		return 0;
	}
	if (p->m.n && p->m.n % p->o->per_shard == 0 && end_shard(p, err) < 0)
		return -1;
	p->m.n++;
	p->n_bytes += line.n;
	sha256_add(&p->sum, line.p, line.n);
	sha256_add(&p->shard_sum, line.p, line.n);
	if (put(p->inputs, buf_str(&line), err) < 0)
		return -1;
	line.n--;
	return keep_key(p, buf_str(&line), err);
}

/* ---- JSONL ---- */

static int add_line(struct planner *p, struct str line, struct err *err)
{
	const struct inputs_given given = {.object = str_trim(line)};

	return given.object.n ? add_input(p, &given, err) : 0;
}

/* Bytes of the first line; 0: it is not whole. */
static ssize_t read_jsonl(struct planner *p, struct str text, bool is_end,
			  struct err *err)
{
	size_t n = str_find(text, '\n');

	if (n == text.n && !is_end)
		return 0;
	p->line++;
	if (add_line(p, (struct str){text.p, n}, err) < 0)
		return -1;
	return (ssize_t)(n < text.n ? n + 1 : n);
}

/* ---- CSV ---- */

/* Judge the name of a column, once for all lines. */
static int judge_column(struct planner *p, const char *name, struct err *err)
{
	const struct strlist known = params_names(&p->params, &p->arena);
	const char *near, *hint;

	if (!p->params.schema || list_has(&known, name))
		return 0;
	near = str_nearest(str_of(name), known.item, known.n);
	if (strchr(name, ';'))
		hint = "CSV has commas between its columns";
	else if (near)
		hint = arena_printf(&p->arena, "did you mean %s?", near);
	else
		hint = arena_printf(&p->arena, "there are: %s",
				    list_join(&known, ", ", &p->arena));
	return err_set(err, ERR_USAGE,
		       "%s:%llu: column %s: there is no such parameter; %s",
		       p->o->inputs, (unsigned long long)p->line, name, hint);
}

static int take_columns(struct planner *p, const struct csv_record *r,
			struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		struct str name = str_trim(r->field[i].text);
		const char *word = arena_strndup(&p->kept, name.p, name.n);

		if (!name.n || strlen(word) != name.n || !str_is_utf8(name) ||
		    str_ends(name, ":") || strchr(word, '=') ||
		    list_has(&p->columns, word))
			return err_set(err, ERR_USAGE,
				       "%s: column %zu has no name of its own",
				       p->o->inputs, i + 1);
		if (judge_column(p, word, err) < 0)
			return -1;
		list_add(&p->columns, &p->kept, word);
	}
	return 0;
}

static int add_record(struct planner *p, const struct csv_record *r,
		      struct err *err)
{
	/* an object: nothing is given by -p */
	struct inputs_given given = {.object = STR("{}")};

	if (r->n != p->columns.n) {
		say_wrong(p, "%zu fields where there are %zu columns", r->n,
			  p->columns.n);
		return 0;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct csv_field *f = &r->field[i];

		if (!str_is_utf8(f->text) ||
		    memchr(f->text.p, '\0', f->text.n)) {
			say_wrong(p, "%s: is not UTF-8, or has a NUL byte",
				  p->columns.item[i]);
			return 0;
		}
		if (f->text.n || f->is_quoted)
			list_add(&given.params, &p->arena,
				 arena_printf(&p->arena, "%s=%.*s",
					      p->columns.item[i],
					      STR_ARG(f->text)));
	}
	return add_input(p, &given, err);
}

static ssize_t read_csv(struct planner *p, struct str text, bool is_end,
			struct err *err)
{
	struct err why = ERR_INIT;
	struct csv_record r;
	ssize_t n = csv_read(text, is_end, &p->arena, &r, &why);

	if (n == 0)
		return 0;
	p->line++;
	if (n < 0) {
		/* where the next record begins is not known */
		say_wrong(p, "%s", why.msg);
		return err_set(err, ERR_USAGE, "nothing is planned");
	}
	if (r.n && (p->columns.n ? add_record(p, &r, err)
				 : take_columns(p, &r, err)) < 0)
		return -1;
	p->line += r.lines - 1;
	return n;
}

/* ---- all of them ---- */

static void find_form(struct planner *p, struct str text)
{
	struct str first = str_trim(text);

	p->is_csv =
		str_ends(str_of(p->o->inputs), ".csv") ||
		(strcmp(p->o->inputs, "-") == 0 && first.n && *first.p != '{');
	p->has_form = true;
}

static int take_text(struct planner *p, struct buf *in, bool is_end,
		     struct err *err)
{
	struct str text = buf_str(in);
	ssize_t n = 1;

	/* a pipe may give a byte at a time */
	if (!p->has_form && !is_end && str_trim(text).n < 4)
		return 0;
	if (!p->has_form) {
		if (str_starts(text, "\xEF\xBB\xBF"))
			text = str_skip(text, 3);
		find_form(p, text);
	}
	while (text.n && n > 0) {
		n = (p->is_csv ? read_csv : read_jsonl)(p, text, is_end, err);
		arena_release(&p->arena);
		if (n < 0)
			return -1;
		text = str_skip(text, (size_t)n);
	}
	buf_drop(in, in->n - text.n);
	if (in->n > LIMIT_MESSAGE_BYTES)
		return err_set(err, ERR_USAGE, "%s:%llu: longer than %zu bytes",
			       p->o->inputs, (unsigned long long)p->line + 1,
			       (size_t)LIMIT_MESSAGE_BYTES);
	return 0;
}

static int read_inputs(struct planner *p, struct err *err)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
	AUTO(fd_closep)
	int fd = strcmp(p->o->inputs, "-") == 0
			 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			 : fd_open(p->o->inputs, O_RDONLY, 0);
	ssize_t n = 1;

	if (fd < 0)
		return err_sys(err, errno, "--inputs %s", p->o->inputs);
	while (n) {
		char *room = buf_room(&in, READ_BYTES);

		n = read(fd, room, READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "--inputs %s", p->o->inputs);
		in.n += (size_t)n;
		in.p[in.n] = '\0';
		if (take_text(p, &in, n == 0, err) < 0)
			return -1;
	}
	if (p->n_wrong)
		return err_set(err, ERR_USAGE,
			       "%llu of the inputs %s wrong: nothing is "
			       "planned",
			       (unsigned long long)p->n_wrong,
			       p->n_wrong == 1 ? "is" : "are");
	if (!p->m.n)
		return err_set(err, ERR_USAGE, "%s: there is no input",
			       p->o->inputs);
	return 0;
}

/* ---- inputs that are equal ---- */

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_BYTES);
}

static int count_bucket(struct planner *p, size_t i, FILE *equal,
			struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct buf *b = &p->bucket[i];
	unsigned char *key;
	char name[16];
	size_t n, same;

	bucket_name(i, name);
	fd = p->is_spilled ? openat(p->dir, name, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0 &&
	    (fd_read_all(fd, b, err) < 0 || unlinkat(p->dir, name, 0) < 0))
		return -1;
	key = (unsigned char *)b->p;
	n = b->n / SHA256_BYTES;
	if (n)
		qsort(key, n, SHA256_BYTES, by_bytes);
	for (size_t k = 0; k < n; k += same) {
		char line[SHA256_HEX_BYTES + 24];

		for (same = 1; k + same < n &&
			       by_bytes(key + k * SHA256_BYTES,
					key + (k + same) * SHA256_BYTES) == 0;)
			same++;
		p->m.n_keys++;
		if (same == 1)
			continue;
		sha256_text(key + k * SHA256_BYTES, line);
		snprintf(line + SHA256_HEX_BYTES - 1, 25, " %zu\n", same);
		if (put(equal, str_of(line), err) < 0)
			return -1;
	}
	buf_release(b);
	return 0;
}

static int count_equal(struct planner *p, struct err *err)
{
	FILE *equal;
	int r = make(p, "equal", &equal, err);

	if (r < 0)
		return -1;
	for (size_t i = 0; r == 0 && i < BUCKETS; i++)
		r = count_bucket(p, i, equal, err);
	return finish(equal, err) < 0 ? -1 : r;
}

/* ---- the manifest ---- */

/* Write all before the rows: once to have its bytes, and again when the numbers
   in it are known. */
static int write_head(struct planner *p, struct err *err)
{
	char inputs[SHA256_HEX_BYTES], rows[SHA256_HEX_BYTES];
	struct sha256 sum = p->sum, rows_sum = p->rows_sum;

	sha256_end_text(&sum, inputs);
	sha256_end_text(&rows_sum, rows);
	p->m.inputs_sha256 = inputs;
	p->m.rows_sha256 = rows;
	buf_clear(&p->head);
	manifest_head(&p->m, &p->head);
	rewind(p->manifest);
	return put(p->manifest, buf_str(&p->head), err);
}

/* ---- the folder ---- */

static void remove_draft(struct planner *p)
{
	DIR *d = fdopendir(fcntl(p->dir, F_DUPFD_CLOEXEC, 3));
	const struct dirent *e;

	while (d && (e = readdir(d)))
		(void)!unlinkat(p->dir, e->d_name, 0);
	if (d)
		closedir(d);
	(void)!rmdir(p->draft);
}

static int make_draft(struct planner *p, struct arena *arena, struct err *err)
{
	struct str dir = str_of(p->o->dir);
	char random[9];

	while (dir.n > 1 && dir.p[dir.n - 1] == '/')
		dir.n--;
	if (access(arena_printf(arena, "%s/manifest.json", p->o->dir), F_OK) ==
	    0)
		return err_set(err, ERR_CONFIG,
			       "%s has a plan already: name another folder",
			       p->o->dir);
	text_random(random, sizeof(random) - 1);
	p->draft = arena_printf(arena, "%.*s.%s.draft", STR_ARG(dir), random);
	if (mkdir(p->draft, 0700) < 0)
		return errno == ENOENT ? err_set(err, ERR_SYS,
						 "the folder of %s does not "
						 "exist",
						 p->o->dir)
				       : err_sys(err, errno, "%s", p->draft);
	p->dir = fd_open(p->draft, O_RDONLY | O_DIRECTORY, 0);
	if (p->dir < 0)
		return err_sys(err, errno, "%s", p->draft);
	return 0;
}

static int place(struct planner *p, struct err *err)
{
	if (rename(p->draft, p->o->dir) == 0)
		return 0;
	if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
		return err_set(err, ERR_CONFIG, "%s is there and not empty",
			       p->o->dir);
	return err_sys(err, errno, "%s", p->o->dir);
}

/* Results are linked into place: refuse a file system that makes no links. */
static int check_links(const struct planner *p, struct err *err)
{
	if (linkat(p->dir, "inputs.jsonl", p->dir, "link", 0) < 0)
		return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS
			       ? err_set(err, ERR_CONFIG,
					 "%s: its file system makes no hard "
					 "links, by which the first result of "
					 "an input counts: name a folder of "
					 "another one",
					 p->o->dir)
			       : err_sys(err, errno, "%s/link", p->draft);
	(void)!unlinkat(p->dir, "link", 0);
	return 0;
}

static int fill_draft(struct planner *p, struct err *err)
{
	if (make(p, "inputs.jsonl", &p->inputs, err) < 0 ||
	    check_links(p, err) < 0 ||
	    make(p, "manifest.json", &p->manifest, err) < 0 ||
	    write_head(p, err) < 0 || read_inputs(p, err) < 0 ||
	    end_shard(p, err) < 0 ||
	    put(p->manifest, STR(MANIFEST_END), err) < 0 ||
	    count_equal(p, err) < 0 || write_head(p, err) < 0)
		return -1;
	if (fflush(p->inputs) != 0 || fflush(p->manifest) != 0 ||
	    syncfs(p->dir) < 0)
		return err_sys(err, errno, "write the plan");
	return 0;
}

static void describe(struct planner *p, struct arena *arena, struct buf *params)
{
	const struct fan_plan *o = p->o;
	const char *leash = env_text("MATINS_CAVEATS");

	if (!leash)
		leash = env_text("MODULEX_CAVEATS");
	if (o->routine->params)
		toml_to_json(o->routine->params, params);
	else
		p->needed = references_inputs(o->routine, arena);
	p->m = (struct manifest){
		.routine = o->routine->name,
		.config_path = o->file->config.path,
		.config_sha256 = o->file->sha256,
		.config_text = o->text,
		.params = buf_str(params),
		.per_shard = o->per_shard,
	};
	if (leash &&
	    scan_document(str_of(leash), NULL, &p->m.leash, ERR_IGNORED) < 0)
		p->m.leash = (struct str){NULL, 0};
}

static bool asks_person(const struct step *s)
{
	return strcmp(s->type, "approve") == 0;
}

/* Refuse what means something else in a plan than in one run. */
static int judge(const struct fan_plan *o, struct arena *arena, struct err *err)
{
	const struct step *step =
		nest_find_step(&o->file->config, o->routine, asks_person);
	const struct strlist none = {NULL, 0};
	struct gate_leash leash;

	if (leash_find(&o->file->config, &none, arena, &leash, err) < 0)
		return -1;
	if (!leash.calls_unlimited)
		return err_set(
			err, ERR_CONFIG,
			"max_calls of the leash counts in one run, and a "
			"plan is many: plan under \"unlimited\"");
	if (step)
		return err_set(err, ERR_CONFIG,
			       "step %s asks a person, and where shards run "
			       "there is none: leave it out of a routine for "
			       "many inputs",
			       step->name);
	return 0;
}

int fan_plan(const struct fan_plan *o, struct manifest *ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct planner *p = mem_zalloc(sizeof(*p));
	int r;

	p->o = o;
	p->dir = -1;
	p->head = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	for (size_t i = 0; i < BUCKETS; i++)
		p->bucket[i] = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	sha256_init(&p->sum);
	sha256_init(&p->shard_sum);
	sha256_init(&p->rows_sum);
	describe(p, &arena, &params);
	r = judge(o, &arena, err);
	if (r == 0)
		r = params_read(o->routine, &arena, &p->params, err);
	if (r == 0)
		r = make_draft(p, &arena, err);
	if (r == 0) {
		r = fill_draft(p, err);
		if (r == 0)
			r = place(p, err);
		if (r == 0)
			planned_keep(o->dir, buf_str(&p->head));
		if (r < 0)
			remove_draft(p);
	}
	*ret = (struct manifest){.n = p->m.n,
				 .n_keys = p->m.n_keys,
				 .per_shard = p->m.per_shard,
				 .n_shards = p->m.n_shards};
	params_release(&p->params);
	buf_release(&p->head);
	for (size_t i = 0; i < BUCKETS; i++)
		buf_release(&p->bucket[i]);
	if (p->inputs)
		fclose(p->inputs);
	if (p->manifest)
		fclose(p->manifest);
	fd_closep(&p->dir);
	arena_release(&p->arena);
	arena_release(&p->kept);
	free(p);
	return r;
}
