/* SPDX-License-Identifier: MIT */
/* What the parts of the module's stand-in share. */
#ifndef RECORDER_FAKE_H
#define RECORDER_FAKE_H

#include <stdbool.h>
#include <sys/types.h>

#define FILES 64

extern char names[FILES][64];
void append(const char *name, const char *text, size_t len);
bool relay_is(int fd);
ssize_t relay_read(int fd, void *to, size_t len);

#endif
