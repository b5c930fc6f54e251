// SPDX-License-Identifier: MIT
/*
 * unread FILE: a socket gets datagrams that nobody reads.  After each, the file gets a line with
 * their number and the memory that they take, as the socket's SO_MEMINFO says.
 */
#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

static const char bytes[1000];

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	unsigned int memory[SK_MEMINFO_VARS];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(at);
	FILE *out;

	if (argc != 2)
		return 2;
	out = fopen(argv[1], "w");
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!out || fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(fd, (struct sockaddr *)&at, &len))
		return fail(argv[1]);
	for (size_t n = 1; n <= 5; n++) {
		len = sizeof(memory);
		if (sendto(fd, bytes, n * 200, 0, (struct sockaddr *)&at, sizeof(at)) < 0)
			return fail("sendto");
		if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &len))
			return fail("SO_MEMINFO");
		fprintf(out, "%zu %u\n", n, memory[SK_MEMINFO_RMEM_ALLOC]);
	}
	return fclose(out) ? fail(argv[1]) : 0;
}
