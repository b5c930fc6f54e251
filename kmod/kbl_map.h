/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The interface between kblrecord and the module that gives access to a CPU's buffer without
 * copying.
 *
 * Only one process at a time can have the file open: for a second process, open() returns EBUSY.
 * The file can be mapped shared, with a length of `size` bytes.  Each sub-buffer begins and ends
 * with at least KBL_MAP_HEAD bytes that the module does not use.  A reader may overwrite these
 * bytes, and the records that it got, until it calls KBL_MAP_DONE.  Records of a sub-buffer that
 * is not full yet are only available by read().
 */
#ifndef KBL_MAP_H
#define KBL_MAP_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KBL_MAP_HEAD 48		/* a struct kbl_chunk_header */

/* Complete records at [from, to) of the mapping: the unread part of a full sub-buffer. */
struct kbl_map_part {
	__u64 size;
	__u64 from;
	__u64 to;
};

/* EAGAIN: there is none now, only size is set. */
#define KBL_MAP_NEXT _IOR('K', 0x4b, struct kbl_map_part)
/* Give it back to the module; EINVAL: it is no longer the next one. */
#define KBL_MAP_DONE _IOW('K', 0x4c, struct kbl_map_part)

#endif /* KBL_MAP_H */
