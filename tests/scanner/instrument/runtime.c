// SPDX-License-Identifier: MIT
/* What the probes call, and what gcc -finstrument-functions calls, in one log on descriptor 3. */
#include <stdarg.h>
#include <stdio.h>

#define NOT_LOGGED __attribute__((no_instrument_function))

NOT_LOGGED void kbl_enter(int id, int count, ...)
{
	va_list list;

	va_start(list, count);
	dprintf(3, "> %d", id);
	(void)va_arg(list, int);
	while (--count >= 0)
		dprintf(3, " %p", va_arg(list, void *));
	dprintf(3, "\n");
	va_end(list);
}

NOT_LOGGED void kbl_leave(int id, int has_value, unsigned long value)
{
	if (has_value)
		dprintf(3, "< %d %lx\n", id, value);
	else
		dprintf(3, "< %d\n", id);
}

NOT_LOGGED void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	dprintf(3, "> %lx\n", (unsigned long)function);
}

NOT_LOGGED void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)caller;
	dprintf(3, "< %lx\n", (unsigned long)function);
}
