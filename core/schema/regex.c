#include "core/schema/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/dl.h"
#include "core/base/mem.h"

/* ---- the library, loaded on first use: most schemas have no pattern ---- */

#define LIBRARY "libpcre2-8.so.0"

#define LIBRARY_FUNCTIONS(X)              \
	X(pcre2_compile_8)                \
	X(pcre2_code_free_8)              \
	X(pcre2_compile_context_create_8) \
	X(pcre2_compile_context_free_8)   \
	X(pcre2_set_parens_nest_limit_8)  \
	X(pcre2_get_error_message_8)      \
	X(pcre2_match_8)                  \
	X(pcre2_match_data_create_8)      \
	X(pcre2_match_data_free_8)        \
	X(pcre2_match_context_create_8)   \
	X(pcre2_match_context_free_8)     \
	X(pcre2_set_match_limit_8)        \
	X(pcre2_set_heap_limit_8)         \
	X(pcre2_set_callout_8)

struct library {
	LIBRARY_FUNCTIONS(DL_MEMBER)
};

/* Load PCRE2; NULL when it is not installed. */
static const struct library *library(void)
{
	static const char *const names[] = {LIBRARY_FUNCTIONS(DL_NAME)};
	static struct library functions;
	static struct dl dl = DL(LIBRARY, names, functions);

	return dl_load(&dl) ? &functions : NULL;
}

/* ---- expressions ---- */

/* Groups within groups; PCRE2 compiles them by recursion. */
#define NEST_MAX 100
/* Calls of PCRE2's matcher from one start; the steps are the finer bound. */
#define MATCH_MAX 1000000
/* KiB for backtracking */
#define HEAP_MAX 20000
/* Characters that are passed over for the price of one step */
#define BYTES_A_STEP 64

struct regex {
	const struct library *lib;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	uint64_t *steps; /* of the search that runs */
	PCRE2_SIZE last; /* where the callout before was */
};

/*
 * Comes before each item of the expression that is tried. PCRE2 counts its own
 * limit again for each place where a match could begin, so that a long text
 * could cost that limit times its length; this one counts all of it.
 */
static int count_step(pcre2_callout_block *block, void *data)
{
	struct regex *r = data;
	PCRE2_SIZE at = block->current_position;
	uint64_t cost = 1;

	cost += (at > r->last ? at - r->last : r->last - at) / BYTES_A_STEP;
	r->last = at;
	if (*r->steps < cost) {
		*r->steps = 0;
		return PCRE2_ERROR_CALLOUT;
	}
	*r->steps -= cost;
	return 0;
}

static pcre2_code *compile(const struct library *lib, struct str text,
			   struct err *err)
{
	const uint32_t options =
		PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY |
		PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_AUTO_CALLOUT;
	pcre2_compile_context *context;
	PCRE2_UCHAR message[128];
	PCRE2_SIZE offset;
	pcre2_code *code;
	int error;

	context = lib->pcre2_compile_context_create_8(NULL);
	if (!context)
		abort();
	lib->pcre2_set_parens_nest_limit_8(context, NEST_MAX);
	code = lib->pcre2_compile_8((PCRE2_SPTR)text.p, text.n, options, &error,
				    &offset, context);
	lib->pcre2_compile_context_free_8(context);
	if (code)
		return code;
	lib->pcre2_get_error_message_8(error, message, sizeof(message));
	err_set(err, ERR_SYNTAX, "%s", (const char *)message);
	return NULL;
}

int regex_new(struct str pattern, struct regex **ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct library *lib = library();
	pcre2_code *code;
	struct regex *r;

	if (!lib)
		return err_set(err, ERR_UNKNOWN,
			       "patterns need " LIBRARY ", which is not here; "
			       "install it: apt-get install libpcre2-8-0");
	if (regex_translate(pattern, &text, err) < 0)
		return -1;
	code = compile(lib, buf_str(&text), err);
	if (!code)
		return -1;
	r = mem_zalloc(sizeof(*r));
	r->lib = lib;
	r->code = code;
	r->data = lib->pcre2_match_data_create_8(1, NULL);
	r->context = lib->pcre2_match_context_create_8(NULL);
	if (!r->data || !r->context)
		abort();
	lib->pcre2_set_match_limit_8(r->context, MATCH_MAX);
	lib->pcre2_set_heap_limit_8(r->context, HEAP_MAX);
	lib->pcre2_set_callout_8(r->context, count_step, r);
	*ret = r;
	return 0;
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	r->lib->pcre2_match_context_free_8(r->context);
	r->lib->pcre2_match_data_free_8(r->data);
	r->lib->pcre2_code_free_8(r->code);
	free(r);
}

int regex_search(struct regex *r, struct str text, uint64_t *steps)
{
	int found;

	r->steps = steps;
	r->last = 0;
	found = r->lib->pcre2_match_8(
		r->code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, 0,
		PCRE2_NO_UTF_CHECK, r->data, r->context);
	r->steps = NULL;
	if (found >= 0)
		return 1;
	return found == PCRE2_ERROR_NOMATCH ? 0 : -1;
}
