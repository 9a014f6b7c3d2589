/* Names of hosts as text. */
#include <ctype.h>

#include "gate/policy/endpoint_inner.h"

#define LABEL_MAX 63

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

enum text_is endpoint_read_name(struct str text, char out[ENDPOINT_HOST_BYTES])
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
