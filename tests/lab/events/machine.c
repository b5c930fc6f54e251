// SPDX-License-Identifier: MIT
/*
 * machine OUT: known page faults, waits for a lock, and switches of threads.  Writes down what
 * the module must record: "fault ADDRESS ERROR_CODE", "burner TID", "sleeper TID", "mapper TID",
 * and "nap BEGIN END SWITCHES": times of CLOCK_MONOTONIC, and how often the kernel says it slept.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 16
#define NAPS 10
#define NAP_NS 5000000
#define BURN_NS 100000000
#define MAP_NS 300000000
#define MAPPED (4 << 20)
#define WRITE_BY_USER 6	/* x86: enum x86_pf_error_code */
#define WRITE_BY_KERNEL 2

static FILE *out;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void note_thread(const char *what)
{
	pthread_mutex_lock(&writing);
	fprintf(out, "%s %ld\n", what, (long)syscall(SYS_gettid));
	pthread_mutex_unlock(&writing);
}

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Switches in which this thread was not on the run queue any more (ru_nvcsw). */
static long switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		fail("getrusage");
	return usage.ru_nvcsw;
}

static char *fresh(size_t size)
{
	char *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		fail("mmap");
	return made;
}

/* Every other page is written by the kernel. */
static void faults(void)
{
	char *pages = fresh(PAGES * PAGE);
	int zero = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < PAGES; i++) {
		char *page = pages + i * PAGE;

		if (i % 2 == 0)
			*(volatile char *)page = 1;
		else if (read(zero, page, PAGE) != PAGE)
			fail("read");
		fprintf(out, "fault %lu %d\n", (unsigned long)page,
			i % 2 ? WRITE_BY_KERNEL : WRITE_BY_USER);
	}
	close(zero);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void *burn(void *unused)
{
	long end;

	note_thread("burner");
	on_cpu(0);
	for (end = now_ns() + BURN_NS; now_ns() < end; )
		;
	return unused;
}

static void *nap(void *unused)
{
	struct timespec time = { .tv_nsec = NAP_NS };
	long naps[NAPS][3];

	note_thread("sleeper");
	on_cpu(0);
	for (int i = 0; i < NAPS; i++) {
		long before = switches();

		naps[i][0] = now_ns();
		nanosleep(&time, NULL);
		naps[i][1] = now_ns();
		naps[i][2] = switches() - before;
	}
	pthread_mutex_lock(&writing);
	for (int i = 0; i < NAPS; i++)
		fprintf(out, "nap %ld %ld %ld\n", naps[i][0], naps[i][1], naps[i][2]);
	pthread_mutex_unlock(&writing);
	return unused;
}

/* Threads that change one address space wait for its lock. */
static void *map(void *cpu)
{
	long end;

	note_thread("mapper");
	on_cpu((long)cpu);
	for (end = now_ns() + MAP_NS; now_ns() < end; ) {
		char *made = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (made == MAP_FAILED || munmap(made, MAPPED))
			fail("mmap");
	}
	return NULL;
}

static void together(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, first, (void *)0L) ||
	    pthread_create(&threads[1], NULL, second, (void *)1L))
		fail("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	out = argc == 2 ? fopen(argv[1], "w") : NULL;
	if (!out)
		fail("machine OUT");
	faults();
	together(burn, nap);
	together(map, map);
	return fclose(out);
}
