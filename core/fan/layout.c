#include "core/fan/layout.h"

#include <stdio.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/report/render.h"

const char *const FAN_STATES[N_FAN_STATES] = {
	[FAN_MISSING] = "missing",
	[FAN_OK] = "ok",
	[FAN_FAILED] = "failed",
	[FAN_TORN] = "missing",
};

/* ---- the manifest ---- */

void fan_kv_json(struct jw *w, const char *key, struct str json)
{
	jw_kv_raw(w, key, json.n ? json : STR("null"));
}

void fan_kv_text(struct jw *w, const char *key, struct str s)
{
	jw_key(w, key);
	if (s.n)
		jw_str(w, s);
	else
		jw_null(w);
}

/* A number that takes as many bytes as every other. */
static void kv_wide(struct jw *w, const char *key, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%20llu", (unsigned long long)n);
	jw_kv_raw(w, key, str_of(text));
}

void manifest_head(const struct manifest *m, struct buf *out)
{
	struct jw w = jw_begin(out);

	jw_kv_cstr(&w, "schema", FAN_SCHEMA);
	jw_kv_cstr(&w, "routine", m->routine);
	jw_kv_object(&w, "config");
	jw_kv_cstr(&w, "path", m->config_path);
	jw_kv_cstr(&w, "sha256", m->config_sha256);
	jw_kv_str(&w, "text", m->config_text);
	jw_end(&w);
	fan_kv_json(&w, "leash", m->leash);
	fan_kv_json(&w, "params", m->params);
	jw_kv_object(&w, "inputs");
	kv_wide(&w, "n", m->n);
	kv_wide(&w, "keys", m->n_keys);
	jw_kv_cstr(&w, "sha256", m->inputs_sha256);
	jw_end(&w);
	jw_kv_int(&w, "per_shard", (int64_t)m->per_shard);
	kv_wide(&w, "n_shards", m->n_shards);
	jw_kv_cstr(&w, "shards_sha256", m->rows_sha256);
	buf_adds(out, "," MANIFEST_TABLE);
}

void manifest_row(const struct manifest_shard *shard, bool is_first,
		  struct buf *out)
{
	buf_addf(out, "%c[%14llu,\"%.16s\"]\n", is_first ? ' ' : ',',
		 (unsigned long long)shard->offset, shard->sum);
}

bool manifest_shard(struct str row, struct manifest_shard *ret)
{
	if (row.n != MANIFEST_ROW)
		return false;
	snprintf(ret->sum, sizeof(ret->sum), "%.16s", row.p + 18);
	return str_uint64(str_trim(str_first(str_skip(row, 2), 14)),
			  &ret->offset) &&
	       strspn(ret->sum, "0123456789abcdef") == 16;
}

const char *fan_word(struct str object, const char *name, struct arena *arena)
{
	struct str s = scan_decoded(scan_text(object, name), SIZE_MAX, arena);

	return arena_strndup(arena, s.p, s.n);
}

uint64_t fan_number(struct str object, const char *name)
{
	struct str value = scan_some(object, name);
	int64_t n;

	return value.n && scan_int64(value, &n) && n > 0 ? (uint64_t)n : 0;
}

int manifest_read(struct str head, struct arena *arena, struct manifest *ret,
		  struct err *err)
{
	struct str all = str_of(arena_printf(arena, "%.*s]}", STR_ARG(head))),
		   inputs, config;

	if (scan_document(all, NULL, &all, err) < 0)
		return -1;
	if (!scan_is(scan_text(all, "schema"), FAN_SCHEMA))
		return err_set(err, ERR_CONFIG, "not a %s", FAN_SCHEMA);
	inputs = scan_some(all, "inputs");
	config = scan_some(all, "config");
	if (!inputs.n || !config.n)
		return err_set(err, ERR_CONFIG, "the manifest is not whole");
	*ret = (struct manifest){
		.routine = fan_word(all, "routine", arena),
		.config_path = fan_word(config, "path", arena),
		.config_sha256 = fan_word(config, "sha256", arena),
		.config_text = scan_decoded(scan_text(config, "text"), SIZE_MAX,
					    arena),
		.leash = scan_some(all, "leash"),
		.params = scan_some(all, "params"),
		.n = fan_number(inputs, "n"),
		.n_keys = fan_number(inputs, "keys"),
		.inputs_sha256 = fan_word(inputs, "sha256", arena),
		.per_shard = fan_number(all, "per_shard"),
		.n_shards = fan_number(all, "n_shards"),
		.rows_sha256 = fan_word(all, "shards_sha256", arena),
	};
	if (!*ret->routine || *ret->config_path != '/' || !ret->n_shards ||
	    !ret->per_shard || !ret->n || !ret->n_keys)
		return err_set(err, ERR_CONFIG, "the manifest is not whole");
	return 0;
}

