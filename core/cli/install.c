#include "core/cli/install.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/base/url.h"
#include "core/cli/child_run.h"
#include "core/cli/open.h"
#include "core/config/paths.h"
#include "core/install/files.h"

/* Bytes of an answer, and of a package.json. */
#define TEXT_BYTES (16 * 1024 * 1024)

/* ---- one program in the gate ---- */

struct task {
	struct strlist argv, env;
	const char *cwd;
	struct gate_policy policy;
	struct buf *answer; /* takes stdout; NULL: our stderr does */
};

static void add_words(struct strlist *list, struct arena *arena,
		      const char *const *words)
{
	for (; *words; words++)
		list_add(list, arena, *words);
}

/* Hand on variables of ours, where they are set. */
static void add_own_env(struct task *s, struct arena *arena,
			const char *const *names)
{
	for (; *names; names++)
		if (env_text(*names))
			list_addf(&s->env, arena, "%s=%s", *names,
				  env_text(*names));
}

static int start(struct task *s, struct install *i, struct gate *gate,
		 const struct gate_request *request, int out, struct err *err)
{
	const char *const *word = s->argv.item;
	struct child_end end;
	int status;

	if (child_run(gate, request, out, STDERR_FILENO, &end, err) < 0)
		return -1;
	status = child_end_status(&end.verdict);
	/* npm and pip only know that the forwarder could not */
	for (size_t k = 0; status && k < end.verdict.unreached.n; k++)
		log_note("%s", end.verdict.unreached.item[k]);
	i->signal = end.signal;
	child_end_release(&end);
	loop_give_signals_back();
	if (i->signal)
		return err_set(err, ERR_PEER,
			       "ended by a signal; nothing was installed");
	if (!status)
		return 0;
	/* of a module of Python its name */
	if (strcmp(word[1], "-m") == 0)
		word += 2;
	return err_set(err, ERR_PEER,
		       "%s %s ended with status %d; nothing "
		       "was installed",
		       word[0], word[1], status);
}

static int run(struct task *s, struct install *i, struct err *err)
{
	struct arena *arena = i->arena;
	struct gate_wish wish = {0};
	struct gate *gate = NULL;
	AUTO(fd_closep) int null = fd_open("/dev/null", O_RDONLY, 0);
	AUTO(fd_closep) int answer = memfd_create("answer", MFD_CLOEXEC);
	struct gate_request request = {
		.program = s->argv.item[0],
		.cwd = s->cwd,
		.cwd_required = true,
		.policy = &s->policy,
		.stdio = {null, GATE_PIPE, GATE_PIPE},
	};
	int r;

	list_add(&s->argv, arena, NULL);
	list_add(&s->env, arena, NULL);
	request.argv = s->argv.item;
	request.env = s->env.item;
	list_add(&wish.named, arena, request.program);
	if (null < 0 || answer < 0)
		return err_sys(err, errno, "descriptors of a program");
	if (open_gate(&wish, arena, &gate, err) < 0)
		return -1;
	r = start(s, i, gate, &request, s->answer ? answer : STDERR_FILENO,
		  err);
	gate_free(gate);
	if (r < 0 || !s->answer)
		return r;
	return lseek(answer, 0, SEEK_SET) < 0
		       ? err_sys(err, errno, "answer")
		       : fd_read_all(answer, s->answer, err);
}

/* Let a program reach the host of a URL. */
static int add_host(struct task *s, struct arena *arena, const char *text,
		    struct err *err)
{
	struct url url;

	if (url_parse(str_of(text), arena, &url, err) < 0)
		return err_wrap(err, "the registry");
	list_add_new(&s->policy.net, arena,
		     arena_printf(arena, url.is_ipv6 ? "[%s]:%u" : "%s:%u",
				  url.host.p, url.port));
	return 0;
}

/* Let a program read a file that is there. */
static void add_read(struct task *s, struct arena *arena, const char *path)
{
	if (path && *path == '/' && access(path, R_OK) == 0)
		list_add_new(&s->policy.read, arena, path);
}

/* ---- npm ---- */

/* Settings of npm that say where packages come from. */
static const char *const npm_env[] = {
	"npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_cafile",
	"NPM_CONFIG_CAFILE",   "NODE_EXTRA_CA_CERTS", NULL};

/* The value behind "NAME=" in a line of an answer; NULL: none. */
static const char *answered(const struct buf *answer, const char *name,
			    struct arena *arena)
{
	struct str rest = buf_str(answer);

