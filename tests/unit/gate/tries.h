/*
 * What a confined child tries: 0 when the call ends as it should, else the
 * number of the step is returned.
 */
#ifndef TESTS_TRIES_H
#define TESTS_TRIES_H

#include <errno.h>

#define EXPECT(number, call, error)                         \
	do {                                                \
		errno = 0;                                  \
		if ((long)(call) != -1 || errno != (error)) \
			return (number);                    \
	} while (0)
#define WORKS(number, call)              \
	do {                             \
		if ((long)(call) == -1)  \
			return (number); \
	} while (0)

#endif
