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

#define VIEW .root_is_mount = true, .dev_is_mount = true
#define ROWS(member, type, ...)                       \
	.member = (const struct type[]){__VA_ARGS__}, \
	.n_##member = ARRAY_LEN(((const struct type[]){__VA_ARGS__}))
#define PLACES(...) ROWS(places, setup_place, __VA_ARGS__)
#define GRANTS(...) ROWS(grants, setup_grant, __VA_ARGS__)
#define PROTECT(...) ROWS(protect, setup_grant, __VA_ARGS__)
#define RO .is_write = false
#define DIR .is_dir = true
#define RW .is_dir = true, .is_write = true

static const struct setup_link tmp_link = {"/tmp/name", "/tmp/real"};
static const char *shut[] = {"/tmp/p/.env"};

static const struct view_case {
	const char *about;
	struct setup_view view;
	const char *steps;
} VIEWS[] = {
	{"nothing granted: read-only with private places",
	 {VIEW, PLACES({"/tmp", .mode = 01777}, {"/home/u", .mode = 0700})},
	 "ATTR /; ATTR /dev; TMPFS /home/u; TMPFS /tmp; PROC /proc"},
	{"namespaces are set while /proc is writable",
	 {VIEW, .memfd_noexec = true, .pid_max = 556, .loopback = true},
	 "WRITE /proc/sys/vm/memfd_noexec; WRITE /proc/sys/kernel/pid_max; "
	 "LOOPBACK lo; ATTR /; ATTR /dev; PROC /proc"},
	{"a chroot gets mount points first",
	 {.root_is_mount = false},
	 "TAKE /; ENTER /; ATTR /; HERE /dev rw; ATTR /dev; PROC /proc"},
	{"a grant to read in the open needs no mount",
	 {VIEW, PLACES({"/tmp", .mode = 01777}), GRANTS({"/srv/data", RO})},
	 "ATTR /; ATTR /dev; TMPFS /tmp; PROC /proc"},
	{"a grant hidden by a place is taken before and put after",
	 {VIEW, PLACES({"/tmp", .mode = 01777}), GRANTS({"/tmp/x", RO})},
	 "TAKE /tmp/x; ATTR /; ATTR /dev; TMPFS /tmp; PUT /tmp/x ro; "
	 "PROC /proc"},
	{"a grant to write is always put",
	 {VIEW, GRANTS({"/srv/data", RW})},
	 "TAKE /srv/data; ATTR /; ATTR /dev; PUT /srv/data rw; PROC /proc"},
	{"grants inside each other come outermost first; reading inside of "
	 "writing takes nothing away, nor asks for more",
	 {VIEW, PLACES({"/tmp", .mode = 01777}, {"/home/u", .mode = 0700}),
	  GRANTS({"/home/u/p/out", RW}, {"/home/u/p", DIR},
		 {"/home/u/p/out/deep", DIR}, {"/home/u/p/src", DIR})},
	 "TAKE /home/u/p; TAKE /home/u/p/out; ATTR /; ATTR /dev; "
	 "TMPFS /home/u; PUT /home/u/p ro; PUT /home/u/p/out rw; TMPFS /tmp; "
	 "PROC /proc"},
	{"a grant above a private place leaves it private",
	 {VIEW, PLACES({"/home/u", .mode = 0700}), GRANTS({"/home", RW})},
	 "TAKE /home; ATTR /; ATTR /dev; PUT /home rw; TMPFS /home/u; "
	 "PROC /proc"},
	{"a protected file inside a writable grant is pinned",
	 {VIEW, GRANTS({"/srv/p", RW}),
	  PROTECT({"/srv/p/.git/hooks", DIR}, {"/srv/p/.git/config", RO},
		  {"/srv/other/.git/config", RO})},
	 "TAKE /srv/p; ATTR /; ATTR /dev; PUT /srv/p rw; HERE /srv/p/.git rw; "
	 "HERE /srv/p/.git/config ro; HERE /srv/p/.git/hooks ro; PROC /proc"},
	{"a protected file deep inside pins every folder above",
	 {VIEW, GRANTS({"/w", RW}), PROTECT({"/w/a/b/c", RO})},
	 "TAKE /w; ATTR /; ATTR /dev; PUT /w rw; HERE /w/a rw; "
	 "HERE /w/a/b rw; HERE /w/a/b/c ro; PROC /proc"},
	{"reading a protected file inside of writing leaves it protected",
	 {VIEW, GRANTS({"/w", RW}, {"/w/.git/config", RO}),
	  PROTECT({"/w/.git/config", RO})},
	 "TAKE /w; ATTR /; ATTR /dev; PUT /w rw; HERE /w/.git rw; "
	 "HERE /w/.git/config ro; PROC /proc"},
	{"reading a folder inside of writing leaves what it has protected",
	 {VIEW, GRANTS({"/w", RW}, {"/w/.git", DIR}),
	  PROTECT({"/w/.git/config", RO})},
	 "TAKE /w; ATTR /; ATTR /dev; PUT /w rw; HERE /w/.git rw; "
	 "HERE /w/.git/config ro; PROC /proc"},
	{"a protected file in a folder that can only be read needs nothing",
	 {VIEW, PLACES({"/home/u", .mode = 0700}),
	  GRANTS({"/home", RW}, {"/home/u/p", DIR}),
	  PROTECT({"/home/u/p/config", RO})},
	 "TAKE /home; TAKE /home/u/p; ATTR /; ATTR /dev; PUT /home rw; "
	 "TMPFS /home/u; PUT /home/u/p ro; PROC /proc"},
	{"a protected file in a private place needs nothing",
	 {VIEW, PLACES({"/home/u", .mode = 0700}), GRANTS({"/home", RW}),
	  PROTECT({"/home/u/state", RO})},
	 "TAKE /home; ATTR /; ATTR /dev; PUT /home rw; TMPFS /home/u; "
	 "PROC /proc"},
	{"links come after their targets",
	 {VIEW, PLACES({"/tmp", .mode = 01777}), GRANTS({"/tmp/real", RO}),
	  .links = &tmp_link, .n_links = 1},
	 "TAKE /tmp/real; ATTR /; ATTR /dev; TMPFS /tmp; PUT /tmp/real ro; "
	 "LINK /tmp/name; PROC /proc"},
	{"shut files have a device above them",
	 {VIEW, PLACES({"/tmp", .mode = 01777}), GRANTS({"/tmp/p", RW}),
	  .shut = {shut, 1}},
	 "TAKE /tmp/p; TAKE /dev/null; ATTR /; ATTR /dev; TMPFS /tmp; "
	 "PUT /tmp/p rw; PUT /tmp/p/.env ro; PROC /proc"},
	{"names that only begin alike are not beneath",
	 {VIEW, PLACES({"/tmp", .mode = 01777}),
	  GRANTS({"/tmpfile", RO}, {"/tmp-x/y", RO})},
	 "ATTR /; ATTR /dev; TMPFS /tmp; PROC /proc"},
};

