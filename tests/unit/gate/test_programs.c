/* Rules on programs: which calls each allows. */

#include "tests/unit/test.h"

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/limits.h"
#include "gate/policy/programs.h"

#define PYTHON "/usr/bin/python3.11"
#define NODE "/usr/bin/node"
#define BASH "/usr/bin/bash"
#define NPX "/usr/lib/npm/npx-cli.js"
#define NPM "/usr/lib/npm/npm-cli.js"
#define GIT "/usr/bin/git"
#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* "a b" as [a, b]; "" as []; "''" is an empty word */
static struct strlist words(const char *text, struct arena *arena)
{
	struct str rest = str_of(text);
	struct strlist list = {ARENA_ARRAY(arena, const char *, rest.n + 1), 0};

	while (rest.n) {
		struct str word = str_cut(&rest, ' ');

		list.item[list.n++] =
			str_is(word, "''")
				? ""
				: arena_strndup(arena, word.p, word.n);
	}
	return list;
}

static struct programs_call call_of(const char *path, const char *line,
				    struct arena *arena)
{
	struct programs_call call = {.path = path, .argv = words(line, arena)};

	call.asked = call.argv.item[0];
	return call;
}

/* ---- which options a rule refuses ---- */

/* A refusal is a word that the sentence must have; NULL: it is allowed. */
static const struct deny_case {
	const char *path, *deny, *line, *refused;
} DENY_CASES[] = {
	/* single letters, clusters, attached values */
	{"/bin/x", "-c", "x -c code", "\"-c\""},
	{"/bin/x", "-c", "x -ccode", "-ccode"},
	{"/bin/x", "-c", "x -Ic code", "-Ic"},
	{"/bin/x", "-c", "x -ec", "-ec"},
	{"/bin/x", "-c", "x --color", NULL},
	{"/bin/x", "-c", "x c", NULL},
	{"/bin/x", "-c", "x -C", NULL},
	/* long ones, values, what they are cut to, one dash, underscores */
	{"/bin/x", "--eval", "x --eval code", "--eval"},
	{"/bin/x", "--eval", "x --eval=code", "--eval=code"},
	{"/bin/x", "--eval", "x --ev code", "--ev"},
	{"/bin/x", "--eval", "x --e", "--e"},
	{"/bin/x", "--eval", "x -eval", "-eval"},
	{"/bin/x", "--eval", "x --evaluate", NULL},
	{"/bin/x", "--eval", "x --enable", NULL},
	{"/bin/x", "--eval", "x -v", NULL},
	{"/bin/x", "--run-it", "x --run_it", "--run_it"},
	/* whole words, beginnings */
	{"/bin/x", "-exec", "x -exec", "-exec"},
	{"/bin/x", "-exec", "x --exec=1", "--exec=1"},
	{"/bin/x", "-exec", "x -executable", NULL},
	{"/bin/x", "run", "x run", "run"},
	{"/bin/x", "run", "x runs", NULL},
	{"/bin/x", "ext::*", "x ext::sh", "ext::sh"},
	{"/bin/x", "ext::*", "x --url=ext::sh", "--url=ext::sh"},
	{"/bin/x", "ext::*", "x text::sh", NULL},
	/* of an unknown program nothing ends the options */
	{"/bin/x", "-c", "x file -c", "-c"},
	{"/bin/x", "-c", "x -- -c", "-c"},
	{"/bin/x", "-c", "x", NULL},
	/* python: behind the script or -- they are the script's */
	{PYTHON, "-c", "python3 -c x", "-c"},
	{PYTHON, "-c", "python3 -Ic x", "-Ic"},
	{PYTHON, "-c", "python3 s.py -c x", NULL},
	{PYTHON, "-c", "python3 -u s.py -c x", NULL},
	{PYTHON, "-c", "python3 -- s.py -c x", NULL},
	{PYTHON, "-c", "python3 -- -c", NULL},
	/* the value of an option is no script */
	{PYTHON, "-c", "python3 -W ignore -c x", "-c"},
	{PYTHON, "-c", "python3 -X dev -c x", "-c"},
	{PYTHON, "-c", "python3 -W -- -c x", "-c"},
	{PYTHON, "-c", "python3 -Wignore s.py -c", NULL},
	{PYTHON, "-c", "python3 --check-hash-based-pycs always -c x", "-c"},
	{PYTHON, "@eval", "python3 -W ignore s.py -c", NULL},
	/* @eval */
	{PYTHON, "@eval", "python3 s.py", NULL},
	{PYTHON, "@eval", "python3 -u -B s.py -c -m -", NULL},
	{PYTHON, "@eval", "python3 -m timeit", "-m"},
	{PYTHON, "@eval", "python3 -", "standard input"},
	{PYTHON, "@eval", "python3", "standard input"},
	{PYTHON, "@eval", "python3 -u", "standard input"},
	{PYTHON, "@eval", "python3 /dev/stdin", "input"},
	{PYTHON, "@eval", "python3 /proc/self/fd/0", "input"},
	{PYTHON, "@eval", "python3 /dev//stdin", "input"},
	{PYTHON, "@eval", "python3 /dev/./stdin", "input"},
	{PYTHON, "@eval", "python3 /dev/shm/../stdin", "input"},
	{PYTHON, "@eval", "python3 /proc/self/fd/./0", "input"},
	{PYTHON, "@eval", "python3 fd/0", "input"},
	{PYTHON, "@eval", "python3 ./x//fd0/stdin.py", NULL},
	{PYTHON, "@eval", "python3 --version", NULL},
	{NODE, "@eval", "node s.js -e -p", NULL},
	{NODE, "@eval", "node --no-warnings s.js --eval", NULL},
	{NODE, "@eval", "node -e 1", "-e"},
	{NODE, "@eval", "node -pe 1", "-pe"},
	{NODE, "@eval", "node --print 1", "--print"},
	{NODE, "@eval", "node -r ./x s.js", "-r"},
	{NODE, "@eval", "node --require=./x s.js", "--require=./x"},
	{NODE, "@eval", "node --import ./x s.js", "--import"},
	{NODE, "@eval", "node --import=data:x s.js", "--import"},
	{NODE, "@eval", "node --experimental_loader x", "loader"},
	{NODE, "@eval", "node --inspect-brk s.js", "--inspect-brk"},
	{NODE, "@eval", "node --env-file=.env s.js", "--env-file"},
	{NODE, "@eval", "node inspect s.js", "inspect"},
	{NODE, "@eval", "node --title x -e 1", "-e"},
	{NODE, "@eval", "node --watch s.js", NULL},
	{NODE, "@eval", "node -", "standard input"},
	{"/usr/bin/nodejs", "@eval", "nodejs -e 1", "-e"},
	{"/bin/bash", "@eval", "bash s.sh -c", NULL},
	{"/bin/bash", "@eval", "bash -e s.sh", NULL},
	{"/bin/bash", "@eval", "bash -c x", "-c"},
	{"/bin/bash", "@eval", "bash -ec x", "-ec"},
	{"/bin/bash", "@eval", "bash +x -c x", "-c"},
	{"/bin/bash", "@eval", "bash +o posix -c x", "-c"},
	{"/bin/bash", "@eval", "bash -o posix -c x", "-c"},
	{"/bin/bash", "@eval", "bash -s", "-s"},
	{"/bin/bash", "@eval", "bash --rcfile x", "--rcfile"},
	{"/bin/bash", "@eval", "bash -rcfile x", "-rcfile"},
	{"/bin/bash", "@eval", "bash -", "standard input"},
	{"/bin/dash", "@eval", "sh -c x", "-c"},
	{"/bin/dash", "@eval", "sh +c x", "+c"},
	{"/bin/bash", "@eval", "bash +c x", "+c"},
	{"/bin/bash", "@eval", "bash +xc x", "+xc"},
	{"/bin/bash", "@eval", "bash +s", "+s"},
	{"/bin/bash", "@eval", "bash +x s.sh +c", NULL},
	{"/bin/x", "-c", "x +c", NULL},
	{"/usr/bin/env", "@eval", "env A=b", NULL},
	{"/usr/bin/env", "@eval", "env A=b sh", "\"sh\""},
	{"/usr/bin/env", "@eval", "env -S sh", "-S"},
	{"/usr/bin/env", "@eval", "env --split-string=sh", "--split-string"},
	{"/usr/bin/env", "@eval", "env --split=sh", "--split=sh"},
	{"/usr/bin/env", "@eval", "env -u A sh", "would start"},
	{GIT, "@eval", "git status", NULL},
	{GIT, "@eval", "git log --oneline -n 5", NULL},
	{GIT, "@eval", "git diff --text --no-index a b", NULL},
	{GIT, "@eval", "git -c alias.x=!sh x", "-c"},
	{GIT, "@eval", "git --config-env=a=b x", "--config-env"},
	{GIT, "@eval", "git --exec-path=/tmp x", "--exec-path"},
	{GIT, "@eval", "git ls-remote --upload-pack=x", "ls-remote"},
	{GIT, "@eval", "git fetch --upl=x .", "--upl=x"},
	{GIT, "@eval", "git clone -u x .", "-u"},
	{GIT, "@eval", "git fetch ext::sh", "ext::sh"},
	{GIT, "@eval", "git archive --remote=ext::sh", "archive"},
	{GIT, "@eval", "git grep -Osh x", "-Osh"},
	{GIT, "@eval", "git rebase --exec=sh", "rebase"},
	{GIT, "@eval", "git grep -niF x", NULL},
	{GIT, "@eval", "git submodule foreach sh", "submodule"},
	{GIT, "@eval", "git difftool", "difftool"},
	{NPX, "@eval", "npx srv /data", NULL},
	{NPX, "@eval", "npx -y srv -c x", NULL},
	{NPX, "@eval", "npx -c sh", "-c"},
	{NPX, "@eval", "npx -yc sh", "-yc"},
	{NPX, "@eval", "npx --call=sh", "--call=sh"},
	{NPX, "@eval", "npx --cal sh", "--cal"},
	{NPX, "@eval", "npx -p other srv", "-p"},
	{NPM, "@eval", "npm ls", NULL},
	{NPM, "@eval", "npm exec srv", "exec"},
	{NPM, "@eval", "npm exe srv", "exe"},
	{NPM, "@eval", "npm -q exec srv", "exec"},
	{NPM, "@eval", "npm run -- x", NULL},
	{"/usr/bin/uvx", "@eval", "uvx --from=x srv", "--from=x"},
	{"/usr/bin/uvx", "@eval", "uvx srv --from=x", NULL},
	/* python: values that are code, options it does not have */
	{PYTHON, "@eval", "python3 -X pycache_prefix=D s.py", "-X"},
	{PYTHON, "@eval", "python3 -Xpycache_prefix=D s.py", "-Xpyc"},
	{PYTHON, "@eval", "python3 -BXdev -W error s.py", NULL},
	{PYTHON, "@eval", "python3 -W error::m.Class s.py", "-W"},
	{PYTHON, "@eval", "python3 --new s.py", "--new"},
	{PYTHON, "@eval", "python3 -BZ s.py", "-BZ"},
	{NODE, "@eval", "node --title x s.js", NULL},
	{NODE, "@eval", "node --max-old-space-size=64 s.js", NULL},
	{NODE, "@eval", "node --max-old-space-size 64 s.js",
	 "--max-old-space-size"},
	{NODE, "@eval", "node --experimental-new s.js", "--exp"},
	{NODE, "@eval", "node --no-inspect s.js", "--no-inspect"},
	{NODE, "@eval", "node --test", "--test"},
	{NODE, "@eval", "node -- -e", NULL},
	{BASH, "@eval", "bash -eo pipefail s.sh", NULL},
	{BASH, "@eval", "bash -oe pipefail s.sh", NULL},
	{BASH, "@eval", "bash -O extglob s.sh", NULL},
	{BASH, "@eval", "bash -O login_shell s.sh", "-O"},
	{BASH, "@eval", "bash --norc --posix s.sh", NULL},
	{BASH, "@eval", "bash -l s.sh", "-l"},
	{BASH, "@eval", "bash -posix a s.sh", "-posix"},
	{"/bin/dash", "@eval", "sh -o stdin s.sh", "-o"},
	{"/bin/dash", "@eval", "sh -eo nounset s.sh", NULL},
	{"/bin/dash", "@eval", "sh - s.sh", NULL},
	{"/usr/bin/env", "@eval", "env - sh", "would start"},
	{"/usr/bin/env", "@eval", "env --new=x", "--new=x"},
	{"/usr/bin/env", "@eval", "env -iC /tmp sh", "would start"},
	{NPX, "@eval", "npx ---call=cmd", "---call=cmd"},
	{NPX, "@eval", "npx --no srv -c cmd", "--no"},
	{NPX, "@eval", "npx", "standard input"},
	{NPX, "@eval", "npx --yes=x srv", "--yes=x"},
	{NPM, "@eval", "npm run x ---script-shell=P", "---script-shell=P"},
	{NPM, "@eval", "npm run x --no-script-shell P", "--no-script-shell"},
	{NPM, "@eval", "npm install git+x --git=P", "--git=P"},
	{NPM, "@eval", "npm -- exec srv", "exec"},
	{NPM, "@eval", "npm --json true exec srv", "true"},
	{NPM, "@eval", "npm ci --omit=dev --no-audit", NULL},
	{NPM, "@eval", "npm run x -- --script-shell=P", NULL},
	{GIT, "@eval", "git -C repo status", "-C"},
	{GIT, "@eval", "git merge-index P -a", "merge-index"},
	{GIT, "@eval", "git st", "\"st\""},
	{GIT, "@eval", "git log -5 --format=%h -- -x", NULL},
	{GIT, "@eval", "git commit -qam -c", NULL},
	{GIT, "@eval", "git commit --gpg-sign=x", "--gpg"},
	{GIT, "@eval", "git diff --ext-diff", "--ext-diff"},
	{GIT, "@eval", "git log --textconv", "--textconv"},
	{GIT, "@eval", "git clone foo::bar d", "foo::bar"},
	{GIT, "@eval", "git clone https://x.invalid/r d", NULL},
	{GIT, "@eval", "git --no-pager diff --stat a b", NULL},
	{GIT, "@eval", "git --help log", "--help"},
	{GIT, "@eval", "git add -p", "-p"},
	{GIT, "@eval", "git branch --edit-description", "--edit"},
	{GIT, "@eval", "git checkout -qb new", NULL},
	{GIT, "@eval", "git checkout -p", "-p"},
	{GIT, "@eval", "git tag -s v1", "-s"},
	{GIT, "@eval", "git rev-parse --short=8 HEAD", NULL},
	{GIT, "@eval", "git ls-files -z --others", NULL},
	{GIT, "@eval", "git rev-list --all --count", NULL},
	{GIT, "@eval", "git blame -l x", NULL},
	{GIT, "@eval", "git describe --tags --dirty", NULL},
	{GIT, "@eval", "git cat-file --textconv x", "--textconv"},
	{GIT, "@eval", "git init --template=x", "--template"},
	{GIT, "@eval", "git merge -s P b", "-s"},
	{NODE, "@eval", "node '' s.js", "standard input"},
	{NODE, "-", "node -- ''", "standard input"},
	{NODE, "@eval", "node s.js ''", NULL},
	/* without a row: all that is listed, wherever it stands */
	{"/usr/bin/perl", "-e", "perl s.pl -e x", "-e"},
	{"/usr/bin/perl", "-", "perl", "standard input"},
	{"/usr/bin/perl", "-", "perl -w", "standard input"},
	{"/usr/bin/perl", "-", "perl s.pl", NULL},
	/* an option that is not known may take a value, or not */
	{PYTHON, "-c", "python3 --new s.py -c x", "-c"},
};