	while (rest.n) {
		struct str line = str_trim(str_cut(&rest, '\n'));
		struct str value = line, key = str_cut(&value, '=');

		if (str_is(key, name) && value.n && !str_is(value, "null") &&
		    !str_is(value, "undefined"))
			return arena_strndup(arena, value.p, value.n);
	}
	return NULL;
}

/* Nothing else here fetches packages of npm, and the Node that is one of
   them. */
static int lacks_npm(const struct install *i, struct err *err)
{
	const char *why = arena_strdup(i->arena, err->msg);

	return err_set(err, ERR_NOT_FOUND,
		       "%s; packages of npm are fetched by npm%s: apt-get "
		       "install npm, which brings Node, or take the server as "
		       "a bundle: matins add bundle FILE.mcpb",
		       why,
		       i->runtime ? ", the one that carries Node as well" : "");
}

/* Ask npm for its registry, by the settings of the user; it has no network. */
static int find_registry(struct install *i, struct task *s, struct err *err)
{
	static const char *const words[] = {"npm",	"config", "get",
					    "registry", "cafile", NULL};
	AUTO(buf_release) struct buf answer = BUF_INIT(TEXT_BYTES);
	struct task ask = {.cwd = i->tree, .answer = &answer};
	const char *home = path_own_home(0), *registry, *cafile;

	add_words(&ask.argv, i->arena, words);
	add_own_env(&ask, i->arena, npm_env);
	list_add(&ask.policy.read, i->arena, i->tree);
	if (home)
		add_read(&ask, i->arena,
			 arena_printf(i->arena, "%s/.npmrc", home));
	if (run(&ask, i, err) < 0)
		return err->kind == ERR_NOT_FOUND ? lacks_npm(i, err) : -1;
	registry = answered(&answer, "registry", i->arena);
	cafile = answered(&answer, "cafile", i->arena);
	if (!registry)
		return err_set(err, ERR_CONFIG,
			       "npm has no registry: npm config set registry "
			       "URL");
	list_addf(&s->env, i->arena, "npm_config_registry=%s", registry);
	if (cafile)
		list_addf(&s->env, i->arena, "npm_config_cafile=%s", cafile);
	add_read(s, i->arena, cafile);
	add_read(s, i->arena, env_text("NODE_EXTRA_CA_CERTS"));
	if (env_text("NODE_EXTRA_CA_CERTS"))
		list_addf(&s->env, i->arena, "NODE_EXTRA_CA_CERTS=%s",
			  env_text("NODE_EXTRA_CA_CERTS"));
	return add_host(s, i->arena, registry, err);
}

/* A package of a file by its path, one of the registry by its name. */
static const char *npm_spec(struct install *i, struct task *s,
			    const char *source)
{
	const char *path = path_resolve(source, NULL, i->arena);

	if (!install_is_file(source))
		return source;
	add_read(s, i->arena, path);
	return path;
}

/* Name of the package that carries Node for this machine. */
static const char *node_package(struct arena *arena)
{
	static const struct {
		const char *machine, *node;
	} names[] = {{"x86_64", "x64"}, {"aarch64", "arm64"}};
	struct utsname u;

	if (uname(&u) < 0)
		return "";
	for (size_t k = 0; k < ARRAY_LEN(names); k++)
		if (strcmp(names[k].machine, u.machine) == 0)
			return arena_printf(arena, "node-linux-%s",
					    names[k].node);
	return arena_printf(arena, "node-linux-%s", u.machine);
}

static int run_npm(struct install *i, struct err *err)
{
	static const char *const words[] = {
		"npm", "install", "--no-audit", "--no-fund", "--save-exact",
		"--install-links", "--loglevel=error",
		/* not 10 s, then 60 s in silence */
		"--fetch-retry-mintimeout=1000",
		"--fetch-retry-maxtimeout=10000", NULL};
	const struct strlist scripts = STRLIST("npm-scripts", "build");
	struct task s = {.cwd = i->tree};

	if (find_registry(i, &s, err) < 0)
		return -1;
	add_words(&s.argv, i->arena, words);
	list_add(&s.policy.write, i->arena, i->tree);
	if (i->allow_scripts)
		s.policy.preset = scripts;
	else
		list_add(&s.env, i->arena, "npm_config_ignore_scripts=true");
	if (i->runtime)
		list_add(&s.argv, i->arena,
			 strcmp(i->runtime, "bundled") == 0
				 ? node_package(i->arena)
				 : npm_spec(i, &s, i->runtime));
	list_add(&s.argv, i->arena, npm_spec(i, &s, i->source));
	log_note("npm installs %s", i->source);
	return run(&s, i, err);
}

