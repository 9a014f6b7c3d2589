#include "core/server/brief.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "core/base/fd.h"
#include "core/base/limits.h"

/* from linux/magic.h: file systems in memory */
#define TMPFS 0x01021994
#define RAMFS 0x858458f6

/* CPUs that the mask has room for: the kernel's NR_CPUS goes to 8192. */
#define CPUS_MAX 8192

const struct field brief_host_input[] = {
	{0, FIELD_STRINGS, false, LIMIT_BRIEF_PATHS, "paths",
	 "Paths whose file systems are shown; default: / and the home folder "
	 "where that is a disk of its own."},
	FIELD_END,
};

const struct field brief_host_output[] = {
	{0, FIELD_STRING, false, 0, "hostname", "Name of the machine."},
	{0, FIELD_STRING, false, 0, "kernel", "Name, release, architecture."},
	{0, FIELD_INTEGER, false, 0, "uptime_seconds", "Time since boot."},
	{0, FIELD_INTEGER, false, 0, "cpus", "CPUs that may be used."},
	{0, FIELD_OBJECT, false, 0, "load", "Load averages."},
	{1, FIELD_NUMBER, true, 0, "one", "Over one minute."},
	{1, FIELD_NUMBER, true, 0, "five", "Over five minutes."},
	{1, FIELD_NUMBER, true, 0, "fifteen", "Over fifteen minutes."},
	{0, FIELD_OBJECT, false, 0, "memory", "Main memory."},
	{1, FIELD_INTEGER, true, 0, "total_bytes", "All of it."},
	{1, FIELD_INTEGER, true, 0, "available_bytes",
	 "What programs can still get without swapping."},
	{0, FIELD_OBJECT, false, 0, "swap", "Swap space."},
	{1, FIELD_INTEGER, true, 0, "total_bytes", "All of it; 0: none."},
	{1, FIELD_INTEGER, true, 0, "free_bytes", "What is unused."},
	{0, FIELD_OBJECTS, true, 0, "disks",
	 "File systems, in the order asked."},
	{1, FIELD_STRING, true, 0, "path", "A path on it."},
	{1, FIELD_INTEGER, true, 0, "size_bytes", "All of it."},
	{1, FIELD_INTEGER, true, 0, "free_bytes",
	 "What an ordinary user can still write."},
	{1, FIELD_INTEGER, true, 0, "used_percent",
	 "Used part of what an ordinary user can use, rounded up."},
	{0, FIELD_STRINGS, true, 0, "notes",
	 "What could not be seen, and why."},
	FIELD_END,
};

/* One call: the two outputs grow side by side. */
struct host {
	const struct tool_env *env;
	struct tool_result *ret;
	struct jw jw;	  /* into the structured result */
	struct buf *text; /* for people */
	struct brief_notes notes;
};

static void note(struct host *h, const char *what)
{
	jw_cstr(&h->notes.jw, what);
	buf_addf(&h->notes.text, "\n(%s)", what);
}

/* A small file of /proc, whole. */
static bool read_proc(const struct host *h, const char *name, struct buf *out)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	buf_addf(&path, "%s/%s", h->env->proc, name);
	return fd_read_file(buf_cstr(&path), out, &err) == 0;
}

static void add_name(struct host *h)
{
	AUTO(buf_release) struct buf kernel = BUF_INIT(BUF_UNBOUNDED);
	struct utsname u;

	if (uname(&u) < 0) {
		note(h, "host name and kernel are not visible");
		return;
	}
	buf_addf(&kernel, "%s %s %s", u.sysname, u.release, u.machine);
	jw_kv_cstr(&h->jw, "hostname", u.nodename);
	jw_kv_str(&h->jw, "kernel", buf_str(&kernel));
	buf_addf(h->text, "%s, %s", u.nodename, buf_cstr(&kernel));
}

static void tell_uptime(uint64_t seconds, struct buf *text)
{
	uint64_t minutes = seconds / 60, hours = minutes / 60;

	buf_addf(text, "%sup ", text->n ? ", " : "");
	if (hours >= 48)
		buf_addf(text, "%llu days %llu h",
			 (unsigned long long)hours / 24,
			 (unsigned long long)hours % 24);
	else if (hours)
		buf_addf(text, "%llu h %llu min", (unsigned long long)hours,
			 (unsigned long long)minutes % 60);
	else
		buf_addf(text, "%llu min", (unsigned long long)minutes);
}

