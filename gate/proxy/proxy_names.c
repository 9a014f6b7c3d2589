#include "gate/proxy/proxy_names.h"

/* 198.18.0.0/15; the first address is left out, as in any network. */
#define RANGE 0xc6120000U
#define RANGE_SIZE (1U << 17)

static struct address numbered(uint32_t number)
{
	uint32_t bits = RANGE + number;

	return (struct address){.bytes = {(uint8_t)(bits >> 24),
					  (uint8_t)(bits >> 16),
					  (uint8_t)(bits >> 8), (uint8_t)bits}};
}

/* An address of its own: a row of the policy names it, or /etc/hosts does. */
static bool is_taken(const struct proxy_names *t, const struct address *a,
		     const struct endpoint *rows, size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].kind == ENDPOINT_ADDRESS &&
		    address_equal(&rows[i].address, a))
			return true;
	for (size_t i = 0; i < t->n; i++)
		if (address_equal(&t->row[i].address, a))
			return true;
	return false;
}

static const struct address *put(struct proxy_names *t, const struct address *a,
				 const char *host)
{
	struct proxy_name *row = &t->row[t->n];

	if (t->n == PROXY_NAMES_MAX)
		return NULL;
	row->address = *a;
	snprintf(row->host, sizeof(row->host), "%s", host);
	t->n++;
	return &row->address;
}

/* One out of /etc/hosts may have more addresses; the first counts. */
static const struct address *find(const struct proxy_names *t, const char *host)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->row[i].address.is_v6 &&
		    strcmp(t->row[i].host, host) == 0)
			return &t->row[i].address;
	return NULL;
}

const struct address *proxy_names_add(struct proxy_names *t, const char *host,
				      const struct endpoint *rows,
				      size_t n_rows)
{
	const struct address *known = find(t, host);
	struct address a;

	if (known)
		return known;
	do {
		if (++t->used >= RANGE_SIZE)
			return NULL;
		a = numbered(t->used);
	} while (is_taken(t, &a, rows, n_rows));
	return put(t, &a, host);
}

void proxy_names_target(const struct proxy_names *t, const struct address *a,
			uint16_t port, const struct endpoint *rows,
			size_t n_rows, struct endpoint_target *ret)
{
	struct endpoint_target literal = {
		.is_address = true, .address = *a, .port = port};
	bool is_granted;

	address_text(a, literal.host);
	is_granted = endpoint_judge(rows, n_rows, &literal) != ENDPOINT_REFUSED;
	*ret = literal;
	for (size_t i = 0; i < t->n; i++) {
		struct endpoint_target name = {.port = port};

		if (!address_equal(&t->row[i].address, a))
			continue;
		memcpy(name.host, t->row[i].host, sizeof(name.host));
		if (endpoint_judge(rows, n_rows, &name) != ENDPOINT_REFUSED) {
			*ret = name;
			return;
		}
		if (!is_granted)
			*ret = name;
	}
}

/* ---- /etc/hosts ---- */

/* The next word of a line; empty at its end. */
static struct str next_word(struct str *line)
{
	size_t at = 0, n = 0;

	while (at < line->n && (line->p[at] == ' ' || line->p[at] == '\t'))
		at++;
	while (at + n < line->n && line->p[at + n] != ' ' &&
	       line->p[at + n] != '\t')
		n++;
	*line = str_skip(*line, at + n);
	return (struct str){line->p - n, n};
}

static bool is_granted_by_name(const struct endpoint *rows, size_t n_rows,
			       const struct endpoint_target *t)
{
	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].kind != ENDPOINT_PORT &&
		    endpoint_names(&rows[i], 1, t))
			return true;
	return false;
}

static void read_line(struct proxy_names *t, struct str line,
		      const struct endpoint *rows, size_t n_rows)
{
	struct endpoint_target target;
	struct address a;
	struct str word;

	line.n = str_find(line, '#') < line.n ? str_find(line, '#') : line.n;
	if (!address_read(next_word(&line), &a) ||
	    address_class_of(&a) >= ADDRESS_LOOPBACK)
		return;
	for (word = next_word(&line); word.n; word = next_word(&line))
		if (endpoint_target(word, 1, &target) == 0 &&
		    !target.is_address &&
		    is_granted_by_name(rows, n_rows, &target))
			(void)put(t, &a, target.host);
}

void proxy_names_read(struct proxy_names *t, struct str text,
		      const struct endpoint *rows, size_t n_rows)
{
	size_t before = t->n;

	while (text.n && t->n - before < PROXY_NAMES_OF_HOSTS)
		read_line(t, str_cut(&text, '\n'), rows, n_rows);
}
