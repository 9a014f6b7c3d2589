#include "core/run/step_words.h"

#include <ctype.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/client/catalogue.h"
#include "core/client/recording.h"
#include "core/client/said.h"
#include "core/config/references.h"
#include "core/run/advice.h"
#include "core/run/advice_command.h"
#include "core/run/step_result.h"

/* Lines of stderr that --verbose shows of a step, whatever became of it. */
#define VERBOSE_LINES 20

static void log_stderr(const struct step_run *s, struct str tail)
{
	size_t from = tail.n, n = 0;

	while (from && n < VERBOSE_LINES)
		n += tail.p[--from] == '\n' && from + 1 < tail.n;
	tail = str_skip(tail, from);
	while (tail.n) {
		struct str line = str_trim(str_cut(&tail, '\n'));

		if (line.n)
			log_debug("%s: stderr: %.*s", s->result.name,
				  STR_ARG(str_first(line, LIMIT_NOISE_LINE)));
	}
}

/*
 * Keep the first and the last useful lines of stderr, where programs say why.
 *
 * details  of its client, which are printed in place of the last line; or ""
 */
void step_keep_said(struct step_run *s, struct str err_tail,
		    const char *details)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t at = str_find(err_tail, '\n');
	const char *last;

	/* the first line of a tail may be half of one */
	if (err_tail.n >= s->plan->step->stderr_max && at < err_tail.n)
		err_tail = str_skip(err_tail, at);
	if (log_level() == LOG_DEBUG)
		log_stderr(s, err_tail);
	if (!step_has_failed(s))
		return;
	said_join(&out, err_tail, "\n");
	if (out.n)
		s->result.said = arena_str(&s->arena, buf_str(&out));
	last = strrchr(buf_cstr(&out), '\n');
	if (*details)
		log_note("%s: %s", s->result.name, details);
	else if (out.n && !s->ctx->shows_advice)
		log_note("%s: its stderr ends with: %s", s->result.name,
			 last ? last + 1 : buf_cstr(&out));
}

/* Words of a program that failed: stderr, or the text of its result. */
static struct str words_of(struct step_run *s, struct str err_tail)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	/* of a long stderr the end, so that there is room for the result */
	if (err_tail.n > SAID_BYTES / 2)
		err_tail.p += err_tail.n - SAID_BYTES / 2;
	buf_add_str(&out, str_first(err_tail, SAID_BYTES / 2));
	buf_addc(&out, '\n');
	if (s->result.state == STATE_TOOL_ERROR)
		report_step_output(&out, &s->result);
	else
		buf_add_str(&out, s->result.error);
	return arena_str(&s->arena, buf_str(&out));
}

static bool has_advice(const struct step_run *s, struct str text)
{
	for (size_t i = 0; i < s->result.n_advice; i++)
		if (str_eq(s->result.advice[i].text, text))
			return true;
	return false;
}

bool step_minds_refusals(const struct step_run *s)
{
	return strcmp(s->plan->step->on_refusal, "fail") == 0;
}

static void fail_refused(struct step_run *s)
{
	if (s->result.refused && s->result.state == STATE_OK &&
	    step_minds_refusals(s))
		report_step_set(&s->result, REASON_REFUSED,
				STR("something was refused to it, and "
				    "on_refusal is \"fail\""));
}

static void add_advice(struct advice_list *list, struct arena *arena,
		       const char *text, const char *setting)
{
	list->item =
		arena_grow(arena, list->item, list->n, sizeof(*list->item));
	list->item[list->n++] = (struct advice){
		.text = text,
		.setting = setting,
	};
}

/*
 * Add a piece where the server refused a call with a value of -p that is not a
 * string: a strict step would have typed it by the schema of the tool.
 */
static void advise_strict(const struct step_run *s, struct advice_list *list,
			  struct arena *arena)
{
	const struct fill_params *in = &s->plan->inputs;
	size_t i = 0;

	if (s->plan->strict || (s->result.reason != REASON_IS_ERROR &&
				s->result.reason != REASON_RPC_ERROR))
		return;
	while (i < in->n && in->json.p[in->item[i].at] == '"')
		i++;
	if (i == in->n)
		return;
	add_advice(list, arena,
		   arena_printf(arena,
				"the value %.*s of a -p was passed as JSON; a "
				"strict step reads the schema of the tool, "
				"which may take text",
				STR_ARG(str_first(in->item[i].text, 40))),
		   "strict = true");
}

/*
 * The nearest of the tools that the server listed after the call, or that a
 * named one listed last; NULL: none.
 */
