#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/config.h"
#include "core/config/config_check.h"

/* Each test runs in an empty folder of its own, with HOME in it. */
struct fixture {
	char dir[64];
	struct config_file file;
	struct err err;
	struct buf text;
};

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static int setup(void **state)
{
	static struct fixture f;
	static const char *const unset[] = {"MATINS_CONFIG", "MODULEX_CONFIG",
					    "XDG_CONFIG_HOME", "TEST_VAR",
					    "TEST_SHORT"};

	f = (struct fixture){.dir = "/tmp/test_config.XXXXXX",
			     .err = ERR_INIT,
			     .text = BUF_INIT(BUF_UNBOUNDED)};
	if (!mkdtemp(f.dir) || chdir(f.dir) < 0)
		return -1;
	log_set_level(LOG_ERROR);
	umask(022);
	set("HOME", f.dir);
	set("MATINS_STATE", f.dir);
	set("MATINS_ALLOW", f.dir);
	for (size_t i = 0; i < ARRAY_LEN(unset); i++)
		set(unset[i], NULL);
	*state = &f;
	return 0;
}

static void remove_all(const char *dir)
{
	static const char *const files[] = {"matins.toml",
					    "modulex.toml",
					    "x.toml",
					    "s3cret",
					    "sub/matins.toml",
					    "sub/link.toml",
					    ".config/matins/config.toml",
					    ".modulex/config.toml",
					    "sub",
					    "allowed",
					    ".config/matins",
					    ".config",
					    ".modulex",
					    "out"};

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		(void)!remove(files[i]);
	(void)!chdir("/");
	(void)!rmdir(dir);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	config_release(&f->file);
	buf_release(&f->text);
	(void)!chdir(f->dir);
	remove_all(f->dir);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static void write_file(const char *path, const char *text)
{
	AUTO(mem_freep) char *copy = mem_strdup(path);
	AUTO(fd_closep) int fd = -1;
	char *slash = strrchr(copy, '/');

	if (slash) {
		*slash = '\0';
		assert_int_equal(fd_mkdirs(copy, 0755), 0);
	}
	fd = fd_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static int open_with(struct fixture *f, struct config_options options)
{
	config_release(&f->file);
	f->err = (struct err)ERR_INIT;
	return config_open(&options, &f->file, &f->err);
}

static int open_file(struct fixture *f, const char *path)
{
	return open_with(f, (struct config_options){.path = path});
}

/* The text as x.toml. */
static int open_text(struct fixture *f, const char *text)
{
	write_file("x.toml", text);
	return open_file(f, "x.toml");
}

static void assert_opens(struct fixture *f, const char *text)
{
	if (open_text(f, text) < 0)
		fail_msg("%s", f->err.msg);
}

static void assert_refused(struct fixture *f, int result, const char *part)
{
	assert_int_equal(result, -1);
	if (!strstr(f->err.msg, part))
		fail_msg("%s is not in: %s", part, f->err.msg);
}

static const char *in_dir(struct fixture *f, const char *rest)
{
	buf_clear(&f->text);
	buf_addf(&f->text, "%s%s%s", f->dir, *rest ? "/" : "", rest);
	return buf_cstr(&f->text);
}

TEST_IN(fixture, find, nothing, says_where_it_looked)
{
	struct fixture *f = *state;

	assert_refused(f, open_file(f, NULL), "matins.toml");
	assert_int_equal(f->err.kind, ERR_UNKNOWN);
	assert_non_null(strstr(f->err.msg, in_dir(f, ".config/matins")));
	assert_non_null(strstr(f->err.msg, ".modulex/config.toml"));
	assert_non_null(strstr(f->err.msg, "`matins init`"));
	assert_null(f->file.path);
}

/* From the last place to the first: each new file is the one that counts. */
TEST_IN(fixture, find, places, goes_through_places_in_order)
{
	static const struct {
		const char *written, *variable, *named;
		unsigned keep_runs;
		bool in_cwd;
	} rows[] = {
		{".modulex/config.toml", NULL, NULL, 7, false},
		{"modulex.toml", NULL, NULL, 6, true},
		{"x.toml", "MODULEX_CONFIG", NULL, 5, false},
		{".config/matins/config.toml", NULL, NULL, 4, false},
		{"matins.toml", NULL, NULL, 3, true},
		{"x.toml", "MATINS_CONFIG", NULL, 5, false},
		{"modulex.toml", NULL, "modulex.toml", 6, false},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		write_file(rows[i].written,
			   arena_printf(&f->file.arena, "keep_runs = %u\n",
					rows[i].keep_runs));
		if (rows[i].variable)
			set(rows[i].variable, rows[i].written);
		assert_int_equal(open_file(f, rows[i].named), 0);
		assert_int_equal(f->file.config.keep_runs, rows[i].keep_runs);
		assert_int_equal(f->file.found_in_cwd, rows[i].in_cwd);
		if (rows[i].in_cwd)
			assert_string_equal(f->file.path, rows[i].written);
	}
}

TEST_IN(fixture, find, xdg_config_home, is_heeded)
{
	struct fixture *f = *state;

	write_file("sub/matins/config.toml", "keep_runs = 2\n");
	set("XDG_CONFIG_HOME", in_dir(f, "sub"));
	assert_int_equal(open_file(f, NULL), 0);
	assert_int_equal(f->file.config.keep_runs, 2);
	/* relative ones are invalid by the specification */
	set("XDG_CONFIG_HOME", "sub");
	assert_int_equal(open_file(f, NULL), -1);
	assert_int_equal(remove("sub/matins/config.toml"), 0);
	assert_int_equal(remove("sub/matins"), 0);
}

TEST_IN(fixture, find, named_or_broken, stops_at_a_named_or_broken_file)
{
	struct fixture *f = *state;

	write_file(".config/matins/config.toml", "keep_runs = 4\n");
	assert_refused(f, open_file(f, "gone.toml"), "gone.toml: No such");
	set("MATINS_CONFIG", "gone.toml");
	assert_refused(f, open_file(f, NULL), "$MATINS_CONFIG gone.toml");
	set("MATINS_CONFIG", "");
	assert_int_equal(open_file(f, NULL), 0);
	write_file("matins.toml", "keep_runs = = 4\n");
	assert_refused(f, open_file(f, NULL), "matins.toml:1:13: not TOML");
	assert_int_equal(f->err.line, 1);
}

#define STEP_READ(path)                                       \
	"[[routines.r.steps]]\nname=\"a\"\ntype=\"script\"\n" \
	"command=\"x\"\nsandbox={read=[\"" path "\"]}\n"

TEST_IN(fixture, trust, file_that_others_could_write, is_refused)
{
	struct fixture *f = *state;

	assert_opens(f, "");
	assert_int_equal(chmod("x.toml", 0646), 0);
	assert_refused(f, open_file(f, "x.toml"), "`chmod go-w x.toml`");
	assert_int_equal(chmod("x.toml", 0644), 0);
	assert_int_equal(open_file(f, "x.toml"), 0);
	assert_refused(f, open_file(f, f->dir), "not a regular file");
}

TEST_IN(fixture, trust, file_of_another_owner, is_refused)
{
	struct fixture *f = *state;

	assert_opens(f, "");
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown("x.toml", 12345, 12345), 0);
	assert_refused(f, open_file(f, "x.toml"), "belongs to another user");
	assert_int_equal(chown("x.toml", 0, 12345), 0);
	assert_int_equal(open_file(f, "x.toml"), 0);
	/* a group that is not the user's own */
	assert_int_equal(chmod("x.toml", 0664), 0);
	assert_refused(f, open_file(f, "x.toml"), "writable by others");
}

/* Who leaves a link to my file in a folder of theirs chooses no paths. */
TEST_IN(fixture, trust, link_to_a_file, moves_where_paths_begin)
{
	struct fixture *f = *state;

	write_file("sub/matins.toml", STEP_READ("data"));
	assert_int_equal(symlink("sub/matins.toml", "matins.toml"), 0);
	assert_int_equal(symlink("matins.toml", "x.toml"), 0);
	assert_int_equal(open_file(f, NULL), 0);
	assert_true(f->file.found_in_cwd);
	assert_string_equal(f->file.config.dir, in_dir(f, "sub"));
	assert_string_equal(f->file.config.path, in_dir(f, "sub/matins.toml"));
	assert_int_equal(open_file(f, "x.toml"), 0);
	assert_string_equal(f->file.config.dir, in_dir(f, "sub"));
	/* by the file system, where the folder is a link itself */
	assert_int_equal(symlink("sub", "out"), 0);
	assert_int_equal(open_file(f, "out/matins.toml"), 0);
	assert_string_equal(f->file.config.dir, in_dir(f, "sub"));
}

TEST_IN(fixture, trust, link_to_nothing, is_as_no_file)
{
	struct fixture *f = *state;

	assert_int_equal(symlink("gone.toml", "matins.toml"), 0);
	assert_refused(f, open_file(f, NULL), "there is no configuration");
	assert_refused(f, open_file(f, "matins.toml"), "No such file");
	assert_int_equal(remove("matins.toml"), 0);
	assert_int_equal(symlink("x.toml", "matins.toml"), 0);
	assert_int_equal(symlink("matins.toml", "x.toml"), 0);
	assert_refused(f, open_file(f, NULL), "Too many levels");
}

TEST_IN(fixture, trust, link_of_another_user, is_refused)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	write_file("sub/matins.toml", "");
	assert_int_equal(symlink("sub/matins.toml", "matins.toml"), 0);
	assert_int_equal(open_file(f, NULL), 0);
	assert_int_equal(lchown("matins.toml", 12345, 12345), 0);
	assert_refused(f, open_file(f, NULL), "link matins.toml belongs to");
}

