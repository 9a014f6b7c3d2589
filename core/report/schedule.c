#include "core/report/schedule.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/jdoc.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"

#define SCHEMA "matins-schedule/1"
#define SCHEDULE_BYTES (64 * 1024)

/* ---- kept in the state directory ---- */

void schedule_id(const char *file, const char *routine,
		 char out[SCHEDULE_ID_BYTES])
{
	AUTO(mem_freep) char *both = mem_printf("%s/%s", file, routine);
	char hex[SHA256_HEX_BYTES];

	sha256_hex(str_of(both), hex);
	memcpy(out, hex, SCHEDULE_ID_BYTES - 1);
	out[SCHEDULE_ID_BYTES - 1] = '\0';
}

int schedule_keep(const char *state_dir, const struct schedule *s,
		  struct err *err)
{
	AUTO(mem_freep) char *folder = mem_printf("%s/schedules", state_dir);
	AUTO(mem_freep) char *path = mem_printf("%s/%s", folder, s->id);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&out);

	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_cstr(&w, "routine", s->routine);
	jw_kv_cstr(&w, "file", s->file);
	jw_kv_cstr(&w, "at", s->at);
	jw_kv_opt(&w, "unit", s->unit);
	jw_kv_int(&w, "jitter_ms", (int64_t)s->jitter_ms);
	jw_kv_bool(&w, "catches_up", s->catches_up);
	jw_kv_int(&w, "added_ns", s->added_ns);
	jw_kv_opt(&w, "sum", s->sum);
	jw_end(&w);
	if (fd_mkdirs(folder, 0700) < 0)
		return err_sys(err, errno, "%s", folder);
	return fd_replace_file(path, buf_str(&out), 0600, true, err);
}

int schedule_forget(const char *state_dir, const char *id, struct err *err)
{
	AUTO(mem_freep)
	char *path = mem_printf("%s/schedules/%s", state_dir, id);

	if (unlink(path) < 0 && errno != ENOENT)
		return err_sys(err, errno, "%s", path);
	return 0;
}

static bool read_one(const char *folder, const char *id, struct arena *arena,
		     struct schedule *ret)
{
	const char *path = arena_printf(arena, "%s/%s", folder, id);
	struct buf text = BUF_INIT(SCHEDULE_BYTES);
	struct jdoc *doc = NULL, *number;
	int64_t jitter;
	bool is_one;

	is_one = fd_read_regular(path, &text, ERR_IGNORED) == 0 &&
		 jdoc_parse(buf_str(&text), arena, &doc, ERR_IGNORED) == 0 &&
		 jdoc_is(jdoc_get(doc, "schema"), SCHEMA);
	*ret = (struct schedule){
		.id = arena_strdup(arena, id),
		.routine = jdoc_text(jdoc_get(doc, "routine"), arena),
		.file = jdoc_text(jdoc_get(doc, "file"), arena),
		.at = jdoc_text(jdoc_get(doc, "at"), arena),
		.unit = jdoc_text(jdoc_get(doc, "unit"), arena),
		.sum = jdoc_text(jdoc_get(doc, "sum"), arena),
	};
	number = jdoc_get(doc, "catches_up");
	ret->catches_up = number && number->type == SCAN_TRUE;
	number = jdoc_get(doc, "added_ns");
	is_one = is_one && ret->routine && ret->file && ret->at && number &&
		 scan_int64(number->raw, &ret->added_ns);
	number = jdoc_get(doc, "jitter_ms");
	if (is_one && number && scan_int64(number->raw, &jitter) && jitter > 0)
		ret->jitter_ms = (uint64_t)jitter;
	buf_release(&text);
	if (!is_one)
		log_warning("%s is no schedule: remove it, and add the routine "
			    "anew",
			    path);
	return is_one;
}

static int by_routine(const void *a, const void *b)
{
	const struct schedule *x = a, *y = b;
	int r = strcmp(x->routine, y->routine);

	return r ? r : strcmp(x->file, y->file);
}

void schedule_read(const char *state_dir, struct arena *arena,
		   struct schedule **ret, size_t *ret_n)
{
	const char *folder =
		arena_printf(arena, "%s/schedules", state_dir ? state_dir : "");
	AUTO(dir_closep) DIR *dir = state_dir ? opendir(folder) : NULL;
	struct dirent *e;

	*ret = NULL;
	*ret_n = 0;
	while (dir && (e = readdir(dir))) {
		/* not "." nor a temporary file */
		if (strlen(e->d_name) != SCHEDULE_ID_BYTES - 1)
			continue;
		*ret = arena_grow(arena, *ret, *ret_n, sizeof(**ret));
		if (read_one(folder, e->d_name, arena, &(*ret)[*ret_n]))
			(*ret_n)++;
	}
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), by_routine);
}

const struct schedule *schedule_of(const struct schedule *s, size_t n,
				   const char *file, const char *routine)
{
	char id[SCHEDULE_ID_BYTES];

	schedule_id(file, routine, id);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].id, id))
			return &s[i];
	return NULL;
}

/* ---- times ---- */

/* How far ahead of UTC the clock of the zone in TZ is. */
static int64_t clock_of_zone(int64_t at)
{
	const time_t t = at;
	struct tm tm = {0};

	return localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
}

/* Let TZ be the zone of an expression, or the machine's own, whatever the
   session says; returns its value of before, for leave_zone(). */