static int read_json(const char *path, struct arena *arena, struct str *ret,
		     struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(TEXT_BYTES);

	if (fd_read_regular(path, &text, err) < 0)
		return -1;
	if (scan_document(arena_str(arena, buf_str(&text)), NULL, ret, err) < 0)
		return err_wrap(err, "%s", path);
	return 0;
}

/* Decoded text; "" where it is none. */
static const char *text_of(struct str json, struct arena *arena)
{
	struct str text = json.p && scan_type(json) == SCAN_STRING
				  ? scan_decoded(json, SIZE_MAX, arena)
				  : STR("");

	return text.p ? arena_strndup(arena, text.p, text.n) : "";
}

/* The package that was asked for: the dependency beside the runtime. */
static int find_package(struct install *i, const char **ret, struct err *err)
{
	const char *path = arena_printf(i->arena, "%s/package.json", i->tree);
	struct str doc;

	if (read_json(path, i->arena, &doc, err) < 0)
		return -1;
	*ret = NULL;
	for (struct scan_iter it = scan_over(scan_some(doc, "dependencies"));
	     scan_next(&it);) {
		const char *name = text_of(it.key, i->arena);

		if (!i->runtime || strcmp(name, node_package(i->arena)) != 0)
			*ret = name;
	}
	return *ret && install_is_inside(*ret)
		       ? 0
		       : err_set(err, ERR_CONFIG,
				 "npm installed no package of %s", i->source);
}

/* Program of a package: that of its name, else the first one. */
static const char *find_bin(struct str doc, const char *package,
			    struct arena *arena)
{
	const char *slash = strrchr(package, '/'), *found = "";
	struct str bin = scan_some(doc, "bin");

	if (bin.p && scan_type(bin) == SCAN_STRING)
		return text_of(bin, arena);
	for (struct scan_iter it = scan_over(bin); scan_next(&it);)
		if (!*found || strcmp(text_of(it.key, arena),
				      slash ? slash + 1 : package) == 0)
			found = text_of(it.value, arena);
	return found;
}

/* Is the file run by node: by its first line, or its name? */
static bool is_script(const char *path)
{
	char line[128] = "";
	AUTO(fd_closep) int fd = fd_open(path, O_RDONLY, 0);
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	struct str name = str_of(path), rest = {line, n > 0 ? (size_t)n : 0};
	struct str first = str_cut(&rest, '\n');

	return str_ends(name, ".js") || str_ends(name, ".mjs") ||
	       str_ends(name, ".cjs") ||
	       (str_starts(first, "#!") && memmem(first.p, first.n, "node", 4));
}

static int find_npm_words(struct install *i, struct err *err)
{
	const char *package, *bin, *in_tree;
	struct str doc;

	if (find_package(i, &package, err) < 0 ||
	    read_json(arena_printf(i->arena, "%s/node_modules/%s/package.json",
				   i->tree, package),
		      i->arena, &doc, err) < 0)
		return -1;
	i->version = text_of(scan_some(doc, "version"), i->arena);
	bin = find_bin(doc, package, i->arena);
	if (strncmp(bin, "./", 2) == 0)
		bin += 2;
	if (!*bin || !install_is_inside(bin))
		return err_set(err, ERR_CONFIG,
			       "the package %s has no program; it is no server",
			       package);
	in_tree = arena_printf(i->arena, "node_modules/%s/%s", package, bin);
	if (is_script(arena_printf(i->arena, "%s/%s", i->tree, in_tree)))
		list_add(&i->words, i->arena,
			 i->runtime ? arena_printf(
					      i->arena,
					      "%s/node_modules/%s/bin/node",
					      i->place, node_package(i->arena))
				    : "node");
	list_addf(&i->words, i->arena, "%s/%s", i->place, in_tree);
	return 0;
}

int install_npm(struct install *i, struct err *err)
{
	const char *path = arena_printf(i->arena, "%s/package.json", i->tree);

	if (fd_replace_file(path, STR("{\"private\":true}\n"), 0644, false,
			    err) < 0 ||
	    run_npm(i, err) < 0)
		return -1;
	return find_npm_words(i, err);
}

