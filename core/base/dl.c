#include "core/base/dl.h"

#include <dlfcn.h>

static bool find_functions(void *handle, struct dl *l)
{
	char *to = l->functions;

	for (size_t i = 0; i < l->n; i++, to += sizeof(void *)) {
		void *function = dlsym(handle, l->names[i]);

		if (!function) {
			l->lacks = l->names[i];
			return false;
		}
		/* ISO C has no other way from an object to a function */
		memcpy(to, &function, sizeof(function));
	}
	return true;
}

bool dl_load(struct dl *l)
{
	if (!l->is_tried) {
		/* never closed: some hang functions on the end of a process */
		void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);

		l->is_tried = true;
		l->is_loaded = handle && find_functions(handle, l);
	}
	return l->is_loaded;
}
