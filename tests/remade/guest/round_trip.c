// SPDX-License-Identifier: MIT
/*
 * Round trips of a TCP connection, as the user of sockets sees them:
 *   round-trip server PORT	returns what it is sent, for one client; says "ready" when it listens
 *   round-trip client ADDRESS PORT ROUNDS BYTES...
 *
 * The client prints a line "BYTES BEGIN END" for each round trip, after all of them: ns of
 * CLOCK_MONOTONIC before its write() and behind its read() of the last byte.  For each number of
 * bytes, there is one round trip more than ROUNDS, which comes first and is not printed.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES 65536
#define MOST_ROUNDS 1000

struct round {
	long long begin, end;
};

static char data[MOST_BYTES];
static struct round rounds[MOST_ROUNDS];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void write_all(int fd, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = write(fd, data + done, bytes - done);

		if (n <= 0)
			fail("write");
		done += n;
	}
}

static void read_all(int fd, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = read(fd, data + done, bytes - done);

		if (n <= 0)
			fail("read");
		done += n;
	}
}

/* Small writes are sent at once. */
static void send_at_once(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		fail("TCP_NODELAY");
}

static void serve(int fd, const struct sockaddr_in *at)
{
	ssize_t n;
	int peer, one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)at, sizeof(*at)) || listen(fd, 1))
		fail("listen");
	puts("ready");
	fflush(stdout);
	peer = accept(fd, NULL, NULL);
	if (peer < 0)
		fail("accept");
	send_at_once(peer);
	while ((n = read(peer, data, sizeof(data))) > 0)
		write_all(peer, n);
}

static void measure(int fd, size_t bytes, int number)
{
	for (int i = -1; i < number; i++) {
		struct round round = { .begin = now() };

		write_all(fd, bytes);
		read_all(fd, bytes);
		round.end = now();
		if (i >= 0)
			rounds[i] = round;
	}
	for (int i = 0; i < number; i++)
		printf("%zu %lld %lld\n", bytes, rounds[i].begin, rounds[i].end);
}

static void ask(int fd, const struct sockaddr_in *to, int number, char **bytes)
{
	if (number < 1 || number > MOST_ROUNDS || connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		fail("client");
	send_at_once(fd);
	for (; *bytes; bytes++)
		measure(fd, strtoul(*bytes, NULL, 10) % (MOST_BYTES + 1), number);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		fail("socket");
	if (argc == 3 && !strcmp(argv[1], "server")) {
		at.sin_port = htons(atoi(argv[2]));
		serve(fd, &at);
	} else if (argc > 5 && !strcmp(argv[1], "client")) {
		at.sin_port = htons(atoi(argv[3]));
		if (inet_pton(AF_INET, argv[2], &at.sin_addr) != 1)
			return 2;
		ask(fd, &at, atoi(argv[4]), argv + 5);
	} else {
		return 2;
	}
	return close(fd);
}