TEST_IN(fixture, trust, file_in_a_folder_of_others, is_refused)
{
	struct fixture *f = *state;

	write_file("sub/matins.toml", "");
	assert_int_equal(symlink("sub/matins.toml", "x.toml"), 0);
	assert_int_equal(chmod("sub", 0757), 0);
	assert_refused(f, open_file(f, "sub/matins.toml"), "`chmod go-w sub`");
	/* also behind a link */
	assert_refused(f, open_file(f, "x.toml"), "writable by others");
	/* as /tmp is: others cannot replace what is mine */
	assert_int_equal(chmod("sub", 01777), 0);
	assert_int_equal(open_file(f, "sub/matins.toml"), 0);
	assert_int_equal(chmod("sub", 0755), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown("sub", 12345, 12345), 0);
	assert_refused(f, open_file(f, "x.toml"), "belongs to another user");
	/* where the link lies counts as well */
	assert_int_equal(rename("sub/matins.toml", "modulex.toml"), 0);
	assert_int_equal(symlink("../modulex.toml", "sub/link.toml"), 0);
	assert_refused(f, open_file(f, "sub/link.toml"), "lies in sub");
	assert_int_equal(open_file(f, "modulex.toml"), 0);
}

#define STEP \
	"[[routines.r.steps]]\nname=\"a\"\ntype=\"script\"\ncommand=\"x\"\n"

