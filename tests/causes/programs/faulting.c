// SPDX-License-Identifier: MIT
/*
 * faulting PORT MIB: reads what comes over TCP into memory that is new each time, so the kernel's
 * copy has page faults.  Meanwhile another thread changes the protection of MIB MiB of the same
 * address space, whose lock the page faults need.  Says "ready" when it listens.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES (64 << 10)

static size_t size;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static char *fresh(size_t bytes, int flags)
{
	char *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (made == MAP_FAILED)
		fail("mmap");
	return made;
}

static void *protect(void *unused)
{
	char *memory = fresh(size, MAP_POPULATE);

	for (;;)
		if (mprotect(memory, size, PROT_READ) ||
		    mprotect(memory, size, PROT_READ | PROT_WRITE))
			fail("mprotect");
	return unused;
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0), from;
	pthread_t thread;
	ssize_t got;

	if (argc != 3)
		fail("faulting PORT MIB");
	own.sin_port = htons(atoi(argv[1]));
	size = (size_t)atoi(argv[2]) << 20;
	if (bind(listener, (struct sockaddr *)&own, sizeof(own)) || listen(listener, 1))
		fail("listen");
	if (pthread_create(&thread, NULL, protect, NULL))
		fail("pthread_create");
	puts("ready");
	fflush(stdout);
	from = accept(listener, NULL, NULL);
	do {
		char *memory = fresh(READ_BYTES, 0);

		got = recv(from, memory, READ_BYTES, 0);
		munmap(memory, READ_BYTES);
	} while (got > 0);
	return got < 0;
}
