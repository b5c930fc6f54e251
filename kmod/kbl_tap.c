// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes that a packet socket gets.  A sniffer copies these bytes, so its capture contains
 * them. They distinguish packets with the same headers.  They are read only in the packet
 * socket's own function, which most packets never reach.
 *
 * The hash leaves out what changes on a packet's way: ports (NAT), and checksums that are
 * incomplete because skb->ip_summed is CHECKSUM_PARTIAL.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>

#include "kbl_known.h"
#include "kbl_record.h"

#define KBL_TAP_WORDS 6		/* of content: 48 bytes */
#define KBL_TAP_BYTES (8 * KBL_TAP_WORDS)
#define KBL_TAP_FACTOR 0x9e3779b97f4a7c15ULL
#define KBL_TAP_ARP 28		/* bytes of an ARP packet for Ethernet and IPv4 */
#define KBL_TAP_PT 2		/* index of the struct packet_type argument */
#define KBL_TAP_NONE 0		/* protocol of a packet without transport header */

static const char *const kbl_tap_names[] = { "tpacket_rcv", "packet_rcv", "packet_rcv_spkt" };

/* The bytes to read: address, length and protocol. */
struct kbl_tap_place {
	u64 at;
	u32 len;
	u8 protocol;
};

bool kbl_tap_is(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_tap_names); i++)
		if (!strcmp(kbl_tap_names[i], name))
			return true;
	return false;
}

/* After the IPv4 header.  Only the first fragment has a transport header. */
static __always_inline bool kbl_tap_ipv4(const struct kbl_known *k, struct kbl_tap_place *place)
{
	const struct kbl_ext_ipv4 *ext = &k->fp.ipv4;
	u32 header = (*(const u8 *)k->l3_word & 15) * 4;

	if (ext->tot_len < header)
		return false;
	place->at = (unsigned long)k->l3 + header;
	place->len = ext->tot_len - header;
	place->protocol = ext->frag_off & 0x1fff ? KBL_TAP_NONE : ext->protocol;
	return true;
}

/* After an IPv6 header without extension headers. */
static __always_inline bool kbl_tap_ipv6(const struct kbl_known *k, struct kbl_tap_place *place)
{
	u8 next = ((const u8 *)k->l3_word)[offsetof(struct ipv6hdr, nexthdr)];

	if (next != k->fp.ipv6.nexthdr || !k->fp.l4.payload_len)
		return false;
	place->at = (unsigned long)k->l3 + sizeof(struct ipv6hdr);
	place->len = k->fp.l4.payload_len;
	place->protocol = next;
	return true;
}

static __always_inline bool kbl_tap_place(const struct kbl_known *k, struct kbl_tap_place *place)
{
	const u16 *at = (const u16 *)&k->place;

	if (k->fp.slots == 1) {
		place->at = k->head + at[2];
		place->len = KBL_TAP_ARP;
		place->protocol = KBL_TAP_NONE;
		return k->fp.skb.ethertype == ETH_P_ARP && at[2];
	}
	if (k->watch & (KBL_WATCH_NOT | KBL_WATCH_BARE))
		return false;
	return k->fp.slots == 2 ? kbl_tap_ipv4(k, place) : kbl_tap_ipv6(k, place);
}

/* Read a little-endian word. */
static __always_inline u64 kbl_tap_word(u64 at, int *err)
{
	__le64 raw;

	kbl_load(raw, (const __le64 *)(unsigned long)at, *err);
	return le64_to_cpu(raw);
}

/*
 * Read @len contiguous bytes, at most KBL_TAP_BYTES; the last word is padded with zeros.  Not a
 * loop, as in kbl_slot_copy().
 */
static __always_inline bool kbl_tap_near(u64 at, u32 len, u64 *words)
{
	u32 rest = len % 8;
	int err = 0;

	if (len >= 8)
		words[0] = kbl_tap_word(at, &err);
	if (len >= 16)
		words[1] = kbl_tap_word(at + 8, &err);
	if (len >= 24)
		words[2] = kbl_tap_word(at + 16, &err);
	if (len >= 32)
		words[3] = kbl_tap_word(at + 24, &err);
	if (len >= 40)
		words[4] = kbl_tap_word(at + 32, &err);
	if (len >= 48)
		words[5] = kbl_tap_word(at + 40, &err);
	if (!rest)
		return !err;
	/* Bytes before @at + @len can be read, bytes after it perhaps not. */
	if (len < 8)
		return false;
	words[len / 8] = kbl_tap_word(at + len - 8, &err) >> (8 * (8 - rest));
	return !err;
}

