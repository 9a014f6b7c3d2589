/* A working tree in the answer, as JSON and as a line of text. */
#include "core/server/brief_repos_inner.h"

/* ---- JSON ---- */

static void write_head(const struct repos_tree *t, struct jw *w)
{
	jw_key(w, "head");
	jw_object(w);
	jw_kv_cstr(w, "id", t->id);
	jw_kv_cstr(w, "subject", t->subject);
	jw_kv_cstr(w, "time", t->time);
	jw_end(w);
}

static void write_upstream(const struct repos_tree *t, struct jw *w)
{
	jw_key(w, "upstream");
	jw_object(w);
	jw_kv_cstr(w, "name", t->upstream);
	if (t->has_distance) {
		jw_kv_int(w, "ahead", (int64_t)t->ahead);
		jw_kv_int(w, "behind", (int64_t)t->behind);
	}
	jw_end(w);
}

void repos_write(const struct repos_tree *t, struct jw *w)
{
	const struct repos_counts *c = &t->counts;

	jw_object(w);
	jw_kv_cstr(w, "name", t->name);
	jw_kv_cstr(w, "path", t->path);
	if (t->branch)
		jw_kv_cstr(w, "branch", t->branch);
	jw_kv_bool(w, "detached", t->detached);
	if (t->operation)
		jw_kv_cstr(w, "operation", t->operation);
	if (t->has_head)
		write_head(t, w);
	jw_key(w, "changes");
	jw_object(w);
	jw_kv_int(w, "staged", (int64_t)c->staged);
	jw_kv_int(w, "modified", (int64_t)c->modified);
	jw_kv_int(w, "untracked", (int64_t)c->untracked);
	jw_kv_int(w, "conflicted", (int64_t)c->conflicted);
	jw_end(w);
	if (t->upstream)
		write_upstream(t, w);
	jw_end(w);
}

/* ---- text ---- */

static void tell_changes(const struct repos_counts *c, struct buf *out)
{
	const struct {
		size_t n;
		const char *word;
	} parts[] = {{c->staged, "staged"},
		     {c->modified, "modified"},
		     {c->untracked, "untracked"},
		     {c->conflicted, "conflicted"}};
	const char *comma = "; ";

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (!parts[i].n)
			continue;
		buf_addf(out, "%s%zu %s", comma, parts[i].n, parts[i].word);
		comma = ", ";
	}
	if (*comma == ';')
		buf_adds(out, "; clean");
}

static void tell_distance(const struct repos_tree *t, struct buf *out)
{
	if (!t->has_distance)
		return;
	if (t->ahead && t->behind)
		buf_addf(out, "; %zu ahead, %zu behind %s", t->ahead, t->behind,
			 t->upstream);
	else if (t->ahead)
		buf_addf(out, "; %zu ahead of %s", t->ahead, t->upstream);
	else if (t->behind)
		buf_addf(out, "; %zu behind %s", t->behind, t->upstream);
	else
		buf_addf(out, "; even with %s", t->upstream);
}

void repos_tell(const struct repos_tree *t, struct buf *out)
{
	buf_addf(out, "%s%s: %s", out->n ? "\n" : "", t->name,
		 t->branch ? t->branch : "detached");
	if (t->has_head)
		buf_addf(out, " %.7s \"%s\" (%.10s)", t->id, t->subject,
			 t->time);
	else
		buf_adds(out, ", no commit yet");
	tell_changes(&t->counts, out);
	tell_distance(t, out);
	if (t->operation)
		buf_addf(out, "; %s in progress", t->operation);
}
