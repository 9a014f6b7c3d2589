/*
 * Readers of single values: one function for each row of key_types.def that
 * is neither a list (values_list.c) nor a table (values_table.c,
 * load_sections.c, load_servers.c, load_routines.c).
 */
#include "core/config/load.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/base/log.h"

void *load_field(const struct key *k, void *object)
{
	return (char *)object + k->offset;
}

/* Words in a message: `the string "abc"`, "a table". */
static void describe(const struct toml_value *v, struct buf *out)
{
	switch (v->type) {
	case TOML_STRING:
		buf_adds(out, "the string \"");
		log_visible(out,
			    (struct str){v->string.p,
					 v->string.n < 40 ? v->string.n : 40},
			    false);
		buf_adds(out, v->string.n < 40 ? "\"" : "…\"");
		break;
	case TOML_INTEGER:
		buf_addf(out, "the integer %lld", (long long)v->integer);
		break;
	case TOML_BOOLEAN:
		buf_adds(out, v->boolean ? "true" : "false");
		break;
	case TOML_ARRAY:
		buf_adds(out, "an array");
		break;
	default:
		buf_addf(out, "a %s", toml_type_name(v->type));
		break;
	}
}

void load_wrong_type(struct loader *l, const struct key *k,
		     const struct toml_value *v)
{
	struct buf what = BUF_INIT(BUF_UNBOUNDED);

	describe(v, &what);
	load_error(l, v->line, v->col, "\"%s\" must be %s, not %s", k->name,
		   key_type_text(k->type), buf_cstr(&what));
	buf_release(&what);
}

bool load_is_table(struct loader *l, const struct key *k,
		   const struct toml_value *v)
{
	if (v->type == TOML_TABLE)
		return true;
	load_wrong_type(l, k, v);
	return false;
}

const char *load_cstr(struct loader *l, const struct toml_value *v)
{
	return arena_strndup(l->arena, v->string.p, v->string.n);
}

bool load_is_usable(struct loader *l, const struct key *k,
		    const struct toml_value *v)
{
	if (v->type != TOML_STRING) {
		load_wrong_type(l, k, v);
		return false;
	}
	if (str_find(v->string, '\0') < v->string.n) {
		load_error(l, v->line, v->col,
			   "\"%s\" contains the character NUL", k->name);
		return false;
	}
	return true;
}

bool load_is_filled(struct loader *l, const struct key *k,
		    const struct toml_value *v)
{
	if (!load_is_usable(l, k, v))
		return false;
	if (v->string.n)
		return true;
	load_error(l, v->line, v->col, "\"%s\" is empty; it must be %s",
		   k->name, key_type_text(k->type));
	return false;
}

void load_expand(struct loader *l, const struct key *k,
		 enum expansion_kind kind, const struct toml_value *v,
		 const char **slot)
{
	struct expansion *e = ARENA_NEW(l->arena, struct expansion);

	*e = (struct expansion){
		.slot = slot,
		.kind = kind,
		.key = k->name,
		.routine = l->routine,
		.server = l->server,
		.unset = l->unset,
		.line = v->line,
		.col = v->col,
	};
	*l->tail = e;
	l->tail = &e->next;
}

void load_expand_program(struct loader *l, const struct key *k,
			 const struct toml_member *m, const char **slot)
{
	/* the place of the key, not of its value */
	const struct toml_value at = {.line = m->line, .col = m->col};

	load_expand(l, k, EXPAND_PROGRAM, &at, slot);
}

void read_STRING(struct loader *l, const struct key *k,
		 const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (load_is_usable(l, k, &m->value))
		*field = load_cstr(l, &m->value);
}

static void read_expandable(struct loader *l, const struct key *k,
			    enum expansion_kind kind,
			    const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (!load_is_filled(l, k, &m->value))
		return;
	*field = load_cstr(l, &m->value);
	load_expand(l, k, kind, &m->value, field);
}

void read_PATH(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_PATH, m, object);
}

void read_PROGRAM(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_PROGRAM, m, object);
}

void read_URL(struct loader *l, const struct key *k,
	      const struct toml_member *m, void *object)
{
	read_expandable(l, k, EXPAND_URL, m, object);
}

void load_check_name(struct loader *l, const char *what, const char *name,
		     uint32_t line, uint32_t col)
{
	struct str s = str_of(name);
	bool bad = !s.n || s.n > 128 || s.p[0] == '-' || s.p[0] == '.';

	for (size_t i = 0; i < s.n; i++)
		bad |= (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ||
		       s.p[i] == '/' || s.p[i] == ',';
	if (bad)
		load_error(l, line, col,
			   "the name of a %s has 1 to 128 bytes, no control "
			   "character, slash or comma, and does not begin "
			   "with a dash or dot",
			   what);
}

void read_NAME(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (!load_is_usable(l, k, &m->value))
		return;
	*field = load_cstr(l, &m->value);
	load_check_name(l, "step", *field, m->value.line, m->value.col);
}

void read_TYPE(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);
	const struct step_kind *kind;
	const char *near, *name;

	if (!load_is_usable(l, k, &m->value))
		return;
	name = load_cstr(l, &m->value);
	kind = step_kind_find(name);
	*field = kind ? kind->canonical : name;
	if (kind || step_kind_instead(name))
		return;
	near = step_kind_nearest(name);
	findings_addf(l->findings, l->lax, m->value.line, m->value.col,
		      "unknown step type \"%s\"%s%s%s", name,
		      near ? "; did you mean \""
			   : "; `matins steps` lists them",
		      near ? near : "", near ? "\"?" : "");
}

