#include "core/config/rate.h"

#include "core/base/clock.h"

bool rate_read(struct str text, uint64_t *ret_n, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t s;
	} units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
	struct str unit = text, n = str_cut(&unit, '/');

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (unit.p && str_is(unit, units[i].name) &&
		    str_uint64(n, ret_n) && *ret_n && *ret_n <= RATE_MAX) {
			*ret_ns = units[i].s * NS_PER_S;
			return true;
		}
	return false;
}