TEST(deny, each_case, is_as_listed)
{
	for (size_t i = 0; i < ARRAY_LEN(DENY_CASES); i++) {
		const struct deny_case *c = &DENY_CASES[i];
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		const char *const paths[] = {c->path};
		struct programs_call call = call_of(c->path, c->line, &arena);
		struct gate_program_rule rule = {
			.name = call.asked,
			.deny = words(c->deny, &arena),
		};
		struct programs set = {.rule = &rule, .path = paths, .n = 1};
		struct err err = ERR_INIT;
		int r = programs_judge(&set, &call, &err);

		if (r != (c->refused ? -1 : 0))
			fail_msg("deny %s: %s: %d %s", c->deny, c->line, r,
				 r ? err.msg : "");
		if (c->refused &&
		    (err.kind != ERR_POLICY || !strstr(err.msg, c->refused) ||
		     !strstr(err.msg, rule.name)))
			fail_msg("deny %s: %s: \"%s\" lacks %s", c->deny,
				 c->line, err.msg, c->refused);
	}
}

static bool has_word_of(const char *names, const char *line,
			struct arena *arena)
{
	struct strlist list = words(names, arena), args = words(line, arena);

	for (size_t k = 0; k < list.n; k++)
		for (size_t i = 0; i < args.n && i < 3; i++)
			/* python3 is of python's row */
			if (!strncmp(args.item[i], list.item[k],
				     strlen(list.item[k])))
				return true;
	return false;
}

