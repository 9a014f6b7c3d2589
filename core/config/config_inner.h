/*
 * What the files behind config.h share: config_find.c finds and trusts,
 * config.c reads,
 * config_expand.c replaces what is written for something else, config_check.c
 * finds what is wrong, config_grants.c says what it may do, config_allow.c
 * whether it may be used.
 */
#ifndef CORE_CONFIG_CONFIG_INNER_H
#define CORE_CONFIG_CONFIG_INNER_H

#include <string.h>

#include "core/base/attr.h"
#include "core/config/config.h"

/*
 * Open the first configuration there is, and set what is known of its place.
 * Links are followed one by one: each, and every folder on the way, belongs to
 * the user or root and is written by nobody else.
 *
 * errors  ERR_CONFIG, ERR_UNKNOWN as config_open()
 */
int config_find(const struct config_options *options, struct config_file *file,
		int *ret_fd, struct err *err) MUST_USE;
/* Does the user or root own it, and does nobody else write it? */
struct stat;
bool config_is_trusted(const struct stat *st) MUST_USE;

/* A finding at a place of the file; the line is 0 without one. */
void config_add_finding(struct config_file *file, bool warning, uint32_t line,
			uint32_t col, const char *fmt, ...) PRINTF(5, 6);

/* Replace what is used; paths become absolute. Errors are findings. */
void config_expand(struct config_file *file,
		   const struct config_options *options);
/* Policies, commands of credentials, rules of comparison. */
void config_check(struct config_file *file);
/* config_open() says what of it; nothing but its errors. */
int config_allow(struct config_file *file, const struct config_options *options,
		 struct err *err) MUST_USE;

/* Variables that are set to nothing count as not set. */
const char *config_variable(const char *name) MUST_USE;

/* Is it there, and this? */
static inline bool config_is_named(const char *name, const char *wanted)
{
	return name && wanted && !strcmp(name, wanted);
}

#endif
