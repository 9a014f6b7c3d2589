/*
 * `matins import` reads the MCP servers of other clients and prints them as
 * [servers.NAME], or writes them into the configuration.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/outfile.h"
#include "core/cli/command.h"
#include "core/cli/foreign.h"
#include "core/cli/put.h"
#include "core/cli/rewrite.h"
#include "core/config/config.h"
#include "core/config/paths.h"
#include "core/config/server_url.h"
#include "core/import/clients.h"
#include "core/import/set.h"
#include "core/import/words.h"

/* "|claude-desktop|claude-code|…" */
#define IMPORT_CLIENT(name, ...) "|" name
#define IMPORT_CONTAINER(...)
static const char client_names[] = ""
#include "core/import/clients.def"
	;
#undef IMPORT_CLIENT
#undef IMPORT_CONTAINER

const struct option options_import[] = {
	{"from", 0, client_names + 1, "import the servers of this client"},
	{"all", 0, NULL, "import the servers of all clients that are found"},
	{"write", 0, NULL,
	 "write them into the configuration, and their credentials into "
	 "files in keys/ beside it"},
	{"trace", 0, NULL,
	 "start each server once, and add the sandbox lines that it needs of "
	 "its project and of the system"},
	FOREIGN_PATH_OPTIONS,
	{0},
};

struct import {
	const struct args *args;
	struct foreign f;
	struct import_set set;
	size_t n_values;       /* in the tables of the set's servers */
	struct rewrite to;     /* where the servers go */
	struct outfolder keys; /* fd -1: there is none */
	bool has_failed;       /* a file was left out; said */
	struct foreign_paths paths;
};

/* ---- reading ---- */

/* Keep the folder of its project as `cwd`, where it starts in that here, too: a
   folder of which it sees nothing would be refused. */
static void keep_folder(struct import *im, struct import_server *s)
{
	struct arena *arena = &im->f.arena;
	const char *folder = s->starts_in;
	AUTO(mem_freep) char *real = folder ? realpath(folder, NULL) : NULL;
	struct gate_explained e = {.cwd = NULL};

	if (!folder || strcmp(folder, im->to.dir) == 0 ||
	    !toml_get(&s->table, "command") || toml_get(&s->table, "cwd"))
		return;
	if (foreign_explain(&im->f, s, im->to.dir, &e, ERR_IGNORED) == 0 &&
	    real && e.cwd && strcmp(e.cwd, real) == 0)
		*tree_table(&s->table, "cwd", arena) = (struct toml_value){
			.type = TOML_STRING, .string = str_of(folder)};
	else
		list_addf(&s->lost, arena,
			  "the folder of its project, %s, of which it sees "
			  "nothing; where it needs that: cwd, and sandbox.read",
			  folder);
}

static bool is_full(const struct import *im)
{
	return im->set.n == IMPORT_SERVERS_MAX ||
	       im->n_values > IMPORT_SET_VALUES_MAX;
}

static void add_server(void *arg, const char *name,
		       const struct toml_value *table)
{
	struct import *im = arg;
	struct import_server s;

	if (is_full(im))
		return;
	im->n_values += tree_count(table);
	server_read(&im->f.src, name, table, &s);
	keep_folder(im, &s);
	(void)set_add(&im->set, &s);
}

/* Tell of files of other clients that mcporter would read, too. */
static void say_imports(struct import *im, const char *path,
			const struct toml_value *root)
{
	const struct toml_value *imports = toml_get(root, "imports");
	struct strlist all = {NULL, 0};

	if (imports && toml_get(root, "mcpServers"))
		all = words_list(imports, &im->f.arena);
	if (all.n)
		log_warning("import: %s: not carried: imports of %s; `matins "
			    "import --from CLIENT` reads each",
			    path, list_join(&all, ", ", &im->f.arena));
}

/* ret_n  how many definitions the file has */
static int read_file(struct import *im, const char *path, size_t *ret_n,
		     struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(TREE_BYTES_MAX);
	struct toml_value root;

	if (foreign_read(&im->f, path, &text, &root, err) < 0)
		return -1;
	*ret_n = client_servers(&im->f.src, &root, tree_format_of(path),
				add_server, im);
	say_imports(im, path, &root);
	if (is_full(im))
		return err_set(err, ERR_LIMIT,
			       "%s: %d servers or more, or more than %d values "
			       "in them",
			       path, IMPORT_SERVERS_MAX, IMPORT_SET_VALUES_MAX);
	return 0;
}