TEST(eval, every_launcher, has_a_case)
{
	static const struct {
		const char *names, *operand;
	} rows[] = {
#define LAUNCHER(id, parent, names, syntax, order, operand) {names, #operand},
#include "gate/policy/programs.def"
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		bool found = strcmp(rows[i].operand, "SCRIPT") == 0;

		for (size_t n = 0; n < ARRAY_LEN(DENY_CASES) && !found; n++)
			found = !strcmp(DENY_CASES[n].deny, "@eval") &&
				has_word_of(rows[i].names, DENY_CASES[n].line,
					    &arena);
		if (!found)
			fail_msg("no case for %s", rows[i].names);
	}
}

/* ---- exact arguments, beginnings, packages ---- */

static const struct rule_case {
	const char *name, *line, *refused;
	const char *args, *prefix, *package; /* NULL: none */
	bool is_cut;
} RULE_CASES[] = {
	{"x", "x a b", NULL, .args = "a b"},
	{"x", "x a", "missing", .args = "a b"},
	{"x", "x a b c", "argument 3, \"c\"", .args = "a b"},
	{"x", "x b a", "argument 1, \"b\"", .args = "a b"},
	{"x", "x a b", "more arguments", .args = "a b", .is_cut = true},
	{"x", "x", NULL, .args = ""},
	{"x", "x ''", "argument 1", .args = ""},
	{"x", "x a b c", NULL, .prefix = "a b"},
	{"x", "x a b", NULL, .prefix = "a b", .is_cut = true},
	{"x", "x a c", "\"c\"", .prefix = "a b"},
	{"x", "x a", "begin with", .prefix = "a b"},
	/* another program */
	{"y", "x a", NULL, .args = ""},
	/* packages */
	{"npx", "npx s@1.2.3", NULL, .package = "s@1.2.3"},
	{"npx", "npx -y s@1.2.3 -c x", NULL, .package = "s@1.2.3"},
	{"npx", "npx -- s@1.2.3 -c x", NULL, .package = "s@1.2.3"},
	{"npx", "npx -y @o/s@1.2.3 x", NULL, .package = "@o/s@1.2.3"},
	{"npx", "npx s", "\"s\"", .package = "s@1.2.3"},
	{"npx", "npx s@1.2.4", "s@1.2.3 ARGS", .package = "s@1.2.3"},
	{"npx", "npx", "is missing", .package = "s@1.2.3"},
	{"npx", "npx -c sh s@1.2.3", "\"-c\"", .package = "s@1.2.3"},
	{"npx", "npx -p evil s@1.2.3", "\"-p\"", .package = "s@1.2.3"},
	{"npx", "npx --registry=x s@1.2.3", "--registry", .package = "s@1.2.3"},
	{"npx", "npx evil s@1.2.3", "evil", .package = "s@1.2.3"},
	{"npm", "npm exec -y s@1.2.3 -- -c x", NULL, .package = "s@1.2.3"},
	{"npm", "npm x -- s@1.2.3 x", NULL, .package = "s@1.2.3"},
	{"npm", "npm exec s@1.2.3 -c sh", "\"-c\"", .package = "s@1.2.3"},
	{"npm", "npm exec s@1.2.3 a", "more arguments", .package = "s@1.2.3",
	 .is_cut = true},
	{"npm", "npm install s@1.2.3", "install", .package = "s@1.2.3"},
	{"uvx", "uvx s@1.2 --from x", NULL, .package = "s@1.2"},
	{"uvx", "uvx s==1.2", NULL, .package = "s@1.2"},
	{"uvx", "uvx --from evil s@1.2", "--from", .package = "s@1.2"},
	{"uvx", "uvx s==1.20", "s==", .package = "s@1.2"},
	{"pipx", "pipx run s==1.2", NULL, .package = "s@1.2"},
	{"pipx", "pipx run --spec evil s==1.2", "--spec", .package = "s@1.2"},
};