static const char *nearest_tool(const struct step_run *s, struct arena *arena)
{
	const struct step *step = s->plan->step;
	struct strlist names = {NULL, 0};

	if (s->session && s->session->near)
		return s->session->near;
	if (step->server)
		names = catalogue_tools(state_dir_find(arena),
					s->ctx->config->path, step->server_name,
					arena);
	return str_nearest(str_of(step->tool), names.item, names.n);
}

/* Is the tool one of the words? */
static bool names(const char *words, const char *tool)
{
	const size_t n = strlen(tool);
	const char *at = words;

	while ((at = strstr(at, tool))) {
		bool is_begun = at > words && isalnum((unsigned char)at[-1]);

		if (!is_begun && !isalnum((unsigned char)at[n]))
			return true;
		at++;
	}
	return false;
}

/* Do these words of a server miss the tool? An error that only names it may. */
static bool says_unknown(const struct step_run *s, struct str said,
			 struct arena *arena)
{
	const char *tool = s->plan->step->tool, *words;
	bool is_error = s->result.reason == REASON_RPC_ERROR;

	if (s->plan->strict || !tool ||
	    (s->result.reason != REASON_IS_ERROR && !is_error))
		return false;
	said = str_first(said, SAID_BYTES);
	words = arena_strndup(arena, said.p, said.n);
	if (is_error && names(words, tool) &&
	    !(s->session && s->session->has_tool))
		return true;
	return strcasestr(words, "tool") && (is_error || strstr(words, tool)) &&
	       (strcasestr(words, "not found") || strcasestr(words, "unknown"));
}

/* Add a piece where the words of a server miss the tool. */
static void advise_tools(const struct step_run *s, struct str said,
			 struct advice_list *list, struct arena *arena)
{
	const struct step *step = s->plan->step;
	const char *near;

	if (!says_unknown(s, said, arena))
		return;
	near = nearest_tool(s, arena);
	add_advice(list, arena,
		   arena_printf(
			   arena, "%s%s%stools of this server: %s",
			   near ? "did you mean " : "", near ? near : "",
			   near ? "? " : "",
			   advice_tools(s->ctx->config, "",
					step->server ? step->server_name : NULL,
					&s->plan->request, arena)),
		   NULL);
}

/* Print it without secrets: a program chooses the names that it asks for. */
static void log_advice(struct step_run *s, const struct advice *a)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	scrub_apply(s->scrub, str_of(advice_line(a, &s->arena)), &line);
	log_note("%s: %s", s->result.name, buf_cstr(&line));
}

/* Plain variables, in which a host may stand; NULL without any. */
static const char *const *plain_lines(const struct step_run *s,
				      struct arena *arena)
{
	const struct env_refs *const refs[] = {&s->plan->step->env,
					       &s->plan->server_env};
	struct strlist lines = {NULL, 0};

	for (size_t r = 0; r < ARRAY_LEN(refs); r++)
		for (size_t i = 0; i < refs[r]->n_plain; i++)
			if (!refs[r]->plain[i].is_secret)
				list_addf(&lines, arena, "%s=%s",
					  refs[r]->plain[i].name,
					  refs[r]->plain[i].value);
	if (lines.n)
		list_add(&lines, arena, NULL);
	return lines.item;
}

/*
 * Find the sandbox that rows belong in, and say where that is unless it is the
 * step's, with dotted keys. A step without one shares that of its server: with
 * an own one it would get a program of its own.
 */
static void find_table(struct step_run *s, struct advice_known *known)
{
	const struct step *step = s->plan->step;
	enum sandbox_form form = step->sandbox_form;

	if (form == SANDBOX_ABSENT && step->server) {
		advice_in_server(known, step->server, &s->arena);
		return;
	}
	known->own = &step->sandbox;
	known->is_bare = form == SANDBOX_TABLE || form == SANDBOX_INLINE;
	known->inside =
		form == SANDBOX_INLINE ? "sandbox = { }"
		: form == SANDBOX_TABLE
			? arena_printf(&s->arena, "[routines.%s.steps.sandbox]",
				       s->ctx->routine)
			: NULL;
}

/* Arguments that a person wrote: what others made asks for nothing. */
static const char *const *own_words(const struct gate_request *r,
				    struct arena *arena)
{
	const char **words;
	size_t n = 0;

	if (!r->from_data)
		return r->argv;
	while (r->argv[n])
		n++;
	words = ARENA_ARRAY(arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		words[i] = r->from_data[i] ? "…" : r->argv[i];
	return words;
}

static struct str own_params(const struct step_run *s, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct plan_step *p = s->plan;

	if (!p->inputs.has_data || !p->step->params)
		return p->inputs.json;
	toml_to_json(p->step->params, &text);
	return arena_str(arena, buf_str(&text));
}

bool step_misses_tool(struct step_run *s)
{
	return step_has_failed(s) &&
	       says_unknown(s, words_of(s, (struct str){NULL, 0}), &s->arena);
}

/* Words that name the step in a command, with the parameters that it uses and
   that were given: their values stand in no report. */
static const char *words_again(struct step_run *s)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct step step = *s->plan->step;
	struct routine own = {.steps = &step, .n_steps = 1};
	const struct values *v = s->ctx->values;
	struct strlist used = {NULL, 0};