/* Read the files of a client that are there; returns false: there is none. */
static bool read_client(struct import *im, const struct import_client *client,
			struct strlist *looked)
{
	bool has_any = false;

	for (const char *const *p = client->places; *p; p++) {
		const char *path = client_place(&im->f.src, *p);
		struct err why = ERR_INIT;
		size_t n;

		if (!path)
			continue;
		list_add(looked, &im->f.arena, path);
		if (access(path, F_OK) < 0)
			continue;
		has_any = true;
		if (read_file(im, path, &n, &why) == 0) {
			log_note("import: %s: %zu server%s of %s", path, n,
				 n == 1 ? "" : "s", client->title);
		} else {
			log_warning("import: %s", why.msg);
			im->has_failed = true;
		}
	}
	return has_any;
}

/* Files that cannot be read are said already. */
static int check_any(const struct import *im, struct err *err)
{
	return im->set.n || im->has_failed
		       ? 0
		       : err_set(err, ERR_UNKNOWN,
				 "no MCP server is configured in a file of a "
				 "client here; --from CLIENT says where it "
				 "looks, and FILE takes any other");
}

static int read_all(struct import *im, struct err *err)
{
	const char *from = args_get(im->args, "from"),
		   *file = im->args->positional[0];
	const struct import_client *c = import_clients;
	struct strlist looked = {NULL, 0};
	size_t n;

	if (file) {
		if (read_file(im, file, &n, err) < 0)
			return -1;
		return n ? 0
			 : err_set(err, ERR_CONFIG,
				   "%s has no MCP servers; looked for "
				   "mcpServers, servers, context_servers and "
				   "mcp_servers, and in YAML for extensions",
				   file);
	}
	for (; !from && c->name; c++)
		(void)read_client(im, c, &looked);
	if (!from)
		return check_any(im, err);
	while (c->name && strcmp(c->name, from) != 0)
		c++;
	if (!c->name)
		return args_bad("from", from,
				"a client; `matins import --help` lists them",
				err);
	return read_client(im, c, &looked)
		       ? check_any(im, err)
		       : err_set(err, ERR_UNKNOWN,
				 "%s has no file here; looked for %s", c->title,
				 list_join(&looked, ", ", &im->f.arena));
}

/* ---- files of keys ---- */