TEST(view, of_each_row, has_these_steps_in_this_order)
{
	for (size_t i = 0; i < ARRAY_LEN(VIEWS); i++) {
		const struct view_case *c = &VIEWS[i];
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct setup_list list;

		setup_build(&c->view, &arena, &list);
		describe(&list, &text);
		if (strcmp(buf_cstr(&text), c->steps) != 0)
			fail_msg("%s: %s", c->about, buf_cstr(&text));
	}
}

TEST(grant, of_everything_to_write, leaves_the_root_writable)
{
	const struct setup_view all = {VIEW, GRANTS({"/", RW})};
	struct arena arena = ARENA_INIT;
	struct setup_list list;

	setup_build(&all, &arena, &list);
	assert_int_equal(list.op[0].kind, SETUP_ATTR);
	assert_int_equal(list.op[0].set,
			 KERNEL_MOUNT_NOSUID | KERNEL_MOUNT_NODEV);
	setup_build(&(struct setup_view){VIEW}, &arena, &list);
	assert_int_equal(list.op[0].set, KERNEL_MOUNT_NOSUID |
						 KERNEL_MOUNT_NODEV |
						 KERNEL_MOUNT_RDONLY);
	arena_release(&arena);
}

TEST(grant, that_is_optional, ends_no_setup)
{
	struct arena arena = ARENA_INIT;
	struct setup_list list;
	const struct setup_view view = {
		VIEW,
		PLACES({"/home/u", .mode = 0700}),
		GRANTS({"/home/u/a", DIR, .is_optional = true},
		       {"/home/u/b", DIR}),
	};
	size_t optional = 0;

	setup_build(&view, &arena, &list);
	for (size_t i = 0; i < list.n; i++) {
		bool is_a = strcmp(list.op[i].path, "/home/u/a") == 0;

		optional += is_a;
		assert_int_equal(list.op[i].is_optional, is_a);
	}
	/* taken and put */
	assert_int_equal(optional, 2);
	arena_release(&arena);
}

TEST(step, in_an_error, is_named_with_its_path)
{
	struct arena arena = ARENA_INIT;
	struct setup_op op = {.kind = SETUP_PUT, .path = "/srv/data"};

	assert_string_equal(setup_describe(&op, &arena), "attach /srv/data");
	arena_release(&arena);
}
