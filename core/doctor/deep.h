/*
 * Servers that are asked, for `matins doctor --deep`: opened as a run would,
 * each once, and ended when they have listed their tools.
 */
#ifndef CORE_DOCTOR_DEEP_H
#define CORE_DOCTOR_DEEP_H

#include "core/doctor/rows.h"

/* errors  ERR_SYS, ERR_CONFIG  nothing could be asked at all */
int doctor_ask_servers(struct doctor *d, const struct plan *plan,
		       struct err *err) MUST_USE;

#endif
