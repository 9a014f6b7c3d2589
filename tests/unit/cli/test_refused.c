#include "tests/unit/test.h"

#include "core/cli/refused.h"

static void says(const char *text, enum refused_kind kind, const char *path)
{
	struct refused r = refused_find(str_of(text));

	assert_int_equal(r.kind, kind);
	if (!path) {
		assert_null(r.path.p);
		return;
	}
	assert_non_null(r.path.p);
	assert_int_equal(r.path.n, strlen(path));
	assert_memory_equal(r.path.p, path, r.path.n);
}

TEST(refused, words_of_runtimes, have_kind_and_path)
{
	says("EROFS: read-only file system, open '/srv/d/b'", REFUSED_WRITE,
	     "/srv/d/b");
	says("Error: EACCES: permission denied, open '/srv/a b'",
	     REFUSED_ACCESS, "/srv/a b");
	says("PermissionError: [Errno 13] Permission denied: '/etc/x'",
	     REFUSED_ACCESS, "/etc/x");
	says("FileNotFoundError: [Errno 2] No such file or directory: 'd/x.db'",
	     REFUSED_MISSING, "d/x.db");
	says("{ code: 'EROFS', syscall: 'open', path: 'x.db' }", REFUSED_WRITE,
	     "x.db");
	says("cat: /srv/a: Permission denied", REFUSED_ACCESS, "/srv/a");
	says("open /srv/a.txt: no such file or directory", REFUSED_MISSING,
	     "/srv/a.txt");
	says("Warning: Cannot access directory /srv/d, skipping",
	     REFUSED_MISSING, "/srv/d");
	says("Cannot open (/srv/d): Operation not permitted.", REFUSED_ACCESS,
	     "/srv/d");
	says("npm error code ENOTCACHED\nnpm error request to "
	     "https://registry.invalid/x failed",
	     REFUSED_DOWNLOAD, NULL);
}

TEST(refused, no_path, has_the_kind_only)
{
	says("Permission denied", REFUSED_ACCESS, NULL);
	says("it's refused: EPERM", REFUSED_ACCESS, NULL);
	says("EACCES for 'two words'", REFUSED_ACCESS, NULL);
	says("EACCES at http://x.invalid/a", REFUSED_ACCESS, NULL);
	says("EACCES '", REFUSED_ACCESS, NULL);
	says("EACCES /", REFUSED_ACCESS, NULL);
	says("  code: 'EPERM',", REFUSED_ACCESS, NULL);
	says("{ code: 'EROFS', syscall: 'open' }", REFUSED_WRITE, NULL);
	says("EPERM in \"1.2.3\"", REFUSED_ACCESS, NULL);
}

TEST(refused, other_texts, are_nothing)
{
	says("", REFUSED_NOTHING, NULL);
	says("\n\n", REFUSED_NOTHING, NULL);
	says("Access denied - path outside allowed directories: /srv/d",
	     REFUSED_NOTHING, NULL);
	says("not found: /srv/d", REFUSED_NOTHING, NULL);
}

TEST(refused, several_lines, takes_the_one_that_says_most)
{
	says("ENOENT: /srv/a\nEACCES\nEROFS: '/srv/b'\nEACCES: '/srv/c'",
	     REFUSED_WRITE, "/srv/b");
	says("EACCES\nENOENT '/srv/a'", REFUSED_ACCESS, NULL);
	says("ENOENT\nENOENT '/srv/a'", REFUSED_MISSING, "/srv/a");
	says("a '/srv/x'\nENOENT", REFUSED_MISSING, NULL);
}
