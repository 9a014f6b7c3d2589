#include "core/run/plugin.h"

#include "core/base/jw.h"

/* A member of a table of the configuration; `instead` where it lacks it. */
static void add_member(struct jw *w, const char *key,
		       const struct toml_value *table, const char *instead)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *value = toml_get(table, key);

	if (value)
		toml_to_json(value, &json);
	else
		buf_adds(&json, instead);
	jw_kv_raw(w, key, buf_str(&json));
}

static void add_step(struct jw *w, const struct step *step, struct str params)
{
	jw_kv_object(w, "step");
	jw_kv_cstr(w, "name", step->name);
	jw_kv_cstr(w, "type", step->type);
	jw_kv_int(w, "timeout", (int64_t)((step->timeout_ms + 999) / 1000));
	jw_kv_raw(w, "repos", STR("[]"));
	jw_kv_raw(w, "params", params.n ? params : STR("{}"));
	jw_end(w);
}

void plugin_request(const struct config *config, const struct step *step,
		    struct str generation, struct str params, struct buf *out)
{
	struct jw w = jw_begin(out);

	jw_kv_cstr(&w, "protocol", "modulex-plugin/1");
	jw_kv_raw(&w, "generation", generation);
	jw_kv_bool(&w, "dry_run", false);
	add_step(&w, step, params);
	jw_kv_object(&w, "shared");
	add_member(&w, "repos", config->shared, "[]");
	jw_kv_object(&w, "identity");
	add_member(&w, "username", config->identity, "\"\"");
	add_member(&w, "gitlab_host", config->identity, "\"\"");
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}
