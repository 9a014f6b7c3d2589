#include "core/fan/script.h"

#include <string.h>

#include "core/base/text.h"

#define SLOTS_MAX 1024

/* ---- shards ---- */

void shards_add_range(struct shard_set *s, struct shard_range r,
		      struct arena *arena)
{
	s->range = arena_grow(arena, s->range, s->n, sizeof(*s->range));
	s->range[s->n++] = r;
	s->n_shards += r.to - r.from + 1;
}

void shards_add(struct shard_set *s, uint64_t shard, struct arena *arena)
{
	struct shard_range *last = s->n ? &s->range[s->n - 1] : NULL;

	if (last && last->to == shard)
		return;
	if (!last || last->to + 1 != shard) {
		shards_add_range(s, (struct shard_range){shard, shard}, arena);
		return;
	}
	last->to++;
	s->n_shards++;
}

void shards_print(const struct shard_set *s, uint64_t base, uint64_t n,
		  struct buf *out)
{
	const char *comma = "";

	for (size_t i = 0; i < s->n; i++) {
		uint64_t from = s->range[i].from, to = s->range[i].to;

		if (to < base || from >= base + n)
			continue;
		from = from < base ? base : from;
		to = to >= base + n ? base + n - 1 : to;
		buf_addf(out, "%s%llu", comma,
			 (unsigned long long)(from - base));
		if (to > from)
			buf_addf(out, "-%llu", (unsigned long long)(to - base));
		comma = ",";
	}
}

/* ---- Slurm ---- */

void shard_command(const struct submit_words *w, const char *shard,
		   struct buf *out)
{
	text_add_word(out, w->matins);
	buf_adds(out, " fan exec ");
	text_add_word(out, w->dir);
	buf_addf(out, " --shard %s -j %u", shard, w->jobs);
}

static void add_head(const struct submit_words *w, struct buf *out)
{
	AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf log = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (const char *p = w->dir; *p; p++)
		buf_adds(&path, *p == '%' ? "%%" : (char[2]){*p, 0});
	buf_adds(&path, "/log/%A.out");
	text_add_word(&log, buf_cstr(&path));
	text_add_word(&name, arena_printf(&arena, "matins-%s", w->routine));
	buf_addf(out,
		 "#!/bin/sh\n"
		 "#SBATCH --job-name=%s\n"
		 "#SBATCH --output=%s\n"
		 "#SBATCH --open-mode=append\n"
		 "#SBATCH --requeue\n",
		 buf_cstr(&name), buf_cstr(&log));
}

void slurm_script(const struct submit_words *w, struct str tasks, uint64_t base,
		  struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	add_head(w, out);
	buf_addf(out, "#SBATCH --array=%.*s", STR_ARG(tasks));
	if (w->max)
		buf_addf(out, "%%%u", w->max);
	buf_adds(out, "\n");
	if (w->time)
		buf_addf(out, "#SBATCH --time=%s\n", w->time);
	shard_command(w,
		      arena_printf(&arena, "$((%llu + SLURM_ARRAY_TASK_ID))",
				   (unsigned long long)base),
		      out);
	buf_adds(out, "\n"
		      "status=$?\n"
		      "# 75: to be tried again\n"
		      "if [ $status -eq 75 ] && "
		      "[ \"${SLURM_RESTART_COUNT:-0}\" -lt 5 ]; then\n"
		      "\tscontrol requeue "
		      "\"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\n"
		      "fi\n"
		      "exit $status\n");
}

void slurm_collect_script(const struct submit_words *w, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	add_head(w, out);
	text_add_word(out, w->matins);
	buf_adds(out, " fan collect ");
	text_add_word(out, w->dir);
	buf_adds(out, " -o ");
	text_add_word(out, arena_printf(&arena, "%s/report.json", w->dir));
	buf_adds(out, "\n");
}

/* ---- hosts ---- */

/* The next word of a line; n = 0: there is none. */
static struct str next_word(struct str *line)
{
	struct str word;

	*line = str_trim(*line);
	word.p = line->p;
	for (word.n = 0; word.n < line->n && line->p[word.n] != ' ' &&
			 line->p[word.n] != '\t';)
		word.n++;
	*line = str_skip(*line, word.n);
	return word;
}

static int read_host(struct str line, struct arena *arena, struct fan_host *ret,
		     struct err *err)
{
	struct str name = next_word(&line), slots = next_word(&line);
	struct str matins = str_trim(line);
	uint64_t n = 1;

	*ret = (struct fan_host){
		.name = arena_strndup(arena, name.p, name.n),
		.matins = matins.n ? arena_strndup(arena, matins.p, matins.n)
				   : "matins",
	};
	/* characters that ssh refuses */
	if (name.p[0] == '-' || strpbrk(ret->name, "'`\"$;&<>|(){}"))
		return err_set(err, ERR_CONFIG, "\"%s\" is no host", ret->name);
	if (slots.n && (!str_uint64(slots, &n) || !n || n > SLOTS_MAX))
		return err_set(err, ERR_CONFIG,
			       "\"%.*s\" is no number of slots (1 to %d): "
			       "HOST [SLOTS] [PATH-OF-MATINS]",
			       STR_ARG(slots), SLOTS_MAX);
	ret->slots = (unsigned)n;
	return 0;
}

/* A host that stands there again, as in the list of a batch system, has more
   slots. */
static bool is_again(struct fan_host *host, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(host[i].name, host[n].name) == 0) {
			host[i].slots += host[n].slots;
			return true;
		}
	return false;
}

int hosts_read(struct str text, struct arena *arena, struct fan_host **ret,
	       size_t *ret_n, struct err *err)
{
	uint32_t line = 0;

	*ret = NULL;
	*ret_n = 0;
	while (text.n) {
		struct str rest = str_cut(&text, '\n');
		struct str host = str_trim(str_cut(&rest, '#'));

		line++;
		if (!host.n)
			continue;
		*ret = arena_grow(arena, *ret, *ret_n, sizeof(**ret));
		if (memchr(host.p, '\0', host.n) ||
		    read_host(host, arena, &(*ret)[*ret_n], err) < 0)
			return err_wrap(err, "line %u", line);
		*ret_n += !is_again(*ret, *ret_n);
	}
	return *ret_n ? 0
		      : err_set(err, ERR_CONFIG,
				"there is no host; a line is HOST [SLOTS] "
				"[PATH-OF-MATINS]");
}
