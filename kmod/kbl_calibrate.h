/* SPDX-License-Identifier: GPL-2.0-only */
/* What kbl_calibrate.c keeps and kbl_calibrate_round.c measures. */
#ifndef KBL_CALIBRATE_H
#define KBL_CALIBRATE_H

#include "kbl_internal.h"

#define KBL_CAL_ROUNDS 101
#define KBL_CAL_WARM 8		/* rounds before, not kept */
#define KBL_CAL_CALLS 8		/* calls in a round, each way */
#define KBL_CAL_SPACE 1024	/* more than the records of a round */

/* Four probed functions; the odd ones carry a packet. */
enum kbl_cal_function {
	KBL_CAL_LEAF,
	KBL_CAL_LEAF_SKB,
	KBL_CAL_OUTER,
	KBL_CAL_OUTER_SKB,
	KBL_CAL_FUNCTIONS
};

/* What is measured: of calls without and with a packet, in ns and in the counter's events. */
enum kbl_cal_unit {
	KBL_CAL_NS,
	KBL_CAL_EVENTS,
	KBL_CAL_UNITS
};

struct kbl_cal_round {
	s64 empty[KBL_CAL_UNITS];
	s64 pair[KBL_CAL_UNITS];
	s64 nested[KBL_CAL_UNITS];
};

struct kbl_cal {
	struct kbl_target *targets[KBL_CAL_FUNCTIONS];
	struct sk_buff *skb;
	void *data;		/* records go here, and no further */
	size_t size;
	struct kbl_cal_round rounds[2][KBL_CAL_ROUNDS];	/* without, with a packet */
	s64 sorted[KBL_CAL_ROUNDS];
};

/* kbl_calibrate_round.c */
struct kbl_target *kbl_cal_target(unsigned int i);
struct sk_buff *kbl_cal_packet(void);
bool kbl_cal_round(struct kbl_cal *cal, bool skb, struct kbl_cal_round *round);

#endif /* KBL_CALIBRATE_H */
