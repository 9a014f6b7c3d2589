/*
 * `matins auth status` without a server: all that have something stored, in
 * the state directory and in every token_store of the configuration.
 */
#ifndef CORE_CLI_AUTH_LIST_H
#define CORE_CLI_AUTH_LIST_H

#include "core/cli/args.h"

/*
 * Prints them, each with its name in the configuration where it has one.
 * Creates nothing, asks no server.
 *
 * returns  0; 1: what is kept of one cannot be read, which is said in its place
 * errors   of the configuration and of core/auth/store.h
 */
int auth_list(const struct args *args, struct err *err) MUST_USE;

#endif