static char *enter_zone(const char *zone)
{
	const char *tz = getenv("TZ");
	char *saved = tz ? mem_strdup(tz) : NULL;
	AUTO(mem_freep) char *named = mem_printf(":%s", zone);

	if (*zone)
		setenv("TZ", named, 1);
	else
		unsetenv("TZ");
	tzset();
	return saved;
}

static void leave_zone(char *saved)
{
	if (saved)
		setenv("TZ", saved, 1);
	else
		unsetenv("TZ");
	tzset();
	free(saved);
}

bool schedule_has_zone(const char *zone)
{
	AUTO(mem_freep)
	char *path = mem_printf("/usr/share/zoneinfo/%s", zone);

	return !strcmp(zone, "UTC") || !*zone || access(path, F_OK) == 0;
}

/* Times that a slot may come late, beyond its jitter: of a busy machine, and of
   cron that looks hourly for what was missed. */
#define LATE_S 600
#define CATCH_UP_S 3600

void schedule_times(const struct schedule *s, int64_t now_ns,
		    struct schedule_times *ret)
{
	const int64_t late_s = LATE_S + (s->catches_up ? CATCH_UP_S : 0) +
			       (int64_t)(s->jitter_ms / 1000);
	const int64_t now = now_ns / (int64_t)NS_PER_S;
	const int64_t added = s->added_ns / (int64_t)NS_PER_S;
	struct calendar c;
	struct slot slot;
	char *tz;

	*ret = (struct schedule_times){.last = ""};
	if (calendar_parse(str_of(s->at), &c, ERR_IGNORED) < 0)
		return;
	tz = enter_zone(c.zone);
	if (slot_last(&c, clock_of_zone, now, &slot) && slot.at > added)
		slot_format(&slot, ret->last);
	if (slot_last(&c, clock_of_zone, now - late_s, &slot) &&
	    slot.at > added)
		slot_format(&slot, ret->due);
	if (slot_next(&c, clock_of_zone, now, &slot)) {
		slot_format(&slot, ret->next);
		ret->next_ns = slot.at * (int64_t)NS_PER_S;
	}
	leave_zone(tz);
	ret->due_ns = schedule_slot_ns(s, ret->due);
}

int64_t schedule_slot_ns(const struct schedule *s, const char *slot)
{
	struct calendar c;
	struct slot found;
	bool is_slot;
	char *tz;

	if (!*slot || calendar_parse(str_of(s->at), &c, ERR_IGNORED) < 0)
		return 0;
	tz = enter_zone(c.zone);
	is_slot = slot_parse(str_of(slot), clock_of_zone, &found);
	leave_zone(tz);
	return is_slot ? found.at * (int64_t)NS_PER_S : 0;
}

void schedule_clock(int64_t ns, char ret[SLOT_BYTES])
{
	const int64_t at = ns / (int64_t)NS_PER_S / 60 * 60;
	char *tz = enter_zone("");
	const struct slot slot = {.at = at, .wall = at + clock_of_zone(at)};

	slot_format(&slot, ret);
	leave_zone(tz);
}

void schedule_first(const struct schedule *s, const char *behind,
		    char ret[SLOT_BYTES])
{
	int64_t from = s->added_ns / (int64_t)NS_PER_S;
	struct calendar c;
	struct slot slot;
	char *tz;

	*ret = '\0';
	if (calendar_parse(str_of(s->at), &c, ERR_IGNORED) < 0)
		return;
	tz = enter_zone(c.zone);
	if (slot_parse(str_of(behind), clock_of_zone, &slot) && slot.at > from)
		from = slot.at;
	if (slot_next(&c, clock_of_zone, from, &slot))
		slot_format(&slot, ret);
	leave_zone(tz);
}

/* A run is told apart from earlier ones by its time of UTC, and a clock may
   have been wrong by some. */
#define SLACK_S (2 * 86400)

int schedule_slot(const char *word, const struct schedule *of, int64_t now_ns,
		  char ret[SLOT_BYTES], int64_t *ret_since_ns, struct err *err)
{
	const int64_t now = now_ns / (int64_t)NS_PER_S;
	struct calendar c = {.from_end = false};
	struct slot slot;
	char *tz = enter_zone("");
	const bool is_time = slot_parse(str_of(word), clock_of_zone, &slot);
	bool has_come = is_time && slot.at <= now;

	leave_zone(tz);
	if (!is_time && calendar_parse(str_of(word), &c, err) < 0)
		return err_wrap(err, "--slot takes a time such as "
				     "2026-11-22T07:00, or an expression");
	if (!schedule_has_zone(c.zone))
		return err_set(err, ERR_USAGE,
			       "--slot %s: no zone %s is known here; install "
			       "tzdata",
			       word, c.zone);
	if (!is_time) {
		tz = enter_zone(c.zone);
		has_come = slot_last(&c, clock_of_zone, now, &slot);
		leave_zone(tz);
	}
	if (!has_come)
		return err_set(err, ERR_USAGE,
			       "--slot %s: that time has not come", word);
	slot_format(&slot, ret);
	*ret_since_ns = (slot.at - SLACK_S) * (int64_t)NS_PER_S;
	return !is_time && of && slot.at <= of->added_ns / (int64_t)NS_PER_S;
}
