/* A server that is reached by a URL: nothing is started for it. */
#include "core/cli/target_inner.h"
#include "core/cli/ask_person.h"
#include "core/report/ledger.h"

/* What the gate would do is said of a program only. */
static const struct option of_programs[] = {POLICY_OPTIONS, {0}};

int target_check_remote(const struct target *t, const struct args *args,
			struct err *err)
{
	const char *option;

	if (!t->url) {
		option = remote_options_any(args);
		return option ? err_set(err, ERR_USAGE,
					"--%s is for a remote server (--url, "
					"or a server with a \"url\"), and this "
					"one is a program",
					option)
			      : 0;
	}
	for (const struct option *o = of_programs; o->name; o++)
		/* a {cmd} reference of its credentials runs under these */
		if (args_has(args, o->name) && !t->server)
			return err_set(err, ERR_USAGE,
				       "--%s is for a program; nothing is "
				       "started for a URL",
				       o->name);
	return 0;
}

static int make_spec(struct target *t, const struct args *args,
		     const struct server *s, struct remote_spec *ret,
		     struct err *err)
{
	*ret = (struct remote_spec){.name = t->url, .url = t->url};
	if (s && remote_spec_of_server(s, t->credentials, ret, err) < 0)
		return -1;
	ret->message_max = t->session.message_max;
	ret->timeout_ms = t->session.request_timeout_ms;
	if (remote_options_read(args, t->scrub, &t->arena, ret, err) == 0)
		return 0;
	remote_spec_release(ret);
	return -1;
}

int target_open_remote(struct target *t, const struct args *args,
		       const struct server *s, struct err *err)
{
	const struct remotes_options options = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.state_dir = ledger_default_dir(&t->arena),
		.is_terminal = ask_person_is_there(),
		.config = t->config,
	};
	struct remote_spec spec;

	for (size_t i = 0; i < t->file.header_values.n; i++)
		scrub_add(t->scrub, str_of(t->file.header_values.item[i]));
	if (make_spec(t, args, s, &spec, err) < 0)
		return -1;
	t->remotes = remotes_new(&options);
	if (remote_server_new(t->remotes, &spec, &t->remote, err) < 0)
		return -1;
	/* of --url, what may be a secret in it is not shown */
	if (!s)
		t->name = remote_server_text(t->remote);
	return 0;
}
