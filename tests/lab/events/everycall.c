// SPDX-License-Identifier: MIT
/*
 * everycall OUT: system calls that have nothing to do with sockets.  Writes down how often it made
 * each, in all its threads: "NUMBER CALLS ERRORS"; 32-bit calls have 1 << 32 in their number.
 * everycall OUT exec: another thread than the first calls exec while the first waits in a call.
 * Writes down "PROCESS THREAD".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PIDS 300
#define NAPS 20
#define NAP_NS 2000000
#define MISSING 50
#define UNKNOWN 7
#define NO_CALL 999
#define SIGNALS 5
#define THREADS 3
#define PARENTS 40
#define OLD 11
#define OLD_GETPID 20	/* asm/unistd_32.h */

static volatile sig_atomic_t signals;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void on_signal(int unused)
{
	(void)unused;
	signals++;
}

static void *parents(void *unused)
{
	for (int i = 0; i < PARENTS; i++)
		syscall(SYS_getppid);
	return unused;
}

/* A thread of the library begins and ends with calls of its own. */
static void threads(void)
{
	pthread_t made[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&made[i], NULL, parents, NULL))
			fail("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(made[i], NULL);
}

/* As a 32-bit program makes it. */
static long old_getpid(void)
{
	long result = OLD_GETPID;

	asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static void calls(void)
{
	struct timespec nap = { .tv_nsec = NAP_NS };

	for (int i = 0; i < PIDS; i++)
		syscall(SYS_getpid);
	for (int i = 0; i < NAPS; i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &nap, NULL);
	for (int i = 0; i < MISSING; i++)
		if (!syscall(SYS_faccessat, -1, "/missing", F_OK))
			fail("/missing is there");
	for (int i = 0; i < UNKNOWN; i++)
		syscall(NO_CALL);
	for (int i = 0; i < SIGNALS; i++)
		syscall(SYS_kill, getpid(), SIGUSR1);
	for (int i = 0; i < OLD; i++)
		if (old_getpid() != getpid())
			fail("int 0x80");
}

/* The state is the word after the name, which is in parentheses: see proc(5). */
static int first_thread_sleeps(void)
{
	FILE *in = fopen("/proc/self/stat", "r");
	char state = 0;

	if (!in || fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
		fail("/proc/self/stat");
	fclose(in);
	return state == 'S';
}

static void *become(void *out)
{
	while (!first_thread_sleeps())
		sched_yield();
	fprintf(out, "%d %ld\n", getpid(), (long)syscall(SYS_gettid));
	fclose(out);
	execl("/bin/busybox", "true", NULL);
	fail("exec");
	return NULL;
}

static void exec_by_thread(FILE *out)
{
	pthread_t made;

	if (pthread_create(&made, NULL, become, out))
		fail("pthread_create");
	pthread_join(made, NULL);
}

int main(int argc, char **argv)
{
	FILE *out = argc >= 2 ? fopen(argv[1], "w") : NULL;

	if (!out)
		fail("everycall OUT");
	if (argc == 3)
		exec_by_thread(out);
	signal(SIGUSR1, on_signal);
	threads();
	calls();
	if (signals != SIGNALS)
		fail("signals");
	fprintf(out, "%d %d %d\n", SYS_getpid, PIDS + SIGNALS + OLD, 0);
	fprintf(out, "%d %d %d\n", SYS_getppid, THREADS * PARENTS, 0);
	fprintf(out, "%d %d %d\n", SYS_clock_nanosleep, NAPS, 0);
	fprintf(out, "%d %d %d\n", SYS_faccessat, MISSING, MISSING);
	fprintf(out, "%d %d %d\n", NO_CALL, UNKNOWN, UNKNOWN);
	fprintf(out, "%d %d %d\n", SYS_rt_sigreturn, SIGNALS, 0);
	fprintf(out, "%ld %d %d\n", OLD_GETPID | 1L << 32, OLD, 0);
	return fclose(out);
}