TEST_IN(fixture, paths, relative, are_beneath_the_folder_of_the_file)
{
	struct fixture *f = *state;
	const struct step *s;

	write_file("sub/matins.toml",
		   "[[routines.r.steps]]\nname=\"a\"\ntype=\"script\"\n"
		   "command=\"./bin//x\"\ncwd=\".\"\n"
		   "env={A={file=\"keys/a\"}}\n"
		   "sandbox={read=[\"/etc/\", \"..\"],exec=[\"git\",\"./h\"]}\n"
		   "[caveats]\nfs_read={only=[\"d\"]}\nfs_write=\"all\"\n"
		   "exec={only=[\"git\",\"./h\"]}\nnet=\"all\"\n"
		   "max_calls=\"unlimited\"\nvalid_for_generation=\"all\"\n");
	assert_int_equal(open_file(f, "sub/matins.toml"), 0);
	s = &f->file.config.routines[0].steps[0];
	assert_string_equal(f->file.config.dir, in_dir(f, "sub"));
	assert_string_equal(f->file.config.path, in_dir(f, "sub/matins.toml"));
	assert_string_equal(s->command, in_dir(f, "sub/bin/x"));
	assert_string_equal(s->cwd, in_dir(f, "sub"));
	assert_string_equal(s->env.item[0].from, in_dir(f, "sub/keys/a"));
	assert_string_equal(s->sandbox.read.item[0], "/etc");
	/* by the file system, not by text: it may be a link */
	assert_string_equal(s->sandbox.read.item[1], in_dir(f, ""));
	assert_string_equal(s->sandbox.exec.item[0], "git");
	assert_string_equal(s->sandbox.exec.item[1], in_dir(f, "sub/h"));
	assert_string_equal(f->file.config.caveats.fs_read.only.item[0],
			    in_dir(f, "sub/d"));
	assert_string_equal(f->file.config.caveats.exec.only.item[0], "git");
	assert_string_equal(f->file.config.caveats.exec.only.item[1],
			    in_dir(f, "sub/h"));
}

