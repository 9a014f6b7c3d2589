#include "core/cli/trace_apply.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/place.h"
#include "core/cli/put.h"
#include "core/config/config_allow.h"
#include "core/config/paths.h"
#include "core/toml/toml.h"

int trace_apply_open(struct trace_apply *a, const struct config_file *file,
		     struct err *err)
{
	if (outfile_open(&a->out, file->path, OUTFILE_DURABLE, err) < 0)
		return err_wrap(err, "--apply");
	a->file = file;
	return 0;
}

void trace_apply_release(struct trace_apply *a)
{
	outfile_release(&a->out);
	arena_release(&a->arena);
}

/* ---- rows ---- */

static bool list_has(const struct strlist *list, const char *s)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->item[i], s) == 0)
			return true;
	return false;
}

static bool is_granted(const struct gate_need *n, const struct gate_policy *has)
{
	if (strcmp(n->key, "read") == 0)
		return path_is_beneath(n->value, &has->read) ||
		       path_is_beneath(n->value, &has->write);
	if (strcmp(n->key, "write") == 0)
		return path_is_beneath(n->value, &has->write);
	if (strcmp(n->key, "exec") == 0)
		return list_has(&has->exec, n->value) ||
		       (n->value[0] == '/' &&
			path_is_beneath(n->value, &has->exec));
	if (strcmp(n->key, "net") == 0)
		return list_has(&has->net, n->value) ||
		       list_has(&has->net, "all");
	if (strcmp(n->key, "unix") == 0)
		return list_has(&has->unix_sockets, n->value);
	return list_has(&has->syscalls, n->value);
}

/* Write a path as a person would: from the file's folder, or from HOME. */
static const char *as_written(struct trace_apply *a, const char *value)
{
	const char *home = path_own_home(0);
	char dir[PATH_MAX], real[PATH_MAX];

	if (value[0] != '/')
		return value;
	if (realpath(a->file->config.dir, dir) && place_covers(dir, value))
		return arena_printf(&a->arena, ".%s", value + strlen(dir));
	if (home && realpath(home, real) && place_covers(real, value))
		return arena_printf(&a->arena, "~%s", value + strlen(real));
	return value;
}

static struct edit_row *row_of(struct trace_apply *a, const char *key)
{
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->row[i].key, key) == 0)
			return &a->row[i];
	if (a->n == TRACE_APPLY_KEYS)
		return NULL;
	a->row[a->n] = (struct edit_row){.key = key};
	return &a->row[a->n++];
}

void trace_apply_rows(struct trace_apply *a, const struct gate *gate,
		      const struct gate_needs *needs,
		      const struct gate_policy *has, const struct scrub *scrub)
{
	for (size_t i = 0; i < needs->n; i++) {
		const struct gate_need *n = &needs->need[i];
		struct edit_row *row;

		if (n->why_not || is_granted(n, has))
			continue;
		if ((n->value[0] == '/' && gate_is_secret(gate, n->value)) ||
		    (scrub && scrub_finds(scrub, str_of(n->value)))) {
			log_warning("trace: a row of %s is left out, it names "
				    "keys, tokens or a credential",
				    n->key);
			continue;
		}
		row = row_of(a, n->key);
		if (!row)
			continue;
		row->is_word |= strcmp(n->key, "net") == 0 &&
				gate_net_is_word(n->value);
		list_add_new(&row->values, &a->arena,
			     arena_strdup(&a->arena, as_written(a, n->value)));
	}
}

/* ---- the file ---- */

/* The bytes that were read when the command began, and no others. */
static int read_again(struct trace_apply *a, struct buf *text, struct err *err)
{
	char sha256[SHA256_HEX_BYTES];

	if (fd_read_regular(a->file->path, text, err) < 0)
		return -1;
	sha256_hex(buf_str(text), sha256);
	return strcmp(sha256, a->file->sha256) == 0
		       ? 0
		       : err_set(err, ERR_CONFIG,
				 "%s changed during the trace; trace again",
				 a->file->path);
}

/* The new text loads as well as the old one. */
static int check_text(struct trace_apply *a, struct str text, struct err *err)
{
	struct findings findings = {0};
	struct toml_value root;
	struct config config;
	int r = toml_parse(&a->arena, text, &root, err);

	if (r == 0 && routine_load(&root, true, false, &a->arena, &config,
				   &findings) < 0) {
		for (size_t i = 0; i < findings.n; i++)
			if (!findings.item[i].warning && !findings.item[i].note)
				*err = findings.item[i].err;
		r = err_wrap(err, "%s would be invalid", a->file->path);
	}
	findings_release(&findings);
	return r;
}

/* Allow the new bytes exactly where the old ones were allowed. */
static void keep_allowance(struct trace_apply *a, struct str text)
{
	struct config_file now = {.path = NULL};
	const struct config_options options = {
		.path = a->file->path,
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};
	struct err err = ERR_INIT;
	struct allowance old;

	if (!a->file->found ||
	    allowed_find(NULL, a->file->found, &a->arena, &old, &err) != 0 ||
	    strcmp(old.sha256, a->file->sha256) != 0)
		return;
	sha256_hex(text, old.sha256);
	if (config_open(&options, &now, &err) < 0 ||
	    strcmp(now.sha256, old.sha256) != 0) {
		log_warning("trace: the new %s is not allowed yet: matins "
			    "allow",
			    a->file->path);
	} else {
		old.grants = now.grants;
		if (allowed_keep(NULL, &old, &err) < 0)
			log_warning("trace: %s", err.msg);
	}
	config_release(&now);
}

int trace_apply_write(struct trace_apply *a, const char *routine,
		      const char *step, struct err *err)
{
	AUTO(buf_release) struct buf old = BUF_INIT(LIMIT_CONFIG_BYTES);
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);

	if (!a->n) {
		log_note("trace: step %s has all that it needs; %s stays as "
			 "it is",
			 step, a->file->path);
		return 0;
	}
	if (read_again(a, &old, err) < 0 ||
	    edit_sandbox(buf_str(&old), routine, step, a->row, a->n, &text,
			 err) < 0 ||
	    check_text(a, buf_str(&text), err) < 0 ||
	    outfile_write_str(&a->out, buf_str(&text), err) < 0)
		return err_wrap(err, "--apply");
	keep_allowance(a, buf_str(&text));
	buf_addf(&diff, "--- %s\n+++ %s\n", a->file->path, a->file->path);
	edit_diff(buf_str(&old), buf_str(&text), &diff);
	log_note("trace: wrote %s; to run the step: matins step %s %s",
		 a->file->path, routine, step);
	return put(buf_str(&diff), PUT_TEXT, err);
}
