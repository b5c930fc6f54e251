// SPDX-License-Identifier: MIT
/* One small exchange: traffic (tcp|udp) (server PORT | client ADDRESS PORT). */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void serve_udp(int fd)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char request[256];
	ssize_t n = recvfrom(fd, request, sizeof(request), 0, (struct sockaddr *)&from, &len);

	if (n < 0 || sendto(fd, request, n, 0, (struct sockaddr *)&from, len) != n)
		fail("udp server");
}

/* The client closes first; read() then gives 0. */
static void serve_tcp(int fd)
{
	char request[256];
	ssize_t n;
	int peer;

	if (listen(fd, 1))
		fail("listen");
	peer = accept(fd, NULL, NULL);
	n = read(peer, request, sizeof(request));
	if (n <= 0 || write(peer, request, n) != n || read(peer, request, sizeof(request)))
		fail("tcp server");
	close(peer);
}

static void ask(int fd, const struct sockaddr_in *to)
{
	char request[] = "hello from the other namespace", reply[256];

	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		fail("connect");
	if (write(fd, request, sizeof(request)) != sizeof(request))
		fail("write");
	if (read(fd, reply, sizeof(reply)) != sizeof(request) || strcmp(request, reply))
		fail("reply");
	printf("reply: %s\n", reply);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int client, tcp, one = 1, fd;

	if (argc < 4)
		return 2;
	tcp = !strcmp(argv[1], "tcp");
	client = !strcmp(argv[2], "client");
	fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	address.sin_port = htons(atoi(argv[argc - 1]));
	if (client && !inet_aton(argv[3], &address.sin_addr))
		return 2;
	if (client) {
		ask(fd, &address);
	} else {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
			fail("bind");
		if (tcp)
			serve_tcp(fd);
		else
			serve_udp(fd);
	}
	return close(fd);
}