/* ---- python ---- */

/* Settings of pip that say where packages come from. */
static const char *const pip_env[] = {"PIP_INDEX_URL", "PIP_CERT",
				      "PIP_CONFIG_FILE", NULL};

/* The tree is a virtual environment; its links lead to the same interpreter
   from everywhere. */
static int run_python(struct install *i, struct task *t,
		      const char *const *words, struct err *err)
{
	t->cwd = i->tree;
	add_words(&t->argv, i->arena, words);
	/* pip tells its index the name of the system */
	add_read(t, i->arena, "/etc/debian_version");
	list_add(&t->policy.write, i->arena, i->tree);
	return run(t, i, err);
}

/* Ask pip for its index, by the settings of the user; it has no network. */
static int find_index(struct install *i, const char *python, struct task *t,
		      struct err *err)
{
	static const char script[] =
		"from pip._internal.models.index import PyPI\n"
		"from pip._internal.commands import create_command\n"
		"o, _ = create_command('install').parse_args([])\n"
		"print('index=%s\\ncert=%s' % (o.index_url, o.cert or ''))\n"
		"if o.index_url == PyPI.simple_url:\n"
		"    print('files=https://%s' % PyPI.file_storage_domain)\n";
	const char *const words[] = {python, "-c", script, NULL};
	static const char *const settings[] = {".config/pip/pip.conf",
					       ".pip/pip.conf"};
	AUTO(buf_release) struct buf answer = BUF_INIT(TEXT_BYTES);
	struct task ask = {.answer = &answer};
	const char *home = path_own_home(0), *index, *files, *cert;

	add_own_env(&ask, i->arena, pip_env);
	add_read(&ask, i->arena, "/etc/pip.conf");
	add_read(&ask, i->arena, env_text("PIP_CONFIG_FILE"));
	for (size_t k = 0; home && k < ARRAY_LEN(settings); k++)
		add_read(&ask, i->arena,
			 arena_printf(i->arena, "%s/%s", home, settings[k]));
	if (run_python(i, &ask, words, err) < 0)
		return -1;
	index = answered(&answer, "index", i->arena);
	files = answered(&answer, "files", i->arena);
	cert = answered(&answer, "cert", i->arena);
	if (!index)
		return err_set(err, ERR_CONFIG, "pip has no index");
	list_addf(&t->env, i->arena, "PIP_INDEX_URL=%s", index);
	if (cert)
		list_addf(&t->env, i->arena, "PIP_CERT=%s", cert);
	add_read(t, i->arena, cert);
	return add_host(t, i->arena, index, err) < 0 ||
			       (files && add_host(t, i->arena, files, err) < 0)
		       ? -1
		       : 0;
}

/* Refuse a source that is no package of the index before pip looks for it. */
static int check_python(const struct install *i, struct err *err)
{
	const char *path = path_resolve(i->source, NULL, i->arena);
	const bool is_path =
		strchr(i->source, '/') || install_is_file(i->source);
	struct stat st;

	/* pip takes "name @ https://…", too */
	if (strstr(i->source, "://"))
		return 0;
	if (stat(path, &st) < 0)
		return is_path ? err_sys(err, errno, "%s", path) : 0;
	if (!is_path && S_ISDIR(st.st_mode) &&
	    access(arena_printf(i->arena, "%s/pyproject.toml", path), F_OK) <
		    0 &&
	    access(arena_printf(i->arena, "%s/setup.py", path), F_OK) < 0)
		return 0;
	if (!is_path && S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE,
			       "add python: %s is a folder here: add python "
			       "./%s --allow-scripts, as to build it is to run "
			       "programs of it",
			       i->source, i->source);
	if (S_ISDIR(st.st_mode) && !i->allow_scripts)
		return err_set(err, ERR_USAGE,
			       "add python: to build a folder is to run "
			       "programs of it: --allow-scripts");
	return 0;
}

/* A wheel by its path; a folder by its copy, in which it may be built. */
static int pip_spec(struct install *i, struct task *t, const char **ret,
		    struct err *err)
{
	const char *path = path_resolve(i->source, NULL, i->arena);
	struct stat st;

