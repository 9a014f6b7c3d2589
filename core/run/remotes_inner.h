/*
 * What the files of the remote servers share. Who uses them sees remotes.h.
 *
 *	remotes.c	 the engine and the stores, for all of them
 *	remote_server.c	 one server
 *	remote_spec.c	 what is known of it, from the configuration
 */
#ifndef CORE_RUN_REMOTES_INNER_H
#define CORE_RUN_REMOTES_INNER_H

#include "core/auth/store.h"
#include "core/run/remotes.h"
#include "core/transport/http.h"

struct remotes {
	struct remotes_options o;
	struct engine *engines;
	struct kept_store *stores;
};

/*
 * The one of this file of authorities; NULL: those of the system alone.
 *
 * ret     borrowed, until remotes_free()
 * errors  ERR_UNKNOWN  libcurl is not installed
 */
int remotes_engine(struct remotes *r, const char *ca_file, struct http **ret,
		   struct err *err) MUST_USE;
/*
 * Borrowed, until remotes_free(). NULL where tokens cannot be kept, which is
 * said and no end of the work.
 */
struct store *remotes_store(struct remotes *r, const struct remote_spec *spec)
	MUST_USE;

#endif
