#include "gate/build/landlock.h"

#include <errno.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"

/* Flags of kernel_landlock_create() that ask instead of making. */
#define ASK_VERSION (1U << 0)
#define ASK_ERRATA (1U << 1)

/* ABIs at which the attribute grew; include/uapi/linux/landlock.h. */
#define ABI_NET 4
#define ABI_SCOPE 6

/* Rights of a file that is not a directory: ACCESS_FILE of
   security/landlock/fs.c. The kernel refuses a rule with any other. */
#define FILE_RIGHTS                                                         \
	(UINT64_C(0) | LL_FS_EXECUTE | LL_FS_WRITE_FILE | LL_FS_READ_FILE | \
	 LL_FS_TRUNCATE | LL_FS_IOCTL_DEV | LL_FS_RESOLVE_UNIX)

enum kind { KIND_FS, KIND_NET, KIND_SCOPE };

struct right {
	enum kind kind;
	uint64_t bit;
	int abi;
	const char *help;
};

static const struct right RIGHTS[] = {
#define LANDLOCK_FS(name, bit, abi, help) \
	{KIND_FS, UINT64_C(1) << (bit), abi, help},
#define LANDLOCK_NET(name, bit, abi, help) \
	{KIND_NET, UINT64_C(1) << (bit), abi, help},
#define LANDLOCK_SCOPE(name, bit, abi, help) \
	{KIND_SCOPE, UINT64_C(1) << (bit), abi, help},
#include "gate/build/landlock.def"
};

static uint64_t rights_of(enum kind kind, int abi)
{
	uint64_t all = 0;

	for (size_t i = 0; i < ARRAY_LEN(RIGHTS); i++)
		if (RIGHTS[i].kind == kind && RIGHTS[i].abi <= abi)
			all |= RIGHTS[i].bit;
	return all;
}

int landlock_abi(void)
{
	int abi = kernel_landlock_create(NULL, 0, ASK_VERSION);

	return abi < 0 ? 0 : abi;
}

uint32_t landlock_errata(void)
{
	int bits = kernel_landlock_create(NULL, 0, ASK_ERRATA);

	return bits < 0 ? 0 : (uint32_t)bits;
}

void landlock_missing(int abi, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(RIGHTS); i++) {
		if (RIGHTS[i].abi <= abi)
			continue;
		buf_addf(out, "%s%s (ABI %d)", any ? "; " : "", RIGHTS[i].help,
			 RIGHTS[i].abi);
		any = true;
	}
}

void landlock_rules_init(struct landlock_rules *r, int abi)
{
	*r = (struct landlock_rules){
		.abi = abi,
		.handled =
			{
				.fs = rights_of(KIND_FS, abi),
				.net = rights_of(KIND_NET, abi),
				.scope = rights_of(KIND_SCOPE, abi),
			},
	};
	r->attr_bytes = sizeof(uint64_t) * (abi >= ABI_SCOPE ? 3
					    : abi >= ABI_NET ? 2
							     : 1);
}

void landlock_rules_release(struct landlock_rules *r)
{
	free(r->rule);
	r->rule = NULL;
	r->n = r->cap = 0;
}

void landlock_rules_net_open(struct landlock_rules *r)
{
	r->handled.net = 0;
}

uint64_t landlock_access(const struct landlock_rules *r, uint64_t access,
			 bool is_dir)
{
	access &= r->handled.fs;
	return is_dir ? access : access & FILE_RIGHTS;
}

static void add_rule(struct landlock_rules *r, struct landlock_rule rule)
{
	r->rule = mem_grow(r->rule, r->n + 1, &r->cap, sizeof(*r->rule));
	r->rule[r->n++] = rule;
}

void landlock_add_known(struct landlock_rules *r, int o_path_fd, bool is_dir,
			uint64_t access)
{
	struct landlock_rule rule = {
		.fd = o_path_fd,
		.access = landlock_access(r, access, is_dir),
	};

	if (rule.access) /* the kernel refuses a rule that grants nothing */
		add_rule(r, rule);
}

int landlock_add_path(struct landlock_rules *r, int o_path_fd, uint64_t access,
		      struct err *err)
{
	struct stat st;

	if (fstat(o_path_fd, &st) < 0)
		return err_sys(err, errno, "Landlock: descriptor %d",
			       o_path_fd);
	landlock_add_known(r, o_path_fd, S_ISDIR(st.st_mode), access);
	return 0;
}

void landlock_add_port(struct landlock_rules *r, uint16_t port, uint64_t access)
{
	struct landlock_rule rule = {
		.is_port = true,
		.fd = -1,
		.port = port,
		.access = access & r->handled.net,
	};

	if (rule.access)
		add_rule(r, rule);
}

int landlock_create(const struct landlock_rules *r, int *ret_fd,
		    struct err *err)
{
	AUTO(fd_closep)
	int fd = kernel_landlock_create(&r->handled, r->attr_bytes, 0);

	if (fd < 0)
		return err_sys(err, errno, "Landlock: ruleset (ABI %d)",
			       r->abi);
	for (size_t i = 0; i < r->n; i++) {
		const struct landlock_rule *rule = &r->rule[i];
		struct landlock_path_attr path = {rule->access, rule->fd};
		struct landlock_port_attr port = {rule->access, rule->port};

		if ((rule->is_port
			     ? kernel_landlock_add_rule(
				       fd, LANDLOCK_RULE_TYPE_PORT, &port)
			     : kernel_landlock_add_rule(
				       fd, LANDLOCK_RULE_TYPE_PATH, &path)) < 0)
			return err_sys(err, errno,
				       "Landlock: rule %zu, rights %#llx", i,
				       (unsigned long long)rule->access);
	}
	*ret_fd = fd_steal(&fd);
	return 0;
}