/* ---- keys and names ---- */

void fan_key(const struct manifest *m, struct str input,
	     char ret[SHA256_HEX_BYTES])
{
	struct sha256 sum;

	sha256_init(&sum);
	digest_text(&sum, m->routine);
	digest_text(&sum, m->config_sha256);
	/* relative programs and folders of the routine begin beside it */
	digest_text(&sum, m->config_path);
	digest_number(&sum, m->leash.n);
	sha256_add(&sum, m->leash.n ? m->leash.p : "", m->leash.n);
	digest_number(&sum, input.n);
	sha256_add(&sum, input.p, input.n);
	sha256_end_text(&sum, ret);
}

static struct fan_name name_of(const char *folder, const char *key,
			       const char *end)
{
	struct fan_name n;

	snprintf(n.text, sizeof(n.text), "%s/%.2s/%s%s", folder, key, key, end);
	return n;
}

struct fan_name fan_result_name(const char *key)
{
	return name_of("results", key, ".json");
}

struct fan_name fan_failed_name(const char *key)
{
	return name_of("failed", key, "");
}

struct fan_name fan_claim_name(const char *key)
{
	return name_of("claims", key, "");
}

bool fan_is_result(const char *name)
{
	return strspn(name, "0123456789abcdef") == SHA256_HEX_BYTES - 1 &&
	       strcmp(name + SHA256_HEX_BYTES - 1, ".json") == 0;
}

/* ---- results ---- */

static const struct report_step *first_failure(const struct report *r)
{
	for (size_t i = 0; i < r->n_steps; i++)
		if (!report_step_success(&r->steps[i]))
			return &r->steps[i];
	return NULL;
}

void fan_result_print(const char *key, const struct report *r, uint64_t us,
		      const char *ended, const char *who, struct buf *out)
{
	static const struct render_options full = {.view = VIEW_FULL};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf report = BUF_INIT(BUF_UNBOUNDED);
	const struct report_step *bad = first_failure(r);
	bool is_ok = report_success(r);
	struct jw w = jw_begin(out);

	jw_kv_cstr(&w, "schema", FAN_RESULT_SCHEMA);
	jw_kv_cstr(&w, "key", key);
	jw_kv_bool(&w, "ok", is_ok);
	fan_kv_text(&w, "reason",
		    str_of(is_ok ? NULL
			   : bad ? report_reason_name(bad->reason)
				 : "nothing_ran"));
	fan_kv_text(&w, "error",
		    bad && !is_ok ? bad->error
		    : is_ok	  ? (struct str){NULL, 0}
				  : str_of(report_summary(r, &arena)));
	jw_kv_int(&w, "us", (int64_t)us);
	jw_kv_cstr(&w, "ended", ended);
	jw_kv_cstr(&w, "on", who);
	render_find("json")->print(r, &full, &report);
	jw_kv_raw(&w, "report", str_trim(buf_str(&report)));
	jw_end(&w);
	buf_addc(out, '\n');
}

void fan_result_read(struct str text, const char *key, struct arena *arena,
		     struct fan_result *ret)
{
	struct str all;

	*ret = (struct fan_result){.state = FAN_TORN};
	/* one line: reports are printed as they are, a row a line */
	if (!str_ends(text, "}\n") || str_find(text, '\n') != text.n - 1 ||
	    scan_document(text, NULL, &all, ERR_IGNORED) < 0 ||
	    !scan_is(scan_text(all, "schema"), FAN_RESULT_SCHEMA) ||
	    !scan_is(scan_text(all, "key"), key))
		return;
	ret->report = scan_some(all, "report");
	if (!ret->report.n || scan_type(ret->report) != SCAN_OBJECT)
		return;
	ret->us = fan_number(all, "us");
	ret->reason = scan_decoded(scan_text(all, "reason"), 256, arena);
	ret->error = scan_decoded(scan_text(all, "error"), 4096, arena);
	ret->on = scan_decoded(scan_text(all, "on"), 256, arena);
	ret->state = scan_true(all, "ok") ? FAN_OK : FAN_FAILED;
}
