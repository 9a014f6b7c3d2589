#include "gate/path/mounts.h"

#include "core/base/fd.h"

struct str mounts_first(void)
{
	static struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored;

	if (!text.n &&
	    fd_read_file("/proc/self/mountinfo", &text, &ignored) < 0)
		return (struct str){NULL, 0};
	return buf_str(&text);
}

/* The n-th field from here, 1 the next one. */
static struct str field(struct str *rest, int n)
{
	struct str s = {NULL, 0};

	while (n-- > 0)
		s = str_cut(rest, ' ');
	return s;
}

/* 36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw */
static bool read_row(struct str line, struct mount *ret)
{
	ret->root = field(&line, 4);
	ret->point = field(&line, 1);
	while (line.n)
		if (str_is(field(&line, 1), "-"))
			break;
	ret->type = field(&line, 1);
	ret->options = field(&line, 2);
	return ret->type.n && ret->point.n && ret->point.p[0] == '/';
}

bool mounts_next(struct str *text, struct mount *ret)
{
	while (text->n)
		if (read_row(str_cut(text, '\n'), ret))
			return true;
	return false;
}

static bool is_octal(struct str s)
{
	for (size_t i = 0; i < 3; i++)
		if (i >= s.n || s.p[i] < '0' || s.p[i] > '7')
			return false;
	return s.p[0] <= '3';
}

struct str mounts_path(struct str field, struct arena *arena)
{
	char *out = arena_alloc(arena, field.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < field.n; i++) {
		struct str code = {field.p + i + 1, field.n - i - 1};

		if (field.p[i] != '\\' || !is_octal(code)) {
			out[n++] = field.p[i];
			continue;
		}
		out[n++] = (char)((code.p[0] - '0') * 64 +
				  (code.p[1] - '0') * 8 + (code.p[2] - '0'));
		i += 3;
	}
	out[n] = '\0';
	return (struct str){out, n};
}
