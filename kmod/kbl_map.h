/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Between kblrecord and the module: a CPU's buffer without copying.
 *
 * One process at a time can have the file open; open() returns EBUSY to the next.
 * The file may be mapped, all `size` bytes of it, shared.  Each sub-buffer begins
 * with KBL_MAP_HEAD bytes that the module leaves alone and ends with as many at
 * least: a reader may write there, and over what it was handed out, until it says
 * that it is done.  What is not full yet can be read() only.
 */
#ifndef KBL_MAP_H
#define KBL_MAP_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KBL_MAP_HEAD 48		/* a struct kbl_chunk_header */

/* Whole records at [from, to) of the mapping: what was not read yet of a full sub-buffer. */
struct kbl_map_part {
	__u64 size;
	__u64 from;
	__u64 to;
};

/* EAGAIN: there is none now, only size is told. */
#define KBL_MAP_NEXT _IOR('K', 0x4b, struct kbl_map_part)
/* That one may be written again; EINVAL: it is not the next any more. */
#define KBL_MAP_DONE _IOW('K', 0x4c, struct kbl_map_part)

#endif /* KBL_MAP_H */