static void add_uptime(struct host *h)
{
	AUTO(buf_release) struct buf in = BUF_INIT(4096);
	bool is_read = read_proc(h, "uptime", &in);
	struct str rest = buf_str(&in);
	uint64_t s;

	/* 2^53: the integers that every reader of JSON takes */
	if (!is_read || !str_uint64(str_cut(&rest, '.'), &s) || s >> 53) {
		note(h, "the uptime is not visible");
		return;
	}
	jw_kv_int(&h->jw, "uptime_seconds", (int64_t)s);
	tell_uptime(s, h->text);
}

/* "0.42": digits, a dot, digits; so it is JSON as it stands. */
static bool is_decimal(struct str s)
{
	struct str whole = str_cut(&s, '.');
	uint64_t v;

	return str_uint64(whole, &v) && str_uint64(s, &v) &&
	       (whole.n == 1 || whole.p[0] != '0');
}

static int32_t count_cpus(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int32_t n = 0;

	if (!set)
		return 0;
	if (sched_getaffinity(0, size, set) == 0)
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n;
}

/* The three averages; false: they are not visible. */
static bool read_load(const struct host *h, struct buf *in, struct str part[3])
{
	struct str rest;

	if (!read_proc(h, "loadavg", in))
		return false;
	rest = buf_str(in);
	for (size_t i = 0; i < 3; i++) {
		part[i] = str_cut(&rest, ' ');
		if (!is_decimal(part[i]))
			return false;
	}
	return true;
}

static void add_load(struct host *h)
{
	static const char *const names[] = {"one", "five", "fifteen"};
	AUTO(buf_release) struct buf in = BUF_INIT(4096);
	int32_t cpus = count_cpus();
	struct str part[ARRAY_LEN(names)];

	if (cpus > 0)
		jw_kv_int(&h->jw, "cpus", cpus);
	else
		note(h, "the number of CPUs is not visible");
	if (!read_load(h, &in, part)) {
		note(h, "the load is not visible");
		return;
	}
	jw_kv_object(&h->jw, "load");
	buf_addf(h->text, "%sload", h->text->n ? "\n" : "");
	for (size_t i = 0; i < ARRAY_LEN(part); i++) {
		jw_kv_raw(&h->jw, names[i], part[i]);
		buf_addf(h->text, " %.*s", STR_ARG(part[i]));
	}
	jw_end(&h->jw);
	if (cpus > 0)
		buf_addf(h->text, " on %d CPU%s", cpus, cpus == 1 ? "" : "s");
}

void brief_size(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
	size_t unit = 0;
	uint64_t tenths;

	while (unit + 1 < ARRAY_LEN(units) && bytes >> (10 * (unit + 2)))
		unit++;
	tenths = (bytes >> (10 * unit)) * 10 / 1024;
	buf_addf(out, "%llu.%llu %s", (unsigned long long)(tenths / 10),
		 (unsigned long long)(tenths % 10), units[unit]);
}

static void add_sizes(struct buf *out, uint64_t part, uint64_t all)
{
	brief_size(out, part);
	buf_adds(out, " of ");
	brief_size(out, all);
}

/* "Name:   1234 kB" of meminfo, in bytes. */
static bool find_size(struct str text, const char *name, uint64_t *ret_bytes)
{
	while (text.n) {
		struct str line = str_cut(&text, '\n');
		struct str key = str_cut(&line, ':');
		uint64_t kib;

		if (!str_is(key, name))
			continue;
		line = str_trim(line);
		if (!str_uint64(str_cut(&line, ' '), &kib) || kib >> 53)
			return false;
		*ret_bytes = kib * 1024;
		return true;
	}
	return false;
}

/* Memory or swap: all of it, and the part that is left. */
static void add_pair(struct host *h, struct str meminfo, const char *key,
		     const char *const names[2], const char *left_key,
		     const char *left_word)
{
	AUTO(buf_release) struct buf lacks = BUF_INIT(BUF_UNBOUNDED);
	uint64_t total, left;

	if (!find_size(meminfo, names[0], &total) ||
	    !find_size(meminfo, names[1], &left)) {
		buf_addf(&lacks, "%s is not visible", key);
		note(h, buf_cstr(&lacks));
		return;
	}
	jw_kv_object(&h->jw, key);
	jw_kv_int(&h->jw, "total_bytes", (int64_t)total);
	jw_kv_int(&h->jw, left_key, (int64_t)left);
	jw_end(&h->jw);
	buf_addf(h->text, "%s%s ", h->text->n ? "\n" : "", key);
	if (!total) {
		buf_adds(h->text, "none");
		return;
	}
	add_sizes(h->text, left, total);
	buf_addf(h->text, " %s", left_word);
}

