#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/client/said.h"

static void says(const char *text, enum said_kind kind, const char *path)
{
	struct said_refusal r = said_refusal(str_of(text));

	assert_int_equal(r.kind, kind);
	if (!path) {
		assert_null(r.path.p);
		return;
	}
	assert_non_null(r.path.p);
	assert_int_equal(r.path.n, strlen(path));
	assert_memory_equal(r.path.p, path, r.path.n);
}

TEST(said_refusal, words_of_runtimes, have_kind_and_path)
{
	says("EROFS: read-only file system, open '/srv/d/b'", SAID_WRITE,
	     "/srv/d/b");
	says("Error: EACCES: permission denied, open '/srv/a b'", SAID_ACCESS,
	     "/srv/a b");
	says("PermissionError: [Errno 13] Permission denied: '/etc/x'",
	     SAID_ACCESS, "/etc/x");
	says("FileNotFoundError: [Errno 2] No such file or directory: 'd/x.db'",
	     SAID_MISSING, "d/x.db");
	says("find: \xe2\x80\x98/srv/a b\xe2\x80\x99: No such file or "
	     "directory",
	     SAID_MISSING, "/srv/a b");
	says("rm: cannot remove \xe2\x80\x98x.db\xe2\x80\x99: Permission "
	     "denied",
	     SAID_ACCESS, "x.db");
	says("\xe2\x80\x98/srv/a: Permission denied", SAID_ACCESS, NULL);
	says("{ code: 'EROFS', syscall: 'open', path: 'x.db' }", SAID_WRITE,
	     "x.db");
	says("cat: /srv/a: Permission denied", SAID_ACCESS, "/srv/a");
	says("open /srv/a.txt: no such file or directory", SAID_MISSING,
	     "/srv/a.txt");
	says("Warning: Cannot access directory /srv/d, skipping", SAID_MISSING,
	     "/srv/d");
	says("Cannot open (/srv/d): Operation not permitted.", SAID_ACCESS,
	     "/srv/d");
	says("npm error code ENOTCACHED\nnpm error request to "
	     "https://registry.invalid/x failed",
	     SAID_DOWNLOAD, NULL);
}

TEST(said_refusal, program_that_speaks, is_no_file)
{
	says("/usr/bin/x86_64-linux-gnu-ld.bfd: cannot open output file hello: "
	     "Read-only file system",
	     SAID_WRITE, "hello");
	says("/usr/bin/ld: cannot open output file /srv/d/hello: Permission "
	     "denied",
	     SAID_ACCESS, "/srv/d/hello");
	says("/bin/sh: 1: cannot create 'd/x': Permission denied", SAID_ACCESS,
	     "d/x");
	says("/srv/run: line 2: /srv/a: Permission denied", SAID_ACCESS,
	     "/srv/a");
	says("/srv/a: Permission denied", SAID_ACCESS, "/srv/a");
	says("/srv/a:", SAID_NOTHING, NULL);
	says("/srv/a: EACCES", SAID_ACCESS, "/srv/a");
}

TEST(said_refusal, name_of_a_write, needs_no_slash)
{
	says("sh: 1: cannot create ./out.txt: Read-only file system",
	     SAID_WRITE, "./out.txt");
	says("sh: 1: cannot create my list: Read-only file system", SAID_WRITE,
	     "my list");
	says("sh: 1: cannot create out: Permission denied", SAID_ACCESS, "out");
	says("bash: line 1: out: Read-only file system", SAID_WRITE, "out");
	says("tee: out: Read-only file system", SAID_WRITE, "out");
	says("touch: cannot touch 'out': Read-only file system", SAID_WRITE,
	     "out");
	says("mkdir: cannot create directory \xe2\x80\x98"
	     "a b\xe2\x80\x99: Read-only file system",
	     SAID_WRITE, "a b");
	says("cp: cannot create regular file 'x': Permission denied",
	     SAID_ACCESS, "x");
	says("OSError: [Errno 30] Read-only file system: 'kept'", SAID_WRITE,
	     "kept");
	says("EROFS: read-only file system, open 'kept'", SAID_WRITE, "kept");
	says("sh: 1: cannot create out/x: Directory nonexistent", SAID_MISSING,
	     "out/x");
	says("sh: 1: cannot open out/x: No such file", SAID_NOTHING, NULL);
	/* programs that were refused, and words that are no files */
	says("sh: 1: gzip: Permission denied", SAID_ACCESS, NULL);
	says("env: 'gzip': Permission denied", SAID_ACCESS, NULL);
	says("code: 'EROFS', syscall: 'open'", SAID_WRITE, NULL);
	says("the disk has a read-only file system", SAID_WRITE, NULL);
	says("not on a disk: read-only file system", SAID_WRITE, NULL);
	says(": Read-only file system: ''", SAID_WRITE, NULL);
}

