// SPDX-License-Identifier: MIT
/* The kernel module's control files, in debugfs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "rec.h"

#define REC_DEBUGFS "/sys/kernel/debug/kbl"

/* The path of a control file; valid until the next call. */
const char *rec_module_path(const char *name)
{
	const char *folder = getenv("KBL_DEBUGFS");
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : REC_DEBUGFS, name);
	return path;
}

/* Returns NULL if it cannot be read: the module may be unloaded. */
char *rec_module_read(const char *name)
{
	return rec_slurp(rec_module_path(name));
}

/* Returns 0 or the errno. */
int rec_module_write(const char *name, const char *text)
{
	int fd = open(rec_module_path(name), O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	ssize_t n;
	int err;

	if (fd < 0)
		return errno;
	n = write(fd, text, len);
	err = n < 0 ? errno : n < (ssize_t)len ? EIO : 0;
	close(fd);
	return err;
}

/* Open the kernel's log at its end; -1: not permitted. */
static int rec_kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* Copy the module's last message since then to text; "": none. */
static void rec_kmsg_reason(int fd, char *text, size_t size)
{
	char record[1024], *said;
	ssize_t n;

	*text = 0;
	/* Each read() returns one record; EPIPE: some were overwritten. */
	while ((n = read(fd, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		record[n > 0 ? n : 0] = 0;
		said = strstr(record, ";kbl: ");
		if (!said)
			continue;
		said += strlen(";kbl: ");
		snprintf(text, size, "%.*s", (int)strcspn(said, "\n"), said);
	}
}

/* Like rec_module_write(), but exits on an error, with the reason from the kernel's log. */
void rec_module_set(const char *name, const char *text)
{
	int log = rec_kmsg_open(), err = rec_module_write(name, text);
	char why[512] = "";

	if (err)
		rec_kmsg_reason(log, why, sizeof(why));
	if (log >= 0)
		close(log);
	if (err)
		rec_die("the kernel module refuses '%.*s' in %s: %s%s%s",
			(int)strcspn(text, "\n"), text, rec_module_path(name), strerror(err),
			*why ? ": " : err == EINVAL ? "; see dmesg" : "", why);
}

/*
 * Only one recorder can run.  The lock is on the folder, because an open control file would
 * prevent the module from being unloaded.  It ends with this process.
 */
void rec_module_lock(void)
{
	int fd = open(rec_module_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		rec_die("%s is missing: insmod kbl.ko, and mount debugfs on /sys/kernel/debug",
			rec_module_path(""));
	if (fd < 0)
		rec_die("%s: %s", rec_module_path(""), strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		rec_die("another kblrecord is recording%s", rec_holder_lock(fd));
}

/* True if the module still records; control shows its state after the usage. */
bool rec_module_active(void)
{
	char *text = rec_module_read("control"), *rest = text, *line;
	bool active = true;

	while (text && (line = rec_line(&rest)))
		if (strstr(line, "inactive"))
			active = false;
	free(text);
	return active;
}
