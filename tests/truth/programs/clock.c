// SPDX-License-Identifier: MIT
/* clock ms=MILLISECONDS: set the wall clock forward, or back. */
#include "zoo.h"

int main(int argc, char **argv)
{
	long ms = zoo_number(argv, "ms", 0);
	struct timespec now;

	(void)argc;
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += ms / 1000;
	now.tv_nsec += ms % 1000 * 1000000;
	if (now.tv_nsec < 0) {
		now.tv_nsec += 1000000000;
		now.tv_sec--;
	} else if (now.tv_nsec >= 1000000000) {
		now.tv_nsec -= 1000000000;
		now.tv_sec++;
	}
	if (clock_settime(CLOCK_REALTIME, &now))
		zoo_fail("clock_settime");
	return 0;
}
