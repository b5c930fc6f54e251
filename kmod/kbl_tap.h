/* SPDX-License-Identifier: GPL-2.0-only */
/* What an open call keeps of the bytes that a packet socket got, until they are written. */
#ifndef KBL_TAP_H
#define KBL_TAP_H

#include <linux/types.h>

/* The first word of EXT TAP, in the format of the file. */
union kbl_tap_head {
	struct {
		u8 kind;
		u8 type;
		u8 pkt_type;
		u8 valid;
		u32 content;
	};
	u64 word;
};

/* The checksum and its state (ip_summed), in the format of EXT TAP. */
union kbl_tap_sum {
	struct {
		u16 checksum;
		u8 ip_summed;
		u8 pad;
	};
	u32 word;
};

#endif /* KBL_TAP_H */
