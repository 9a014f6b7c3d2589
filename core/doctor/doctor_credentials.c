/* Credentials, for doctor: are they there, and may others read them? */
#include <sys/stat.h>

#include "core/doctor/doctor_inner.h"
#include "core/config/paths.h"
#include "core/secret/secret.h"

static void look_at_length(struct doctor *d, const char *name, const char *from,
			   size_t n)
{
	if (n < LIMIT_SECRET_SCRUB_MIN)
		doctor_add(d, "credential", name, CHECK_WARNING,
			   "use a longer value",
			   "%s holds fewer than %d bytes: it cannot be "
			   "scrubbed from "
			   "outputs",
			   from, LIMIT_SECRET_SCRUB_MIN);
	else
		doctor_add(d, "credential", name, CHECK_OK, "", "%s is there",
			   from);
}

static void look_at_secret_file(struct doctor *d, const struct env_ref *ref)
{
	struct stat st;

	if (stat(ref->from, &st) == 0 && st.st_mode & (S_IRGRP | S_IROTH))
		doctor_add(d, "credential", ref->name, CHECK_WARNING,
			   arena_printf(d->arena, "chmod 600 %s", ref->from),
			   "%s can be read by others", ref->from);
}

static void look_at_command_ref(struct doctor *d, struct gate *gate,
				const struct env_ref *ref,
				const struct gate_policy *policy)
{
	struct gate_request request = {.policy = policy, .cwd = d->folder};
	struct err err = ERR_INIT;
	struct strlist words;

	if (path_words(ref->from, d->folder, d->arena, &words, &err) < 0) {
		doctor_add(d, "credential", ref->name, CHECK_FAILED,
			   "mend its command line", "%s", err.msg);
		return;
	}
	request.program = words.item[0];
	request.argv = words.item;
	for (int i = 0; i < 3; i++)
		request.stdio[i] = GATE_PIPE;
	if (gate_check(gate, &request, &err) < 0)
		doctor_add(d, "credential", ref->name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		doctor_add(d, "credential", ref->name, CHECK_OK, "",
			   "%s is there; it was not run", words.item[0]);
}

void doctor_look_at_refs(struct doctor *d, struct gate *gate, const char *step,
			 const struct env_refs *refs,
			 const struct gate_policy *policy)
{
	for (size_t i = 0; !d->is_not_allowed && i < refs->n; i++) {
		struct env_ref named = refs->item[i];
		const struct env_ref *ref = &named;
		struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
		struct err err = ERR_INIT;

		named.name = arena_printf(d->arena, "%s %s", step,
					  refs->item[i].name);
		if (ref->source == ENV_FROM_CMD) {
			look_at_command_ref(d, gate, ref, policy);
			continue;
		}
		if (secret_resolve(ref->source == ENV_FROM_FILE ? SECRET_FILE
								: SECRET_ENV,
				   ref->from, NULL, &value, &err) < 0)
			doctor_add(d, "credential", ref->name, CHECK_FAILED,
				   ref->source == ENV_FROM_FILE
					   ? "write the value into that file"
					   : "set the variable where matins is "
					     "started",
				   "%s", err.msg);
		else
			look_at_length(d, ref->name, ref->from, value.n);
		buf_wipe(&value);
		if (ref->source == ENV_FROM_FILE)
			look_at_secret_file(d, ref);
	}
}