TEST_IN(fixture, expand, home_and_variables, are_expanded_in_paths)
{
	struct fixture *f = *state;
	const struct step *s;

	set("TEST_VAR", "v");
	assert_opens(f, STEP "cwd=\"~\"\nargs=[\"~/x\", \"${TEST_VAR}\"]\n"
			     "sandbox={exec=[\"~/bin/${TEST_VAR}\","
			     "\"${NOPE:-git}\",\"${TEST_VAR:-git}\"],"
			     "read=[\"/${NOPE:-etc}\"]}\n");
	s = &f->file.config.routines[0].steps[0];
	assert_string_equal(s->cwd, in_dir(f, ""));
	assert_string_equal(s->sandbox.exec.item[0], in_dir(f, "bin/v"));
	assert_string_equal(s->sandbox.exec.item[1], "git");
	assert_string_equal(s->sandbox.exec.item[2], "v");
	assert_string_equal(s->sandbox.read.item[0], "/etc");
	/* arguments are the program's business */
	assert_string_equal(s->args.item[0], "~/x");
	assert_string_equal(s->args.item[1], "${TEST_VAR}");
}

TEST_IN(fixture, expand, unset_variable, is_an_error_with_name_and_place)
{
	struct fixture *f = *state;

	assert_refused(f,
		       open_text(f, "[sandbox]\nread=[\"/${NOPE}/x\"]\n" STEP),
		       "x.toml:2:7: \"read\" needs the variable NOPE");
	assert_int_equal(f->err.kind, ERR_CONFIG);
	assert_refused(f, open_text(f, STEP "cwd=\"/${NOPE/x\"\n"),
		       "a ${ without }");
	assert_refused(f, open_text(f, STEP "cwd=\"/${}/x\"\n"),
		       "write ${NAME}");
	assert_refused(f, open_text(f, STEP "cwd=\"/${A:+b}/x\"\n"),
		       "write ${NAME}");
	set("HOME", NULL);
	assert_refused(f, open_text(f, "[sandbox]\nread=[\"~/x\"]\n"), "HOME");
	/* a lone dollar or tilde is a character */
	assert_opens(f, STEP "cwd=\"/$A/x~/~\"\n");
	assert_string_equal(f->file.config.routines[0].steps[0].cwd,
			    "/$A/x~/~");
}

/* One that lacks a variable is known by it, and the others are as ever. */
TEST_IN(fixture, expand, unset_variable_of_one_server, stops_no_other)
{
	struct fixture *f = *state;
	const struct config *c = &f->file.config;

	assert_opens(f, STEP "cwd=\"/${NOPE}/${NOR}\"\n"
			     "[servers.s]\ncommand=\"${NOPE}/x\"\n"
			     "cwd=\"~/${NOR}\"\n"
			     "[servers.t]\ncommand=\"/y\"\ncwd=\"~/z\"\n");
	assert_string_equal(c->routines[0].steps[0].unset,
			    "x.toml:5:5: \"cwd\" needs the variable NOPE, "
			    "which is not set; set it, or write "
			    "${NOPE:-default}");
	assert_non_null(strstr(c->servers[0].unset, "x.toml:7:9: \"command\""));
	assert_null(c->servers[1].unset);
	assert_string_equal(c->servers[1].cwd, in_dir(f, "z"));
	assert_int_equal(f->file.unset.n, 3);
	set("HOME", NULL);
	assert_opens(f, STEP "cwd=\"~/x\"\n");
	assert_non_null(strstr(c->routines[0].steps[0].unset, "HOME"));
}

TEST_IN(fixture, expand, values_of_headers, are_known_as_secrets)
{
	struct fixture *f = *state;
	const char *text = "[servers.s]\nurl=\"${URL:-https://x/}\"\n"
			   "headers={A=\"Bearer ${TEST_VAR}\",B=\"~/\"}\n";

	set("TEST_VAR", "tok-123456");
	assert_opens(f, text);
	assert_string_equal(f->file.config.servers[0].url, "https://x/");
	assert_string_equal(f->file.config.servers[0].headers.item[0].value,
			    "Bearer tok-123456");
	assert_string_equal(f->file.config.servers[0].headers.item[1].value,
			    "~/");
	assert_int_equal(f->file.header_values.n, 1);
	assert_string_equal(f->file.header_values.item[0], "tok-123456");
	assert_int_equal(f->file.findings.n, 0);
	set("TEST_VAR", "tok\r\nX: y");
	assert_refused(f, open_text(f, text), "control character");
	assert_null(strstr(f->err.msg, "tok"));
	set("TEST_VAR", "abc");
	assert_opens(f, text);
	assert_int_equal(f->file.findings.n, 1);
	assert_true(f->file.findings.item[0].note);
	assert_refused(f, open_text(f, "[servers.s]\nurl=\"ftp://x\"\n"),
		       "https://");
}

