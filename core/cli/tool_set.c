#include "core/cli/tool_set.h"

#include "core/base/mem.h"

struct tool_set *tool_set_new(struct listing *list)
{
	struct tool_set *set = mem_zalloc(sizeof(*set));

	set->list = *list;
	listing_init(list, LISTING_TOOLS);
	set->checks = mem_zalloc((set->list.n + 1) * sizeof(*set->checks));
	for (size_t i = 0; i < set->list.n; i++)
		tool_check_init(&set->checks[i], set->list.item[i].json);
	return set;
}

void tool_set_free(struct tool_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->list.n; i++)
		tool_check_release(&set->checks[i]);
	free(set->checks);
	listing_release(&set->list);
	free(set);
}

struct tool_check *tool_set_find(struct tool_set *set, struct str name)
{
	const struct listing_item *item = listing_find(&set->list, name);

	return item ? &set->checks[item - set->list.item] : NULL;
}

void tool_set_leave(struct tool_set *set, const struct tool_set *now)
{
	if (!--set->users && set != now)
		tool_set_free(set);
}

int tool_set_refresh(struct target *t, struct tool_set **set, struct err *err)
{
	struct tool_set *old = *set;
	struct listing list;
	int r;

	if (!client_list_is_stale(t->client, LISTING_TOOLS))
		return 0;
	r = target_try_list(t, LISTING_TOOLS, &list, err);
	if (r) {
		listing_release(&list);
		return r;
	}
	*set = tool_set_new(&list);
	if (!old->users)
		tool_set_free(old);
	return 0;
}