TEST(rule, each_case, is_as_listed)
{
	for (size_t i = 0; i < ARRAY_LEN(RULE_CASES); i++) {
		const struct rule_case *c = &RULE_CASES[i];
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct gate_program_rule rule = {
			.name = c->name,
			.package = c->package,
			.has_args = c->args,
			.args = words(c->args ? c->args : "", &arena),
			.prefix = words(c->prefix ? c->prefix : "", &arena),
		};
		struct programs_call call = call_of("/bin/x", c->line, &arena);
		struct programs set = {.rule = &rule, .n = 1};
		struct err err = ERR_INIT;
		int r;

		call.is_cut = c->is_cut;
		r = programs_judge(&set, &call, &err);
		if (r != (c->refused ? -1 : 0))
			fail_msg("%s: %d %s", c->line, r, r ? err.msg : "");
		if (c->refused && !strstr(err.msg, c->refused))
			fail_msg("%s: \"%s\" lacks %s", c->line, err.msg,
				 c->refused);
	}
}

TEST(deny, arguments_cut, are_refused_unless_options_ended)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_program_rule rule = {.name = "python3",
					 .deny = words("-c", &arena)};
	struct programs set = {.rule = &rule, .n = 1};
	struct programs_call ended =
		call_of("/usr/bin/python3", "python3 s.py a", &arena);
	struct programs_call open =
		call_of("/usr/bin/python3", "python3 -u -B", &arena);
	struct err err = ERR_INIT;

	ended.is_cut = open.is_cut = true;
	assert_int_equal(programs_judge(&set, &ended, &err), 0);
	assert_int_equal(programs_judge(&set, &open, &err), -1);
}

