/*
 * Plays a fuzz corpus through one fuzz entry point, as TAP.
 *
 *	fuzz_NAME            the files of tests/fuzz/corpus/NAME
 *	fuzz_NAME FILE...    these files
 *
 * A corpus file that crashes the parser ends the program by a signal or by
 * the sanitizer, which the test runner counts as a failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count;

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, cap = 0, got;

	if (!f) {
		printf("not ok %d - %s\n# cannot be opened\n", ++count, path);
		return 1;
	}
	do {
		uint8_t *more = realloc(data, cap += 65536);

		if (!more)
			abort();
		data = more;
		got = fread(data + size, 1, cap - size, f);
		size += got;
	} while (got);
	fclose(f);
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	printf("ok %d - %s\n", ++count, path);
	free(data);
	return 0;
}

static int replay_dir(const char *dir)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort), failed = 0;

	if (n < 0) {
		printf("not ok %d - %s\n# cannot be listed\n", ++count, dir);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0)
			abort();
		if (entries[i]->d_name[0] != '.')
			failed |= replay(path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	const char *name = strstr(argv[0], "fuzz_");
	const char *next;
	char *dir;
	int failed = 0;

	/* The last one: folders above may be called so, too. */
	while (name && (next = strstr(name + 1, "fuzz_")))
		name = next;
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			failed |= replay(argv[i]);
	} else {
		if (asprintf(&dir, "tests/fuzz/corpus/%s",
			     name ? name + 5 : "") < 0)
			abort();
		failed = replay_dir(dir);
		free(dir);
	}
	printf("1..%d\n", count);
	return failed;
}
