/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by kbl_calibrate.c, which keeps results, and kbl_calibrate_round.c, which measures. */
#ifndef KBL_CALIBRATE_H
#define KBL_CALIBRATE_H

#include "kbl_internal.h"

#define KBL_CAL_ROUNDS 101
#define KBL_CAL_WARM 8		/* rounds before the measurement */
#define KBL_CAL_CALLS 8		/* calls of each kind in a round */
#define KBL_CAL_SPACE 1024	/* more bytes than a round records */

/* Four probed functions; those with odd numbers carry a packet. */
enum kbl_cal_function {
	KBL_CAL_LEAF,
	KBL_CAL_LEAF_SKB,
	KBL_CAL_OUTER,
	KBL_CAL_OUTER_SKB,
	KBL_CAL_FUNCTIONS
};

/* What is measured, for calls without and with a packet: ns and counter events. */
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
	void *data;		/* records of the rounds, which never reach the log */
	size_t size;
	struct kbl_cal_round rounds[2][KBL_CAL_ROUNDS];	/* without, with a packet */
	s64 sorted[KBL_CAL_ROUNDS];
};

/* kbl_calibrate_round.c */
struct kbl_target *kbl_cal_target(unsigned int i);
struct sk_buff *kbl_cal_packet(void);
bool kbl_cal_round(struct kbl_cal *cal, bool skb, struct kbl_cal_round *round);

#endif /* KBL_CALIBRATE_H */
