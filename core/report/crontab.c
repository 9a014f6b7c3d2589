#include "core/report/crontab.h"

#include "core/base/text.h"

/* Longest command of a line: MAX_COMMAND of cron, with its NUL. */
#define COMMAND_BYTES 999

/* A word of sh as cron passes it on: "\\" would become "\", and % end the
   command. Between quotes of sh '' is nothing, and parts the two. */
static void add_word(const char *word, struct buf *out)
{
	AUTO(buf_release) struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	const char *p;

	text_add_word(&quoted, word);
	for (p = buf_cstr(&quoted); *p; p++) {
		if (*p == '%')
			buf_addc(out, '\\');
		buf_addc(out, *p);
		if (*p == '\\' && (p[1] == '\\' || p[1] == '%'))
			buf_adds(out, "''");
	}
}

/* sleep_s  of the jitter, which was chosen when it was added */
static void add_command(const struct schedule_job *j, uint64_t sleep_s,
			struct buf *out)
{
	if (sleep_s)
		buf_addf(out, "sleep %llu; ", (unsigned long long)sleep_s);
	if (j->folder) {
		buf_adds(out, "cd ");
		add_word(j->folder, out);
		buf_adds(out, " && ");
	}
	for (size_t i = 0; i < j->env.n; i++) {
		const char *value = strchr(j->env.item[i], '=') + 1;

		buf_add(out, j->env.item[i], (size_t)(value - j->env.item[i]));
		add_word(value, out);
		buf_addc(out, ' ');
	}
	for (size_t i = 0; i < j->words.n; i++) {
		add_word(j->words.item[i], out);
		buf_addc(out, ' ');
	}
	buf_addf(out, SCHEDULE_MARK "%s\n", j->s.id);
}

int crontab_add(const struct schedule_job *j, struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf command = BUF_INIT(BUF_UNBOUNDED);
	buf_addf(out, "# %s: %s " SCHEDULE_MARK "%s\n", j->s.routine, j->s.at,
		 j->s.id);
	if (calendar_cron(&j->calendar, out, err) < 0)
		return -1;
	add_command(j,
		    j->s.jitter_ms >= 1000 ? j->salt % (j->s.jitter_ms / 1000)
					   : 0,
		    &command);
	buf_addf(out, " %s", buf_cstr(&command));
	if (j->s.catches_up) {
		/* missed times are looked for every hour */
		buf_addf(out, "%u * * * * ", (unsigned)(j->salt % 59 + 1));
		add_command(j, 0, out);
	}
	if (command.n <= COMMAND_BYTES)
		return 0;
	return err_set(err, ERR_USAGE,
		       "the line would have %zu bytes, and cron takes %d: make "
		       "PATH shorter for this command, or use --with systemd",
		       command.n, COMMAND_BYTES);
}

#define MARK_BYTES 64

static void make_mark(const char *id, char out[MARK_BYTES])
{
	snprintf(out, MARK_BYTES, " " SCHEDULE_MARK "%s", id);
}

void crontab_pick(const char *id, struct str text, bool ours, struct buf *out)
{
	char mark[MARK_BYTES];

	make_mark(id, mark);
	while (text.n) {
		const struct str whole = text;
		const struct str line = str_cut(&text, '\n');

		if (str_ends(line, mark) == ours)
			buf_add(out, whole.p, line.n + (text.p != NULL));
	}
}

size_t crontab_count(struct str text)
{
	size_t n = 0;

	while (text.n) {
		const struct str line = str_trim(str_cut(&text, '\n'));

		n += line.n && *line.p != '#';
	}
	return n;
}

/* Cut blanks and a pair of quotes around a name or value. */
static struct str bare(struct str s)
{
	s = str_trim(s);
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') &&
	    s.p[s.n - 1] == s.p[0])
		return (struct str){s.p + 1, s.n - 2};
	return s;
}

static bool is_like_sh(struct str shell)
{
	const char *slash = shell.n ? memrchr(shell.p, '/', shell.n) : NULL;

	if (slash)
		shell = str_skip(shell, (size_t)(slash + 1 - shell.p));
	return str_has_word("sh ash bash dash ksh mksh zsh", shell);
}

/* Cut behind the last line of a schedule; without one all stays. */
static struct str above(const char *id, struct str text)
{
	struct str all = text, rest = text;
	char mark[MARK_BYTES];

	make_mark(id, mark);
	while (rest.n)
		if (str_ends(str_cut(&rest, '\n'), mark))
			all.n = text.n - rest.n;
	return all;
}

int crontab_check(struct str text, const char *id, const char *home,
		  struct err *err)
{
	static const char *const names[] = {"CRON_TZ", "SHELL", "HOME"};
	struct str line[ARRAY_LEN(names)] = {{NULL, 0}}, value[3];
	size_t i;

	text = above(id, text);
	while (text.n) {
		const struct str whole = str_trim(str_cut(&text, '\n'));
		struct str rest = whole, name = bare(str_cut(&rest, '='));

		i = str_index(name, names, ARRAY_LEN(names));
		if (i == ARRAY_LEN(names) || !rest.p)
			continue;
		line[i] = whole;
		value[i] = bare(rest);
	}
	if (line[1].n && is_like_sh(value[1]))
		line[1].n = 0;
	if (line[2].n && home && str_is(value[2], home))
		line[2].n = 0;
	for (i = 0; i < ARRAY_LEN(names) && !line[i].n; i++)
		;
	if (i == ARRAY_LEN(names))
		return 0;
	return err_set(err, ERR_CONFIG,
		       "the line \"%.*s\" of the crontab counts for the "
		       "routine, too: remove it, or use --with systemd",
		       STR_ARG(str_first(line[i], 80)));
}
