#include "core/client/tail.h"

void tail_init(struct tail *t, size_t max)
{
	*t = (struct tail){.kept = BUF_INIT(BUF_UNBOUNDED), .max = max};
}

void tail_add(struct tail *t, struct str bytes)
{
	t->total += bytes.n;
	if (bytes.n > t->max)
		bytes = (struct str){bytes.p + bytes.n - t->max, t->max};
	buf_add_str(&t->kept, bytes);
	if (t->kept.n > 2 * t->max)
		buf_drop(&t->kept, t->kept.n - t->max);
}

struct str tail_str(const struct tail *t)
{
	struct str s = buf_str(&t->kept);

	if (s.n > t->max)
		s = (struct str){s.p + s.n - t->max, t->max};
	return s;
}

void tail_release(struct tail *t)
{
	buf_release(&t->kept);
}
