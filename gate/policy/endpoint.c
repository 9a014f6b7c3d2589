#include "gate/policy/endpoint.h"

#include <ctype.h>
#include <strings.h>

#include "gate/gate.h"

#define PORT_HTTPS 443
#define PORT_HTTP 80
#define LABEL_MAX 63

/* ---- words ---- */

static const char *const NET_WORDS[] = {"none", "loopback", "all"};

bool gate_net_is_word(const char *row)
{
	return str_index(str_of(row), NET_WORDS, ARRAY_LEN(NET_WORDS)) <
	       ARRAY_LEN(NET_WORDS);
}

void gate_allow_line(const struct gate_allow *row, struct buf *out)
{
	bool is_word = row->key && strcmp(row->key, "net") == 0 &&
		       gate_net_is_word(row->value);

	if (row->key)
		buf_addf(out, "sandbox = { %s = %s\"%s\"%s }", row->key,
			 is_word ? "" : "[", row->value, is_word ? "" : "]");
}

/* The word that was meant: "all" for "everything" or "al"; or NULL. */
static const char *word_near(const char *text)
{
	static const struct {
		const char *said, *meant;
	} OTHERS[] = {
		{"off", "none"},       {"no", "none"},
		{"nothing", "none"},   {"false", "none"},
		{"on", "all"},	       {"yes", "all"},
		{"true", "all"},       {"any", "all"},
		{"everything", "all"}, {"everywhere", "all"},
		{"anything", "all"},   {"internet", "all"},
		{"network", "all"},    {"local", "loopback"},
		{"lo", "loopback"},
	};
	size_t n = strlen(text);

	if (!n || strpbrk(text, ".:*[/"))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++)
		if (strcasecmp(text, OTHERS[i].said) == 0)
			return OTHERS[i].meant;
	/* "loop" */
	for (size_t i = 0; i < ARRAY_LEN(NET_WORDS); i++)
		if (n > 1 && strncasecmp(text, NET_WORDS[i], n) == 0)
			return NET_WORDS[i];
	return str_nearest(str_of(text), NET_WORDS, ARRAY_LEN(NET_WORDS));
}

/* A word that is written wrong looks like the name of a host. */
int endpoint_check_word(const char *row, struct err *err)
{
	const char *near = word_near(row);

	if (near)
		return err_set(err, ERR_POLICY,
			       "net: \"%s\" is not known; did you mean \"%s\"? "
			       "(a host of that name: \"%s:443\")",
			       row, near, row);
	return 0;
}

/* ---- names of hosts ---- */

enum text_is { TEXT_IS_NOTHING, TEXT_IS_NAME, TEXT_IS_NUMBERS };

static bool is_label_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_';
}

/* A number in any notation that some resolver takes for an address. */
static bool is_number(struct str label)
{
	size_t i = 0;

	if (label.n >= 2 && label.p[0] == '0' && label.p[1] == 'x') {
		for (i = 2; i < label.n; i++)
			if (!isxdigit((unsigned char)label.p[i]))
				return false;
		return true;
	}
	for (; i < label.n; i++)
		if (label.p[i] < '0' || label.p[i] > '9')
			return false;
	return true;
}

static bool is_label(struct str label)
{
	if (!label.n || label.n > LABEL_MAX || label.p[0] == '-' ||
	    label.p[label.n - 1] == '-')
		return false;
	for (size_t i = 0; i < label.n; i++)
		if (!is_label_byte(label.p[i]))
			return false;
	return true;
}

/*
 * Fold the text of a host into `out` without its trailing dot.
 * TEXT_IS_NUMBERS: the last label is a number, so it must be an address.
 */
static enum text_is read_name(struct str text, char out[ENDPOINT_HOST_BYTES])
{
	struct str rest, label = {NULL, 0};

	if (text.n && text.p[text.n - 1] == '.')
		text.n--;
	if (!text.n || text.n >= ENDPOINT_HOST_BYTES)
		return TEXT_IS_NOTHING;
	for (size_t i = 0; i < text.n; i++)
		out[i] = (char)(text.p[i] >= 'A' && text.p[i] <= 'Z'
					? text.p[i] - 'A' + 'a'
					: text.p[i]);
	out[text.n] = '\0';
	if (out[text.n - 1] == '.')
		return TEXT_IS_NOTHING;
	rest = (struct str){out, text.n};
	while (rest.n) {
		label = str_cut(&rest, '.');
		if (!is_label(label))
			return TEXT_IS_NOTHING;
	}
	return is_number(label) ? TEXT_IS_NUMBERS : TEXT_IS_NAME;
}

/* ---- rows ---- */