/* Index of the value among the words of a key; -1 after an error. */
static int find_word(struct loader *l, const struct key *k,
		     const struct toml_value *v)
{
	AUTO(buf_release) struct buf what = BUF_INIT(BUF_UNBOUNDED);
	int i = v->type == TOML_STRING ? key_word(k, v->string) : -1;

	if (i >= 0)
		return i;
	key_add_words(k, "\"", &what);
	buf_adds(&what, ", not ");
	describe(v, &what);
	load_error(l, v->line, v->col, "\"%s\" must be %s", k->name,
		   buf_cstr(&what));
	return -1;
}

void read_WORD(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);

	if (find_word(l, k, &m->value) >= 0)
		*field = load_cstr(l, &m->value);
}

void read_CHOICE(struct loader *l, const struct key *k,
		 const struct toml_member *m, void *object)
{
	unsigned *field = load_field(k, object);
	int i = find_word(l, k, &m->value);

	if (i >= 0)
		*field = (unsigned)i;
}

void read_BOOL(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	bool *field = load_field(k, object);

	if (m->value.type == TOML_BOOLEAN)
		*field = m->value.boolean;
	else
		load_wrong_type(l, k, &m->value);
}

static void set_number(struct loader *l, const struct key *k,
		       const struct toml_value *v, uint64_t number,
		       void *object)
{
	AUTO(buf_release) struct buf bounds = BUF_INIT(BUF_UNBOUNDED);
	uint64_t *field = load_field(k, object);

	if (key_holds(k, number, &bounds))
		*field = number;
	else
		load_error(l, v->line, v->col, "\"%s\" is %s", k->name,
			   buf_cstr(&bounds));
}

void read_COUNT(struct loader *l, const struct key *k,
		const struct toml_member *m, void *object)
{
	if (m->value.type != TOML_INTEGER || m->value.integer < 0)
		load_wrong_type(l, k, &m->value);
	else
		set_number(l, k, &m->value, (uint64_t)m->value.integer, object);
}

/* False after an error. */
static bool read_ms(struct loader *l, const struct key *k,
		    const struct toml_value *v, uint64_t *ret_ms)
{
	/* far above every bound, and its milliseconds fit */
	const double most = 1e12;

	if (v->type == TOML_STRING && str_duration_ms(v->string, ret_ms))
		return true;
	if (v->type == TOML_INTEGER && v->integer >= 0) {
		*ret_ms = v->integer < (int64_t)most
				  ? (uint64_t)v->integer * 1000
				  : UINT64_MAX;
		return true;
	}
	if (v->type == TOML_FLOAT && v->real >= 0 && v->real < most) {
		*ret_ms = (uint64_t)(v->real * 1000 + 0.5);
		return true;
	}
	load_wrong_type(l, k, v);
	return false;
}

void read_DURATION_MS(struct loader *l, const struct key *k,
		      const struct toml_member *m, void *object)
{
	uint64_t ms;

	if (read_ms(l, k, &m->value, &ms))
		set_number(l, k, &m->value, ms, object);
}

/* Rounded up, but below one second stays below the bound of one. */
void read_SECONDS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	uint64_t ms;

	if (read_ms(l, k, &m->value, &ms))
		set_number(l, k, &m->value,
			   ms / 1000 + (ms > 1000 && ms % 1000), object);
}

void read_SIZE_BYTES(struct loader *l, const struct key *k,
		     const struct toml_member *m, void *object)
{
	const struct toml_value *v = &m->value;
	uint64_t bytes;

	if (v->type == TOML_STRING && str_size_bytes(v->string, &bytes))
		set_number(l, k, v, bytes, object);
	else if (v->type == TOML_INTEGER && v->integer >= 0)
		set_number(l, k, v, (uint64_t)v->integer, object);
	else
		load_wrong_type(l, k, v);
}

static bool is_date(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (i == 4 || i == 7 ? s.p[i] != '-'
				     : s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n == 10;
}

void read_REVISION(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	const char **field = load_field(k, object);
	const struct toml_value *v = &m->value;

	if (v->type == TOML_STRING && str_is(v->string, "auto"))
		*field = NULL;
	else if ((v->type == TOML_STRING || v->type == TOML_DATETIME) &&
		 is_date(v->string))
		*field = load_cstr(l, v);
	else
		load_wrong_type(l, k, v);
}

void read_PARAMS(struct loader *l, const struct key *k,
		 const struct toml_member *m, void *object)
{
	const struct toml_value **field = load_field(k, object);

	if (m->value.type != TOML_TABLE)
		load_wrong_type(l, k, &m->value);
	else if (*field)
		load_error(l, m->line, m->col,
			   "\"params\" and \"arguments\" are the same; keep "
			   "one");
	else
		*field = &m->value;
}
