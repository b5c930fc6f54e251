/* SPDX-License-Identifier: MIT */
/* The machine code of functions, as it is in the kernel's memory. */
#ifndef REC_CODE_H
#define REC_CODE_H

#include "rec.h"

/* A range of addresses, and its place in /proc/kcore. */
struct rec_segment {
	kbl_u64 addr;
	kbl_u64 size;
	kbl_u64 offset;
};

struct rec_kcore {
	int fd;
	struct rec_segment *segment;
	size_t n;
	char why[80]; /* its headers cannot be read */
};

/* rec_kcore.c */
const char *rec_kcore_open(struct rec_kcore *k);
void rec_kcore_close(struct rec_kcore *k);
size_t rec_kcore_read(const struct rec_kcore *k, kbl_u64 addr, void *to, size_t len);

/* rec_targets.c */
void rec_targets_use(struct rec_symbols *s, kbl_u64 addr, const unsigned char *code, size_t len);

#endif /* REC_CODE_H */
