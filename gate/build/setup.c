#include "gate/build/setup.h"

#include <assert.h>

#include "core/base/kernel.h"
#include "core/base/place.h"

#define QUIET_ATTRS (KERNEL_MOUNT_NOSUID | KERNEL_MOUNT_NODEV)

/* One row of what is mounted, so that all of it can be put in one order. */
struct entry {
	const char *path;
	const struct setup_place *place;
	const struct setup_grant *grant;
	bool is_protect;
	bool is_pin; /* a folder above a protected path, mounted onto itself */
	int slot;    /* of its copy */
};

struct builder {
	const struct setup_view *v;
	struct arena *arena;
	struct setup_list *list;
	struct entry *entry;
	size_t n;
};

static struct setup_op *add_op(struct builder *b, enum setup_kind kind,
			       const char *path)
{
	struct setup_list *l = b->list;

	l->op = arena_grow(b->arena, l->op, l->n, sizeof(*l->op));
	l->op[l->n] = (struct setup_op){
		.kind = kind, .path = path, .slot = -1, .idmap = -1};
	return &l->op[l->n++];
}

/* Take a copy of the mounts at a path, for a later step. */
static struct setup_op *add_take(struct builder *b, const char *path)
{
	struct setup_op *op = add_op(b, SETUP_TAKE, path);

	op->slot = (int)b->list->slots++;
	return op;
}

static void add_entry(struct builder *b, struct entry e)
{
	b->entry = arena_grow(b->arena, b->entry, b->n, sizeof(e));
	b->entry[b->n++] = e;
}

/* By path, what is above before what is beneath; places before grants. */
static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int order = strcmp(a->path, b->path);

	return order ? order
		     : (!a->place + a->is_pin) - (!b->place + b->is_pin);
}

static bool needs_mount(const struct builder *b, size_t at);

/* Is this a grant to read that lies in one to write, with no private place
   between? It takes nothing away, so it is no mount. */
static bool is_read_in_write(const struct builder *b, const struct entry *e)
{
	const struct entry *best = NULL;

	if (!e->grant || e->grant->is_write || e->is_protect)
		return false;
	for (size_t i = 0; i < b->n; i++) {
		const struct entry *c = &b->entry[i];

		if (!c->place && (!c->grant || !c->grant->is_write))
			continue;
		if (place_covers(c->path, e->path) &&
		    (!best || strlen(c->path) >= strlen(best->path)))
			best = c;
	}
	return best && best->grant;
}

/* The nearest entry before `at` that covers its path; NULL = the host's. */
static const struct entry *find_cover(const struct builder *b, size_t at)
{
	const struct entry *best = NULL;

	for (size_t i = 0; i < b->n; i++) {
		const struct entry *e = &b->entry[i];

		if (i == at || e->is_pin || !e->path[0] ||
		    (e->grant && i > at) ||
		    !place_covers(e->path, b->entry[at].path))
			continue;
		/* a protected path that nothing makes writable is no mount */
		if (e->is_protect && !needs_mount(b, i))
			continue;
		if (b->entry[at].is_protect && is_read_in_write(b, e))
			continue;
		if (!best || strlen(e->path) >= strlen(best->path))
			best = e;
	}
	return best;
}

/* A grant needs a mount of its own unless it is already there as it should. */
static bool needs_mount(const struct builder *b, size_t at)
{
	const struct setup_grant *g = b->entry[at].grant;
	const struct entry *c = find_cover(b, at);

	if (b->entry[at].is_protect)
		return c && c->grant && c->grant->is_write && !c->is_protect;
	if (!c)
		return g->is_write || g->is_hidden;
	if (c->place)
		return true;
	assert(c->grant); /* a cover is a place or a grant, never a pin */
	return g->is_write && !c->grant->is_write;
}

