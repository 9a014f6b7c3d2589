/*
 * `matins import` reads the MCP servers of other clients and prints them as
 * [servers.NAME], or writes them into the configuration.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/command.h"
#include "core/cli/import_trace.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/rewrite.h"
#include "core/config/config.h"
#include "core/config/edit.h"
#include "core/config/paths.h"
#include "core/import/clients.h"
#include "core/import/set.h"

const struct option options_import[] = {
	{"from", 0, "CLIENT",
	 "import the servers of this client: claude-desktop, claude-code, "
	 "cursor, vscode, windsurf, zed, gemini, codex, goose, mcporter, "
	 "lmstudio or modulex"},
	{"all", 0, NULL, "import the servers of all clients that are found"},
	{"write", 0, NULL,
	 "write them into the configuration, and their credentials into "
	 "files in keys/ beside it"},
	{"trace", 0, NULL,
	 "start each server once, and add the sandbox lines that it needs"},
	{0},
};

/* Bytes of a file of variables. */
#define ENV_BYTES_MAX (64 * 1024)

struct import {
	const struct args *args;
	struct arena arena; /* holds credentials; wiped */
	struct import_source src;
	struct import_set set;
	struct rewrite to;     /* where the servers go */
	struct outfolder keys; /* fd -1: there is none */
	bool has_failed;       /* a file was left out; said */
};

/* ---- reading ---- */

static const char *variable(void *arg, const char *name)
{
	(void)arg;
	return getenv(name);
}

static struct str read_text(void *arg, const char *path)
{
	struct import *im = arg;
	AUTO(buf_wipe) struct buf text = BUF_INIT(ENV_BYTES_MAX);

	return fd_read_regular(path, &text, ERR_IGNORED) < 0
		       ? (struct str){NULL, 0}
		       : arena_str(&im->arena, buf_str(&text));
}

static void add_server(void *arg, const char *name,
		       const struct toml_value *table)
{
	struct import *im = arg;
	struct import_server s;

	if (im->set.n == IMPORT_SERVERS_MAX)
		return;
	server_read(&im->src, name, table, &s);
	set_add(&im->set, &s);
}

/* Folder of the project that a file belongs to: above .vscode and its like. */
static const char *project_of(struct import *im, const char *path)
{
	static const char *const names[] = {".vscode", ".cursor", ".zed",
					    ".gemini", ".codex",  "config"};
	char *folder =
		arena_strdup(&im->arena, path_resolve(path, NULL, &im->arena));
	char *slash = strrchr(folder, '/'), *above;

	*slash = '\0';
	above = strrchr(folder, '/');
	if (above && str_index(str_of(above + 1), names, ARRAY_LEN(names)) <
			     ARRAY_LEN(names))
		*above = '\0';
	return *folder ? folder : "/";
}

/*
 * Read the servers of a file.
 *
 * ret_n   how many definitions it has
 * errors  ERR_SYS, ERR_SYNTAX, ERR_CONFIG, ERR_LIMIT, ERR_UNKNOWN
 */
static int read_file(struct import *im, const char *path, size_t *ret_n,
		     struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(TREE_BYTES_MAX);
	const enum tree_format format = tree_format_of(path);
	struct toml_value root;

	if (fd_read_regular(path, &text, err) < 0)
		return -1;
	if (str_starts(buf_str(&text), "SQLite format 3"))
		return err_set(
			err, ERR_CONFIG,
			"%s is a database; import what this writes: "
			"sqlite3 -json %s 'SELECT name, command, "
			"args_json, note FROM mcp_servers' >servers.json",
			path, path);
	if (tree_read(buf_str(&text), format, &im->arena, &root, err) < 0)
		return err_wrap(err, "%s", path);
	im->src.path = arena_strdup(&im->arena, path);
	im->src.folder = project_of(im, path);
	*ret_n = client_servers(&im->src, &root, format, add_server, im);
	if (im->set.n == IMPORT_SERVERS_MAX)
		return err_set(err, ERR_LIMIT, "%s: %d servers or more", path,
			       IMPORT_SERVERS_MAX);
	return 0;
}

/* Read the files of a client that are there; of one that is named one must be.
 */