static bool read_port(struct str text, uint16_t *ret)
{
	uint64_t n;

	if (!text.n || text.n > 5 || text.p[0] == '0' ||
	    !str_uint64(text, &n) || !n || n > UINT16_MAX)
		return false;
	*ret = (uint16_t)n;
	return true;
}

/* Host and port of "host:port" and "[v6]:port"; the port may be missing. */
static bool split(struct str text, struct str *ret_host, struct str *ret_port,
		  bool *ret_brackets)
{
	size_t at;

	*ret_port = (struct str){NULL, 0};
	*ret_brackets = text.n && text.p[0] == '[';
	if (*ret_brackets) {
		at = str_find(text, ']');
		if (at >= text.n)
			return false;
		*ret_host = (struct str){text.p + 1, at - 1};
		at++;
	} else {
		at = str_find(text, ':');
		if (at > text.n)
			at = text.n;
		*ret_host = (struct str){text.p, at};
	}
	if (at == text.n)
		return true;
	if (text.p[at] != ':')
		return false;
	*ret_port = str_skip(text, at + 1);
	return ret_port->n > 0;
}

static int bad_port(const char *row, struct err *err)
{
	return err_set(err, ERR_POLICY,
		       "net: \"%s\": a port is a number from 1 to 65535, as in "
		       "\":443\"",
		       row);
}

static int bad_host(const char *row, struct err *err)
{
	const char *why =
		"neither a host name (letters, digits, hyphens; xn--… for "
		"others) nor an address such as \"10.0.0.5:8080\" or "
		"\"[2001:db8::1]:443\"";

	if (row[0] && !row[strspn(row, "0123456789")])
		return err_set(err, ERR_POLICY,
			       "net: \"%s\": a port is written with a colon: "
			       "\":%s\"",
			       row, row);
	if (strpbrk(row, ", "))
		why = "neither a host name nor an address; a row holds one "
		      "(--net A --net B)";
	else if (strchr(row, '/') && !row[strspn(row, "0123456789abcdef.:[]/")])
		why = "a range of addresses cannot be granted; name each: "
		      "\"10.0.0.5:8080\"";
	else if (strchr(row, '/'))
		why = "not a URL, only host and port: \"example.com:443\"";
	else if (row[0] == '*')
		why = "write \"*.example.com\" for the names beneath a domain, "
		      "or \":443\" for any public host at a port";
	else if (row[0] != '[' && strchr(row, ':') != strrchr(row, ':'))
		why = "an IPv6 address stands in brackets: \"[::1]:443\"";
	return err_set(err, ERR_POLICY, "net: \"%s\": %s", row, why);
}

static int finish_address(const char *row, struct endpoint *e, struct err *err)
{
	enum address_class class = address_class_of(&e->address);
	struct address inner;
	char text[ADDRESS_TEXT_BYTES];

	e->kind = ENDPOINT_ADDRESS;
	if (class == ADDRESS_LOOPBACK && !address_inner(&e->address, &inner)) {
		e->kind = ENDPOINT_FORWARD;
		if (e->port)
			return 0;
		address_text(&e->address, text);
		return err_set(err, ERR_POLICY,
			       "net: \"%s\": to reach a server on this machine "
			       "name its port: \"%s%s%s:8080\"",
			       row, e->address.is_v6 ? "[" : "", text,
			       e->address.is_v6 ? "]" : "");
	}
	if (address_inner(&e->address, &inner)) {
		address_text(&inner, text);
		return err_set(err, ERR_POLICY,
			       "net: \"%s\" is an IPv4 address inside IPv6; "
			       "write \"%s\"",
			       row, text);
	}
	if (class == ADDRESS_NEVER)
		return err_set(
			err, ERR_POLICY,
			"net: \"%s\": no server can have this address (%s)",
			row, address_what(&e->address));
	return 0;
}

static int parse_host(const char *row, struct str host, struct endpoint *e,
		      struct err *err)
{
	bool beneath = str_starts(host, "*.");

	if (beneath)
		host = str_skip(host, 2);
	switch (read_name(host, e->host)) {
	case TEXT_IS_NAME:
		break;
	case TEXT_IS_NUMBERS:
		if (!beneath && address_read(str_of(e->host), &e->address)) {
			e->host[0] = '\0';
			return finish_address(row, e, err);
		}
		return bad_host(row, err);
	case TEXT_IS_NOTHING:
		return bad_host(row, err);
	}
	e->kind = beneath ? ENDPOINT_BENEATH : ENDPOINT_HOST;
	if (strcmp(e->host, "localhost") == 0 ||
	    str_ends(str_of(e->host), ".localhost"))
		return err_set(err, ERR_POLICY,
			       "net: \"%s\": a name never means this machine; "
			       "write its address and port: \"127.0.0.1:%u\"",
			       row, e->port ? e->port : 8080);
	return 0;
}