/* Like kbl_tap_near(), but for bytes that need not be contiguous. */
static bool kbl_tap_words(const struct kbl_view *v, u32 offset, u32 len, u64 *words)
{
	__le64 raw;
	u32 i;

	for (; len >= sizeof(raw); len -= sizeof(raw), offset += sizeof(raw)) {
		if (!kbl_read(v, offset, &raw, sizeof(raw)))
			return false;
		*words++ = le64_to_cpu(raw);
	}
	if (!len)
		return true;
	raw = 0;
	for (i = 0; i < len; i++)
		if (!kbl_read(v, offset + i, (u8 *)&raw + i, 1))
			return false;
	*words = le64_to_cpu(raw);
	return true;
}
NOKPROBE_SYMBOL(kbl_tap_words);

/* Clear ports and checksum; returns the checksum as it is in the packet, or -1 for none. */
static __always_inline int kbl_tap_mask(u64 *words, u32 len, u8 protocol)
{
	u64 first = words[0];

	switch (protocol) {
	case IPPROTO_TCP:
		words[0] &= 0xffffffff00000000ULL;
		if (len < 20)
			return -1;
		first = words[2];
		words[2] &= 0xffffffffffff0000ULL;
		return swab16(first);
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		words[0] &= 0x0000ffff00000000ULL;
		return len < 8 ? -1 : swab16(first >> 48);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		/*
		 * Always computed by software.  Only the checksum distinguishes error reports
		 * with the same cause.
		 */
		return len < 8 ? -1 : swab16(first >> 16);
	case IPPROTO_SCTP:
		words[0] &= 0xffffffff00000000ULL;
		words[1] &= 0xffffffff00000000ULL;
		return -1;
	}
	return -1;
}

static __always_inline u64 kbl_tap_mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * KBL_TAP_FACTOR;
	return hash ^ hash >> 32;
}

/* Not a loop, as in kbl_tap_near(). */
static __always_inline u32 kbl_tap_hash(const u64 *words, u32 len)
{
	u64 hash = len;

	if (len > 0)
		hash = kbl_tap_mix(hash, words[0]);
	if (len > 8)
		hash = kbl_tap_mix(hash, words[1]);
	if (len > 16)
		hash = kbl_tap_mix(hash, words[2]);
	if (len > 24)
		hash = kbl_tap_mix(hash, words[3]);
	if (len > 32)
		hash = kbl_tap_mix(hash, words[4]);
	if (len > 40)
		hash = kbl_tap_mix(hash, words[5]);
	return hash & 0x7fffffff;
}

/* Offset in the packet of the bytes at an address. */
static bool kbl_tap_offset(const struct kbl_view *v, u64 at, u32 *offset)
{
	if (at - v->head <= v->tail)
		*offset = at - v->head;
	else if (v->frag && at - v->frag <= v->frag_len)
		*offset = v->tail + (at - v->frag);
	else
		return false;
	return true;
}
NOKPROBE_SYMBOL(kbl_tap_offset);

/* End of the linear area; 0: unknown. */
static __always_inline u64 kbl_tap_tail(const struct kbl_known *k, const struct sk_buff *skb)
{
	sk_buff_data_t tail;

	kbl_get(tail, &skb->tail, fault);
#ifdef NET_SKBUFF_DATA_USES_OFFSET
	return k->head + tail;
#else
	return (unsigned long)tail;
#endif
fault:
	return 0;
}

/* The first @near bytes are at @at, the others at the start of the first fragment. */
static bool kbl_tap_split(const struct kbl_view *v, u64 at, u32 near, u32 len, u64 *words)
{
	if (near % sizeof(u64) || !kbl_is_kernel(v->frag) || len - near > v->frag_len)
		return false;
	return kbl_tap_near(at, near, words) &&
	       kbl_tap_near(v->frag, len - near, words + near / sizeof(u64));
}
NOKPROBE_SYMBOL(kbl_tap_split);

