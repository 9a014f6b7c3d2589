/*
 * Read before each source by `make tidy` only: tells the analyzer, which sees
 * one file at a time, that reporting an error always returns -1.
 */
#ifndef TESTS_TIDY_H
#define TESTS_TIDY_H

#include "core/base/err.h"

#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_at(...) (err_at(__VA_ARGS__), -1)
#define err_sys(...) (err_sys(__VA_ARGS__), -1)
#define err_wrap(...) (err_wrap(__VA_ARGS__), -1)

#endif