static bool may_be(void *arg, const char *file, struct str content)
{
	const struct import *im = arg;

	return im->keys.fd < 0 ||
	       faccessat(im->keys.fd, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ||
	       outfolder_holds(&im->keys, file, content);
}

static bool is_in_git(const char *dir)
{
	AUTO(buf_release) struct buf at = BUF_INIT(BUF_UNBOUNDED);

	for (struct str rest = str_of(dir); rest.n; rest.n--) {
		if (rest.n < strlen(dir) && dir[rest.n] != '/')
			continue;
		buf_clear(&at);
		buf_addf(&at, "%.*s/.git", STR_ARG(rest));
		if (access(buf_cstr(&at), F_OK) == 0)
			return true;
	}
	return false;
}

/* Keep a new folder of keys out of the repository that it lies in. */
static int ignore_keys(struct import *im, struct err *err)
{
	static const struct str all = STR("*\n");
	const struct fd_text content = fd_text_of(&all);
	const struct outfolder_file file = {".gitignore", "keys/.gitignore",
					    0600, OUTFILE_NEW};

	return is_in_git(im->to.dir)
		       ? outfolder_put(&im->keys, &file, &content, err)
		       : 0;
}

/* Hold the folder of keys, which is no link; a new one is the user's alone. */
static int open_keys(struct import *im, bool makes_it, struct err *err)
{
	AUTO(outfolder_release) struct outfolder dir = OUTFOLDER_INIT;
	bool is_new;

	if (im->keys.fd >= 0)
		return 0;
	if (outfolder_open(&dir, im->to.dir, err) < 0)
		return -1;
	is_new = makes_it && mkdirat(dir.fd, "keys", 0700) == 0;
	if (makes_it && !is_new && errno != EEXIST)
		return err_sys(err, errno, "%s/keys", im->to.dir);
	if (!makes_it &&
	    faccessat(dir.fd, "keys", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (outfolder_enter(&dir, STR("keys"), &im->keys, err) < 0)
		return -1;
	return is_new ? ignore_keys(im, err) : 0;
}

static int write_key(struct import *im, const struct toml_value *secret,
		     struct err *err)
{
	const char *file = toml_get(secret, "file")->string.p;
	const char *name = file + strlen("keys/");
	const struct str text = toml_get(secret, "secret")->string;
	const struct fd_text content = fd_text_of(&text);

	if (open_keys(im, true, err) < 0)
		return -1;
	if (outfolder_holds(&im->keys, name, text))
		return 0;
	if (outfolder_put(
		    &im->keys,
		    &(struct outfolder_file){name, file, 0600, OUTFILE_NEW},
		    &content, err) < 0)
		return -1;
	log_note("import: wrote %s/%s", im->to.dir, file);
	return 0;
}

static int write_keys(struct import *im, struct err *err)
{
	const struct toml_value *secret;
	const char *key;

	for (size_t i = 0; i < im->set.n; i++) {
		const struct import_named *item = &im->set.item[i];

		for (size_t k = 0;
		     item->name && (secret = server_secret(&item->s, k, &key));
		     k++)
			if (write_key(im, secret, err) < 0)
				return -1;
	}
	return 0;
}

/* ---- results ---- */

static int name_servers(struct import *im, struct err *err)
{
	struct toml_value root;

	if (toml_parse(&im->f.arena, buf_str(&im->to.old), &root, err) < 0 ||
	    open_keys(im, false, err) < 0)
		return -1;
	set_name(&im->set, &root, may_be, im);
	return 0;
}

/* errors  ERR_PEER  a signal ended it */
static int trace_all(struct import *im, struct err *err)
{
	const struct config *config = rewrite_config(&im->to);

	for (size_t i = 0; i < im->set.n; i++) {
		struct import_named *item = &im->set.item[i];
		struct err why = ERR_INIT;
		int r;

		if (item->is_known || !toml_get(&item->s.table, "command"))
			continue;
		if (foreign_is_off(&item->s)) {
			log_note("import: %s is disabled: not traced",
				 item->name);
			continue;
		}
		log_note("import: %s really starts, and lists its tools",
			 item->name);
		r = foreign_trace(&im->f, &item->s, config, im->to.dir, &why);
		foreign_sift(&im->f, &item->s, im->to.dir, &im->paths);
		if (r > 0)
			return err_set(err, ERR_PEER,
				       "ended by a signal; nothing was "
				       "written");
		if (r < 0)
			log_warning("import: %s: its needs are not all known: "
				    "%s",
				    item->name, why.msg);
		im->has_failed |= r < 0;
	}
	return 0;
}

/* Grant what servers name, as the options say, and tell of the rest. */
static int name_paths(struct import *im, struct err *err)
{
	const struct config *config = rewrite_config(&im->to);
	struct foreign_paths *paths = &im->paths;

	for (size_t i = 0; i < im->set.n; i++) {
		struct import_named *item = &im->set.item[i];

		if (item->is_known || !toml_get(&item->s.table, "command"))
			continue;
		foreign_name(&im->f, &item->s, config, im->to.dir, paths);
		for (size_t k = 0; k < paths->unseen.n; k++)
			log_warning("import: %s: %s", item->name,
				    paths->unseen.item[k]);
		for (size_t k = 0; k < paths->unwritten.n; k++)
			log_note("import: %s: %s", item->name,
				 paths->unwritten.item[k]);
	}
	return foreign_paths_check(&im->paths, err);
}

/* ---- the configuration's own judgement ---- */

/* Say why a configuration with the table would be refused; NULL: it would not.
   A variable that is not set yet is the person's to set. */
static const char *why_refused(struct import *im,
			       const struct import_named *item)
{
	struct arena *arena = &im->f.arena;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct config_options options = {
		.path = path_resolve(im->to.path, NULL, arena),
		.server = item->name,
		.lax = true,
		.quiet = true,
		.passive = true,
	};
	struct config_file file;
	struct err why = ERR_INIT;
	const char *said = NULL;

	server_print(&item->s, item->name, &text);
	options.kept = buf_str(&text);
	if (config_open(&options, &file, &why) < 0 ||
	    (!file.unset.n && file.config.n_servers == 1 &&
	     file.config.servers[0].url &&
	     server_url_check(&file.config.servers[0], &why) < 0))
		said = arena_strdup(arena, why.msg);
	for (size_t i = file.findings.n; said && i--;)
		if (!file.findings.item[i].warning &&
		    !file.findings.item[i].note)
			said = arena_strdup(arena,
					    file.findings.item[i].err.msg);
	config_release(&file);
	return said;
}

static void put_switch(struct import *im, struct import_server *s,
		       const char *key, bool is_on)
{
	*tree_table(&s->table, key, &im->f.arena) =
		(struct toml_value){.type = TOML_BOOLEAN, .boolean = is_on};
}

/* A server whose argument was a credential starts when a person has said how
   it gets that. */
static void switch_off(struct import *im, struct import_server *s)
{
	const struct toml_value *aside = toml_get(&s->table, "");

	if (!aside || !toml_get(aside, "") || !toml_get(&s->table, "command"))
		return;
	put_switch(im, s, "enabled", false);
	list_add(&s->notes, &im->f.arena,
		 "enabled = false until it has the credential of its argument");
}

/* Leave out a server whose table would be refused; plain http is written, and
   switched off until a person has agreed to it. */
static void judge(struct import *im, struct import_named *item)
{
	static const char plain[] =
		"enabled = false, as plain http can be read and changed on the "
		"way; where that is meant, write enabled = true";
	struct import_server *s = &item->s;
	const struct toml_value old = s->table;
	const char *said = why_refused(im, item);

	if (said && toml_get(&s->table, "url")) {
		put_switch(im, s, "enabled", false);
		put_switch(im, s, "insecure_http", true);
		if (!why_refused(im, item)) {
			list_add(&s->notes, &im->f.arena, plain);
			s->about =
				s->about ? arena_printf(&im->f.arena, "%s; %s",
							s->about, plain)
					 : plain;
			return;
		}
		s->table = old;
	}
	if (!said)
		return;
	s->is_usable = false;
	item->name = NULL;
	im->has_failed = true;
	list_add(&s->lost, &im->f.arena, said);
}

/* Print the tables of new servers, and say what is to be known of each. */
static void print_new(struct import *im, struct buf *out, size_t *secrets)
{
	const char *key;

	for (size_t i = 0; i < im->set.notes.n; i++)
		log_note("import: %s", im->set.notes.item[i]);
	for (size_t i = 0; i < im->set.n; i++) {
		struct import_named *item = &im->set.item[i];
		struct import_server *s = &item->s;
		const char *name = item->name ? item->name : s->name;

		switch_off(im, s);
		if (item->name && !item->is_known)
			judge(im, item);
		if (item->is_known) {
			log_note("import: %s is in %s already", name,
				 im->to.path);
			continue;
		}
		for (size_t k = 0; k < s->notes.n; k++)
			log_note("import: %s: %s", name, s->notes.item[k]);
		for (size_t k = 0; k < s->lost.n; k++)
			log_warning("import: %s: not %s: %s", name,
				    s->is_usable ? "carried" : "imported",
				    s->lost.item[k]);
		for (size_t k = 0; item->name && server_secret(s, k, &key); k++)
			++*secrets;
		buf_adds(out, item->name && out->n ? "\n" : "");
		if (item->name)
			server_print(s, name, out);
	}
}

/* Put the tables behind the text that is there, whose every byte stays. */
static int write_all(struct import *im, const struct buf *tables,
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

static int import(struct import *im, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const bool writes = args_has(im->args, "write");
	size_t secrets = 0;
	int r;

	if (rewrite_open(&im->to, im->args, "import", err) < 0 ||
	    read_all(im, err) < 0 || name_servers(im, err) < 0)
		return -1;
	if ((args_has(im->args, "trace") && trace_all(im, err) < 0) ||
	    name_paths(im, err) < 0)
		return -1;
	print_new(im, &out, &secrets);
	r = writes ? write_all(im, &out, err)
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
	struct import im = {
		.args = args, .keys = OUTFOLDER_INIT, .to = REWRITE_INIT};
	int r;

	if (args->n_positional + args_has(args, "from") +
		    args_has(args, "all") !=
	    1)
		return err_set(err, ERR_USAGE,
			       "import: name one of FILE, --from CLIENT and "
			       "--all");
	foreign_init(&im.f);
	foreign_paths_read(&im.f, args, &im.paths);
	im.set.arena = &im.f.arena;
	r = import(&im, err);
	outfolder_release(&im.keys);
	rewrite_release(&im.to);
	foreign_release(&im.f);
	return r;
}
