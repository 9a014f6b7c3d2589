/*
 * The scrubber against texts that are hard for it.
 *
 *	scrub [MIB]
 *
 * Scrubs so much text (64) of 100 values, half of them of 16 KiB, and prints
 * the seconds it took beside those of a mere copy. Hard are texts of values
 * that lack their last byte, in each form, and such as are all escapes.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/secret/scrub.h"
#include "tests/bench/bench.h"

#define VALUES 100
#define LONG_BYTES (16 * 1024)
#define SHORT_BYTES 40

static const char letters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct text {
	char *p;
	size_t n;
};

static struct buf values[VALUES];

/* Numbers that are the same in each run. */
static unsigned random_below(unsigned n)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static struct scrub *make_values(void)
{
	struct scrub *s = scrub_new();

	for (size_t i = 0; i < VALUES; i++) {
		size_t n = i < VALUES / 2 ? LONG_BYTES : SHORT_BYTES;

		values[i] = (struct buf)BUF_INIT(BUF_UNBOUNDED);
		while (values[i].n < n)
			buf_addc(&values[i],
				 i ? letters[random_below(62)] : 'a');
		scrub_add(s, buf_str(&values[i]));
	}
	return s;
}

/* ---- texts ---- */

static void as_is(struct buf *out, unsigned char c)
{
	buf_addc(out, (char)c);
}

static void as_u(struct buf *out, unsigned char c)
{
	buf_addf(out, "\\u%04x", c);
}

static void as_u_twice(struct buf *out, unsigned char c)
{
	buf_addf(out, "\\\\u%04x", c);
}

static void as_x(struct buf *out, unsigned char c)
{
	buf_addf(out, "\\x%02x", c);
}

static void as_percent(struct buf *out, unsigned char c)
{
	buf_addf(out, "%%%02x", c);
}

static void as_entity(struct buf *out, unsigned char c)
{
	buf_addf(out, "&#%u;", c);
}

static void as_hex(struct buf *out, unsigned char c)
{
	buf_addf(out, "%02x", c);
}

/* A value without its end, in a form; as often as it fits. */
static void near_miss(struct text *t, const struct buf *value,
		      void (*spell)(struct buf *, unsigned char))
{
	struct buf one = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i + 1 < value->n; i++)
		spell(&one, (unsigned char)value->p[i]);
	for (size_t i = 0; one.n && i < t->n; i++)
		t->p[i] = one.p[i % one.n];
	buf_release(&one);
}

static void words(struct text *t)
{
	static const char *const list[] = {
		"the ",	  "quick ",	      "brown ",	 "fox,\n",
		"over ",  "\"lazy",	      "dogs\" ", "jumped ",
		"100% ",  "a & b ",	      "\\n",	 "token=abc123 ",
		"7f454c", "SGVsbG8gd29ybGQ= "};
	size_t at = 0;

	while (at < t->n)
		for (const char *w = list[random_below(ARRAY_LEN(list))];
		     *w && at < t->n; w++)
			t->p[at++] = *w;
}

static void of_letters(struct text *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->p[i] = letters[random_below(64)];
}

static void repeat(struct text *t, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = 0; i < t->n; i++)
		t->p[i] = what[i % n];
}

/* ---- measuring ---- */

static double measure(const struct scrub *s, const struct text *t)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	double begin = bench_now_us();

	(void)scrub_apply(s, (struct str){t->p, t->n}, &out);
	begin = bench_now_us() - begin;
	buf_release(&out);
	return begin / 1e6;
}

static void row(const struct scrub *s, const struct text *t, const char *name)
{
	printf("  %-36s %7.3f s\n", name, measure(s, t));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*spell)(struct buf *, unsigned char);
	} forms[] = {
		{"a value without its end, repeated", as_is},
		{"... as \\u0061", as_u},
		{"... as \\\\u0061", as_u_twice},
		{"... as \\x61", as_x},
		{"... as %61", as_percent},
		{"... as &#97;", as_entity},
		{"... as hex", as_hex},
	};
	size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
	struct text t = {mem_alloc(mib << 20), mib << 20};
	struct scrub *s = make_values();

	words(&t);
	row(NULL, &t, "a copy, no value");
	row(s, &t, "words, with escapes");
	of_letters(&t);
	row(s, &t, "Base64 of noise");
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		near_miss(&t, &values[1], forms[i].spell);
		row(s, &t, forms[i].name);
	}
	repeat(&t, "a");
	row(s, &t, "aaaa, and that is a value");
	repeat(&t, "\\");
	row(s, &t, "backslashes");
	repeat(&t, "&amp;");
	row(s, &t, "&amp;");
	repeat(&t, "%25");
	row(s, &t, "%25");
	for (size_t i = 0; i < VALUES; i++)
		buf_release(&values[i]);
	scrub_free(s);
	free(t.p);
	return 0;
}