int endpoint_parse(const char *row, struct endpoint *ret, struct err *err)
{
	struct endpoint e = {.kind = ENDPOINT_PORT};
	struct str host, port;
	bool brackets;

	if (!row[0])
		return bad_port(row, err);
	if (row[0] == ':') {
		if (!read_port(str_of(row + 1), &e.port))
			return strchr(row + 1, ':') ? bad_host(row, err)
						    : bad_port(row, err);
		*ret = e;
		return 0;
	}
	if (!split(str_of(row), &host, &port, &brackets))
		return bad_host(row, err);
	if (port.n && !read_port(port, &e.port))
		return memchr(port.p, ':', port.n) ||
				       memchr(port.p, '/', port.n)
			       ? bad_host(row, err)
			       : bad_port(row, err);
	if (brackets) {
		if (!address_read(host, &e.address) || !e.address.is_v6)
			return bad_host(row, err);
		if (finish_address(row, &e, err) < 0)
			return -1;
	} else if (parse_host(row, host, &e, err) < 0) {
		return -1;
	}
	*ret = e;
	return 0;
}

void endpoint_text(const struct endpoint *e, struct buf *out)
{
	char text[ADDRESS_TEXT_BYTES];

	switch (e->kind) {
	case ENDPOINT_PORT:
		break;
	case ENDPOINT_HOST:
		buf_adds(out, e->host);
		break;
	case ENDPOINT_BENEATH:
		buf_addf(out, "*.%s", e->host);
		break;
	case ENDPOINT_ADDRESS:
	case ENDPOINT_FORWARD:
		address_text(&e->address, text);
		buf_addf(out, e->address.is_v6 ? "[%s]" : "%s", text);
		break;
	}
	if (e->port)
		buf_addf(out, ":%u", e->port);
}

/* `name` lies beneath `domain`. */
static bool is_beneath(const char *name, const char *domain)
{
	size_t n = strlen(name), d = strlen(domain);

	return n > d + 1 && name[n - d - 1] == '.' &&
	       strcmp(name + n - d, domain) == 0;
}

size_t endpoint_ports(const struct endpoint *e, uint16_t ret[2])
{
	ret[0] = e->port ? e->port : PORT_HTTPS;
	ret[1] = PORT_HTTP;
	return e->port ? 1 : 2;
}

static bool has_port(const struct endpoint *e, uint16_t port)
{
	return e->port ? e->port == port
		       : port == PORT_HTTPS || port == PORT_HTTP;
}

static bool meet_ports(const struct endpoint *a, const struct endpoint *b,
		       uint16_t *ret)
{
	if (a->port == b->port) {
		*ret = a->port;
		return true;
	}
	*ret = a->port ? a->port : b->port;
	return has_port(a, *ret) && has_port(b, *ret);
}

/* b is at least as narrow as a; what is left of b. */
static bool meet_hosts(const struct endpoint *a, const struct endpoint *b,
		       struct endpoint *ret)
{
	*ret = *b;
	switch (a->kind) {
	case ENDPOINT_PORT:
		return true;
	case ENDPOINT_HOST:
		ret->public_only = a->public_only || b->public_only;
		return b->kind == ENDPOINT_HOST &&
		       strcmp(a->host, b->host) == 0;
	case ENDPOINT_BENEATH:
		if (b->kind == ENDPOINT_BENEATH)
			return strcmp(a->host, b->host) == 0 ||
			       is_beneath(b->host, a->host);
		ret->public_only = true;
		return b->kind == ENDPOINT_HOST && is_beneath(b->host, a->host);
	case ENDPOINT_ADDRESS:
	case ENDPOINT_FORWARD:
		return a->kind == b->kind &&
		       address_equal(&a->address, &b->address);
	}
	return false;
}

bool endpoint_meet(const struct endpoint *a, const struct endpoint *b,
		   struct endpoint *ret)
{
	struct endpoint e = {.kind = ENDPOINT_PORT};
	uint16_t port = 0;

	if (!meet_ports(a, b, &port))
		return false;
	if (!meet_hosts(a, b, &e) && !meet_hosts(b, a, &e))
		return false;
	e.port = port;
	*ret = e;
	return true;
}

bool endpoint_covers(const struct endpoint *a, const struct endpoint *b)
{
	struct endpoint both = {.kind = ENDPOINT_PORT};

	return endpoint_meet(a, b, &both) && both.kind == b->kind &&
	       both.port == b->port && both.public_only == b->public_only &&
	       strcmp(both.host, b->host) == 0;
}

