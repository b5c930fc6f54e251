// SPDX-License-Identifier: MIT
/*
 * Guests that share memory (QEMU's ivshmem) wait for each other and compare their clocks:
 *   meet drift=PPM                  let this guest's clocks run faster, or slower if negative
 *   meet slot=N of=GUESTS at=STEP   wait until all guests have come to this step
 *   meet slot=N of=GUESTS watch=MS  read the others' clocks for so long; print what was seen
 * A line of what was seen is "OTHER THEIRS MINE": as MINE was read from this guest's
 * CLOCK_MONOTONIC, the other's had been at THEIRS already.  There is one for each WINDOW_NS, the one
 * with the least difference, because only those say much.
 */
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <unistd.h>

#include "zoo.h"

#define SECOND 1000000000LL
#define WINDOW_NS 20000000LL
#define MAX_GUESTS 8

struct slot {
	volatile int64_t step, clock;
	uint8_t rest[4080];
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* The memory is the third region of the device 1af4:1110. */
static int is_shared_memory(const char *device)
{
	char path[256], id[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/device", device);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(id, sizeof(id), file))
		id[0] = 0;
	fclose(file);
	return !strncmp(id, "0x1110", 6);
}

static struct slot *shared_memory(void)
{
	void *memory = MAP_FAILED;
	char path[256];
	glob_t found;
	size_t i;
	int fd;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &found))
		zoo_fail("no PCI devices");
	for (i = 0; i < found.gl_pathc; i++) {
		if (!is_shared_memory(found.gl_pathv[i]))
			continue;
		snprintf(path, sizeof(path), "%s/enable", found.gl_pathv[i]);
		fd = open(path, O_WRONLY);
		if (fd < 0 || write(fd, "1", 1) != 1)
			zoo_fail(path);
		close(fd);
		snprintf(path, sizeof(path), "%s/resource2", found.gl_pathv[i]);
		fd = open(path, O_RDWR);
		memory = mmap(NULL, MAX_GUESTS * sizeof(struct slot), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	}
	if (memory == MAP_FAILED)
		zoo_fail("no shared memory");
	return memory;
}

static void drift(long ppm)
{
	struct timex wish = { .modes = ADJ_FREQUENCY, .freq = ppm * 65536 };

	if (adjtimex(&wish) < 0)
		zoo_fail("adjtimex");
}

static void wait_for_all(struct slot *slots, int own, int of, int64_t step)
{
	int i;

	slots[own].step = step;
	for (i = 0; i < of; i++)
		while (slots[i].step < step)
			zoo_pause(20000);
}

static void watch(struct slot *slots, int own, int of, int64_t ns)
{
	int64_t theirs[MAX_GUESTS] = { 0 }, mine[MAX_GUESTS] = { 0 }, end = now() + ns, turn, seen, at;
	int i;

	for (turn = now() + WINDOW_NS; turn < end; ) {
		for (i = 0; i < of; i++) {
			slots[own].clock = now();
			if (i == own)
				continue;
			seen = slots[i].clock;
			at = now();
			if (seen && (!mine[i] || at - seen < mine[i] - theirs[i])) {
				theirs[i] = seen;
				mine[i] = at;
			}
		}
		if (now() < turn)
			continue;
		for (i = 0; i < of; i++) {
			if (mine[i])
				printf("%d %lld %lld\n", i, (long long)theirs[i],
				       (long long)mine[i]);
			mine[i] = 0;
		}
		turn += WINDOW_NS;
	}
}

int main(int argc, char **argv)
{
	long own = zoo_number(argv, "slot", 0), of = zoo_number(argv, "of", 0);

	if (argc < 2 || own < 0 || own >= of || of > MAX_GUESTS) {
		if (!zoo_word(argv, "drift", NULL))
			return 2;
		drift(zoo_number(argv, "drift", 0));
		return 0;
	}
	if (zoo_word(argv, "at", NULL))
		wait_for_all(shared_memory(), own, of, zoo_number(argv, "at", 0));
	if (zoo_word(argv, "watch", NULL))
		watch(shared_memory(), own, of, zoo_number(argv, "watch", 0) * 1000000LL);
	return 0;
}
