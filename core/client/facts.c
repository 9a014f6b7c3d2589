#include "core/client/facts.h"

#include "core/base/clock.h"
#include "core/base/log.h"

void facts_time(struct jw *w, const char *key, int64_t wall_ns)
{
	char text[CLOCK_TEXT_BYTES];

	clock_format(wall_ns, text);
	jw_kv_cstr(w, key, text);
}

void facts_text(struct cleaner *c, struct jw *w, const char *key,
		struct str text)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (text.n)
		c->hits += scrub_apply(c->scrub, text, &out);
	jw_kv_str(w, key, buf_str(&out));
}

void facts_cut_text(struct cleaner *c, struct jw *w, const char *key,
		    struct str text)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (text.n)
		c->hits += scrub_cut(c->scrub, text, &out);
	jw_kv_str(w, key, buf_str(&out));
}

/* Array of texts whose ends may be missing. */
static void add_texts(struct cleaner *c, struct jw *w, const char *key,
		      const struct strlist *list)
{
	jw_kv_array(w, key);
	for (size_t i = 0; i < list->n; i++) {
		AUTO(buf_release) struct buf one = BUF_INIT(BUF_UNBOUNDED);

		c->hits += scrub_cut(c->scrub, str_of(list->item[i]), &one);
		jw_str(w, buf_str(&one));
	}
	jw_end(w);
}

void facts_enforced(struct jw *w, const struct gate_fact *facts, size_t n)
{
	jw_kv_array(w, "enforced");
	for (size_t i = 0; i < n; i++) {
		jw_object(w);
		jw_kv_cstr(w, "guarantee", facts[i].guarantee);
		jw_kv_cstr(w, "level", gate_level_name(facts[i].level));
		jw_kv_cstr(w, "how", facts[i].how ? facts[i].how : "");
		jw_end(w);
	}
	jw_end(w);
}

/* Denials, and "unreached" where endpoints that are granted were not reached.
 */
static void add_denials(struct cleaner *c, struct jw *w,
			const struct gate_verdict *v)
{
	jw_kv_array(w, "denials");
	for (size_t i = 0; i < v->n_denials; i++) {
		const struct gate_denial *d = &v->denials[i];
		AUTO(buf_release) struct buf allow = BUF_INIT(BUF_UNBOUNDED);

		jw_object(w);
		jw_kv_cstr(w, "kind", d->kind);
		facts_text(c, w, "name", str_of(d->name));
		facts_cut_text(c, w, "program", str_of(d->program));
		facts_text(c, w, "detail", str_of(d->detail));
		jw_kv_int(w, "count", (int64_t)d->count);
		gate_allow_line(&d->allow, &allow);
		if (allow.n)
			facts_text(c, w, "allow", str_of(buf_cstr(&allow)));
		jw_end(w);
	}
	jw_end(w);
	if (v->denials_dropped)
		jw_kv_int(w, "denials_dropped", (int64_t)v->denials_dropped);
	if (v->unreached.n)
		add_texts(c, w, "unreached", &v->unreached);
}

/* Files that went with a private working directory. */
static void add_dropped(struct cleaner *c, struct jw *w,
			const struct gate_verdict *v)
{
	const struct gate_dropped *d = &v->dropped;

	if (!d->names.n)
		return;
	jw_kv_object(w, "dropped");
	add_texts(c, w, "names", &d->names);
	jw_kv_int(w, "files", (int64_t)d->files);
	if (d->is_more)
		jw_kv_bool(w, "more", true);
	if (d->is_cut)
		jw_kv_bool(w, "incomplete", true);
	jw_end(w);
}

const char *facts_say_dropped(struct cleaner *c, const struct gate_verdict *v,
			      struct arena *arena)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct gate_dropped *d = &v->dropped;
	bool any_folder = false;

	if (!d->names.n)
		return NULL;
	for (size_t i = 0; i < d->names.n; i++) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

		c->hits += scrub_cut(c->scrub, str_of(d->names.item[i]), &name);
		buf_adds(&line, i ? ", "
				: d->folder && !d->place
					? "dropped with it: "
					: "dropped with a private place: ");
		log_visible(&line, buf_str(&name), false);
		any_folder |= str_ends(buf_str(&name), "/");
	}
	buf_adds(&line, d->is_more ? ", …" : "");
	/* names of files are their own count */
	if (any_folder || d->is_more || d->is_cut)
		buf_addf(
			&line, " (%s%llu file%s)", d->is_cut ? "at least " : "",
			(unsigned long long)d->files, d->files == 1 ? "" : "s");
	return arena_strdup(arena, buf_cstr(&line));
}

