#include "gate/prepare/state.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "core/base/user.h"
#include "gate/prepare/own_paths.h"
#include "gate/prepare/prepared.h"

const char *gate_keep_text(struct gate *g, const char *text)
{
	for (size_t i = 0; i < g->texts.n; i++)
		if (strcmp(g->texts.item[i], text) == 0)
			return g->texts.item[i];
	list_add(&g->texts, &g->arena, arena_strdup(&g->arena, text));
	return g->texts.item[g->texts.n - 1];
}

struct gate_facts {
	struct gate_facts *next;
	struct gate_fact of[N_GUARANTEES];
};

/* A text that is kept once is known by its place. */
static bool are_same(const struct gate_fact *a, const struct gate_fact *b)
{
	for (int i = 0; i < N_GUARANTEES; i++)
		if (a[i].level != b[i].level || a[i].how != b[i].how ||
		    a[i].remedy != b[i].remedy)
			return false;
	return true;
}

const struct gate_fact *gate_keep_facts(struct gate *g,
					const struct gate_fact *facts)
{
	struct gate_facts new = {.next = g->facts}, *kept;

	for (int i = 0; i < N_GUARANTEES; i++) {
		new.of[i] = facts[i];
		new.of[i].how = gate_keep_text(g, facts[i].how);
		if (facts[i].remedy)
			new.of[i].remedy = gate_keep_text(g, facts[i].remedy);
	}
	for (kept = g->facts; kept; kept = kept->next)
		if (are_same(kept->of, new.of))
			return kept->of;
	g->facts = ARENA_NEW(&g->arena, struct gate_facts);
	*g->facts = new;
	return g->facts->of;
}

/* ---- what every program may open ---- */

int gate_open_base(struct gate *g, struct err *err)
{
	if (g->base_is_whole)
		return 0;
	if (grants_open_base(&g->base, BASE_REST, err) < 0)
		return -1;
	g->base_is_whole = true;
	return 0;
}

bool gate_base_covers(struct gate *g, const char *path, unsigned what)
{
	/* a file that cannot be opened covers nothing, and fails at the start
	 */
	return grants_cover(&g->base, path, what) ||
	       (!g->base_is_whole && gate_open_base(g, ERR_IGNORED) == 0 &&
		grants_cover(&g->base, path, what));
}

/* Children beside whom the gate keeps the descriptors of the base. */
#define LENT_MAX 8
/* Descriptors that a process must be allowed for that. */
#define LENT_FILES 256

static bool should_park(const struct gate *g)
{
	struct rlimit files;

	return g->n_alive >= LENT_MAX || getrlimit(RLIMIT_NOFILE, &files) < 0 ||
	       files.rlim_cur < LENT_FILES;
}

static void use_base(struct prepared *p)
{
	p->launch.base = p->gate->base_access;
	p->launch.n_base = p->gate->base.n;
}

static int open_base(struct prepared *p, struct err *err)
{
	struct gate *g = p->gate;
	uint64_t *access;

	if (g->base_access)
		return 0;
	if (gate_open_base(g, err) < 0)
		return -1;
	access = ARENA_ARRAY(&g->arena, uint64_t, g->base.n);
	for (size_t i = 0; i < g->base.n; i++)
		access[i] = landlock_access(
			&p->rules, grant_rights(g->base.grant[i].what),
			S_ISDIR(g->base.grant[i].st.st_mode));
	g->base_access = access;
	return 0;
}

static int park_base(struct gate *g, struct err *err)
{
	if (grants_park(&g->base, g->base_to, err) < 0)
		return -1;
	g->base_is_parked = true;
	return 0;
}

/* For launch.beside. A child that waits in vain is told by the end of the
   socket. */
static int send_base(void *prepared, int sock, struct err *err)
{
	struct prepared *p = prepared;
	struct gate *g = p->gate;
	int r = open_base(p, err);

	/* complete before the message: the child reads it then */
	use_base(p);
	if (!p->launch.base_stays)
		return r < 0 ? r : grants_lend(&g->base, sock, err);
	if (r == 0)
		r = park_base(g, err);
	fd_closep(&g->base_to);
	if (r < 0)
		fd_closep(&g->base_fd);
	return r;
}

/*
 * A message that stays is in flight, and descriptors in flight are counted for
 * all processes of a user (unix(7), ETOOMANYREFS): it is for few processes with
 * many children, not for many with few. Which one it is stands before the child
 * is there to look; one that is lent goes with the child's socket, whatever
 * becomes of the start.
 */
