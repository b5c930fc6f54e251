// SPDX-License-Identifier: MIT
/* hog BUSY_US PAUSE_US: in turn uses a CPU and sleeps, until it is ended.  Says "ready". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	long begin;

	if (argc < 3)
		return 2;
	puts("ready");
	fflush(stdout);
	for (;;) {
		for (begin = now_us(); now_us() - begin < atol(argv[1]);)
			;
		usleep(atol(argv[2]));
	}
}
