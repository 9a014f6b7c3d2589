/*
 * Attributes of the compiler under names that read well, and a ban on
 * library calls that cannot be used safely.
 *
 * Every other header may rely on this one; it depends on nothing.
 */
#ifndef CORE_BASE_ATTR_H
#define CORE_BASE_ATTR_H

/* before the bans below, which these headers would trip over */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Run fn(&variable) when the variable leaves its scope. */
#define AUTO(fn) __attribute__((cleanup(fn)))

/* The caller must look at the result. */
#define MUST_USE __attribute__((warn_unused_result))

/* Arguments are checked like printf's: format at a, first value at b. */
#define PRINTF(a, b) __attribute__((format(printf, a, b)))

#define UNUSED __attribute__((unused))
#define NORETURN __attribute__((noreturn))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Rows of a list X(name, word, ...): an enum of its names, a table of its words
   by them, and one of the names as texts. */
#define ROW_NAME(name, ...) name,
#define ROW_WORD(name, word, ...) [name] = (word),
#define ROW_TEXT(name, ...) #name,

/*
 * Banned as in git's banned.h: no bound, or a bound that does not end the
 * string. Use struct str, struct buf or snprintf.
 */
#define BANNED(name) sorry_##name##_is_a_banned_function
#undef strcpy
#define strcpy(x, y) BANNED(strcpy)
#undef strcat
#define strcat(x, y) BANNED(strcat)
#undef strncpy
#define strncpy(x, y, n) BANNED(strncpy)
#undef strncat
#define strncat(x, y, n) BANNED(strncat)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef atoi
#define atoi(x) BANNED(atoi)
#undef gmtime
#define gmtime(t) BANNED(gmtime)
#undef localtime
#define localtime(t) BANNED(localtime)
#undef ctime
#define ctime(t) BANNED(ctime)
#undef strtok
#define strtok(a, b) BANNED(strtok)

#endif
