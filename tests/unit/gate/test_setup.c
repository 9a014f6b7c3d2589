/* The setup list: which steps, in which order. */

#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/base/kernel.h"
#include "gate/build/setup.h"

/* The list as text: "TMPFS /tmp; PUT /srv rw; ..." from the place `from`. */
static void describe(const struct setup_list *list, struct buf *out)
{
	static const char *const names[] = {
#define SETUP_OP(name, text) #name,
#include "gate/build/setup_ops.def"
#undef SETUP_OP
	};

	for (size_t i = 0; i < list->n; i++) {
		const struct setup_op *op = &list->op[i];

		buf_addf(out, "%s%s %s", i ? "; " : "", names[op->kind],
			 op->path);
		if (op->kind == SETUP_PUT || op->kind == SETUP_HERE)
			buf_adds(out,
				 op->set & KERNEL_MOUNT_RDONLY ? " ro" : " rw");
	}
}

static void check(const struct setup_view *v, const char *want)
{
	struct arena arena = ARENA_INIT;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct setup_list list;

	setup_build(v, &arena, &list);
	describe(&list, &text);
	assert_string_equal(buf_cstr(&text), want);
	buf_release(&text);
	arena_release(&arena);
}

static const struct setup_place tmp = {.path = "/tmp", .mode = 01777};
static const struct setup_place places[] = {
	{.path = "/tmp", .mode = 01777},
	{.path = "/home/u", .mode = 0700},
};

#define VIEW .root_is_mount = true, .dev_is_mount = true
#define GRANTS(list) .grants = (list), .n_grants = ARRAY_LEN(list)

TEST(view, nothing_granted, is_read_only_with_private_places)
{
	check(&(struct setup_view){VIEW, .places = places, .n_places = 2},
	      "ATTR /; ATTR /dev; TMPFS /home/u; TMPFS /tmp; PROC /proc");
}

TEST(view, namespaces, are_set_while_proc_is_writable)
{
	check(&(struct setup_view){VIEW, .memfd_noexec = true, .pid_max = 556,
				   .loopback = true},
	      "WRITE /proc/sys/vm/memfd_noexec; "
	      "WRITE /proc/sys/kernel/pid_max; LOOPBACK lo; ATTR /; "
	      "ATTR /dev; PROC /proc");
}

TEST(view, in_a_chroot, makes_mount_points_first)
{
	check(&(struct setup_view){.root_is_mount = false},
	      "TAKE /; ENTER /; ATTR /; HERE /dev rw; ATTR /dev; PROC /proc");
}

TEST(grant, to_read_in_the_open, needs_no_mount)
{
	static const struct setup_grant g[] = {{.path = "/srv/data"}};

	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g)},
	      "ATTR /; ATTR /dev; TMPFS /tmp; PROC /proc");
}

TEST(grant, hidden_by_a_place, is_taken_before_and_put_after)
{
	static const struct setup_grant g[] = {{.path = "/tmp/x"}};

	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g)},
	      "TAKE /tmp/x; ATTR /; ATTR /dev; TMPFS /tmp; PUT /tmp/x ro; "
	      "PROC /proc");
}

TEST(grant, to_write, is_always_put)
{
	static const struct setup_grant g[] = {
		{.path = "/srv/data", .is_dir = true, .is_write = true}};

	check(&(struct setup_view){VIEW, GRANTS(g)},
	      "TAKE /srv/data; ATTR /; ATTR /dev; PUT /srv/data rw; "
	      "PROC /proc");
}

TEST(grants, inside_each_other, come_outermost_first)
{
	static const struct setup_grant g[] = {
		{.path = "/home/u/p/out", .is_dir = true, .is_write = true},
		{.path = "/home/u/p", .is_dir = true},
		{.path = "/home/u/p/out/deep", .is_dir = true},
		{.path = "/home/u/p/src", .is_dir = true},
	};

	/* reading inside of writing takes nothing away, nor asks for more */
	check(&(struct setup_view){VIEW, .places = places, .n_places = 2,
				   GRANTS(g)},
	      "TAKE /home/u/p; TAKE /home/u/p/out; ATTR /; ATTR /dev; "
	      "TMPFS /home/u; PUT /home/u/p ro; PUT /home/u/p/out rw; "
	      "TMPFS /tmp; PROC /proc");
}

TEST(grant, above_a_private_place, leaves_it_private)
{
	static const struct setup_grant g[] = {
		{.path = "/home", .is_dir = true, .is_write = true}};

	check(&(struct setup_view){VIEW, .places = &places[1], .n_places = 1,
				   GRANTS(g)},
	      "TAKE /home; ATTR /; ATTR /dev; PUT /home rw; TMPFS /home/u; "
	      "PROC /proc");
}

