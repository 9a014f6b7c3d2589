#include "gate/policy/hit.h"

#include <signal.h>

/*
 * The limit counts whole ticks, rusage what was really used of them: on busy
 * processors that was a fifth less.
 */
#define CPU_SHARE 2

PRINTF(3, 4)
static void add(struct strlist *hits, struct arena *arena, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	list_add(hits, arena, arena_vprintf(arena, fmt, args));
	va_end(args);
}

struct strlist hits_find(const struct gate_policy *b, const struct hit_end *end,
			 struct arena *arena)
{
	/* SIGKILL says little by itself: the time must fit, and nothing else */
	bool used_up = end->signal == SIGXCPU ||
		       (end->signal == SIGKILL && !end->ended_by_us &&
			!end->oom_kills);
	char size[STR_SIZE_BYTES];
	struct strlist hits = {NULL, 0};

	if (b->memory_bytes && end->oom_kills)
		add(&hits, arena,
		    "memory: the tree wanted more than %s, %llu process%s "
		    "killed; raise sandbox.memory (--memory)",
		    str_size_text(b->memory_bytes, size),
		    (unsigned long long)end->oom_kills,
		    end->oom_kills == 1 ? " was" : "es were");
	if (b->processes && end->forks_refused)
		add(&hits, arena,
		    "processes: the tree wanted more than %llu, %llu start%s "
		    "refused; raise sandbox.processes (--processes)",
		    (unsigned long long)b->processes,
		    (unsigned long long)end->forks_refused,
		    end->forks_refused == 1 ? " was" : "s were");
	if (b->cpu_seconds && used_up &&
	    end->cpu_us * CPU_SHARE >= b->cpu_seconds * 1000000)
		add(&hits, arena,
		    "cpu: the program used up %llus of processor time; raise "
		    "sandbox.cpu (--cpu)",
		    (unsigned long long)b->cpu_seconds);
	if (b->file_size_bytes && end->signal == SIGXFSZ)
		add(&hits, arena,
		    "file_size: the program wrote a file beyond %s; raise "
		    "sandbox.file_size (--file-size)",
		    str_size_text(b->file_size_bytes, size));
	return hits;
}
