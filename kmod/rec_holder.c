// SPDX-License-Identifier: MIT
/* Find the process that has locked or opened a file of the module. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "rec.h"

/* The process that holds the flock() of the open file; 0 if unknown. */
static int rec_holder_of_lock(int fd)
{
	char *text = rec_slurp("/proc/locks"), *rest = text, *line;
	unsigned int major_nr, minor_nr;
	unsigned long long inode;
	struct stat st;
	int pid, found = 0;

	if (fstat(fd, &st))
		st.st_ino = 0;
	while (text && (line = rec_line(&rest)))
		if (sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%llu", &pid, &major_nr, &minor_nr,
			   &inode) == 4 && inode == st.st_ino && major_nr == major(st.st_dev) &&
		    minor_nr == minor(st.st_dev))
			found = pid;
	free(text);
	return found > 0 ? found : 0;
}

/* True if the process has the file open. */
static bool rec_holder_has(int pid, const struct stat *file)
{
	char path[64];
	struct dirent *entry;
	struct stat st;
	bool has = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	while (folder && !has && (entry = readdir(folder)))
		has = isdigit((unsigned char)*entry->d_name) &&
		      !fstatat(dirfd(folder), entry->d_name, &st, 0) &&
		      st.st_ino == file->st_ino && st.st_dev == file->st_dev;
	if (folder)
		closedir(folder);
	return has;
}

/* The process that has the file at that path open; 0: unknown. */
static int rec_holder_of_file(const char *path)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	struct stat st;
	int found = 0;

	if (stat(path, &st))
		st.st_ino = 0;
	while (folder && !found && (entry = readdir(folder)))
		if (isdigit((unsigned char)*entry->d_name) &&
		    rec_holder_has(atoi(entry->d_name), &st))
			found = atoi(entry->d_name);
	if (folder)
		closedir(folder);
	return found;
}

/* " (NAME, pid N)", or "" if the process is unknown; valid until the next call. */
static const char *rec_holder_name(int pid)
{
	static char said[64];
	char path[64], *name;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	name = pid ? rec_slurp(path) : NULL;
	*said = 0;
	if (name)
		snprintf(said, sizeof(said), " (%.*s, pid %d)", (int)strcspn(name, "\n"),
			 name, pid);
	free(name);
	return said;
}

const char *rec_holder_lock(int fd)
{
	return rec_holder_name(rec_holder_of_lock(fd));
}

const char *rec_holder_file(const char *path)
{
	return rec_holder_name(rec_holder_of_file(path));
}
