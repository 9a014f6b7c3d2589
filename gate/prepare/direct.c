#include "gate/prepare/direct.h"

#include "gate/policy/allow.h"
#include "gate/policy/package.h"
#include "gate/policy/recipes.h"
#include "gate/prepare/npm_installed.h"
#include "gate/prepare/python_installed.h"
#include "gate/prepare/state.h"

/* ---- what is there ---- */

/* "; what is installed counts as latest" */
static const char *say_tag(struct prepared *p, const struct package_asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (package_is_tag(a, &a->spec[i]))
			return arena_printf(
				&p->arena, "; what is installed counts as %.*s",
				STR_ARG(a->spec[i].version));
	return "";
}

/* Put the program into the request. */
static void start(struct prepared *p, const struct package_asked *a,
		  const struct package_found *found)
{
	struct gate_request *request =
		ARENA_NEW(&p->arena, struct gate_request);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct strlist argv = {NULL, 0};

	for (size_t i = 0; i < found->argv.n; i++) {
		buf_addf(&text, " %s", found->argv.item[i]);
		list_add(&argv, &p->arena, found->argv.item[i]);
	}
	for (size_t i = 0; i < a->args.n; i++)
		list_add(&argv, &p->arena, a->args.item[i]);
	list_add(&argv, &p->arena, NULL);
	p->direct.says = arena_printf(&p->arena, "%s %s: runs%s (%s%s)",
				      a->launcher, a->program, buf_cstr(&text),
				      found->title, say_tag(p, a));
	p->direct.modules = found->modules;
	p->direct.written = p->request;
	*request = *p->request;
	request->program = argv.item[0];
	request->argv = argv.item;
	p->request = request;
}

/* ---- what is not there ---- */

/* A launcher can fetch and start by itself only with both of these. */
static bool may_fetch(const struct prepared *p)
{
	return p->policy.net != POLICY_NET_NONE &&
	       p->policy.net != POLICY_NET_LOOPBACK &&
	       (p->policy.exec.n || p->policy.preset.n);
}

/* A word as a shell takes it; names of packages need no quotes. */
static const char *quoted(struct prepared *p, const char *word)
{
	return strpbrk(word, " <>|*~^!'()=&;$") && !strchr(word, '\'')
		       ? arena_printf(&p->arena, "'%s'", word)
		       : word;
}

static int not_installed(struct prepared *p, const struct package_asked *a,
			 const char *instead, struct err *err)
{
	static const char *const how[] = {
		[PACKAGE_NODE] = "npm install",
		[PACKAGE_UV] = "uv tool install",
		[PACKAGE_PIPX] = "pipx install",
	};
	const char *name = a->spec[0].written, *cwd = p->request->cwd;
	bool is_node = a->tool->place == PACKAGE_NODE;
	const char *but =
		instead ? arena_printf(&p->arena, ", but %s is", instead) : "";
	const char *in =
		is_node && cwd ? arena_printf(&p->arena, " (in %s)", cwd) : "";

	return err_set(err, ERR_NOT_FOUND, "%s is not installed%s: %s%s %s%s",
		       name, but, how[a->tool->place],
		       is_node && !cwd ? " -g" : "", quoted(p, name), in);
}

/* ---- the launcher ---- */

/*
 * A path is taken for the launcher that its name says where it leads to one;
 * programs of the same name are somebody's own.
 */
static bool is_launcher(struct prepared *p, const char *program)
{
	const char *real = program;

	if (!strchr(program, '/'))
		return true;
	real = program[0] == '/' ? resolve_links(program, &p->arena) : NULL;
	return real && str_has_word("npx-cli.js npm-cli.js bun uvx uv pipx",
				    str_of(resolve_basename(real)));
}

/* A row of the leash or a rule may name the launcher by its path. */
static bool needs_path(const struct prepared *p, const struct gate_request *r)
{
	const struct gate_axis *exec = &p->gate->config.leash.exec;

	return (r->policy && r->policy->programs.n) ||
	       (!exec->all && !allow_has(&exec->only, r->program));
}

static const char *path_of(struct prepared *p, const char *program)
{
	struct resolved r = RESOLVED_INIT;
	struct err ignored = ERR_INIT;
	const char *path = NULL;

	if (resolve_program(program, NULL, &p->arena, &r, &ignored) == 0)
		path = r.file[0].path;
	resolved_release(&r);
	return path;
}

static int find(struct prepared *p, const struct package_asked *a,
		struct err *err)
{
	const struct package_search search = {
		.asked = a,
		.cwd = p->request->cwd,
		.home = p->gate->home,
		.homes = &p->gate->homes,
		.env = p->request->env,
	};
	struct package_found found;
	int r = a->tool->place == PACKAGE_NODE
			? npm_installed(&search, &p->arena, &found, err)
			: python_installed(&search, &p->arena, &found, err);

	if (r < 0)
		return err_wrap(err, "%s", a->launcher);
	if (r == 0)
		return may_fetch(p) ? 0
				    : not_installed(p, a, found.instead, err);
	start(p, a, &found);
	return 0;
}

int prepare_direct(struct prepared *p, struct err *err)
{
	const struct gate_request *r = p->request;
	struct strlist argv = {NULL, 0};
	struct package_asked asked;

	if (!programs_tool(r->program, NULL) || !is_launcher(p, r->program) ||
	    allow_has(&p->policy.preset, RECIPE_NONE))
		return 0;
	list_add(&argv, &p->arena, r->program);
	for (size_t i = 1; r->argv[0] && r->argv[i]; i++)
		list_add(&argv, &p->arena, r->argv[i]);
	if (!package_read(r->program, NULL, &argv, &p->arena, &asked))
		return 0;
	if (needs_path(p, r))
		p->direct.path = path_of(p, r->program);
	if (allow_exec(&p->gate->config.leash, r->program, p->direct.path,
		       err) < 0)
		return -1;
	return find(p, &asked, err);
}