static int read_client(struct import *im, const struct import_client *client,
		       bool is_named, struct err *err)
{
	struct strlist looked = {NULL, 0};
	size_t n, found = 0;

	for (const char *const *p = client->places; *p; p++) {
		const char *path = client_place(&im->src, *p);
		struct err why = ERR_INIT;

		if (!path)
			continue;
		list_add(&looked, &im->arena, path);
		if (access(path, F_OK) < 0)
			continue;
		found++;
		if (read_file(im, path, &n, &why) == 0) {
			log_note("import: %s: %zu server%s of %s", path, n,
				 n == 1 ? "" : "s", client->title);
		} else {
			log_warning("import: %s", why.msg);
			im->has_failed = true;
		}
	}
	if (found || !is_named)
		return 0;
	return err_set(err, ERR_UNKNOWN, "%s has no file here; looked for %s",
		       client->title, list_join(&looked, ", ", &im->arena));
}

static int read_all(struct import *im, struct err *err)
{
	const char *from = args_get(im->args, "from");
	const struct import_client *client = from ? client_find(from) : NULL;
	size_t n;

	if (from && !client)
		return args_bad("from", from,
				"a client; `matins import --help` lists them",
				err);
	if (client)
		return read_client(im, client, true, err);
	if (args_has(im->args, "all")) {
		for (client = import_clients; client->name; client++)
			if (read_client(im, client, false, err) < 0)
				return -1;
		return 0;
	}
	if (read_file(im, im->args->positional[0], &n, err) < 0)
		return -1;
	if (!n)
		return err_set(err, ERR_CONFIG,
			       "%s has no MCP servers; looked for mcpServers, "
			       "servers, context_servers and mcp_servers, and "
			       "in YAML for extensions",
			       im->args->positional[0]);
	return 0;
}

/* ---- the configuration ---- */