/* Rules of two tables for one program: both hold. */
TEST(judge, two_rules, both_hold)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_program_rule rule[2] = {
		{.name = "x", .deny = words("-a", &arena)},
		{.name = "x", .deny = words("-b", &arena)},
	};
	struct programs set = {.rule = rule, .n = 2};
	struct programs_call a = call_of("/bin/x", "x -a", &arena);
	struct programs_call b = call_of("/bin/x", "x -b", &arena);
	struct programs_call c = call_of("/bin/x", "x -c", &arena);
	struct err err = ERR_INIT;

	assert_int_equal(programs_judge(&set, &a, &err), -1);
	assert_int_equal(programs_judge(&set, &b, &err), -1);
	assert_int_equal(programs_judge(&set, &c, &err), 0);
}

/* ---- which programs a rule means ---- */

static const struct name_case {
	const char *rule, *rule_path, *asked, *path;
	bool means;
} NAME_CASES[] = {
	{"git", NULL, "git", "/usr/bin/git", true},
	{"git", NULL, "/tmp/x/git", "/tmp/x/git", true},
	{"git", NULL, "./git", "/tmp/x/other", true},
	{"git", NULL, NULL, "/usr/bin/git", true},
	{"git", NULL, "gitk", "/usr/bin/gitk", false},
	{"python3", "/usr/bin/python3.11", "x", "/usr/bin/python3.11", true},
	{"python3", "/usr/bin/python3.11", "x", "/opt/python3.11", true},
	{"python3", NULL, NULL, "/usr/bin/python2", true},
	{"python3", NULL, NULL, "/usr/bin/pythonic", false},
	{"x264", NULL, NULL, "/usr/bin/x265", false},
	{GIT, NULL, "/usr/bin/git", "/opt/git/git", true},
	{GIT, NULL, "git", "/usr/bin/git", true},
	{GIT, NULL, "git", "/opt/git", false},
	{"/opt/link", "/usr/bin/git", "git", "/usr/bin/git", true},
	{"git", NULL, NULL, NULL, false},
};

