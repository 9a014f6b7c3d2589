#include "core/transport/reach.h"

struct reach reach_of_user(void)
{
	return (struct reach){.loopback = true,
			      .private = true,
			      .link = true,
			      .metadata = true};
}

struct reach reach_of_server(enum address_class of_server)
{
	return (struct reach){
		.loopback = of_server == ADDRESS_LOOPBACK,
		.private = of_server == ADDRESS_PRIVATE,
		.link = of_server == ADDRESS_LINK,
	};
}

enum address_class reach_class_of(const struct sockaddr *address)
{
	struct address a;

	return address_of(address, &a) ? address_class_of(&a) : ADDRESS_NEVER;
}

/* The user wrote the address itself, with or without brackets. */
static bool is_written(struct str host, const struct address *a)
{
	struct address own;

	if (host.n > 2 && host.p[0] == '[')
		host = (struct str){host.p + 1, host.n - 2};
	return address_read(host, &own) && address_equal(&own, a);
}

static bool is_class_allowed(const struct reach *r, struct str host,
			     const struct address *a)
{
	switch (address_class_of(a)) {
	case ADDRESS_PUBLIC:
		return true;
	case ADDRESS_LOOPBACK:
		return r->loopback;
	case ADDRESS_PRIVATE:
		return r->private;
	case ADDRESS_LINK:
		return r->link;
	case ADDRESS_METADATA:
		return r->metadata && is_written(host, a);
	case ADDRESS_NEVER:
		break;
	}
	return false;
}

/* Why not, in a sentence; always false. */
static bool refuse(const struct reach *r, struct str host,
		   const struct address *a, struct err *err)
{
	enum address_class class = address_class_of(a);
	char text[ADDRESS_TEXT_BYTES];
	bool is_same;

	address_text(a, text);
	is_same = str_is(host, text);
	if (class == ADDRESS_NEVER)
		err_set(err, ERR_PEER, "%.*s is %s, which no peer has (%s)",
			STR_ARG(host), text, address_what(a));
	else if (class == ADDRESS_METADATA)
		err_set(err, ERR_PEER, "%.*s is %s, %s: no name may lead there",
			STR_ARG(host), text, address_what(a));
	else if (r->is_loopback_only && class != ADDRESS_LOOPBACK)
		err_set(err, ERR_PEER,
			"%.*s is %s, which is not this machine: plain http "
			"goes to loopback addresses only; use https",
			STR_ARG(host), text);
	else
		err_set(err, ERR_PEER,
			"%.*s is %s%s%s%s: a server may only name public "
			"addresses, or those of its own range",
			STR_ARG(host), is_same ? "" : text, is_same ? "" : " (",
			address_what(a), is_same ? "" : ")");
	return false;
}

bool reach_judge(const struct reach *r, struct str host,
		 const struct sockaddr *address, struct err *err)
{
	struct address a;

	if (!address_of(address, &a)) {
		err_set(err, ERR_PEER, "%.*s has no address of the internet",
			STR_ARG(host));
		return false;
	}
	if (!is_class_allowed(r, host, &a) ||
	    (r->is_loopback_only && address_class_of(&a) != ADDRESS_LOOPBACK))
		return refuse(r, host, &a, err);
	return !r->allows || r->allows(r->arg, host, address, err);
}