int prepare_base(struct prepared *p, struct err *err)
{
	struct gate *g = p->gate;
	int pair[2];

	p->launch.base_stays = g->base_is_parked || should_park(g);
	if (g->base_is_parked) {
		use_base(p);
	} else {
		p->launch.beside = send_base;
		p->launch.beside_arg = p;
	}
	if (!p->launch.base_stays)
		return 0;
	if (g->base_fd < 0) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			       pair) < 0)
			return err_sys(err, errno, "socket pair");
		g->base_fd = pair[0];
		g->base_to = pair[1];
	}
	p->launch.fd[FD_BASE] = g->base_fd;
	return 0;
}

/* ---- the user of children ---- */

#define NOBODY 65534

static bool find_user(const char *name, uid_t uid, struct arena *arena,
		      struct identity *ret)
{
	struct user u;

	if (!user_find(name, uid, &u))
		return false;
	*ret = (struct identity){
		.name = arena_strndup(arena, u.name.p, u.name.n),
		.home = arena_strndup(arena, u.home.p, u.home.n),
		.uid = u.uid,
		.gid = u.gid};
	return true;
}

static struct identity self(struct gate *g)
{
	if (!g->self.name && !find_user(NULL, user_self(), &g->arena, &g->self))
		g->self.name = arena_printf(&g->arena, "%u", user_self());
	g->self.uid = user_self();
	g->self.gid = user_self_group();
	return g->self;
}

/*
 * Root of a user namespace cannot become a user who does not exist in it. Rows
 * of a map are: first number inside, first outside, how many.
 */
static bool is_mapped(const char *map, unsigned long id)
{
	FILE *f = fopen(map, "re");
	bool found = !f; /* a kernel without user namespaces */
	char line[128];

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *end;
		unsigned long first = strtoul(line, &end, 10);

		strtoul(end, &end, 10);
		found = id >= first && id - first < strtoul(end, NULL, 10);
	}
	if (f)
		fclose(f);
	return found;
}

/* PROC_USER_INIT_INO of include/linux/proc_ns.h: in there all ids exist. */
#define FIRST_USER_NAMESPACE "user:[4026531837]"

static bool exists_here(const struct identity *id)
{
	char text[32];
	/* following the link would make the kernel an inode */
	ssize_t n = readlink("/proc/self/ns/user", text, sizeof(text));

	if (n > 0 &&
	    str_is((struct str){text, (size_t)n}, FIRST_USER_NAMESPACE))
		return true;
	return is_mapped("/proc/self/uid_map", id->uid) &&
	       is_mapped("/proc/self/gid_map", id->gid);
}

static struct identity nobody(struct gate *g)
{
	if (g->nobody.name)
		return g->nobody;
	if (!find_user("nobody", 0, &g->arena, &g->nobody))
		g->nobody = (struct identity){
			.name = "nobody", .uid = NOBODY, .gid = NOBODY};
	g->nobody.change = exists_here(&g->nobody);
	return g->nobody;
}

int prepare_identity(struct prepared *p, struct err *err)
{
	const char *user = p->policy.user;

	if (!p->gate->is_root) {
		p->id = self(p->gate);
		return 0;
	}
	if (!user) {
		p->id = nobody(p->gate);
		if (!p->id.change)
			identity_stay_root(p, "no other user exists in this "
					      "user namespace");
		return 0;
	}
	if (!find_user(user, 0, &p->arena, &p->id))
		return err_set(err, ERR_POLICY,
			       "user: no \"%s\" in /etc/passwd", user);
	if (!exists_here(&p->id))
		return err_set(
			err, ERR_POLICY,
			"user: \"%s\" (%u) does not exist in this user "
			"namespace; name one that does, or \"root\", who "
			"has no capabilities",
			user, p->id.uid);
	p->id.change = p->id.uid != 0;
	if (!p->id.change)
		p->id.why = "user = \"root\"";
	return 0;
}

void identity_stay_root(struct prepared *p, const char *why)
{
	p->id = self(p->gate);
	p->id.why = why;
}

/* ---- private places, and homes ---- */

/* Size of a private place; memory is taken only for what is written. */
#define PLACE_BYTES (UINT64_C(512) << 20)
/* Secrets that a warning names. */
#define SECRETS_SHOWN 3