TEST(means, each_case, is_as_listed)
{
	for (size_t i = 0; i < ARRAY_LEN(NAME_CASES); i++) {
		const struct name_case *c = &NAME_CASES[i];
		struct gate_program_rule rule = {.name = c->rule};
		const char *const paths[] = {c->rule_path};
		struct programs set = {.rule = &rule, .path = paths, .n = 1};

		if (programs_means(&set, 0, c->asked, c->path) != c->means)
			fail_msg("%s: %s (%s)", c->rule,
				 c->asked ? c->asked : "-",
				 c->path ? c->path : "-");
	}
}

/* ---- scripts ---- */

TEST(judge, script, its_interpreter_is_judged)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_program_rule rule = {.name = "python3",
					 .deny = words("-i", &arena)};
	struct programs_start start = {
		.file = "/srv/tool",
		.asked = "/usr/bin/python3",
		.path = "/usr/bin/python3.11",
		.prefix = words("/usr/bin/python3 -i /srv/tool", &arena),
	};
	struct programs set = {
		.rule = &rule, .n = 1, .start = &start, .n_starts = 1};
	struct programs_call tool = call_of("/srv/tool", "tool x", &arena);
	struct programs_call other = call_of("/srv/other", "other x", &arena);
	struct err err = ERR_INIT;

	assert_int_equal(programs_judge(&set, &tool, &err), -1);
	assert_non_null(strstr(err.msg, "/srv/tool"));
	assert_int_equal(programs_judge(&set, &other, &err), 0);
	start.prefix = words("/usr/bin/python3 -u /srv/tool", &arena);
	assert_int_equal(programs_judge(&set, &tool, &err), 0);
	start.is_unclear = true;
	assert_int_equal(programs_judge(&set, &tool, &err), -1);
	rule.name = "perl";
	assert_int_equal(programs_judge(&set, &tool, &err), 0);
}

TEST(copy, originals_gone, judges_the_same)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct arena gone = ARENA_INIT;
	struct gate_program_rule rule = {
		.name = arena_strdup(&gone, "python3"),
		.deny = words("-c", &gone),
	};
	const char *const paths[] = {arena_strdup(&gone, "/opt/py")};
	struct programs_start start = {
		.file = arena_strdup(&gone, "/srv/tool"),
		.asked = arena_strdup(&gone, "/opt/py"),
		.path = arena_strdup(&gone, "/opt/py"),
		.prefix = words("/opt/py -c /srv/tool", &gone),
	};
	struct programs_file file = {1, 2};
	struct programs set = {&rule, paths, &file, 1, &start, 1};
	struct programs copy = programs_copy(&set, &arena);
	struct programs_call call = call_of("/opt/py", "py -c", &arena);
	struct programs_call link = call_of("/srv/x", "x -c", &arena);
	struct programs_call tool = call_of("/srv/tool", "tool", &arena);
	struct err err = ERR_INIT;

	arena_release(&gone);
	assert_int_equal(programs_judge(&copy, &call, &err), -1);
	assert_int_equal(programs_judge(&copy, &link, &err), 0);
	/* another name of the one file */
	link.file = (struct programs_file){1, 2};
	assert_int_equal(programs_judge(&copy, &link, &err), -1);
	link.file.dev++;
	assert_int_equal(programs_judge(&copy, &link, &err), 0);
	assert_int_equal(programs_judge(&copy, &tool, &err), -1);
}

