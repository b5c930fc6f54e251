/* SPDX-License-Identifier: MIT */
/* What the programs of the zoo share: NAME=VALUE arguments, addresses, markers. */
#ifndef ZOO_H
#define ZOO_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#define ZOO_MARKER 16

static inline void zoo_fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The value of NAME among the arguments, or what holds without it. */
static inline const char *zoo_word(char **argv, const char *name, const char *otherwise)
{
	size_t n = strlen(name);

	for (; *argv; argv++)
		if (!strncmp(*argv, name, n) && (*argv)[n] == '=')
			return *argv + n + 1;
	return otherwise;
}

static inline long zoo_number(char **argv, const char *name, long otherwise)
{
	const char *word = zoo_word(argv, name, NULL);

	return word ? strtol(word, NULL, 0) : otherwise;
}

/* How much to send: what the scenario wants, divided by less= of the guest's command line. */
static inline long zoo_amount(char **argv, const char *name, long otherwise)
{
	const char *less = getenv("less");
	long amount = zoo_number(argv, name, otherwise) / (less ? strtol(less, NULL, 0) : 1);

	return amount > 0 ? amount : 1;
}

static inline uint64_t zoo_random(void)
{
	uint64_t value;

	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
		zoo_fail("getrandom");
	return value;
}

static inline void zoo_pause(long us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* Fill a payload with its marker, over and over: "MKR!", a counter, eight random bytes. */
static inline void zoo_mark(uint8_t *payload, size_t len, uint32_t number)
{
	uint8_t marker[ZOO_MARKER] = "MKR!";
	uint64_t random = zoo_random();
	size_t at;

	memcpy(marker + 4, &number, 4);
	memcpy(marker + 8, &random, 8);
	for (at = 0; at < len; at++)
		payload[at] = marker[at % ZOO_MARKER];
}

/* Returns the length of the address; IPv6 where there is a colon. */
static inline socklen_t zoo_address(struct sockaddr_storage *to, const char *host, int port)
{
	struct sockaddr_in *v4 = (void *)to;
	struct sockaddr_in6 *v6 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (strchr(host, ':')) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
			zoo_fail(host);
		return sizeof(*v6);
	}
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
		zoo_fail(host);
	return sizeof(*v4);
}

#endif
