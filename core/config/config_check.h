/*
 * Checks of a configuration that need more than the loader knows. Findings are
 * added to the file's.
 */
#ifndef CORE_CONFIG_CONFIG_CHECK_H
#define CORE_CONFIG_CONFIG_CHECK_H

#include "core/config/config.h"

/* Check commands of credentials and rules of comparison. */
void config_check(struct config_file *file);
/*
 * Add warnings that need more than the file, or are no use in a run:
 * credentials that resolve without starting a program and are too short to
 * be scrubbed, steps whose server this version cannot reach. For `check`.
 */
void config_check_all(struct config_file *file);

#endif
