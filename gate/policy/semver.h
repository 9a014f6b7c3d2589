/*
 * Versions and ranges of npm packages, compared as npm compares them. Pure.
 *
 * Texts of more than 256 bytes are neither a version nor a range.
 *
 * source  semver.org 2.0.0; the ranges of npm's own module, node-semver, which
 *	   tests/blackbox/npx.t asks for its opinion
 */
#ifndef GATE_POLICY_SEMVER_H
#define GATE_POLICY_SEMVER_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/str.h"

enum semver_kind {
	SEMVER_VERSION, /* 1.2.3, also v1.2.3 and 1.2.3beta */
	SEMVER_RANGE,	/* ^1.2, 1.x || >=2.1, "" */
	SEMVER_TAG,	/* latest */
	SEMVER_NONE,	/* nothing that a registry could know */
};

/* Kind of the text behind the @ of a package that is asked for. */
enum semver_kind semver_kind(struct str asked) MUST_USE;

/* Are both texts the same version, but for build metadata? */
bool semver_is(struct str version, struct str asked) MUST_USE;

/* Does the version lie in the range? False where one of them is none. */
bool semver_satisfies(struct str version, struct str range) MUST_USE;

#endif