static bool may_be(void *arg, const char *file, struct str content)
{
	const struct import *im = arg;

	return im->keys.fd < 0 ||
	       faccessat(im->keys.fd, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ||
	       outfolder_holds(&im->keys, file, content);
}

/* Hold the folder of keys, which is no link; a new one is the user's alone. */
static int open_keys(struct import *im, bool makes_it, struct err *err)
{
	AUTO(outfolder_release) struct outfolder dir = OUTFOLDER_INIT;

	if (im->keys.fd >= 0)
		return 0;
	if (outfolder_open(&dir, im->to.dir, err) < 0)
		return -1;
	if (makes_it && mkdirat(dir.fd, "keys", 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "%s/keys", im->to.dir);
	if (!makes_it &&
	    faccessat(dir.fd, "keys", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return outfolder_enter(&dir, STR("keys"), &im->keys, err);
}

static int name_servers(struct import *im, struct err *err)
{
	struct toml_value root;

	if (toml_parse(&im->arena, buf_str(&im->to.old), &root, err) < 0 ||
	    open_keys(im, false, err) < 0)
		return -1;
	set_name(&im->set, &root, may_be, im);
	return 0;
}

/* ---- results ---- */

static void say(const struct import_named *item, const struct strlist *all,
		const char *before, bool is_warning)
{
	for (size_t i = 0; i < all->n; i++)
		(is_warning ? log_warning : log_note)("import: %s: %s%s",
						      item->name ? item->name
								 : item->s.name,
						      before, all->item[i]);
}

static bool is_secret(const struct import_row *row)
{
	return row->kind == IMPORT_SECRET || row->kind == IMPORT_ASIDE;
}

/* Tables of the servers that are new; what is to be known of each is said. */
static size_t print_new(struct import *im, struct buf *out)
{
	size_t secrets = 0;

	for (size_t i = 0; i < im->set.notes.n; i++)
		log_note("import: %s", im->set.notes.item[i]);
	for (size_t i = 0; i < im->set.n; i++) {
		const struct import_named *item = &im->set.item[i];

		if (item->is_known) {
			log_note("import: %s is in %s already", item->name,
				 im->to.path);
			continue;
		}
		say(item, &item->s.notes, "", false);
		say(item, &item->s.lost,
		    item->s.is_usable ? "not carried: " : "not imported: ",
		    true);
		if (!item->s.is_usable)
			continue;
		for (size_t k = 0; k < item->s.n; k++)
			secrets += is_secret(&item->s.row[k]);
		buf_adds(out, out->n ? "\n" : "");
		server_print(&item->s, item->name, out);
	}
	return secrets;
}

static int write_key(struct import *im, const struct import_row *row,
		     struct err *err)
{
	const char *name = row->file + strlen("keys/");
	const struct str text = str_of(row->text);
	const struct fd_text content = fd_text_of(&text);

	if (open_keys(im, true, err) < 0)
		return -1;
	if (outfolder_holds(&im->keys, name, text))
		return 0;
	if (outfolder_put(&im->keys, name, row->file, &content, 0600,
			  OUTFILE_NEW, err) < 0)
		return -1;
	log_note("import: wrote %s/%s", im->to.dir, row->file);
	return 0;
}

static int write_keys(struct import *im, struct err *err)
{
	for (size_t i = 0; i < im->set.n; i++) {
		const struct import_named *item = &im->set.item[i];

		for (size_t k = 0; item->name && k < item->s.n; k++)
			if (is_secret(&item->s.row[k]) &&
			    write_key(im, &item->s.row[k], err) < 0)
				return -1;
	}
	return 0;
}

/* Put the tables behind the text that is there, whose every byte stays. */
static int write_config(struct import *im, const struct buf *tables,
			struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	rewrite_appended(&im->to, buf_str(tables), &text);
	if (rewrite_check(im->to.path, buf_str(&text), err) < 0)
		return err_wrap(err, "--write");
	if (write_keys(im, err) < 0)
		return -1;
	return rewrite_write(&im->to, buf_str(&text), err);
}

/* errors  ERR_PEER  a signal ended it */
static int trace_all(struct import *im, struct err *err)
{
	const struct config *config =
		im->to.file.path ? &im->to.file.config : NULL;

	for (size_t i = 0; i < im->set.n; i++) {
		struct import_named *item = &im->set.item[i];
		struct err why = ERR_INIT;
		int r;

		if (item->is_known || !server_row(&item->s, "", "command"))
			continue;
		log_note("import: %s really starts, and lists its tools",
			 item->name);
		r = import_trace(&item->s, config, im->to.dir, &im->arena,
				 &why);
		if (r > 0)
			return err_set(err, ERR_PEER,
				       "ended by a signal; "
				       "nothing was written");
		if (r < 0)
			log_warning("import: %s: its needs are not all known: "
				    "%s",
				    item->name, why.msg);
		im->has_failed |= r < 0;
	}
	return 0;
}

static int import(struct import *im, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const bool writes = args_has(im->args, "write");
	size_t secrets;
	int r;

	if (rewrite_open(&im->to, im->args, "import", err) < 0 ||
	    read_all(im, err) < 0 || name_servers(im, err) < 0)
		return -1;
	if (args_has(im->args, "trace") && trace_all(im, err) < 0)
		return -1;
	secrets = print_new(im, &out);
	r = writes ? write_config(im, &out, err)
		   : put(buf_str(&out), PUT_JSON, err);
	if (r < 0)
		return -1;
	if (secrets && !writes)
		log_note("import: %zu credential%s in clear in the client's "
			 "file: --write puts %s into %s/keys",
			 secrets, secrets == 1 ? " is" : "s are",
			 secrets == 1 ? "it" : "them", im->to.dir);
	return im->has_failed;
}

int cmd_import(const struct args *args, struct err *err)
{
	const int n = (int)args->n_positional + args_has(args, "from") +
		      args_has(args, "all");
	struct import im = {
		.args = args,
		.arena = ARENA_INIT,
		.src = {.home = path_own_home(0),
			.variable = variable,
			.read = read_text},
		.keys = OUTFOLDER_INIT,
	};
	int r;

	if (n != 1)
		return err_set(err, ERR_USAGE,
			       "import: name one of FILE, --from CLIENT and "
			       "--all");
	if (!im.src.home)
		im.src.home = "";
	im.src.arena = im.set.arena = &im.arena;
	im.src.arg = &im;
	r = import(&im, err);
	outfolder_release(&im.keys);
	rewrite_release(&im.to);
	arena_wipe(&im.arena);
	return r;
}
