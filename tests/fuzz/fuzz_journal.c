/*
 * Journals of lost runs, torn anywhere: what is read of a part is the beginning
 * of what is read of the whole, and is printed as any result.
 */
#include <stdlib.h>

#include "core/report/render.h"
#include "core/run/previous.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static struct report read_all(struct str text, struct arena *arena)
{
	struct report all = {.routine = "r"};

	previous_read_journal(text, arena, &all);
	return all;
}

static struct str print(const struct report *r, struct arena *arena)
{
	const struct render_options o = {.view = VIEW_FULL};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render_find("json")->print(r, &o, &out);
	return arena_str(arena, buf_str(&out));
}

static void torn_is_a_beginning(struct str text, const struct report *all,
				struct arena *arena)
{
	struct report torn = read_all(text, arena);

	expect(torn.n_steps <= all->n_steps);
	for (size_t i = 0; i < torn.n_steps; i++)
		expect(strcmp(torn.steps[i].name, all->steps[i].name) == 0 &&
		       torn.steps[i].state == all->steps[i].state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str text = {(const char *)data, size};
	struct report all = read_all(text, &arena), again;
	size_t lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	expect(all.n_steps <= lines);
	torn_is_a_beginning(str_first(text, size / 2), &all, &arena);
	torn_is_a_beginning(str_first(text, size ? size - 1 : 0), &all, &arena);
	if (!all.n_steps)
		return 0;
	expect(report_load(print(&all, &arena), &arena, &again, ERR_IGNORED) ==
	       0);
	expect(again.n_steps == all.n_steps);
	for (size_t i = 0; i < all.n_steps; i++)
		expect(previous_step(&all, str_of(all.steps[i].name)) != NULL);
	return 0;
}