bool places_has(const struct gate *g, const char *path)
{
	for (size_t i = 0; i < g->n_places; i++)
		if (strcmp(g->place[i].path, path) == 0)
			return true;
	return false;
}

static const struct strlist system_dirs =
	STRLIST("/proc", "/dev", "/sys", "/usr");

static bool is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Add a folder at its own path, not a link to another one. */
static void add_place(struct gate *g, const char *path, unsigned mode)
{
	if (!places_has(g, path))
		g->place[g->n_places++] = (struct setup_place){
			.path = path, .mode = mode, .bytes = PLACE_BYTES};
}

static void add_shared(struct gate *g, const char *path)
{
	if (is_folder(path))
		add_place(g, path, 01777);
}

/* HOME must not be a folder that the system itself lives in. */
static bool is_private_home(const struct gate *g, const char *path)
{
	for (size_t i = 0; i < g->base.n; i++)
		if (place_covers(path, g->base.grant[i].path) ||
		    place_covers(g->base.grant[i].path, path))
			return false;
	return !grants_near_base(path) && !place_around(&system_dirs, path) &&
	       !place_beneath(&system_dirs, path);
}

/* Resolve a HOME; NULL when it is not a folder that belongs to one user. */
static const char *real_home(struct gate *g, const char *home)
{
	const char *real =
		home && home[0] == '/' ? own_paths_real(g, home) : NULL;

	return real && is_folder(real) && is_private_home(g, real) ? real
								   : NULL;
}

void places_find(struct gate *g)
{
	const char *home = getenv("HOME");
	const char *passwd;

	add_shared(g, "/tmp");
	add_shared(g, "/var/tmp");
	add_shared(g, "/dev/shm");
	g->home_path = real_home(g, home);
	if (g->home_path) {
		g->home = arena_strdup(&g->arena, home);
		add_place(g, g->home_path, 0700);
		list_add(&g->homes, &g->arena, g->home_path);
	}
	/* keys lie in the home of the passwd entry, whatever $HOME says */
	passwd = real_home(g, self(g).home);
	if (passwd)
		list_add_new(&g->homes, &g->arena, passwd);
}

/* ---- keys ---- */

struct closed places_closed(const struct gate *g)
{
	return (struct closed){.home = g->home_path,
			       .homes = g->homes,
			       .state = g->config.state_dir};
}

const char *gate_secret_row(const char *path, const struct strlist *homes)
{
	return closed_secret_row(&(struct closed){.homes = *homes}, path);
}

bool gate_is_secret(const struct gate *g, const char *path)
{
	struct closed closed = places_closed(g);
	enum closed_kind kind = closed_kind_of(&closed, path);

	return kind == CLOSED_SECRET || kind == CLOSED_OTHERS;
}

/* Look for a row of HOME ("~/.ssh") that exists beneath the folder. */
static bool holds_row(const struct gate *g, const char *row, const char *folder,
		      struct arena *arena)
{
	for (size_t i = 0; i < g->homes.n; i++) {
		const char *path =
			arena_printf(arena, "%s%s", g->homes.item[i], row + 1);

		if (place_covers(folder, path) && !place_covers(path, folder) &&
		    access(path, R_OK) == 0)
			return true;
	}
	return false;
}

const char *gate_secrets_in(const struct gate *g, const char *folder,
			    struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *real = resolve_links(folder, arena);
	const char *row;
	size_t n = 0;

	for (size_t i = 0; real && (row = closed_home_secret(i)); i++) {
		if (!holds_row(g, row, real, arena) || ++n > SECRETS_SHOWN)
			continue;
		buf_addf(&out, "%s%s", n > 1 ? ", " : "", row);
	}
	if (n > SECRETS_SHOWN)
		buf_addf(&out, " and %zu more", n - SECRETS_SHOWN);
	return n ? arena_strdup(arena, buf_cstr(&out)) : NULL;
}

/* ---- namespaces ---- */

void gate_probe(struct gate *g)
{
	if (g->probed)
		return;
	g->probed = true;
	ns_probe(g->place, g->n_places, g->config.state_dir, &g->ns);
}

void gate_probe_again(struct gate *g)
{
	ns_forget(g->config.state_dir);
	g->probed = g->view_failed = false;
	g->own_facts = NULL;
	g->ns_remedy = NULL;
	gate_probe(g);
}
