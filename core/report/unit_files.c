#include "core/report/unit_files.h"

#include "core/base/text.h"
#include "core/report/crontab.h"

static bool is_unit_char(char c)
{
	return text_is_alnum(c) || (c && strchr(".-_", c));
}

const char *unit_files_stem(const struct schedule *s, struct arena *arena)
{
	char *stem = arena_printf(arena, "matins-%s-%.8s", s->routine, s->id);

	for (char *p = stem; *p; p++)
		if (!is_unit_char(*p))
			*p = '_';
	return stem;
}

const char *unit_file_name(const struct schedule *s, enum unit_file which,
			   struct arena *arena)
{
	return arena_printf(arena, "%s.%s", s->unit,
			    which == UNIT_TIMER ? "timer" : "service");
}

bool unit_file_is_of(struct str text, const char *id)
{
	const struct str line = str_cut(&text, '\n');

	return str_starts(line, SCHEDULE_MARK) &&
	       str_is(str_skip(line, strlen(SCHEDULE_MARK)), id);
}

/* A name of a unit, as systemd.unit(5) has it. */
static bool is_unit_name(const char *name)
{
	static const char suffixes[] = "service socket target device mount "
				       "automount swap timer path slice scope";
	const char *dot = strrchr(name, '.');

	for (const char *p = name; *p; p++)
		if (!is_unit_char(*p) && !strchr(":\\@", *p))
			return false;
	return dot && dot != name && str_has_word(suffixes, str_of(dot + 1));
}

/* A word: no specifier, no variable. is_exec: of ExecStart= */
static void add_word(struct buf *out, const char *word, bool is_exec)
{
	buf_addc(out, '"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			buf_addc(out, '\\');
		else if (*word == '%' || (*word == '$' && is_exec))
			buf_addc(out, *word);
		buf_addc(out, *word);
	}
	buf_addc(out, '"');
}

/* A value within a line: no specifier. */
static void add_text(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_addf(out, "%s%c", *text == '%' ? "%" : "", *text);
}

/* A line that is not UTF-8 is passed over by systemd, a blank at its end is
   cut off, and a backslash there goes on with the next line. */
static int check_service(const struct schedule_job *j, struct err *err)
{
	const struct str folder = str_of(j->folder);
	bool is_utf8 = str_is_utf8(folder);

	for (size_t i = 0; i < j->words.n; i++)
		is_utf8 &= str_is_utf8(str_of(j->words.item[i]));
	for (size_t i = 0; i < j->env.n; i++)
		is_utf8 &= str_is_utf8(str_of(j->env.item[i]));
	if (!is_utf8)
		return err_set(err, ERR_USAGE,
			       "a folder, variable or word of the command is "
			       "not UTF-8, which systemd cannot read: rename "
			       "it, or use --with cron");
	if (str_ends(folder, "\\") || str_ends(folder, " "))
		return err_set(err, ERR_USAGE,
			       "a unit cannot start in \"%s\", which ends in a "
			       "backslash or blank: rename that folder, or use "
			       "--with cron",
			       j->folder);
	if (j->on_failure && !is_unit_name(j->on_failure))
		return err_set(err, ERR_USAGE,
			       "--on-failure %s: not the name of a unit; write "
			       "for example tell-me.service",
			       j->on_failure);
	return 0;
}

/* Keys that leave the gate what it needs: user namespaces, mounts, Landlock and
   filters of its own; ProtectSystem= and its like would build a second, weaker
   sandbox around it. UMask= is for reports in files. */
static void add_service(const struct schedule_job *j, struct buf *out)
{
	if (j->on_failure)
		buf_addf(out, "OnFailure=%s\n", j->on_failure);
	buf_adds(out, "\n[Service]\nType=oneshot\nUMask=0077\n"
		      "NoNewPrivileges=yes\nLockPersonality=yes\n"
		      "RestrictRealtime=yes\nSystemCallArchitectures=native\n");
	if (j->folder) {
		buf_adds(out, "WorkingDirectory=");
		add_text(out, j->folder);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < j->env.n; i++) {
		buf_adds(out, "Environment=");
		add_word(out, j->env.item[i], false);
		buf_addc(out, '\n');
	}
	buf_adds(out, "ExecStart=");
	for (size_t i = 0; i < j->words.n; i++) {
		buf_adds(out, i ? " " : "");
		add_word(out, j->words.item[i], true);
	}
	buf_addc(out, '\n');
}

static void add_timer(const struct schedule_job *j, struct buf *out)
{
	buf_addf(out, "\n[Timer]\nOnCalendar=%s\nAccuracySec=1s\n", j->s.at);
	if (j->s.catches_up)
		buf_adds(out, "Persistent=true\n");
	if (j->s.jitter_ms)
		buf_addf(out, "RandomizedDelaySec=%llums\n",
			 (unsigned long long)j->s.jitter_ms);
	buf_adds(out, "\n[Install]\nWantedBy=timers.target\n");
}

int unit_file_add(const struct schedule_job *j, enum unit_file which,
		  struct buf *out, struct err *err)
{
	if (check_service(j, err) < 0)
		return -1;
	/* the name of a routine may end in a backslash: it is not the end */
	buf_addf(out, SCHEDULE_MARK "%s\n[Unit]\nDescription=Routine ",
		 j->s.id);
	add_text(out, j->s.routine);
	buf_adds(out, " of matins\n");
	(which == UNIT_TIMER ? add_timer : add_service)(j, out);
	return 0;
}
