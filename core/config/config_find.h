/*
 * Place of the configuration, and whether it can be trusted.
 */
#ifndef CORE_CONFIG_CONFIG_FIND_H
#define CORE_CONFIG_CONFIG_FIND_H

#include "core/base/attr.h"
#include "core/config/config.h"

struct stat;

/*
 * Open the first configuration there is, and set what is known of its place.
 * Links are followed one by one: each, and every folder on the way, belongs to
 * the user or root and is written by nobody else.
 *
 * errors  ERR_CONFIG, ERR_UNKNOWN as config_open()
 */
int config_find(const struct config_options *options, struct config_file *file,
		int *ret_fd, struct err *err) MUST_USE;
/* Is it owned by the user or root, and written by no other user? */
bool config_is_trusted(const struct stat *st) MUST_USE;

#endif