	if (v->n_inputs)
		used = references_inputs(&own, &s->arena);
	buf_adds(&out,
		 advice_words(s->ctx->routine, s->result.name, &s->arena));
	for (size_t i = 0; i < v->n_inputs; i++) {
		struct str name = v->input[i].name;
		const char *text = arena_strndup(&s->arena, name.p, name.n);

		if (v->input[i].is_given && list_has(&used, text)) {
			buf_adds(&out, " -p ");
			text_add_word(&out, arena_printf(&s->arena, "%s=VALUE",
							 text));
		}
	}
	return arena_strdup(&s->arena, buf_cstr(&out));
}

void step_advise(struct step_run *s, struct str err_tail,
		 const struct gate_verdict *v, struct recording *taped)
{
	struct gate_request request = s->plan->request;
	struct advice_known known = {
		.verdict = v,
		.said = step_has_failed(s) ? words_of(s, err_tail) : err_tail,
		.asked = own_params(s, &s->arena),
		.failed = step_has_failed(s),
		.is_server = s->is_call,
		.config = s->ctx->config,
		.scrub = s->scrub,
		.gate = s->ctx->gate,
		.request = &request,
		.given = s->plan->request.argv,
		.trace_of = s->plan->flow->has_results ? NULL : words_again(s),
	};
	bool is_own = !(s->session && s->session->user.session_of);
	struct advice_list list = {.item = NULL};
	/* advice of its executions stays */
	size_t had = s->doer->is_job ? 0 : s->result.n_advice;
	struct report_advice *all;

	find_table(s, &known);
	request.env = plain_lines(s, &s->arena);
	request.argv = own_words(&s->plan->request, &s->arena);
	request.input_from_data |= s->plan->inputs.has_data;
	if (s->result.reason != REASON_CANCELLED && known.request->program)
		list = advice_find(&known, &s->arena);
	advise_strict(s, &list, &s->arena);
	advise_tools(s, known.said, &list, &s->arena);
	all = ARENA_ARRAY(&s->arena, struct report_advice, list.n + had);
	for (size_t i = 0; i < had; i++)
		all[list.n + i] = s->result.advice[i];
	for (size_t i = 0; i < list.n; i++) {
		const struct advice *a = &list.item[i];

		all[i] = (struct report_advice){
			step_scrubbed(s, str_of(a->text), scrub_apply),
			a->setting ? step_scrubbed(s, str_of(a->setting),
						   scrub_apply)
				   : (struct str){NULL, 0},
		};
		if (!s->ctx->shows_advice && !has_advice(s, all[i].text))
			log_advice(s, a);
	}
	s->result.advice = all;
	s->result.n_advice = list.n + had;
	/* of a shared process they count for the step that started it */
	s->result.refused |= list.is_refused && is_own;
	if (taped && is_own)
		s->result.refused = taped->end.is_refused |= s->result.refused;
	fail_refused(s);
}

/* ---- words of the parts of a step ---- */

/* Pieces of advice that a whole keeps: more say nothing new. */
#define ADVICE_MAX 8

static void keep_advice(struct step_run *whole, const struct report_advice *a)
{
	struct report_step *of = &whole->result;
	struct arena *arena = &whole->arena;
	struct report_advice *all =
		ARENA_ARRAY(arena, struct report_advice, of->n_advice + 1);

	if (of->n_advice)
		memcpy(all, of->advice, of->n_advice * sizeof(*all));
	all[of->n_advice++] = (struct report_advice){arena_str(arena, a->text),
						     arena_str(arena, a->toml)};
	of->advice = all;
	if (!whole->ctx->shows_advice)
		log_note("%s: %.*s%s%.*s", of->name, STR_ARG(a->text),
			 a->toml.n ? ": " : "", STR_ARG(a->toml));
}

void step_keep_words(struct step_run *whole, const struct report_step *part)
{
	struct report_step *of = &whole->result;

	if (part->said.n && !of->said.n)
		of->said = arena_str(&whole->arena, part->said);
	for (size_t i = 0; i < part->n_advice; i++)
		if (of->n_advice < ADVICE_MAX &&
		    !has_advice(whole, part->advice[i].text))
			keep_advice(whole, &part->advice[i]);
}
