#include "core/base/user.h"

#include <unistd.h>

#include "core/base/fd.h"

static bool read_number(struct str text, uint32_t *ret)
{
	uint64_t n;

	if (!str_uint64(text, &n) || n > UINT32_MAX)
		return false;
	*ret = (uint32_t)n;
	return true;
}

/* Read "name:password:uid:gid:comment:home:shell". */
static bool read_entry(struct str line, struct user *ret)
{
	struct str field[7];

	for (size_t i = 0; i < ARRAY_LEN(field); i++) {
		if (!line.p)
			return false;
		field[i] = str_cut(&line, ':');
	}
	ret->name = field[0];
	ret->home = field[5];
	return ret->name.n && read_number(field[2], &ret->uid) &&
	       read_number(field[3], &ret->gid);
}

uid_t user_self(void)
{
	static uid_t self = (uid_t)-1;

	if (self == (uid_t)-1)
		self = geteuid();
	return self;
}

gid_t user_self_group(void)
{
	static gid_t self = (gid_t)-1;

	if (self == (gid_t)-1)
		self = getegid();
	return self;
}

bool user_find_in(struct str table, const char *name, uid_t uid,
		  struct user *ret)
{
	while (table.n) {
		struct str line = str_cut(&table, '\n');

		if (read_entry(line, ret) &&
		    (name ? str_is(ret->name, name) : ret->uid == uid))
			return true;
	}
	return false;
}

bool user_find(const char *name, uid_t uid, struct user *ret)
{
	static struct buf table = BUF_INIT(BUF_UNBOUNDED);
	static bool is_read;

	/* half a file is better than none */
	if (!is_read)
		(void)!fd_read_regular("/etc/passwd", &table, ERR_IGNORED);
	is_read = true;
	return user_find_in(buf_str(&table), name, uid, ret);
}
