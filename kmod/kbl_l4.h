/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of the transport header that identify a packet. */
#ifndef KBL_L4_H
#define KBL_L4_H

#include <linux/in.h>
#include <linux/tcp.h>

#include "kbl_view.h"

/* These fields in host byte order. */
struct kbl_l4 {
	u16 sport;
	u16 dport;
	u32 seq;
	u32 ack;
	u8 tcp_flags;
	u8 valid;
};

static __always_inline void kbl_l4_tcp(const struct kbl_view *v, u32 offset, struct kbl_l4 *l4)
{
	struct tcphdr th KBL_NOT_CLEARED;

	if (!kbl_read(v, offset, &th, sizeof(th)))
		return;
	l4->sport = ntohs(th.source);
	l4->dport = ntohs(th.dest);
	l4->seq = ntohl(th.seq);
	l4->ack = ntohl(th.ack_seq);
	l4->tcp_flags = ((u8 *)&th)[13];
	l4->valid = 1;
}

/* UDP and UDP-Lite; the first eight bytes of ICMP and ICMPv6 have one layout. */
static __always_inline void kbl_l4_short(const struct kbl_view *v, u32 offset, bool icmp,
					 struct kbl_l4 *l4)
{
	__be16 words[4];

	if (!kbl_read(v, offset, words, sizeof(words)))
		return;
	l4->sport = ntohs(words[0]);
	l4->dport = ntohs(icmp ? words[2] : words[1]);
	l4->seq = icmp ? ntohs(words[3]) : 0;
	l4->valid = 1;
}

static __always_inline void kbl_l4_read(const struct kbl_view *v, u32 offset, u8 protocol,
					struct kbl_l4 *l4)
{
	switch (protocol) {
	case IPPROTO_TCP:
		kbl_l4_tcp(v, offset, l4);
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		kbl_l4_short(v, offset, false, l4);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		kbl_l4_short(v, offset, true, l4);
		break;
	}
}

#endif /* KBL_L4_H */