TEST(grant, of_everything_to_write, leaves_the_root_writable)
{
	static const struct setup_grant g[] = {
		{.path = "/", .is_dir = true, .is_write = true}};
	struct arena arena = ARENA_INIT;
	struct setup_list list;

	setup_build(&(struct setup_view){VIEW, GRANTS(g)}, &arena, &list);
	assert_int_equal(list.op[0].kind, SETUP_ATTR);
	assert_int_equal(list.op[0].set,
			 KERNEL_MOUNT_NOSUID | KERNEL_MOUNT_NODEV);
	setup_build(&(struct setup_view){VIEW}, &arena, &list);
	assert_int_equal(list.op[0].set, KERNEL_MOUNT_NOSUID |
						 KERNEL_MOUNT_NODEV |
						 KERNEL_MOUNT_RDONLY);
	arena_release(&arena);
}

TEST(protected, inside_a_writable_grant, is_pinned)
{
	static const struct setup_grant g[] = {
		{.path = "/srv/p", .is_dir = true, .is_write = true}};
	static const struct setup_grant protect[] = {
		{.path = "/srv/p/.git/hooks", .is_dir = true},
		{.path = "/srv/p/.git/config"},
		{.path = "/srv/other/.git/config"},
	};

	check(&(struct setup_view){VIEW, GRANTS(g), .protect = protect,
				   .n_protect = 3},
	      "TAKE /srv/p; ATTR /; ATTR /dev; PUT /srv/p rw; "
	      "HERE /srv/p/.git rw; HERE /srv/p/.git/config ro; "
	      "HERE /srv/p/.git/hooks ro; PROC /proc");
}

TEST(protected, deep_inside, pins_every_folder_above)
{
	static const struct setup_grant g[] = {
		{.path = "/w", .is_dir = true, .is_write = true}};
	static const struct setup_grant protect[] = {{.path = "/w/a/b/c"}};

	check(&(struct setup_view){VIEW, GRANTS(g), .protect = protect,
				   .n_protect = 1},
	      "TAKE /w; ATTR /; ATTR /dev; PUT /w rw; HERE /w/a rw; "
	      "HERE /w/a/b rw; HERE /w/a/b/c ro; PROC /proc");
}

TEST(protected, in_a_private_place, needs_nothing)
{
	static const struct setup_grant g[] = {
		{.path = "/home", .is_dir = true, .is_write = true}};
	static const struct setup_grant protect[] = {{.path = "/home/u/state"}};

	check(&(struct setup_view){VIEW, .places = &places[1], .n_places = 1,
				   GRANTS(g), .protect = protect,
				   .n_protect = 1},
	      "TAKE /home; ATTR /; ATTR /dev; PUT /home rw; TMPFS /home/u; "
	      "PROC /proc");
}

TEST(view, links, come_after_what_they_point_to)
{
	static const struct setup_grant g[] = {{.path = "/tmp/real"}};
	static const struct setup_link l[] = {{"/tmp/name", "/tmp/real"}};

	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g), .links = l, .n_links = 1},
	      "TAKE /tmp/real; ATTR /; ATTR /dev; TMPFS /tmp; "
	      "PUT /tmp/real ro; LINK /tmp/name; PROC /proc");
}

TEST(shut, files, have_a_device_above_them)
{
	static const struct setup_grant g[] = {
		{.path = "/tmp/p", .is_dir = true, .is_write = true}};
	const char *shut[] = {"/tmp/p/.env"};

	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g), .shut = {shut, 1}},
	      "TAKE /tmp/p; TAKE /dev/null; ATTR /; ATTR /dev; TMPFS /tmp; "
	      "PUT /tmp/p rw; PUT /tmp/p/.env ro; PROC /proc");
}

TEST(names, that_only_begin_alike, are_not_beneath)
{
	static const struct setup_grant g[] = {{.path = "/tmpfile"},
					       {.path = "/tmp-x/y"}};

	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g)},
	      "ATTR /; ATTR /dev; TMPFS /tmp; PROC /proc");
}

TEST(step, in_an_error, is_named_with_its_path)
{
	struct arena arena = ARENA_INIT;
	struct setup_op op = {.kind = SETUP_PUT, .path = "/srv/data"};

	assert_string_equal(setup_describe(&op, &arena), "attach /srv/data");
	arena_release(&arena);
}
