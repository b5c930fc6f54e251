// SPDX-License-Identifier: MIT
/*
 * Stands in for the kernel module, preloaded into kblrecord: the folder
 * KBL_DEBUGFS is its debugfs.  Writes into `probes` grow the table that is read
 * there, those into other files are appended to NAME.log; what begins with "bad"
 * is refused.  /proc/kallsyms and /proc/kcore are the folder's.  Once KBL_DEBUGFS/unloaded is
 * there, control files are gone and relay files fail as debugfs lets them.
 * While KBL_DEBUGFS/busy is there, another process reads the relay files.
 * CPU 0 records what is in the file `retold` when it is asked to `retell`, and
 * what is in `meanwhile` whenever `probes` is read.
 *
 * With KBL_FAKE_HOURS=N, time() returns the hours 0 to N - 1, again and again.
 *
 * Where KBL_DEBUGFS/cpuN.state is there, cpuN is the buffer itself, see struct
 * state, and recorder_relay.c stands in for kbl_read.c.
 */
#undef _FILE_OFFSET_BITS	/* else open() would be open64(), and both are needed */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "recorder_fake.h"

char names[FILES][64];	/* by file descriptor: which control file it is */
static int ids;

static const char *in_folder(const char *path)
{
	const char *folder = getenv("KBL_DEBUGFS");
	size_t len = strlen(folder);

	return strncmp(path, folder, len) || path[len] != '/' ? NULL : path + len + 1;
}

static int there(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("KBL_DEBUGFS"), name);
	return !access(path, F_OK);
}

/* CPU 0 records now what lies in that file of the folder, if it is there. */
static void record(const char *name)
{
	char path[4096], data[4096];
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", getenv("KBL_DEBUGFS"), name);
	in = fopen(path, "r");
	if (!in)
		return;
	append("cpu0", data, fread(data, 1, sizeof(data), in));
	fclose(in);
}

static int open_any(const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open"), fd;
	const char *name = in_folder(path);
	char file[4096];

	if (!strcmp(path, "/proc/kallsyms") || !strcmp(path, "/proc/kcore")) {
		snprintf(file, sizeof(file), "%s/%s", getenv("KBL_DEBUGFS"), path + 6);
		path = file;
	}
	if (name && there("unloaded")) {
		errno = ENOENT;
		return -1;
	}
	if (name && !strncmp(name, "cpu", 3) && there("busy")) {
		errno = EBUSY;
		return -1;
	}
	if (name && !strcmp(name, "probes") && !(flags & O_ACCMODE))
		record("meanwhile");
	fd = real(path, flags, mode);
	if (fd >= 0 && fd < FILES)
		snprintf(names[fd], sizeof(names[fd]), "%s", name ? name : "");
	return fd;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open_any(path, flags, mode);
}

ssize_t read(int fd, void *to, size_t len)
{
	ssize_t (*real)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");

	if (fd < FILES && !strncmp(names[fd], "cpu", 3) && there("unloaded")) {
		errno = EIO;
		return -1;
	}
	if (fd < FILES && !strncmp(names[fd], "cpu", 3) && relay_is(fd))
		return relay_read(fd, to, len);
	return real(fd, to, len);
}

void append(const char *name, const char *text, size_t len)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", getenv("KBL_DEBUGFS"), name);
	out = fopen(path, "a");
	fwrite(text, 1, len, out);
	fclose(out);
}

/* "NAME 0xADDR ..." -> "id addr armed error hits missed mechanism carriers name [module]" */
static void target(const char *line)
{
	char name[128], row[512];
	const char *module = strstr(line, "module=");
	unsigned long long addr;
	int error;

	sscanf(line, "%127s %llx", name, &addr);
	error = strncmp(name, "unfit", 5) ? 0 : -EINVAL;
	snprintf(row, sizeof(row), "%d 0x%llx %d %d %d 0 %s skb@0 %s %.*s\n", ids, addr, !error,
		 error, 10 * ids, error ? "-" : "fprobe", name,
		 module ? (int)strcspn(module + 7, " \n") : 0, module ? module + 7 : "");
	ids++;
	append("probes", row, strlen(row));
}

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	const char *name = fd < FILES ? names[fd] : "";
	char text[4096], log[80];

	if (!*name)
		return real(fd, data, len);
	snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)data);
	if (!strncmp(text, "bad", 3) || !strncmp(text, "+bad", 4)) {
		errno = EINVAL;
		return -1;
	}
	snprintf(log, sizeof(log), "%s.log", name);
	append(log, text, strlen(text));
	if (!strcmp(name, "probes"))
		target(text);
	if (!strcmp(text, "retell\n"))
		record("retold");
	return len;
}

int close(int fd)
{
	int (*real)(int) = dlsym(RTLD_NEXT, "close");

	if (fd >= 0 && fd < FILES)
		names[fd][0] = 0;
	return real(fd);
}

time_t time(time_t *at)
{
	const char *hours = getenv("KBL_FAKE_HOURS");
	static unsigned int calls;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (hours)
		now.tv_sec = calls++ % atoi(hours) * 3600;
	if (at)
		*at = now.tv_sec;
	return now.tv_sec;
}