/* The bytes of @place are not all in the linear area, which ends at @tail. */
static noinline bool kbl_tap_far(const struct kbl_known *k, const struct sk_buff *skb,
				 const struct kbl_tap_place *place, u64 tail, u32 len, u64 *words)
{
	struct kbl_view v KBL_NOT_CLEARED;
	u32 offset;

	if (!kbl_skb_view(&v, k, skb))
		return false;
	if (place->at >= k->head && place->at <= tail &&
	    kbl_tap_split(&v, place->at, tail - place->at, len, words))
		return true;
	return kbl_tap_offset(&v, place->at, &offset) && kbl_tap_words(&v, offset, len, words);
}
NOKPROBE_SYMBOL(kbl_tap_far);

/* Read the words of @place, which are usually in the linear area. */
static __always_inline bool kbl_tap_fetch(const struct kbl_known *k, const struct sk_buff *skb,
					  const struct kbl_tap_place *place, u32 len, u64 *words)
{
	u64 tail = kbl_tap_tail(k, skb);

	if (place->at < k->head || place->at + len > tail || !kbl_is_kernel(k->head))
		return kbl_tap_far(k, skb, place, tail, len, words);
	/* Fewer tests for the usual length, which is known then. */
	if (len == KBL_TAP_BYTES && likely(kbl_tap_near(place->at, KBL_TAP_BYTES, words)))
		return true;
	return likely(kbl_tap_near(place->at, len, words)) ||
	       kbl_tap_far(k, skb, place, tail, len, words);
}

static __always_inline void kbl_tap_content(const struct kbl_known *k, const struct sk_buff *skb,
					    struct kbl_call *call)
{
	struct kbl_tap_place place KBL_NOT_CLEARED;
	u64 words[KBL_TAP_WORDS] KBL_NOT_CLEARED;
	int checksum;
	u32 len;

	if (!kbl_tap_place(k, &place))
		return;
	len = min_t(u32, place.len, KBL_TAP_BYTES);
	words[0] = 0;
	words[1] = 0;
	words[2] = 0;
	if (!kbl_tap_fetch(k, skb, &place, len, words))
		return;
	checksum = kbl_tap_mask(words, len, place.protocol);
	call->tap_head.content = kbl_tap_hash(words, len);
	call->tap_head.valid = KBL_TAP_CONTENT;
	if (checksum < 0)
		return;
	call->tap_sum.checksum = checksum;
	call->tap_head.valid |= KBL_TAP_CHECKSUM;
}

/* Two bit fields in one word; only the offset of the first has a name. */
static __always_inline void kbl_tap_flags(const struct sk_buff *skb, struct kbl_call *call)
{
	struct sk_buff copy KBL_NOT_CLEARED;
	u32 *to = (u32 *)((u8 *)&copy + PKT_TYPE_OFFSET);

	kbl_get(*to, (const u32 *)((const u8 *)skb + PKT_TYPE_OFFSET), fault);
	call->tap_head.pkt_type = copy.pkt_type;
	call->tap_sum.ip_summed = copy.ip_summed;
fault:
	return;
}

/* At the entry of @call, after its packet's footprint was recorded in @k. */
void kbl_tap_read(const struct kbl_known *k, const struct kbl_target *t, struct kbl_call *call,
		  struct pt_regs *regs)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)call->span.skb;
	const struct packet_type *pt = (const void *)kbl_arg(regs, KBL_TAP_PT);
	u64 sk = 0;

	call->tap_head.word = KBL_FIELD(struct kbl_ext_tap, kind, KBL_EXT) |
			      KBL_FIELD(struct kbl_ext_tap, type, KBL_EXT_TAP);
	call->tap_sum.word = 0;
	if (k->addr == (unsigned long)skb && kbl_is_kernel(call->span.skb)) {
		kbl_tap_flags(skb, call);
		kbl_tap_content(k, skb, call);
	}
	if (static_branch_unlikely(&kbl_counter_on))
		return;
	/* Probes in the source pass only the packet. */
	if (t->mechanism != KBL_BY_SOURCE && kbl_is_kernel((unsigned long)pt))
		kbl_get(sk, (const u64 *)&pt->af_packet_priv, fault);
fault:
	call->tap_sk = sk;
}
NOKPROBE_SYMBOL(kbl_tap_read);