	*ret = i->source;
	if (install_is_file(i->source)) {
		*ret = path;
		add_read(t, i->arena, path);
	} else if (strchr(i->source, '/') && stat(path, &st) == 0 &&
		   S_ISDIR(st.st_mode)) {
		*ret = arena_printf(i->arena, "%s/source", i->draft);
		list_add(&t->policy.write, i->arena, *ret);
		return mkdir(*ret, 0755) < 0 ? err_sys(err, errno, "%s", *ret)
					     : files_copy(path, *ret, err);
	}
	return 0;
}

static int run_pip(struct install *i, const char *python, const char *report,
		   struct err *err)
{
	const char *spec, *links;
	struct task t = {0};
	const char *words[20] = {python,       "-m",
				 "pip",	       "install",
				 "--no-input", "--no-cache-dir",
				 "--quiet",    "--disable-pip-version-check",
				 "--report",   report};
	size_t n = 10;

	if (pip_spec(i, &t, &spec, err) < 0)
		return -1;
	if (!i->allow_scripts)
		words[n++] = "--only-binary=:all:";
	if (i->find_links) {
		links = path_resolve(i->find_links, NULL, i->arena);
		list_add(&t.policy.read, i->arena, links);
		words[n++] = "--no-index";
		words[n++] = "--find-links";
		words[n++] = links;
	} else if (find_index(i, python, &t, err) < 0) {
		return -1;
	}
	words[n++] = "--";
	words[n++] = spec;
	log_note("pip installs %s", i->source);
	return run_python(i, &t, words, err);
}

/* Version and program of the package that was asked for, by pip's report. */
static int find_python_words(struct install *i, const char *python,
			     const char *report, struct err *err)
{
	static const char script[] =
		"import importlib.metadata as m, sys\n"
		"for e in m.distribution(sys.argv[1]).entry_points:\n"
		"    if e.group == 'console_scripts': print('bin=' + e.name)\n";
	AUTO(buf_release) struct buf answer = BUF_INIT(TEXT_BYTES);
	struct task ask = {.answer = &answer};
	const char *name = "", *bin = NULL;
	struct str doc, rest;

	if (read_json(report, i->arena, &doc, err) < 0)
		return -1;
	for (struct scan_iter it = scan_over(scan_some(doc, "install"));
	     scan_next(&it);) {
		struct str about = scan_some(it.value, "metadata");

		if (!str_is(scan_some(it.value, "requested"), "true"))
			continue;
		name = text_of(scan_some(about, "name"), i->arena);
		i->version = text_of(scan_some(about, "version"), i->arena);
	}
	if (run_python(i, &ask,
		       (const char *const[]){python, "-c", script, name, NULL},
		       err) < 0)
		return -1;
	rest = buf_str(&answer);
	while (rest.n) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		if (str_starts(line, "bin=") &&
		    (!bin || str_is(str_skip(line, 4), name)))
			bin = arena_strndup(i->arena, line.p + 4, line.n - 4);
	}
	if (!bin || strchr(bin, '/'))
		return err_set(err, ERR_CONFIG,
			       "the package %s has no program; it is no server",
			       name);
	list_addf(&i->words, i->arena, "%s/bin/python", i->place);
	list_addf(&i->words, i->arena, "%s/bin/%s", i->place, bin);
	return 0;
}

int install_python(struct install *i, struct err *err)
{
	const char *python = arena_printf(i->arena, "%s/bin/python", i->tree);
	/* exact versions and sums of all packages; stays in the tree */
	const char *report = arena_printf(i->arena, "%s/lock.json", i->tree);
	struct task make = {0};

	if (check_python(i, err) < 0)
		return -1;
	if (run_python(i, &make,
		       (const char *const[]){"python3", "-m", "venv", i->tree,
					     NULL},
		       err) < 0 ||
	    run_pip(i, python, report, err) < 0)
		return -1;
	return find_python_words(i, python, report, err);
}

/* ---- bundles ---- */

int install_unpack(struct install *i, struct err *err)
{
	const char *path = path_resolve(i->source, NULL, i->arena);
	const char *const words[] = {"matins", UNPACK_COMMAND, path, i->tree,
				     NULL};
	struct task t = {.cwd = i->tree};

	if (access(path, R_OK) < 0)
		return err_sys(err, errno, "%s", path);
	add_words(&t.argv, i->arena, words);
	list_add(&t.policy.read, i->arena, path);
	list_add(&t.policy.write, i->arena, i->tree);
	return run(&t, i, err);
}
