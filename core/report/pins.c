#include "core/report/pins.h"

#include "core/base/jw.h"
#include "core/report/canon.h"
#include "core/report/diff_print.h"
#include "core/report/golden.h"

#define SCHEMA "matins-pins/1"

const char *pins_path(const char *dir, const char *server, struct arena *arena)
{
	return arena_printf(arena, "%s/golden/tools/%s", dir ? dir : ".",
			    golden_file_name(server, arena));
}

int pins_print(const struct pins *p, struct buf *out, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&text);
	struct jdoc *doc;

	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_cstr(&w, "server", p->server);
	jw_kv_opt(&w, "file", p->file);
	jw_kv_object(&w, "tools");
	for (size_t i = 0; i < p->n; i++) {
		jw_key_raw(&w, scan_text(p->tool[i], "name"));
		jw_raw(&w, p->tool[i]);
	}
	jw_end(&w);
	jw_end(&w);
	if (jdoc_parse(buf_str(&text), &arena, &doc, err) < 0)
		return -1;
	canon_print(doc, 0, out);
	buf_addc(out, '\n');
	return 0;
}

const char *pins_owner(struct str kept, struct arena *arena)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct str doc, file;

	return scan_document(kept, NULL, &doc, ERR_IGNORED) == 0 &&
			       scan_get(doc, "file", &file) &&
			       scan_string(file, &name)
		       ? arena_strdup(arena, buf_cstr(&name))
		       : NULL;
}

/* Make the tree of what is compared: {"search": {"description": …}, …}. */
static int judged(struct str file, struct str only, struct arena *arena,
		  struct jdoc **ret, struct err *err)
{
	static const char *const members[] = {
		"title",	"description", "inputSchema",
		"outputSchema", "annotations",
	};
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&text);
	const struct jdoc *tools, *m;
	struct jdoc *doc;

	if (jdoc_parse(file, arena, &doc, err) < 0)
		return -1;
	tools = jdoc_get(doc, "tools");
	if (!jdoc_is(jdoc_get(doc, "schema"), SCHEMA) || !tools ||
	    tools->type != SCAN_OBJECT)
		return err_set(err, ERR_COMPARE, "the file is not a " SCHEMA);
	for (const struct jdoc *t = tools->first; t; t = t->next) {
		if (only.p && !str_eq(t->key, only))
			continue;
		jw_key_str(&w, t->key);
		jw_object(&w);
		for (size_t i = 0; i < ARRAY_LEN(members); i++)
			if ((m = jdoc_get(t, members[i])))
				jw_kv_raw(&w, members[i], m->raw);
		jw_end(&w);
	}
	jw_end(&w);
	return jdoc_parse(arena_buf(arena, &text), arena, ret, err);
}

int pins_digest(struct str tool, char hex[SHA256_HEX_BYTES], struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct pins pins = {"", NULL, &tool, 1};
	const struct str all = {NULL, 0};
	struct jdoc *doc;

	if (pins_print(&pins, &text, err) < 0 ||
	    judged(buf_str(&text), all, &arena, &doc, err) < 0)
		return -1;
	buf_clear(&text);
	canon_compact(doc, &text);
	sha256_hex(buf_str(&text), hex);
	return 0;
}

int pins_diff(struct str kept, struct str now, struct str only, struct buf *out,
	      struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jdoc *old, *new;
	struct diff d;

	if (judged(kept, only, &arena, &old, err) < 0 ||
	    judged(now, only, &arena, &new, err) < 0)
		return -1;
	diff_reports(old, new, NULL, &arena, &d);
	diff_print(&d, diff_format_find("text"), out);
	return 0;
}
