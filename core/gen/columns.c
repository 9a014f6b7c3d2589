/*
 * Writes the table of core/base/text.c: characters that take no column of a
 * terminal or two, as the C library of the machine that builds the program
 * counts them. All others take one.
 *
 *	columns >columns.inc
 */
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

/* The first of more than one byte, and the last. */
#define FIRST 0x80
#define LAST 0x10ffff

int main(void)
{
	unsigned first = 0, last = 0;
	int columns = 1;

	if (!setlocale(LC_CTYPE, "C.UTF-8") || wcwidth(L'你') != 2) {
		fputs("columns: no locale C.UTF-8\n", stderr);
		return 1;
	}
	for (unsigned c = FIRST; c <= LAST + 1; c++) {
		int w = c <= LAST ? wcwidth((wchar_t)c) : 1;

		/* not a character, or not yet: as those around it */
		if (w < 0)
			continue;
		if (w != columns && columns != 1)
			printf("{0x%04x, 0x%04x, %d},\n", first, last, columns);
		if (w != columns)
			first = c;
		last = c;
		columns = w;
	}
	return 0;
}
