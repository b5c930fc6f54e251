// SPDX-License-Identifier: MIT
/*
 * fuzz SEED SECONDS FILE...: hostile writes to control files, from two threads a file.
 *
 * Each write is one of: random bytes, random printable text, a very long line, many lines, a
 * word of the files' own language with some bytes changed, nothing at all.  Prints the seed and,
 * per file, how many writes were taken and refused with which errno.  What is refused must be
 * refused with EINVAL or another of the errors named below; anything else ends with status 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST (1 << 18)
#define THREADS 2

struct target {
	const char *path;
	uint64_t random;
	unsigned long taken, refused, unexpected, reads;
	int odd;	/* an errno nobody expects */
	double end;
};

static const char *const words[] = {
	"activate", "deactivate", "clear", "calibrate", "enable *", "disable tcp_*", "stext 0x1",
	"ip_rcv skb@0", "tcp_sendmsg sock@0", "ip_rcv 0xffffffff81000000 skb@0", "__alloc_skb skb@ret",
	"ip_list_rcv list@0", "x skb@0 skb@1 skb@2 skb@3 skb@4", "ip_rcv skb@99", "ip_rcv what@0",
	"tcp and port 80", "host 10.0.0.1", "not (udp or icmp)", "net 10.0.0.0/8", "off", "",
	"+syscall -irq", "+net +qdisc", "-all", "instructions", "cycles", "raw 0x1c2", "none",
	"ip_rcv skb@0 drop module=veth void quiet", "0 0 0 0 0", "ip_output skb@2\nip_rcv skb@0\n",
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* xorshift64* */
static uint64_t next(struct target *t)
{
	t->random ^= t->random >> 12;
	t->random ^= t->random << 25;
	t->random ^= t->random >> 27;
	return t->random * 0x2545f4914f6cdd1dull;
}

static size_t below(struct target *t, size_t n)
{
	return next(t) % n;
}

static size_t fill(struct target *t, char *to, size_t len, int lowest, int values)
{
	for (size_t i = 0; i < len; i++)
		to[i] = lowest + below(t, values);
	return len;
}

static size_t mutate(struct target *t, char *to)
{
	size_t len = 0, lines = 1 + below(t, 4);

	while (lines--)
		len += sprintf(to + len, "%s\n", words[below(t, sizeof(words) / sizeof(*words))]);
	for (size_t n = below(t, 4); n && len; n--)
		to[below(t, len)] = below(t, 256);
	return below(t, 8) ? len : below(t, len + 1);
}

static size_t compose(struct target *t, char *to)
{
	size_t len;

	switch (below(t, 8)) {
	case 0:
		return fill(t, to, below(t, 4096), 0, 256);
	case 1:
		return fill(t, to, below(t, 4096), ' ', 95);
	case 2:
		return fill(t, to, below(t, LONGEST), 'a', 26);
	case 3:
		len = fill(t, to, below(t, LONGEST / 8), ' ', 95);
		for (size_t i = below(t, 40); i < len; i += 1 + below(t, 80))
			to[i] = '\n';
		return len;
	case 4:
		return 0;
	default:
		return mutate(t, to);
	}
}

static int expected(int error)
{
	return error == EINVAL || error == E2BIG || error == EBUSY || error == ENOENT ||
	       error == EOPNOTSUPP || error == ENOSPC || error == EEXIST || error == ENODEV ||
	       error == EAGAIN || error == ENAMETOOLONG;
}

/* Mostly writes; sometimes reads a little from a place nobody expects. */
static void once(struct target *t, char *text)
{
	int fd = open(t->path, O_RDWR);

	if (fd < 0)
		fd = open(t->path, O_WRONLY);
	if (fd < 0) {
		t->odd = errno;
		t->unexpected++;
		return;
	}
	if (below(t, 8) == 0) {
		lseek(fd, below(t, 10000), SEEK_SET);
		t->reads += read(fd, text, 1 + below(t, 8192)) > 0;
	} else if (write(fd, text, compose(t, text)) >= 0) {
		t->taken++;
	} else {
		t->refused++;
		if (!expected(errno)) {
			t->odd = errno;
			t->unexpected++;
		}
	}
	close(fd);
}

static void *attack(void *argument)
{
	struct target *t = argument;
	char *text = malloc(LONGEST + 4096);

	while (text && now() < t->end)
		once(t, text);
	free(text);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 3 ? strtoull(argv[1], NULL, 0) : 0;
	int count = (argc - 3) * THREADS, bad = 0;
	struct target *targets;
	pthread_t *threads;

	if (argc < 4)
		return 2;
	targets = calloc(count, sizeof(*targets));
	threads = calloc(count, sizeof(*threads));
	printf("fuzz: seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	for (int i = 0; i < count; i++) {
		targets[i].path = argv[3 + i / THREADS];
		targets[i].random = (seed + 1) * 0x9e3779b97f4a7c15ull + i;
		targets[i].end = now() + atof(argv[2]);
		if (pthread_create(&threads[i], NULL, attack, &targets[i]))
			return 1;
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		printf("fuzz: %s taken %lu refused %lu reads %lu unexpected %lu%s%s\n",
		       targets[i].path, targets[i].taken, targets[i].refused, targets[i].reads,
		       targets[i].unexpected, targets[i].odd ? ": " : "",
		       targets[i].odd ? strerror(targets[i].odd) : "");
		bad |= targets[i].unexpected != 0;
	}
	return bad;
}
