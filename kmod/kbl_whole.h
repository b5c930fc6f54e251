/* SPDX-License-Identifier: GPL-2.0-only */
/* Does anything on this machine segment, merge or rewrite packets? */
#ifndef KBL_WHOLE_H
#define KBL_WHOLE_H

#include <linux/types.h>

extern bool kbl_by_packet;	/* the filter samples packets: each decides for itself */

int kbl_whole_watch(bool on);
int kbl_whole_start(void);
void kbl_whole_broken(void);
u64 kbl_whole_count(void);

#endif /* KBL_WHOLE_H */
