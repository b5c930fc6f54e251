// SPDX-License-Identifier: MIT
/* realtime PRIORITY PROGRAM...: runs the program before all threads without a real-time priority. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sched_param priority;

	if (argc < 3)
		return 2;
	priority.sched_priority = atoi(argv[1]);
	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("sched_setscheduler");
		return 1;
	}
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
