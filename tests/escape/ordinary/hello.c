#include <stdio.h>

int main(void)
{
	return puts("compiled") < 0;
}