/* ---- rules by themselves ---- */

static const struct check_case {
	struct gate_program_rule rule;
	const char *deny;
	const char *wrong; /* NULL: it is a rule */
} CHECK_CASES[] = {
	{{.name = "x"}, "-c --eval run", NULL},
	{{.name = "/usr/bin/x", .has_args = true}, "", NULL},
	{{.name = "x"}, "", "rules nothing"},
	{{.name = "./x"}, "-c", "absolute path"},
	{{.name = ""}, "-c", "bare name"},
	{{.name = "python3"}, "@eval", NULL},
	{{.name = "python3.12"}, "@eval", NULL},
	{{.name = "/opt/bin/node"}, "@eval", NULL},
	{{.name = "x"}, "@eval", "not known"},
	{{.name = "perl"}, "@eval", "not known"},
	{{.name = "/usr/bin/awk"}, "@eval", "not known"},
	{{.name = "node"}, "@evil", "\"@eval\""},
	{{.name = "x"}, "''", "neither an option"},
	{{.name = "x", .sha256 = SHA}, "", NULL},
	{{.name = "x", .sha256 = "abc"}, "", "64 digits"},
	{{.name = "x", .sha256 = SHA "0"}, "", "64 digits"},
	{{.name = "npx", .package = "s@1.2.3"}, "", NULL},
	{{.name = "npx", .package = "@o/s@1.2.3-rc.1"}, "", NULL},
	{{.name = "npx", .package = "@o/s"}, "", "not a pin"},
	{{.name = "npx", .package = "s@latest"}, "", "not a pin"},
	{{.name = "npx", .package = "s@1.2"}, "", "not a pin"},
	{{.name = "npx", .package = "s@^1.2.3"}, "", "not a pin"},
	{{.name = "npx", .package = "s@1.2.3 || 2"}, "", "not a pin"},
	{{.name = "npx", .package = "s"}, "", "not a pin"},
	{{.name = "npx", .package = "-s@1.2.3"}, "", "not a pin"},
	{{.name = "uvx", .package = "s@1.2"}, "", NULL},
	{{.name = "cat", .package = "s@1.2.3"}, "", "is for npx"},
};

TEST(check, each_case, is_as_listed)
{
	for (size_t i = 0; i < ARRAY_LEN(CHECK_CASES); i++) {
		const struct check_case *c = &CHECK_CASES[i];
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct gate_program_rule rule = c->rule;
		struct err err = ERR_INIT;
		int r;

		rule.deny = words(c->deny, &arena);
		r = programs_check(&rule, &err);
		if (r != (c->wrong ? -1 : 0))
			fail_msg("%zu %s: %d %s", i, rule.name, r,
				 r ? err.msg : "");
		if (c->wrong && !strstr(err.msg, c->wrong))
			fail_msg("%zu: \"%s\" lacks %s", i, err.msg, c->wrong);
	}
}

/* ---- the script of an interpreter ---- */