static void add_memory(struct host *h)
{
	static const char *const memory[] = {"MemTotal", "MemAvailable"};
	static const char *const swap[] = {"SwapTotal", "SwapFree"};
	AUTO(buf_release) struct buf in = BUF_INIT(65536);

	if (!read_proc(h, "meminfo", &in)) {
		note(h, "memory and swap are not visible");
		return;
	}
	add_pair(h, buf_str(&in), "memory", memory, "available_bytes",
		 "available");
	add_pair(h, buf_str(&in), "swap", swap, "free_bytes", "free");
}

/* As df(1) has it: of what is not reserved for root, rounded up. */
static uint64_t used_percent(const struct statvfs *v)
{
	uint64_t used = v->f_blocks - v->f_bfree;
	uint64_t usable = used + v->f_bavail;

	if (!usable)
		return 0;
	if (used > UINT64_MAX / 100)
		return used / (usable / 100 + 1);
	return (used * 100 + usable - 1) / usable;
}

static void add_disk(struct host *h, const char *shown, const char *path)
{
	struct statvfs v;

	if (statvfs(path, &v) < 0) {
		AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);

		buf_addf(&why, "%s: no file system is visible there", shown);
		note(h, buf_cstr(&why));
		/* asked for by name, or "/" */
		h->ret->is_error = true;
		return;
	}
	jw_object(&h->jw);
	jw_kv_cstr(&h->jw, "path", shown);
	jw_kv_int(&h->jw, "size_bytes", (int64_t)(v.f_blocks * v.f_frsize));
	jw_kv_int(&h->jw, "free_bytes", (int64_t)(v.f_bavail * v.f_frsize));
	jw_kv_int(&h->jw, "used_percent", (int64_t)used_percent(&v));
	jw_end(&h->jw);
	buf_addf(h->text, "%sdisk %s: ", h->text->n ? "\n" : "", shown);
	add_sizes(h->text, v.f_bavail * v.f_frsize, v.f_blocks * v.f_frsize);
	buf_addf(h->text, " free (%llu %% used)",
		 (unsigned long long)used_percent(&v));
}

/*
 * Is this a disk beside the one of "/"? In the sandbox the home is a private
 * file system in memory, whose size tells nobody anything.
 */
static bool is_disk_of_its_own(const char *path)
{
	struct stat root, st;
	struct statfs fs;

	if (stat("/", &root) < 0 || stat(path, &st) < 0 ||
	    root.st_dev == st.st_dev || statfs(path, &fs) < 0)
		return false;
	return (unsigned long)fs.f_type != TMPFS &&
	       (unsigned long)fs.f_type != RAMFS;
}

static void add_disks(struct host *h, struct strlist paths, struct arena *arena)
{
	jw_kv_array(&h->jw, "disks");
	for (size_t i = 0; i < paths.n; i++)
		add_disk(h, paths.item[i],
			 brief_expand(paths.item[i], h->env, arena));
	if (!paths.n) {
		add_disk(h, "/", "/");
		if (h->env->home && is_disk_of_its_own(h->env->home))
			add_disk(h, h->env->home, h->env->home);
	}
	jw_end(&h->jw);
}

void brief_host(struct str args, const struct tool_env *env,
		struct arena *arena, struct tool_result *ret)
{
	struct host h = {.env = env, .ret = ret, .text = &ret->text};

	brief_notes_begin(&h.notes);
	jw_init(&h.jw, &ret->structured, false);
	jw_object(&h.jw);
	add_name(&h);
	add_uptime(&h);
	add_load(&h);
	add_memory(&h);
	add_disks(&h, fields_strings(args, "paths", arena), arena);
	brief_notes_end(&h.notes, "notes", &h.jw);
	jw_end(&h.jw);
	buf_add_str(h.text, buf_str(&h.notes.text));
	brief_notes_release(&h.notes);
}