TEST(said_refusal, sqlite, names_no_file)
{
	says("Error: unable to open database file", SAID_ACCESS, NULL);
	says("stepping, attempt to write a readonly database (8)", SAID_WRITE,
	     NULL);
}

TEST(said_refusal, file_in_use, is_busy)
{
	says("mv: cannot move 'new' to 'm.toml': Device or resource busy",
	     SAID_BUSY, "m.toml");
	says("Error: EBUSY: resource busy or locked, rename 'a.x' -> 'b'",
	     SAID_BUSY, "b");
	says("OSError: [Errno 16] Device or resource busy: 'a' -> 'b c'",
	     SAID_BUSY, "b c");
	says("error: could not write config file .git/config: Device or "
	     "resource busy",
	     SAID_BUSY, ".git/config");
	says("sed: cannot rename /n/sedS4: Device or resource busy", SAID_BUSY,
	     "/n/sedS4");
	says("umount: the target is busy: device or resource busy", SAID_BUSY,
	     NULL);
}

TEST(said_refusal, no_path, has_the_kind_only)
{
	says("Permission denied", SAID_ACCESS, NULL);
	says("it's refused: EPERM", SAID_ACCESS, NULL);
	says("EACCES for 'two words'", SAID_ACCESS, NULL);
	says("EACCES at http://x.invalid/a", SAID_ACCESS, NULL);
	says("EACCES '", SAID_ACCESS, NULL);
	says("EACCES /", SAID_ACCESS, NULL);
	says("  code: 'EPERM',", SAID_ACCESS, NULL);
	says("{ code: 'EROFS', syscall: 'open' }", SAID_WRITE, NULL);
	says("EPERM in \"1.2.3\"", SAID_ACCESS, NULL);
}

TEST(said_refusal, other_texts, are_nothing)
{
	says("", SAID_NOTHING, NULL);
	says("\n\n", SAID_NOTHING, NULL);
	says("Access denied - path outside allowed directories: /srv/d",
	     SAID_NOTHING, NULL);
	says("not found: /srv/d", SAID_NOTHING, NULL);
}

TEST(said_refusal, several_lines, takes_the_one_that_says_most)
{
	says("ENOENT: /srv/a\nEACCES\nEROFS: '/srv/b'\nEACCES: '/srv/c'",
	     SAID_WRITE, "/srv/b");
	says("EACCES\nENOENT '/srv/a'", SAID_ACCESS, NULL);
	says("ENOENT\nENOENT '/srv/a'", SAID_MISSING, "/srv/a");
	says("a '/srv/x'\nENOENT", SAID_MISSING, NULL);
}

TEST(said_refusal, keys_of_ssh, are_no_files)
{
	says("git@host: Permission denied (publickey).", SAID_NOTHING, NULL);
}

TEST(said_module, words_of_python, name_it)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{"ModuleNotFoundError: No module named 'requests'", "requests"},
		{"/usr/bin/python3: No module named news_feed", "news_feed"},
		{"Error while finding module specification for 'a.b' "
		 "(ModuleNotFoundError: No module named 'a')",
		 "a"},
		{"ModuleNotFoundError: No module named 'json.x'", NULL},
		{"No module named '1a'", NULL},
		{"No module named ''", NULL},
		{"No module named ", NULL},
		{"No module named '--index-url'", NULL},
		{"no such thing", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str name = said_module(str_of(rows[i].text));

		assert_true(rows[i].name ? str_is(name, rows[i].name)
					 : !name.p);
		if (rows[i].name)
			says(rows[i].text, SAID_MODULE, NULL);
	}
	says("ModuleNotFoundError: No module named 'a'\nENOENT '/srv/a'",
	     SAID_MISSING, "/srv/a");
}