/* `script` is the argument that it runs; NULL: none that is surely one. */
static const struct script_case {
	const char *path, *line, *script;
} SCRIPT_CASES[] = {
	{NODE, "node a.js b.js", "a.js"},
	{NODE, "node -- a.js", "a.js"},
	{NODE, "node --title b a.js c", "a.js"},
	{NODE, "node --title=b a.js c", "a.js"},
	{NODE, "node --import tsx a.ts", "a.ts"},
	{NODE, "node -r b.js a.js", "a.js"},
	{NODE, "node --no-warnings --expose-gc a.js", "a.js"},
	{NODE, "node --stack-size=9 a.js", "a.js"},
	{NODE, "node --title b -e code", NULL},
	{NODE, "node -e code a.js", NULL},
	{NODE, "node -pe code a.js", NULL},
	{NODE, "node --eval=code a.js", NULL},
	{NODE, "node --to-come b a.js", NULL},
	{NODE, "node --run build a.js", NULL},
	{"/usr/bin/nodejs", "nodejs a.js", "a.js"},
	{"/usr/bin/nodejs-helper", "nodejs-helper a.js", NULL},
	{BASH, "bash a.sh b", "a.sh"},
	{BASH, "bash -eu -o pipefail a.sh", "a.sh"},
	{BASH, "bash -euo pipefail a.sh", "a.sh"},
	{BASH, "bash --rcfile b a.sh", "a.sh"},
	{BASH, "bash --rcfile b -c code", NULL},
	{BASH, "bash -lc code a.sh", NULL},
	{BASH, "bash -c -x a.sh", NULL},
	{"/usr/bin/zsh", "zsh -e a.zsh", "a.zsh"},
	{"/usr/bin/dash", "sh -eu a.sh", "a.sh"},
	{BASH, "bash -s a.sh", NULL},
	{"/usr/bin/busybox", "sh a.sh", "a.sh"},
	{PYTHON, "python3 a.py", "a.py"},
	{PYTHON, "python3 -u -X dev -Wd a.py", "a.py"},
	{PYTHON, "python3 -m a.py b.py", NULL},
	{PYTHON, "python3 -Ic code b.py", NULL},
	{"/usr/bin/perl", "perl -w -Mstrict -Ilib a.pl", "a.pl"},
	{"/usr/bin/perl", "perl -I lib a.pl", "a.pl"},
	{"/usr/bin/perl", "perl -C a.pl b", "a.pl"},
	{"/usr/bin/perl", "perl -ne code b", NULL},
	{"/usr/bin/ruby", "ruby -r json a.rb", "a.rb"},
	{"/usr/bin/ruby", "ruby -e code b", NULL},
	{"/usr/bin/php", "php -d x=y a.php", "a.php"},
	{"/usr/bin/php", "php -r code b", NULL},
	{"/usr/bin/lua5.4", "lua -l m a.lua", "a.lua"},
	{"/usr/bin/lua5.4", "lua -e code a.lua", NULL},
	{"/usr/bin/deno", "deno run -A --config b a.ts", "a.ts"},
	{"/usr/bin/deno", "deno run --allow-net a.ts c", "a.ts"},
	{"/usr/bin/bun", "bun run a.ts", "a.ts"},
	{"/usr/bin/bun", "bun --hot a.ts", "a.ts"},
	{"/usr/bin/java", "java -Xmx1g -jar a.jar b", "a.jar"},
	{"/usr/bin/java", "java -cp b Main", "Main"},
	{"/usr/bin/fish", "fish a.fish b", "a.fish"},
	{"/usr/bin/fish", "fish -c code b", NULL},
	{"/usr/bin/cat", "cat a", NULL},
	{"/usr/bin/shred", "shred a", NULL},
	{NODE, "node", NULL},
	{NODE, "node --inspect a.js", "a.js"},
	{NODE, "node inspect a.js", NULL},
	{BASH, "bash -oe posix a.sh", "a.sh"},
	{BASH, "bash -posix a b", NULL},
	{BASH, "bash - a.sh", "a.sh"},
	{"/bin/dash", "sh -o stdin a.sh", NULL},
	{PYTHON, "python3 -BX x=y a.py", "a.py"},
	{"/usr/bin/env", "env a", NULL},
	{GIT, "git a", NULL},
};

TEST(script, each_case, is_as_listed)
{
	for (size_t i = 0; i < ARRAY_LEN(SCRIPT_CASES); i++) {
		const struct script_case *c = &SCRIPT_CASES[i];
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct strlist argv = words(c->line, &arena);
		size_t at = programs_script(argv.item[0], c->path, &argv);

		if (!c->script ? at : !at || strcmp(argv.item[at], c->script))
			fail_msg("%s: argument %zu", c->line, at);
	}
}

/* Each row of the table has a call whose script is found. */
TEST(script, every_interpreter, has_a_case)
{
	static const struct {
		const char *names, *operand;
	} rows[] = {
#define LAUNCHER(id, parent, names, syntax, order, operand) {names, #operand},
#include "gate/policy/programs.def"
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = strcspn(rows[i].names, " "), k = 0;

		while (k < ARRAY_LEN(SCRIPT_CASES) &&
		       (!SCRIPT_CASES[k].script ||
			strncmp(rows[i].names, SCRIPT_CASES[k].line, n) != 0))
			k++;
		if (k == ARRAY_LEN(SCRIPT_CASES) &&
		    (strcmp(rows[i].operand, "SCRIPT") == 0 ||
		     strcmp(rows[i].operand, "FILE") == 0))
			fail_msg("no case for %s", rows[i].names);
	}
}
