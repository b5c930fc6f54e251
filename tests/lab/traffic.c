// SPDX-License-Identifier: MIT
/*
 * One small exchange:
 *   traffic tcp|udp server|server6 PORT	answers once; says "ready" when it listens
 *   traffic tcp|udp client ADDRESS PORT	asks, and wants what it said
 *   traffic tcp|udp refused ADDRESS PORT	wants to be refused
 *   traffic udp send ADDRESS PORT		one datagram, whatever becomes of it
 *   traffic udp burst ADDRESS PORT	BURST of one length, each of other bytes, from one port
 *   traffic udp ports ADDRESS PORT	one datagram to each of PORTS ports from that one on
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REQUEST "hello from the other namespace"
#define BURST 200
#define PORTS 400

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct address parse(const char *host, int port)
{
	struct address a = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };

	a.len = sizeof(a.v4);
	if (inet_pton(AF_INET, host, &a.v4.sin_addr) == 1)
		return a;
	memset(&a, 0, sizeof(a));
	a.v6.sin6_family = AF_INET6;
	a.v6.sin6_port = htons(port);
	a.len = sizeof(a.v6);
	if (inet_pton(AF_INET6, host, &a.v6.sin6_addr) != 1)
		fail(host);
	return a;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void serve_udp(int fd)
{
	struct address from = { .len = sizeof(from) };
	char request[256];
	ssize_t n;

	ready();
	n = recvfrom(fd, request, sizeof(request), 0, &from.any, &from.len);
	if (n < 0 || sendto(fd, request, n, 0, &from.any, from.len) != n)
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
	ready();
	peer = accept(fd, NULL, NULL);
	n = read(peer, request, sizeof(request));
	if (n <= 0 || write(peer, request, n) != n || read(peer, request, sizeof(request)))
		fail("tcp server");
	close(peer);
}

static void serve(int fd, const struct address *at, bool tcp)
{
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &at->any, at->len))
		fail("bind");
	if (tcp)
		serve_tcp(fd);
	else
		serve_udp(fd);
}

static void ask(int fd, const struct address *to)
{
	char request[] = REQUEST, reply[256];

	if (connect(fd, &to->any, to->len))
		fail("connect");
	if (write(fd, request, sizeof(request)) != sizeof(request))
		fail("write");
	if (read(fd, reply, sizeof(reply)) != sizeof(request) || strcmp(request, reply))
		fail("reply");
	printf("reply: %s\n", reply);
}

static void want_refusal(int fd, const struct address *to, bool tcp)
{
	struct timeval patience = { .tv_sec = 10 };
	char reply[256];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, &to->any, to->len) == 0) {
		if (tcp || write(fd, REQUEST, sizeof(REQUEST)) < 0 ||
		    read(fd, reply, sizeof(reply)) >= 0)
			fail("nobody refused");
	}
	if (errno != ECONNREFUSED)
		fail("refused otherwise");
}

/* As nothing is connected, the kernel numbers none of them: their headers are the same. */
static void burst(int fd, const struct address *to)
{
	int never = IP_PMTUDISC_DO;	/* to be cut: then the identification is 0 */
	char request[64];

	if (to->any.sa_family == AF_INET &&
	    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &never, sizeof(never)))
		fail("IP_MTU_DISCOVER");
	srand(getpid());
	for (int i = 0; i < BURST; i++) {
		for (size_t j = 0; j < sizeof(request); j++)
			request[j] = rand();
		if (sendto(fd, request, sizeof(request), 0, &to->any, to->len) < 0)
			fail("burst");
	}
}

/* One datagram to each of many ports, so that one poll of the receiver's device takes several. */
static void send_to_ports(int fd, const struct address *to, int first)
{
	for (int port = first; port < first + PORTS; port++) {
		struct address at = *to;

		at.v4.sin_port = htons(port);	/* sin6_port has the same place */
		if (sendto(fd, REQUEST, sizeof(REQUEST), 0, &at.any, at.len) < 0)
			fail("ports");
	}
}

int main(int argc, char **argv)
{
	struct address at;
	bool tcp;
	int fd;

	if (argc < 4)
		return 2;
	tcp = !strcmp(argv[1], "tcp");
	if (argc == 5)
		at = parse(argv[3], atoi(argv[4]));
	else
		at = parse(strcmp(argv[2], "server6") ? "0.0.0.0" : "::", atoi(argv[3]));
	fd = socket(at.any.sa_family, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	if (fd < 0)
		fail("socket");
	if (argc == 4)
		serve(fd, &at, tcp);
	else if (!strcmp(argv[2], "client"))
		ask(fd, &at);
	else if (!strcmp(argv[2], "refused"))
		want_refusal(fd, &at, tcp);
	else if (!strcmp(argv[2], "burst"))
		burst(fd, &at);
	else if (!strcmp(argv[2], "ports"))
		send_to_ports(fd, &at, atoi(argv[4]));
	else if (sendto(fd, REQUEST, sizeof(REQUEST), 0, &at.any, at.len) < 0)
		fail("send");
	return close(fd);
}
