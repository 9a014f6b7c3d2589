/* The setup list: which steps, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/base/buf.h"
#include "gate/build/setup.h"
#include "gate/child/sys.h"

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
				 op->set & SYS_ATTR_RDONLY ? " ro" : " rw");
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

static void view__nothing_granted__is_read_only_with_private_places(void **s)
{
	(void)s;
	check(&(struct setup_view){VIEW, .places = places, .n_places = 2},
	      "ATTR /; ATTR /dev; TMPFS /home/u; TMPFS /tmp; PROC /proc");
}

static void view__namespaces__are_set_while_proc_is_writable(void **s)
{
	(void)s;
	check(&(struct setup_view){VIEW, .memfd_noexec = true, .pid_max = 556,
				   .loopback = true},
	      "WRITE /proc/sys/vm/memfd_noexec; "
	      "WRITE /proc/sys/kernel/pid_max; LOOPBACK lo; ATTR /; "
	      "ATTR /dev; PROC /proc");
}

static void view__in_a_chroot__makes_mount_points_first(void **s)
{
	(void)s;
	check(&(struct setup_view){.root_is_mount = false},
	      "TAKE /; ENTER /; ATTR /; HERE /dev rw; ATTR /dev; PROC /proc");
}

static void grant__to_read_in_the_open__needs_no_mount(void **s)
{
	static const struct setup_grant g[] = {{.path = "/srv/data"}};

	(void)s;
	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g)},
	      "ATTR /; ATTR /dev; TMPFS /tmp; PROC /proc");
}

static void grant__hidden_by_a_place__is_taken_before_and_put_after(void **s)
{
	static const struct setup_grant g[] = {{.path = "/tmp/x"}};

	(void)s;
	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g)},
	      "TAKE /tmp/x; ATTR /; ATTR /dev; TMPFS /tmp; PUT /tmp/x ro; "
	      "PROC /proc");
}

static void grant__to_write__is_always_put(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/srv/data", .is_dir = true, .is_write = true}};

	(void)s;
	check(&(struct setup_view){VIEW, GRANTS(g)},
	      "TAKE /srv/data; ATTR /; ATTR /dev; PUT /srv/data rw; "
	      "PROC /proc");
}

static void grants__inside_each_other__come_outermost_first(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/home/u/p/out", .is_dir = true, .is_write = true},
		{.path = "/home/u/p", .is_dir = true},
		{.path = "/home/u/p/out/deep", .is_dir = true},
		{.path = "/home/u/p/src", .is_dir = true},
	};

	(void)s;
	/* reading inside of writing takes nothing away, nor asks for more */
	check(&(struct setup_view){VIEW, .places = places, .n_places = 2,
				   GRANTS(g)},
	      "TAKE /home/u/p; TAKE /home/u/p/out; ATTR /; ATTR /dev; "
	      "TMPFS /home/u; PUT /home/u/p ro; PUT /home/u/p/out rw; "
	      "TMPFS /tmp; PROC /proc");
}

static void grant__above_a_private_place__leaves_it_private(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/home", .is_dir = true, .is_write = true}};

	(void)s;
	check(&(struct setup_view){VIEW, .places = &places[1], .n_places = 1,
				   GRANTS(g)},
	      "TAKE /home; ATTR /; ATTR /dev; PUT /home rw; TMPFS /home/u; "
	      "PROC /proc");
}

static void grant__of_everything_to_write__leaves_the_root_writable(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/", .is_dir = true, .is_write = true}};
	struct arena arena = ARENA_INIT;
	struct setup_list list;

	(void)s;
	setup_build(&(struct setup_view){VIEW, GRANTS(g)}, &arena, &list);
	assert_int_equal(list.op[0].kind, SETUP_ATTR);
	assert_int_equal(list.op[0].set, SYS_ATTR_NOSUID | SYS_ATTR_NODEV);
	setup_build(&(struct setup_view){VIEW}, &arena, &list);
	assert_int_equal(list.op[0].set,
			 SYS_ATTR_NOSUID | SYS_ATTR_NODEV | SYS_ATTR_RDONLY);
	arena_release(&arena);
}