/* ---- hosts ---- */

static void names(const char *text, const char *host)
{
	struct str found = said_host(str_of(text));

	assert_true(host ? str_is(found, host) : !found.p);
}

TEST(said_host, words_of_resolvers, name_it)
{
	names("getaddrinfo EAI_AGAIN api.example.com", "api.example.com");
	names("getaddrinfo ENOTFOUND api.example.com\n", "api.example.com");
	names("curl: (6) Could not resolve host: a.b.", "a.b");
	names("GET https://a.example:8443/x failed", "a.example:8443");
	names("http://127.0.0.1:8765/", "127.0.0.1:8765");
	names("https://10.0.0.1/x then http://b.example", "b.example");
}

TEST(said_host, other_words, name_none)
{
	names("", NULL);
	names("EAI_AGAIN", NULL);
	names("EAI_AGAIN ", NULL);
	names("ENOTFOUND localhost", NULL);
	names("http://-x.y http://.x http://127.0.0.1/ http://1.2:x", NULL);
	names("fetch failed: example.com", NULL);
}

/* ---- the useful lines ---- */

static void ends(const char *text, const char *lines)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	said_join(&out, str_of(text), "|");
	assert_string_equal(buf_cstr(&out), lines);
	buf_release(&out);
}

TEST(said_lines, lines_without_a_cause, are_left_out)
{
	ends("", "");
	ends("\n \n", "");
	ends("one", "one");
	ends("***\n^\n", "***");
	ends("a\nb\nc\nd\n\n", "a|b|c|d");
	ends("tar (child): /x: Cannot open\n\na\nb\nc\nd\ne\n",
	     "tar (child): /x: Cannot open|c|d|e");
	ends("tar: notes: ENOENT\na\ntar (child): /x: ENOENT\nb\nc\nd\n",
	     "tar: notes: ENOENT|tar (child): /x: ENOENT|c|d");
	ends("0\nENOENT 1\nENOENT 2\nENOENT 3\nENOENT 4\nd\n",
	     "0|ENOENT 1|ENOENT 2|d");
	ends("npm error code ENOENT\nnpm error no such file\n"
	     "npm error A complete log of this run can be found in: "
	     "/h/.npm/_logs/x-debug-0.log\n",
	     "npm error code ENOENT|npm error no such file");
	ends("npm ERR! x\n\nnpm ERR! A complete log of this run can be found "
	     "in:\nnpm ERR!     /h/.npm/_logs/x-debug-0.log\n",
	     "npm ERR! x");
	ends("node:internal/fs:1\n  throw err;\n  ^\n\nError: EACCES: open "
	     "'/x'\n    at open (node:fs:1:2) {\n  errno: -13,\n  code: "
	     "'EACCES',\n  path: '/x'\n}\n\nNode.js v20.1.0\n",
	     "Error: EACCES: open '/x'");
	ends("Traceback (most recent call last):\n  File \"x\", line 1\n"
	     "    open(x)\nPermissionError: '/x'\n",
	     "PermissionError: '/x'");
}

TEST(said_refusal, long_text, is_looked_at_up_to_a_bound)
{
	static const char sign[] = "EACCES: open '/srv/x'\n";
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	while (text.n + sizeof(sign) <= SAID_BYTES)
		buf_addc(&text, text.n % 64 ? 'x' : '\n');
	buf_adds(&text, sign);
	assert_int_equal(said_refusal(buf_str(&text)).kind, SAID_ACCESS);
	buf_addc(&text, '\n');
	while (text.n <= SAID_BYTES)
		buf_addc(&text, 'x');
	buf_adds(&text, "\nEROFS: open '/srv/y'\n");
	assert_true(str_is(said_refusal(buf_str(&text)).path, "/srv/x"));
	buf_clear(&text);
	while (text.n < SAID_BYTES)
		buf_addc(&text, '\n');
	buf_adds(&text, sign);
	assert_int_equal(said_refusal(buf_str(&text)).kind, SAID_NOTHING);
	buf_release(&text);
}
