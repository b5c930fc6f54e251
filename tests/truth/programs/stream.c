// SPDX-License-Identifier: MIT
/*
 * Sockets whose payload shows which byte of which run it is:
 *   stream sink PORT... [echo=1] [proto=udp|sctp] [gro=1] [pause=US] [rcvbuf=BYTES]
 *        reads until it is ended, after a pause each time; says "ready"
 *   stream tcp|sctp to=ADDRESS port=PORT [bytes=N] [chunk=BYTES] [gap=US]
 *   stream udp to=ADDRESS port=PORT [n=DATAGRAMS] [len=BYTES] [gap=US] [gso=BYTES] [connect=1]
 *        [sport=PORT]
 * A byte stream is words of eight bytes: a counter and a random number.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "zoo.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#define MAX_SOCKETS 64

static uint8_t buffer[1 << 17];

static int listener(const char *proto, int port, int gro, int rcvbuf)
{
	int stream = strcmp(proto, "udp"), sctp = !strcmp(proto, "sctp"), one = 1, zero = 0;
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in at4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int six = access("/proc/sys/net/ipv6", F_OK) == 0;
	int fd = socket(six ? AF_INET6 : AF_INET, stream ? SOCK_STREAM : SOCK_DGRAM,
			sctp ? IPPROTO_SCTP : 0);

	if (fd < 0)
		zoo_fail("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (six)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (rcvbuf && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf)))
		zoo_fail("SO_RCVBUF");
	if (gro && setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)))
		zoo_fail("UDP_GRO");
	if (six ? bind(fd, (void *)&at, sizeof(at)) : bind(fd, (void *)&at4, sizeof(at4)))
		zoo_fail("bind");
	if (stream && listen(fd, 64))
		zoo_fail("listen");
	return fd;
}

/* Returns 0 where a stream has ended. */
static int take(int fd, int stream, int echo)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	ssize_t n = recvfrom(fd, buffer, sizeof(buffer), 0, (void *)&from, &len);

	if (n <= 0)
		return !stream;
	if (echo && stream)
		return write(fd, buffer, n) == n;
	if (echo)
		(void)!sendto(fd, buffer, n, 0, (void *)&from, len);
	return 1;
}

static void sink(char **argv)
{
	const char *proto = zoo_word(argv, "proto", "both");
	int echo = zoo_number(argv, "echo", 0), gro = zoo_number(argv, "gro", 0);
	int pause = zoo_number(argv, "pause", 0), rcvbuf = zoo_number(argv, "rcvbuf", 0);
	struct pollfd polled[MAX_SOCKETS];
	int kind[MAX_SOCKETS], n = 0, i;	/* 0 datagrams, 1 listens, 2 a stream */

	for (; *argv && !strchr(*argv, '='); argv++) {
		if (strcmp(proto, "udp")) {
			kind[n] = 1;
			polled[n++].fd = listener(strcmp(proto, "both") ? proto : "tcp",
						  atoi(*argv), 0, rcvbuf);
		}
		if (!strcmp(proto, "udp") || !strcmp(proto, "both")) {
			kind[n] = 0;
			polled[n++].fd = listener("udp", atoi(*argv), gro, rcvbuf);
		}
	}
	signal(SIGPIPE, SIG_IGN);	/* who called may be gone before the echo */
	puts("ready");
	fflush(stdout);
	for (;;) {
		for (i = 0; i < n; i++)
			polled[i].events = POLLIN;
		if (poll(polled, n, -1) < 0)
			zoo_fail("poll");
		if (pause)
			usleep(pause);
		for (i = n - 1; i >= 0; i--) {
			if (!polled[i].revents)
				continue;
			if (kind[i] == 1 && n < MAX_SOCKETS) {
				kind[n] = 2;
				polled[n].revents = 0;
				polled[n++].fd = accept(polled[i].fd, NULL, NULL);
			} else if (!take(polled[i].fd, kind[i] == 2, echo)) {
				close(polled[i].fd);
				polled[i] = polled[n - 1];
				kind[i] = kind[--n];
			}
		}
	}
}

static int caller(char **argv, int type, int protocol)
{
	int port = zoo_number(argv, "sport", 0), one = 1, fd;
	struct sockaddr_storage to, from;
	socklen_t len = zoo_address(&to, zoo_word(argv, "to", "127.0.0.1"),
				    zoo_number(argv, "port", 7));

	fd = socket(to.ss_family, type, protocol);
	if (fd < 0)
		zoo_fail("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
	if (port) {
		zoo_address(&from, to.ss_family == AF_INET ? "0.0.0.0" : "::", port);
		if (bind(fd, (void *)&from, len))
			zoo_fail("bind");
	}
	if (connect(fd, (void *)&to, len))
		zoo_fail("connect");
	return fd;
}

/* Take what comes back: all there is, or until the other end closes. */
static void drain(int fd, int flags)
{
	static uint8_t back[1 << 16];

	while (recv(fd, back, sizeof(back), flags) > 0)
		;
}

static int bytes(char **argv, int protocol)
{
	struct timeval patience = { .tv_sec = 10 };
	long left = zoo_amount(argv, "bytes", 100000), chunk = zoo_number(argv, "chunk", 1400);
	long gap = zoo_number(argv, "gap", 0), n, i;
	uint64_t random = zoo_random() << 32, word = 0, *words = (void *)buffer;
	int fd = caller(argv, SOCK_STREAM, protocol);

	for (; left > 0; left -= n) {
		n = left < chunk ? left : chunk;
		for (i = 0; i < (n + 7) / 8; i++)
			words[i] = random | (uint32_t)word++;
		if (write(fd, buffer, n) != n)
			zoo_fail("write");
		drain(fd, MSG_DONTWAIT);
		if (gap)
			zoo_pause(gap);
	}
	shutdown(fd, SHUT_WR);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	drain(fd, 0);
	return 0;
}

static int datagrams(char **argv)
{
	long n = zoo_amount(argv, "n", 1), len = zoo_number(argv, "len", 64);
	long gap = zoo_number(argv, "gap", 1000), i, at;
	int gso = zoo_number(argv, "gso", 0), fd = caller(argv, SOCK_DGRAM, 0);

	if (gso && setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &gso, sizeof(gso)))
		zoo_fail("UDP_SEGMENT");
	for (i = 0; i < n; i++) {
		for (at = 0; at < len; at += gso ? gso : len)
			zoo_mark(buffer + at, gso && gso < len - at ? gso : len - at,
				 gso ? i * 1000 + at / gso : i);
		(void)!send(fd, buffer, len, 0);	/* refused before: the next may arrive */
		if (gap)
			zoo_pause(gap);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "sink"))
		sink(argv + 2);
	if (!strcmp(argv[1], "udp"))
		return datagrams(argv + 2);
	return bytes(argv + 2, strcmp(argv[1], "sctp") ? 0 : IPPROTO_SCTP);
}
