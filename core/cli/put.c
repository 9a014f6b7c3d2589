#include "core/cli/put.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/state_dir.h"
#include "core/report/render.h"

/* Ask once: a batch prints each answer. */
static bool is_terminal(void)
{
	static enum { UNKNOWN, NO, YES } known;

	if (known == UNKNOWN)
		known = isatty(STDOUT_FILENO) ? YES : NO;
	return known == YES;
}

int put(struct str bytes, enum put_form form, struct err *err)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	if (is_terminal() && form != PUT_COLOURED) {
		if (form == PUT_JSON)
			log_visible_json(&shown, bytes);
		else
			log_visible(&shown, bytes, true);
		bytes = buf_str(&shown);
	}
	return fd_write_all(STDOUT_FILENO, bytes.p, bytes.n) < 0
		       ? err_sys(err, errno, "stdout")
		       : 0;
}

bool put_has_colour(int fd)
{
	const char *term = env_text("TERM");

	return !env_text("NO_COLOR") && term && strcmp(term, "dumb") != 0 &&
	       (fd == STDOUT_FILENO ? is_terminal() : isatty(fd));
}

bool put_has_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;

	for (size_t i = 0; i < ARRAY_LEN(names) && !locale; i++)
		locale = env_text(names[i]);
	return locale &&
	       (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

size_t put_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col
		       ? size.ws_col - 1U
		       : 0;
}

void page_open(struct page *p, const struct args *args)
{
	*p = (struct page){
		.is_json = args_has(args, "json"),
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	p->form = p->is_json ? PUT_JSON : PUT_TEXT;
	jw_init(&p->w, &p->out, false);
	if (p->is_json)
		jw_object(&p->w);
}

int page_put(struct page *p, struct err *err)
{
	if (p->is_json) {
		jw_end(&p->w);
		buf_addc(&p->out, '\n');
	}
	return put(buf_str(&p->out), p->form, err);
}

void page_release(struct page *p)
{
	buf_release(&p->out);
}

int open_output(const struct args *args, struct outfile *f, struct err *err)
{
	const char *path = args_get(args, "output");

	return path && strcmp(path, "-")
		       ? outfile_open(f, path, OUTFILE_REPLACE, err)
		       : 0;
}

/* ---- reports ---- */

int print_options_read(const struct args *args, struct print_options *ret,
		       struct err *err)
{
	static const char *const forms[] = {"json", "md", "html", "data"};
	const char *path = args_get(args, "output"),
		   *end = path ? strrchr(path, '.') : NULL;

	*ret = (struct print_options){.form = "text", .output = OUTFILE_INIT};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (!args_has(args, forms[i]))
			continue;
		if (strcmp(ret->form, "text"))
			return err_set(err, ERR_USAGE,
				       "use --%s or --%s, not both", ret->form,
				       forms[i]);
		ret->form = forms[i];
	}
	/* the name of the file says its form; --data has none of its own */
	for (size_t i = 0; end && i < 3 && !strcmp(ret->form, "text"); i++)
		if (strcmp(end + 1, forms[i]) == 0)
			ret->form = forms[i];
	ret->pretty = args_has(args, "pretty");
	ret->view = args_get(args, "view");
	if (ret->view && strcmp(ret->view, "full") &&
	    strcmp(ret->view, "golden"))
		return args_bad("view", ret->view, "full or golden", err);
	return open_output(args, &ret->output, err);
}

/* Argument of render(). */
struct printed {
	const struct report *report;
	const char *form;
	struct render_options options;
};

static void render(const void *arg, struct buf *out)
{
	const struct printed *p = arg;

	render_find(p->form)->print(p->report, &p->options, out);
}

int print_report(const struct report *r, struct print_options *o,
		 struct err *err)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	const struct printed printed = {
		.report = r,
		.form = o->form,
		.options = {.view = o->view && strcmp(o->view, "golden") == 0
					    ? VIEW_GOLDEN
					    : VIEW_FULL,
			    .pretty = o->pretty,
			    .single = o->single,
			    .colour = put_has_colour(STDOUT_FILENO) &&
				      !o->output.path,
			    .columns = o->output.path || !is_terminal()
					       ? 0
					       : put_columns(STDOUT_FILENO)},
	};
	const bool is_json =
		!strcmp(o->form, "json") || !strcmp(o->form, "data");
	const struct fd_text text = {.print = render, .arg = &printed};

	/* a stream without a reader must not outlive SIGTERM */
	loop_give_signals_back();
	if (o->output.path)
		return outfile_write(&o->output, &text, err);
	/* a report as text has nothing that a terminal obeys but our colours */
	if (!is_terminal() || !strcmp(o->form, "text"))
		return fd_print(STDOUT_FILENO, &text) < 0
			       ? err_sys(err, errno, "stdout")
			       : 0;
	render(&printed, &whole);
	return put(buf_str(&whole), is_json ? PUT_JSON : PUT_TEXT, err);
}