static void exec_row(struct cleaner *c, struct jw *w,
		     const struct gate_record *r)
{
	jw_object(w);
	facts_cut_text(c, w, "path", str_of(r->path));
	facts_cut_text(c, w, "by", str_of(r->program));
	add_texts(c, w, "args", &r->args);
	jw_kv_int(w, "count", (int64_t)r->count);
	if (r->refused)
		jw_kv_bool(w, "refused", true);
	jw_end(w);
}

/* Recorded execs, in order. */
static void add_execs(struct cleaner *c, struct jw *w,
		      const struct gate_verdict *v)
{
	bool any = false;

	for (size_t i = 0; i < v->n_records; i++) {
		if (v->records[i].what != GATE_RECORD_EXEC)
			continue;
		if (!any)
			jw_kv_array(w, "execs");
		any = true;
		exec_row(c, w, &v->records[i]);
	}
	if (any)
		jw_end(w);
	if (any && v->records_dropped)
		jw_kv_int(w, "execs_dropped", (int64_t)v->records_dropped);
}

void facts_verdict(struct cleaner *c, struct jw *w,
		   const struct gate_verdict *v)
{
	jw_kv_list(w, "limits", &v->limits);
	add_dropped(c, w, v);
	add_denials(c, w, v);
	add_execs(c, w, v);
}

void facts_granted(struct cleaner *c, struct jw *w,
		   const struct gate_child_info *info)
{
	if (info->recipes.n)
		add_texts(c, w, "recipes", &info->recipes);
	facts_enforced(w, info->facts, info->n_facts);
}

void facts_exit(struct jw *w, const struct gate_verdict *v)
{
	const char *name;
	char text[32];

	jw_kv_object(w, "exit");
	if (v->exited) {
		jw_kv_int(w, "status", v->exit_status);
	} else {
		name = sigabbrev_np(v->signal);
		snprintf(text, sizeof(text), name ? "SIG%s" : "%.0s%d",
			 name ? name : "", v->signal);
		jw_kv_cstr(w, "signal", text);
	}
	jw_end(w);
}

const char *facts_say_end(const struct gate_verdict *v, struct arena *arena)
{
	const char *name = v->exited ? NULL : sigabbrev_np(v->signal);
	const char *text =
		v->exited ? arena_printf(arena, "exited with status %d",
					 v->exit_status)
		: name	  ? arena_printf(arena, "was killed by SIG%s", name)
			  : arena_printf(arena, "was killed by signal %d",
					 v->signal);

	for (size_t i = 0; i < v->limits.n; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? "; " : ": ",
				    v->limits.item[i]);
	return text;
}

void facts_child(struct cleaner *c, struct jw *w, const struct child *child,
		 uint64_t out_bytes)
{
	const struct gate_verdict *v = &child->verdict;
	const struct gate_child_info *info;
	struct str tail = child_stderr(child);
	uint64_t total = child->err_tail.total;

	/* nothing started: a replay */
	if (!child->gate) {
		facts_exit(w, v);
		return;
	}
	info = gate_child_info(child->gate);
	facts_text(c, w, "program", str_of(child->program));
	if (info->runs)
		facts_text(c, w, "runs", str_of(info->runs));
	jw_kv_int(w, "pid", child->pid);
	if (child->phase == CHILD_ENDED) {
		facts_exit(w, v);
		jw_kv_bool(w, "killed", child->killed);
		jw_kv_int(w, "cpu_us", (int64_t)v->cpu_us);
		jw_kv_int(w, "max_rss_bytes", (int64_t)v->max_rss_bytes);
	}
	jw_kv_object(w, "stdout");
	jw_kv_int(w, "bytes", (int64_t)out_bytes);
	jw_end(w);
	jw_kv_object(w, "stderr");
	jw_kv_int(w, "bytes", (int64_t)total);
	jw_kv_int(w, "dropped", (int64_t)(total - tail.n));
	jw_kv_str(w, "tail", tail);
	jw_end(w);
	if (child->phase == CHILD_ENDED)
		facts_verdict(c, w, v);
	facts_granted(c, w, info);
}