static void drop_entries(struct builder *b)
{
	bool *keep = ARENA_ARRAY(b->arena, bool, b->n + 1);
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		keep[i] = b->entry[i].place ||
			  (b->entry[i].grant && needs_mount(b, i) &&
			   strcmp(b->entry[i].path, "/") != 0);
	for (size_t i = 0; i < b->n; i++)
		if (keep[i])
			b->entry[n++] = b->entry[i];
	b->n = n;
}

/*
 * A protected path cannot be renamed, being a mount point, but a folder above
 * it could: those between the grant and the path become mount points, too.
 */
static void add_pins(struct builder *b)
{
	size_t n = b->n;

	for (size_t i = 0; i < n; i++) {
		const struct entry *c;
		const char *path = b->entry[i].path;
		size_t top;

		if (!b->entry[i].is_protect)
			continue;
		c = find_cover(b, i);
		top = c ? strlen(c->path) : 1;
		for (size_t len = strlen(path) - 1; len > top; len--)
			if (path[len] == '/')
				add_entry(b,
					  (struct entry){
						  .path = arena_strndup(
							  b->arena, path, len),
						  .is_pin = true});
	}
}

static void sort_entries(struct builder *b)
{
	size_t n = 0;

	if (b->n)
		qsort(b->entry, b->n, sizeof(*b->entry), compare_entries);
	for (size_t i = 0; i < b->n; i++) {
		/* one folder pinned for two paths, or mounted anyway */
		if (n && b->entry[i].is_pin &&
		    strcmp(b->entry[n - 1].path, b->entry[i].path) == 0)
			continue;
		b->entry[n++] = b->entry[i];
	}
	b->n = n;
}

static void collect_entries(struct builder *b)
{
	const struct setup_view *v = b->v;

	for (size_t i = 0; i < v->n_places; i++)
		add_entry(b, (struct entry){.path = v->places[i].path,
					    .place = &v->places[i]});
	for (size_t i = 0; i < v->n_grants; i++)
		add_entry(b, (struct entry){.path = v->grants[i].path,
					    .grant = &v->grants[i]});
	for (size_t i = 0; i < v->n_protect; i++)
		add_entry(b, (struct entry){.path = v->protect[i].path,
					    .grant = &v->protect[i],
					    .is_protect = true});
	sort_entries(b);
	drop_entries(b);
	add_pins(b);
	sort_entries(b);
}

static void write_takes(struct builder *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct setup_grant *g = b->entry[i].grant;
		struct setup_op *op;

		if (!g || b->entry[i].is_protect)
			continue;
		op = add_take(b, g->path);
		op->dev = g->dev;
		op->ino = g->ino;
		op->is_optional = g->is_optional;
		b->entry[i].slot = op->slot;
	}
}

static void write_root(struct builder *b)
{
	const struct setup_view *v = b->v;
	struct setup_op *op;

	if (!v->root_is_mount) {
		int slot = add_take(b, "/")->slot;

		add_op(b, SETUP_ENTER, "/")->slot = slot;
	}
	op = add_op(b, SETUP_ATTR, "/");
	op->set = QUIET_ATTRS | KERNEL_MOUNT_RDONLY;
	for (size_t i = 0; i < v->n_grants; i++)
		if (v->grants[i].is_write &&
		    strcmp(v->grants[i].path, "/") == 0)
			op->set = QUIET_ATTRS;
	op->is_recursive = true;
	if (!v->dev_is_mount)
		add_op(b, SETUP_HERE, "/dev")->is_dir = true;
	op = add_op(b, SETUP_ATTR, "/dev");
	op->clear = KERNEL_MOUNT_NODEV;
	op->set = KERNEL_MOUNT_NOEXEC;
}