/* ---- targets ---- */

int endpoint_target(struct str host, uint16_t port, struct endpoint_target *ret)
{
	struct endpoint_target t = {.port = port};
	enum text_is is = TEXT_IS_NUMBERS;
	struct str address = host;

	if (!port || !host.n)
		return -1;
	if (!memchr(host.p, ':', host.n)) {
		is = read_name(host, t.host);
		address = str_of(t.host);
	}
	t.is_address = is == TEXT_IS_NUMBERS;
	if (is == TEXT_IS_NOTHING ||
	    (t.is_address && !address_read(address, &t.address)))
		return -1;
	if (t.is_address)
		address_text(&t.address, t.host);
	*ret = t;
	return 0;
}

int endpoint_target_bytes(const uint8_t *bytes, bool is_v6, uint16_t port,
			  struct endpoint_target *ret)
{
	struct endpoint_target t = {
		.is_address = true, .address = {.is_v6 = is_v6}, .port = port};

	if (!port)
		return -1;
	memcpy(t.address.bytes, bytes, is_v6 ? 16 : 4);
	address_text(&t.address, t.host);
	*ret = t;
	return 0;
}

int endpoint_target_authority(struct str text, uint16_t port,
			      struct endpoint_target *ret)
{
	struct str host, port_text;
	bool brackets;

	if (!split(text, &host, &port_text, &brackets))
		return -1;
	if (port_text.n && !read_port(port_text, &port))
		return -1;
	/* brackets and colons belong together */
	if (brackets != (host.n && memchr(host.p, ':', host.n)))
		return -1;
	return endpoint_target(host, port, ret);
}

void endpoint_target_text(const struct endpoint_target *t,
			  char out[ENDPOINT_TEXT_BYTES])
{
	bool v6 = t->is_address && t->address.is_v6;

	snprintf(out, ENDPOINT_TEXT_BYTES, "%s%s%s:%u", v6 ? "[" : "", t->host,
		 v6 ? "]" : "", t->port);
}

/* ---- judging ---- */

static enum endpoint_grant judge_row(const struct endpoint *e,
				     const struct endpoint_target *t)
{
	if (!has_port(e, t->port))
		return ENDPOINT_REFUSED;
	switch (e->kind) {
	case ENDPOINT_PORT:
		return ENDPOINT_PUBLIC;
	case ENDPOINT_HOST:
		if (t->is_address || strcmp(e->host, t->host) != 0)
			return ENDPOINT_REFUSED;
		return e->public_only ? ENDPOINT_PUBLIC : ENDPOINT_PRIVATE;
	case ENDPOINT_BENEATH:
		return !t->is_address && is_beneath(t->host, e->host)
			       ? ENDPOINT_PUBLIC
			       : ENDPOINT_REFUSED;
	case ENDPOINT_ADDRESS:
	case ENDPOINT_FORWARD:
		return t->is_address && address_equal(&e->address, &t->address)
			       ? ENDPOINT_LITERAL
			       : ENDPOINT_REFUSED;
	}
	return ENDPOINT_REFUSED;
}

enum endpoint_grant endpoint_judge(const struct endpoint *rows, size_t n,
				   const struct endpoint_target *t)
{
	enum endpoint_grant best = ENDPOINT_REFUSED;

	for (size_t i = 0; i < n; i++) {
		enum endpoint_grant one = judge_row(&rows[i], t);

		best = one > best ? one : best;
	}
	/* by its port alone an address is granted when it is public */
	if (best == ENDPOINT_PUBLIC && t->is_address &&
	    address_class_of(&t->address) != ADDRESS_PUBLIC)
		return ENDPOINT_REFUSED;
	return best;
}

bool endpoint_names(const struct endpoint *rows, size_t n,
		    const struct endpoint_target *t)
{
	struct endpoint_target any = *t;

	for (size_t i = 0; i < n && !t->is_address; i++) {
		uint16_t port[2];

		(void)endpoint_ports(&rows[i], port);
		any.port = port[0];
		if (judge_row(&rows[i], &any) != ENDPOINT_REFUSED)
			return true;
	}
	return false;
}

bool endpoint_reaches(enum endpoint_grant grant, const struct address *a)
{
	enum address_class class = address_class_of(a);

	return grant == ENDPOINT_LITERAL ||
	       (grant == ENDPOINT_PUBLIC && class == ADDRESS_PUBLIC) ||
	       (grant == ENDPOINT_PRIVATE && class <= ADDRESS_PRIVATE);
}