static void protected__inside_a_writable_grant__is_pinned(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/srv/p", .is_dir = true, .is_write = true}};
	static const struct setup_grant protect[] = {
		{.path = "/srv/p/.git/hooks", .is_dir = true},
		{.path = "/srv/p/.git/config"},
		{.path = "/srv/other/.git/config"},
	};

	(void)s;
	check(&(struct setup_view){VIEW, GRANTS(g), .protect = protect,
				   .n_protect = 3},
	      "TAKE /srv/p; ATTR /; ATTR /dev; PUT /srv/p rw; "
	      "HERE /srv/p/.git rw; HERE /srv/p/.git/config ro; "
	      "HERE /srv/p/.git/hooks ro; PROC /proc");
}

static void protected__deep_inside__pins_every_folder_above(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/w", .is_dir = true, .is_write = true}};
	static const struct setup_grant protect[] = {{.path = "/w/a/b/c"}};

	(void)s;
	check(&(struct setup_view){VIEW, GRANTS(g), .protect = protect,
				   .n_protect = 1},
	      "TAKE /w; ATTR /; ATTR /dev; PUT /w rw; HERE /w/a rw; "
	      "HERE /w/a/b rw; HERE /w/a/b/c ro; PROC /proc");
}

static void protected__in_a_private_place__needs_nothing(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/home", .is_dir = true, .is_write = true}};
	static const struct setup_grant protect[] = {{.path = "/home/u/state"}};

	(void)s;
	check(&(struct setup_view){VIEW, .places = &places[1], .n_places = 1,
				   GRANTS(g), .protect = protect,
				   .n_protect = 1},
	      "TAKE /home; ATTR /; ATTR /dev; PUT /home rw; TMPFS /home/u; "
	      "PROC /proc");
}

static void links__come_after_what_they_point_to(void **s)
{
	static const struct setup_grant g[] = {{.path = "/tmp/real"}};
	static const struct setup_link l[] = {{"/tmp/name", "/tmp/real"}};

	(void)s;
	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g), .links = l, .n_links = 1},
	      "TAKE /tmp/real; ATTR /; ATTR /dev; TMPFS /tmp; "
	      "PUT /tmp/real ro; LINK /tmp/name; PROC /proc");
}

static void shut__files__have_a_device_above_them(void **s)
{
	static const struct setup_grant g[] = {
		{.path = "/tmp/p", .is_dir = true, .is_write = true}};
	const char *shut[] = {"/tmp/p/.env"};

	(void)s;
	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g), .shut = {shut, 1}},
	      "TAKE /tmp/p; TAKE /dev/null; ATTR /; ATTR /dev; TMPFS /tmp; "
	      "PUT /tmp/p rw; PUT /tmp/p/.env ro; PROC /proc");
}

static void names__that_only_begin_alike__are_not_beneath(void **s)
{
	static const struct setup_grant g[] = {{.path = "/tmpfile"},
					       {.path = "/tmp-x/y"}};

	(void)s;
	check(&(struct setup_view){VIEW, .places = &tmp, .n_places = 1,
				   GRANTS(g)},
	      "ATTR /; ATTR /dev; TMPFS /tmp; PROC /proc");
}

static void step__in_an_error__is_named_with_its_path(void **s)
{
	struct arena arena = ARENA_INIT;
	struct setup_op op = {.kind = SETUP_PUT, .path = "/srv/data"};

	(void)s;
	assert_string_equal(setup_describe(&op, &arena), "attach /srv/data");
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			view__nothing_granted__is_read_only_with_private_places),
		cmocka_unit_test(
			view__namespaces__are_set_while_proc_is_writable),
		cmocka_unit_test(view__in_a_chroot__makes_mount_points_first),
		cmocka_unit_test(grant__to_read_in_the_open__needs_no_mount),
		cmocka_unit_test(
			grant__hidden_by_a_place__is_taken_before_and_put_after),
		cmocka_unit_test(grant__to_write__is_always_put),
		cmocka_unit_test(
			grants__inside_each_other__come_outermost_first),
		cmocka_unit_test(
			grant__above_a_private_place__leaves_it_private),
		cmocka_unit_test(
			grant__of_everything_to_write__leaves_the_root_writable),
		cmocka_unit_test(protected__inside_a_writable_grant__is_pinned),
		cmocka_unit_test(
			protected__deep_inside__pins_every_folder_above),
		cmocka_unit_test(protected__in_a_private_place__needs_nothing),
		cmocka_unit_test(links__come_after_what_they_point_to),
		cmocka_unit_test(shut__files__have_a_device_above_them),
		cmocka_unit_test(names__that_only_begin_alike__are_not_beneath),
		cmocka_unit_test(step__in_an_error__is_named_with_its_path),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