static void write_place(struct builder *b, const struct setup_place *p)
{
	struct setup_op *op = add_op(b, SETUP_TMPFS, p->path);

	op->is_dir = true;
	op->set = QUIET_ATTRS | KERNEL_MOUNT_NOEXEC;
	if (p->is_readonly)
		op->data = arena_printf(
			b->arena, "mode=%o,size=4k,nr_inodes=1k", p->mode);
	else
		op->data = arena_printf(
			b->arena,
			"mode=%o,size=%llu,nr_inodes=256k,uid=%u,gid=%u",
			p->mode, (unsigned long long)p->bytes,
			(unsigned)b->v->uid, (unsigned)b->v->gid);
}

static void write_grant(struct builder *b, const struct entry *e)
{
	const struct setup_grant *g = e->grant;
	struct setup_op *op = add_op(b, SETUP_PUT, g->path);

	op->slot = e->slot;
	op->is_optional = g->is_optional;
	op->is_dir = g->is_dir;
	op->idmap = g->idmap;
	op->is_recursive = g->is_idmap_deep;
	op->set = QUIET_ATTRS | (g->is_write ? 0 : KERNEL_MOUNT_RDONLY) |
		  (g->is_noexec ? KERNEL_MOUNT_NOEXEC : 0);
}

/*
 * A mount point in place: a protected path (read-only) or a pin, a folder
 * above one.
 */
static void write_here(struct builder *b, const struct entry *e)
{
	struct setup_op *op = add_op(b, SETUP_HERE, e->path);

	op->is_dir = e->is_pin || e->grant->is_dir;
	if (!e->is_protect)
		return;
	op->is_link = e->grant->is_link;
	op->set = KERNEL_MOUNT_RDONLY;
}

void setup_build(const struct setup_view *v, struct arena *arena,
		 struct setup_list *ret)
{
	struct builder b = {.v = v, .arena = arena, .list = ret};
	int shut;

	*ret = (struct setup_list){.n = 0};
	collect_entries(&b);
	if (v->memfd_noexec)
		add_op(&b, SETUP_WRITE, "/proc/sys/vm/memfd_noexec")->data =
			"2";
	if (v->pid_max)
		add_op(&b, SETUP_WRITE, "/proc/sys/kernel/pid_max")->data =
			arena_printf(arena, "%u", v->pid_max);
	if (v->loopback)
		add_op(&b, SETUP_LOOPBACK, "lo");
	for (int v6 = 0; v->catches && v6 < 2; v6++) {
		struct setup_op *op = add_op(&b, SETUP_CATCH, "lo");

		op->is_v6 = v6;
		op->is_optional = v6; /* a kernel without IPv6 */
	}
	write_takes(&b);
	shut = (int)ret->slots;
	for (size_t i = 0; i < v->shut.n; i++)
		(void)add_take(&b, "/dev/null");
	write_root(&b);
	for (size_t i = 0; i < b.n; i++) {
		const struct entry *e = &b.entry[i];

		if (e->place)
			write_place(&b, e->place);
		else if (e->is_pin || e->is_protect)
			write_here(&b, e);
		else
			write_grant(&b, e);
	}
	/* A device on a mount without devices cannot be opened: EACCES, as for
	   any file that is not granted. One copy for each file that is shut. */
	for (size_t i = 0; i < v->shut.n; i++) {
		struct setup_op *op = add_op(&b, SETUP_PUT, v->shut.item[i]);

		op->slot = shut++;
		op->set =
			QUIET_ATTRS | KERNEL_MOUNT_RDONLY | KERNEL_MOUNT_NOEXEC;
		/* gone since it was seen: there is nothing to shut */
		op->is_optional = true;
	}
	for (size_t i = 0; i < v->n_links; i++)
		add_op(&b, SETUP_LINK, v->links[i].path)->data =
			v->links[i].target;
	add_op(&b, SETUP_PROC, "/proc");
}

const char *setup_describe(const struct setup_op *op, struct arena *arena)
{
	static const char *const text[] = {
#define SETUP_OP(name, words) words,
#include "gate/build/setup_ops.def"
#undef SETUP_OP
	};

	return arena_printf(arena, "%s %s", text[op->kind], op->path);
}