TEST_IN(fixture, scope, other_routine, is_not_looked_at)
{
	struct fixture *f = *state;
	struct config_options options = {.path = "x.toml", .routine = "r"};

	write_file("x.toml",
		   STEP "[[routines.q.steps]]\nname=\"a\"\n"
			"type=\"mcp-client\"\nserver=\"s\"\ntool=\"t\"\n"
			"sandbox={write=[\"gone\"]}\n"
			"[servers.s]\nurl=\"https://${NOPE}\"\n");
	assert_int_equal(open_with(f, options), 0);
	options.routine = "q";
	assert_refused(f, open_with(f, options), "gone");
	assert_int_equal(f->file.findings.n, 1);
	assert_int_equal(f->file.unset.n, 1);
	options.routine = NULL;
	assert_int_equal(open_with(f, options), -1);
	assert_int_equal(f->file.findings.n, 1);
	assert_int_equal(f->file.unset.n, 1);
	options.server = "s";
	assert_int_equal(open_with(f, options), 0);
	assert_int_equal(f->file.unset.n, 1);
	assert_non_null(f->file.config.servers[0].unset);
	options = (struct config_options){.path = "x.toml", .names_only = true};
	assert_int_equal(open_with(f, options), 0);
	assert_int_equal(f->file.config.n_routines, 2);
}

TEST_IN(fixture, grants, missing, give_a_warning_or_an_error)
{
	struct fixture *f = *state;

	assert_opens(f, "[sandbox]\nread=[\"gone\"]\n");
	assert_int_equal(f->file.findings.n, 1);
	assert_true(f->file.findings.item[0].warning);
	assert_refused(f, open_text(f, "[sandbox]\nwrite=[\"out\"]\n"),
		       "`mkdir -p ");
	assert_non_null(strstr(f->err.msg, in_dir(f, "out`")));
	assert_int_equal(mkdir("out", 0755), 0);
	assert_opens(f, "[sandbox]\nwrite=[\"out\"]\n");
	assert_refused(f, open_text(f, "[sandbox]\nwrite=[\"it's here\"]\n"),
		       "it'\\''s here'`");
}

TEST_IN(fixture, policy, names, are_judged)
{
	struct fixture *f = *state;

	assert_refused(f, open_text(f, "[sandbox]\nrequire=[\"landlok\"]\n"),
		       "x.toml:2:9: ");
	assert_non_null(strstr(f->err.msg, "landlock"));
	assert_refused(f, open_text(f, "[sandbox]\nsyscalls=[\"nope\"]\n"),
		       "nope");
	assert_opens(f, "[sandbox]\nrequire=[\"landlock\"]\n");
}

TEST_IN(fixture, refs, command_lines, are_split)
{
	struct fixture *f = *state;

	assert_refused(f, open_text(f, STEP "env={A={cmd=\"a 'b\"}}\n"),
		       "x.toml:5:6: command of A");
	assert_opens(f, STEP "env={A={cmd=\"a 'b'\"}}\n");
}

TEST_IN(fixture, open, several_errors, counts_errors_and_keeps_the_first)
{
	struct fixture *f = *state;

	assert_refused(f, open_text(f, "b = 1\na = 1\nc = 1\n"),
		       "x.toml:1:1: unknown key \"b\"");
	assert_non_null(strstr(f->err.msg, "and 2 more: `matins check"));
	assert_int_equal(f->file.findings.n, 3);
	/* errors of the loader and of the expansion together */
	assert_int_equal(open_text(f, "zzz=1\n[sandbox]\nread=[\"${NOPE}\"]\n"),
			 -1);
	assert_int_equal(f->file.findings.n, 2);
}

TEST_IN(fixture, secrets, short_values, give_a_warning_without_the_value)
{
	struct fixture *f = *state;

	set("TEST_SHORT", "12x45");
	write_file("s3cret", "  abc  \n");
	assert_opens(f, STEP "env={A={env=\"TEST_SHORT\"},B={file=\"s3cret\"},"
			     "C={env=\"NOPE\"},D={cmd=\"x\"}}\n");
	assert_int_equal(f->file.findings.n, 0);
	config_check_all(&f->file);
	assert_int_equal(f->file.findings.n, 2);
	for (int i = 0; i < 2; i++) {
		const struct finding *found = &f->file.findings.item[i];

		assert_true(found->warning);
		assert_int_equal(found->err.line, 5);
		assert_null(strstr(found->err.msg, "12x45"));
		assert_null(strstr(found->err.msg, "abc"));
	}
	set("TEST_SHORT", "123456");
	write_file("s3cret", "abcdef");
	config_release(&f->file);
	assert_int_equal(open_file(f, "x.toml"), 0);
	config_check_all(&f->file);
	assert_int_equal(f->file.findings.n, 0);
}
