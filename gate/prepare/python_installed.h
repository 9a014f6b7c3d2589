/*
 * Programs of packages that `uv tool install` or pipx installed: each in a
 * virtual environment of its own.
 */
#ifndef GATE_PREPARE_PYTHON_INSTALLED_H
#define GATE_PREPARE_PYTHON_INSTALLED_H

#include "gate/policy/package.h"

/* Find the program among the tools of uv or pipx; as npm_installed(). */
int python_installed(const struct package_search *search, struct arena *arena,
		     struct package_found *ret, struct err *err) MUST_USE;

#endif
