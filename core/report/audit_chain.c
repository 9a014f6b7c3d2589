#include "core/report/audit_chain.h"

#include "core/base/scan.h"

void audit_seal(struct buf *line, const char *prev)
{
	char hash[SHA256_HEX_BYTES];

	buf_addf(line, ",\"prev\":\"%s\"", prev);
	sha256_hex(buf_str(line), hash);
	buf_addf(line, AUDIT_HASH_BEGIN "%s" AUDIT_HASH_END, hash);
}

struct str audit_hash(struct str text)
{
	struct str end;

	if (text.n < AUDIT_HASH_BYTES)
		return (struct str){NULL, 0};
	end = str_skip(text, text.n - AUDIT_HASH_BYTES);
	if (!str_starts(end, AUDIT_HASH_BEGIN) ||
	    !str_ends(end, AUDIT_HASH_END))
		return (struct str){NULL, 0};
	return (struct str){end.p + strlen(AUDIT_HASH_BEGIN),
			    SHA256_HEX_BYTES - 1};
}

enum audit_verdict audit_take(struct audit_chain *c, struct str line)
{
	struct str hash = audit_hash(line), prev, value;
	char sum[SHA256_HEX_BYTES];
	bool follows;

	c->n++;
	if (scan_document(line, NULL, &value, ERR_IGNORED) < 0)
		return AUDIT_TORN;
	if (!hash.p)
		return AUDIT_CHANGED;
	sha256_hex(str_first(line, line.n - AUDIT_HASH_BYTES), sum);
	follows = scan_get(value, "prev", &prev) && scan_is(prev, c->last);
	memcpy(c->last, hash.p, hash.n);
	c->last[hash.n] = '\0';
	if (!str_is(hash, sum))
		return AUDIT_CHANGED;
	return follows ? AUDIT_WHOLE : AUDIT_APART;
}
