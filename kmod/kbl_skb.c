// SPDX-License-Identifier: GPL-2.0-only
/*
 * The footprint of an skb: where it is and which packet it carries, as far as this is known now.
 * All reads catch faults, and stay within the linear area or the first page fragment, because a
 * probe may see an skb in any state.
 *
 * The raw fields from which a footprint was made are kept beside it.  So kbl_skb_same() needs
 * only a few instructions to see that nothing changed.
 */
#include <linux/icmp.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "kbl_known.h"
#include "kbl_l4.h"
#include "kbl_record.h"

#define KBL_MAX_IPV6_HEADERS 8	/* most extension headers that are visited */

/* Compared in place of a header if the skb has no header. */
static const u64 kbl_nowhere[5];

/* Set *@l4_at to the offset of the transport header, 0 = none. */
static bool kbl_ipv4(const struct kbl_view *v, u32 offset, struct kbl_footprint *fp, u32 *l4_at)
{
	struct kbl_ext_ipv4 *ext = &fp->ipv4;
	struct iphdr iph KBL_NOT_CLEARED;
	struct kbl_l4 l4 = {};

	if (!kbl_read(v, offset, &iph, sizeof(iph)) || iph.version != 4 || iph.ihl < 5)
		return false;
	if (!(iph.frag_off & htons(IP_OFFSET))) {
		*l4_at = offset + iph.ihl * 4;
		kbl_l4_read(v, *l4_at, iph.protocol, &l4);
	}
	ext->kind = KBL_EXT;
	ext->type = KBL_EXT_IPV4;
	ext->protocol = iph.protocol;
	ext->l4_valid = l4.valid;
	ext->ip_id = ntohs(iph.id);
	ext->frag_off = ntohs(iph.frag_off);
	__builtin_memcpy(ext->saddr, &iph.saddr, sizeof(ext->saddr));
	__builtin_memcpy(ext->daddr, &iph.daddr, sizeof(ext->daddr));
	ext->sport = l4.sport;
	ext->dport = l4.dport;
	ext->seq = l4.seq;
	ext->ack = l4.ack;
	/* __ip_local_out() sets tot_len; before that the field is stale. */
	ext->tot_len = v->protocol ? ntohs(iph.tot_len) : 0;
	ext->tcp_flags = l4.tcp_flags;
	ext->ttl = iph.ttl;
	fp->slots = 2;
	return true;
}
NOKPROBE_SYMBOL(kbl_ipv4);

/*
 * Walk the extension headers, up to ext->nexthdr after the last one.  Returns the transport
 * protocol and sets *@offset, if the packet contains that header.
 */
static u8 kbl_ipv6_upper(const struct kbl_view *v, struct kbl_ext_ipv6 *ext,
			 struct kbl_ext_ipv6_l4 *upper, u32 *offset)
{
	struct frag_hdr fh;
	u8 head[2];
	int i;

	for (i = 0; i < KBL_MAX_IPV6_HEADERS; i++) {
		switch (ext->nexthdr) {
		case NEXTHDR_HOP:
		case NEXTHDR_ROUTING:
		case NEXTHDR_DEST:
		case NEXTHDR_AUTH:
			if (!kbl_read(v, *offset, head, sizeof(head)))
				return NEXTHDR_NONE;
			*offset += ext->nexthdr == NEXTHDR_AUTH ? (head[1] + 2) * 4 :
								  (head[1] + 1) * 8;
			ext->nexthdr = head[0];
			break;
		case NEXTHDR_FRAGMENT:
			if (!kbl_read(v, *offset, &fh, sizeof(fh)))
				return NEXTHDR_NONE;
			upper->frag_id = ntohl(fh.identification);
			upper->frag_off = ntohs(fh.frag_off) >> 3;
			if (fh.frag_off & htons(IP6_MF))
				upper->frag_off |= IP_MF;
			ext->nexthdr = fh.nexthdr;
			*offset += sizeof(fh);
			if (fh.frag_off & htons(IP6_OFFSET))
				return NEXTHDR_NONE;
			break;
		default:
			return ext->nexthdr;
		}
	}
	return NEXTHDR_NONE;
}
NOKPROBE_SYMBOL(kbl_ipv6_upper);

static bool kbl_ipv6(const struct kbl_view *v, u32 offset, struct kbl_footprint *fp, u32 *l4_at)
{
	struct kbl_ext_ipv6_l4 *upper = &fp->l4;
	struct kbl_ext_ipv6 *ext = &fp->ipv6;
	struct kbl_l4 l4 = {};
	struct ipv6hdr ip6h;
	u8 protocol;

	if (!kbl_read(v, offset, &ip6h, sizeof(ip6h)) || ip6h.version != 6)
		return false;
	ext->kind = KBL_EXT;
	ext->type = KBL_EXT_IPV6;
	ext->nexthdr = ip6h.nexthdr;
	ext->hop_limit = ip6h.hop_limit;
	ext->flow_label = ntohl(ip6_flowlabel(&ip6h));
	__builtin_memcpy(ext->saddr_hi, &ip6h.saddr.s6_addr[0], sizeof(ext->saddr_hi));
	__builtin_memcpy(ext->saddr_lo, &ip6h.saddr.s6_addr[8], sizeof(ext->saddr_lo));
	__builtin_memcpy(ext->daddr_hi, &ip6h.daddr.s6_addr[0], sizeof(ext->daddr_hi));
	upper->kind = KBL_EXT;
	upper->type = KBL_EXT_IPV6_L4;
	__builtin_memcpy(upper->daddr_lo, &ip6h.daddr.s6_addr[8], sizeof(upper->daddr_lo));
	upper->payload_len = ntohs(ip6h.payload_len);
	upper->frag_off = 0;
	upper->frag_id = 0;
	offset += sizeof(ip6h);
	protocol = kbl_ipv6_upper(v, ext, upper, &offset);
	kbl_l4_read(v, offset, protocol, &l4);
	/* A fragment without transport header is identified by its fragment header. */
	*l4_at = l4.valid || upper->frag_id ? offset : 0;
	upper->l4_valid = l4.valid;
	upper->tcp_flags = l4.tcp_flags;
	upper->sport = l4.sport;
	upper->dport = l4.dport;
	upper->seq = l4.seq;
	upper->ack = l4.ack;
	fp->slots = 3;
	return true;
}
NOKPROBE_SYMBOL(kbl_ipv6);

static bool kbl_network(const struct kbl_view *v, u32 offset, struct kbl_footprint *fp, u32 *l4_at)
{
	if (v->protocol != ETH_P_IPV6 && kbl_ipv4(v, offset, fp, l4_at))
		return true;
	return v->protocol != ETH_P_IP && kbl_ipv6(v, offset, fp, l4_at);
}
NOKPROBE_SYMBOL(kbl_network);

/*
 * Keep the bytes that kbl_skb_same() compares; false if they are not all in the linear area.
 * GRO copies a header from the first fragment to the linear area, and changes it there.
 */
static __always_inline bool kbl_watch(const struct kbl_view *v, u32 offset, u32 len,
				      const void **from, u64 *to)
{
	u64 at = v->head + offset;

	if (len > v->tail || offset > v->tail - len || !kbl_fetch(to, at, len))
		return false;
	*from = (const void *)(unsigned long)at;
	return true;
}

/*
 * Keep both headers; the transport header together with the eight bytes before it, because
 * UDP's and ICMP's headers are so short, and an IPv6 fragment's identification is there.  For
 * TCP the comparison starts at the header: sequence numbers of ACKs repeat, acknowledgement
 * numbers do not.
 */
static bool kbl_watch_headers(const struct kbl_view *v, u32 l3_at, u32 l4_at, struct kbl_known *k)
{
	bool ipv6 = k->fp.slots == 3;
	bool tcp = ipv6 ? k->fp.ipv6.nexthdr == IPPROTO_TCP :
			  k->fp.slots == 2 && k->fp.ipv4.protocol == IPPROTO_TCP;

	if (ipv6 && tcp && k->fp.l4.frag_id)
		return false;
	if (ipv6)
		k->watch |= KBL_WATCH_IPV6;
	if (ipv6 ? !kbl_watch(v, l3_at, 40, &k->l3, k->l3_word) :
		   !kbl_watch(v, l3_at, 20, &k->l3, k->l3_word))
		return false;
	return !l4_at || kbl_watch(v, tcp ? l4_at : l4_at - 8, 16, &k->l4, k->l4_word);
}
NOKPROBE_SYMBOL(kbl_watch_headers);

/*
 * When sending, the header appears before skb->protocol is set.  Until then it is trusted only
 * if skb->data points to it, because the memory is recycled.  When receiving, the driver has
 * not set network_header yet: data is the header.
 */
static void kbl_header(const struct kbl_view *v, struct kbl_known *k)
{
	bool ip = v->protocol == ETH_P_IP || v->protocol == ETH_P_IPV6;
	u32 l4_at = 0, l3_at = v->network;
	bool found = false;

	if (v->protocol && !ip)
		return;
	if (v->network && (ip || v->network == v->data))
		found = kbl_network(v, l3_at, &k->fp, &l4_at);
	if (!found || !ip)
		k->watch |= KBL_WATCH_DATA;
	if (!found && ip) {
		l3_at = v->data;
		found = kbl_network(v, l3_at, &k->fp, &l4_at);
	}
	/* Is there no header, and can none appear before a field of the skb changes? */
	if (!found && !ip && v->network != v->data) {
		k->watch |= KBL_WATCH_BARE;
		return;
	}
	if (!kbl_watch_headers(v, l3_at, l4_at, k))
		k->watch |= KBL_WATCH_NOT;
}
NOKPROBE_SYMBOL(kbl_header);

/* Find the first fragment, if the packet has one with an address. */
static void kbl_view_frag(struct kbl_view *v, const struct skb_shared_info *shared)
{
	const u64 *from = (const u64 *)&shared->frags[0];
	union {
		struct {
			u64 first;
			u64 second;
		};
		skb_frag_t frag;
	} copy KBL_NOT_CLEARED;
	struct page *page;
	int err = 0;

	BUILD_BUG_ON(sizeof(copy) != sizeof(copy.frag));
	kbl_load(copy.first, from, err);
	kbl_load(copy.second, from + 1, err);
	if (unlikely(err))
		return;
	page = skb_frag_page(&copy.frag);
	if (!page || !kbl_is_kernel((unsigned long)page) || PageHighMem(page))
		return;
	v->frag = (unsigned long)page_address(page) + skb_frag_off(&copy.frag);
	v->frag_len = skb_frag_size(&copy.frag);
}
NOKPROBE_SYMBOL(kbl_view_frag);

/* Find the bytes of the linear area; *@shared describes what follows it. */
static __always_inline bool kbl_view_linear(struct kbl_view *v, const struct kbl_known *k,
					    const struct sk_buff *skb, u32 *data_len,
					    const struct skb_shared_info **shared)
{
	const u16 *place = (const u16 *)&k->place;
	sk_buff_data_t tail, end;
	int err = 0;

	kbl_load(tail, &skb->tail, err);
	kbl_load(end, &skb->end, err);
	kbl_load(*data_len, &skb->data_len, err);
	if (unlikely(err))
		return false;
	v->head = k->head;
	v->network = place[2];
	v->protocol = ntohs((__force __be16)place[0]);
	v->data = k->data - k->head;
	v->frag = 0;
#ifdef NET_SKBUFF_DATA_USES_OFFSET
	v->tail = tail;
	*shared = (const struct skb_shared_info *)(unsigned long)(v->head + end);
#else
	v->tail = (u64)(unsigned long)tail - v->head;
	*shared = (const struct skb_shared_info *)end;
#endif
	return true;
}

/* Find the bytes of the linear area and of the first fragment. */
static __always_inline bool kbl_view_read(struct kbl_view *v, struct kbl_known *k,
					  const struct sk_buff *skb)
{
	const struct skb_shared_info *shared;
	u32 data_len;
	int err = 0;
	u8 nr_frags;

	if (unlikely(!kbl_view_linear(v, k, skb, &data_len, &shared)))
		return false;
	if (!kbl_is_kernel(v->head) || !kbl_is_kernel((unsigned long)shared))
		return true;
	k->gso = &shared->gso_size;
	kbl_load(*(u32 *)&k->fp.skb.gso_size, (u32 *)&shared->gso_size, err);
	kbl_load(nr_frags, &shared->nr_frags, err);
	if (unlikely(err))
		return false;
	if (data_len && nr_frags)
		kbl_view_frag(v, shared);
	return true;
}

/* Find the bytes of an skb whose footprint was recorded; false: they cannot be read. */
bool kbl_skb_view(struct kbl_view *v, const struct kbl_known *k, const struct sk_buff *skb)
{
	const struct skb_shared_info *shared;
	u32 data_len;
	u8 nr_frags;

	if (!kbl_view_linear(v, k, skb, &data_len, &shared) || !kbl_is_kernel(v->head) ||
	    !kbl_is_kernel((unsigned long)shared))
		return false;
	kbl_get(nr_frags, &shared->nr_frags, fault);
	if (data_len && nr_frags)
		kbl_view_frag(v, shared);
	return true;
fault:
	return false;
}
NOKPROBE_SYMBOL(kbl_skb_view);

/* place[0] is protocol, place[2] network_header, as kbl_place_same() compares them. */
static __always_inline int kbl_place_read(struct kbl_known *k, const struct sk_buff *skb)
{
	u16 *place = (u16 *)&k->place;
	int err = 0;

	if (KBL_PLACE_WHOLE) {
		kbl_load(k->place, (const u64 *)&skb->protocol, err);
	} else {
		kbl_load(place[0], (const u16 *)&skb->protocol, err);
		kbl_load(place[2], &skb->network_header, err);
	}
	return err;
}

/* Read the fields of the skb itself. */
static __always_inline bool kbl_fields_read(struct kbl_known *k, const struct sk_buff *skb)
{
	struct kbl_ext_skb *ext = &k->fp.skb;
	int err = kbl_place_read(k, skb);

	kbl_load(k->dev, (u64 *)&skb->dev, err);
	kbl_load(ext->sk, (u64 *)&skb->sk, err);
	kbl_load(k->head, (u64 *)&skb->head, err);
	kbl_load(k->data, (u64 *)&skb->data, err);
	kbl_load(ext->len, &skb->len, err);
	kbl_load(ext->mark, &skb->mark, err);
	return !err;
}

/* Start with nothing known about the packet. */
static __always_inline void kbl_known_clear(struct kbl_known *k, u64 addr)
{
	k->addr = addr;
	k->watched = 1;
	k->also = 1;
	k->gso = kbl_nowhere;
	*(u32 *)&k->fp.skb.gso_size = 0;
	k->l3 = kbl_nowhere;
	k->l3_word[0] = 0;
	k->l3_word[1] = 0;
	k->l3_word[2] = 0;
	k->l4 = kbl_nowhere;
	k->l4_word[0] = 0;
	k->l4_word[1] = 0;
	k->epoch = 0;
	k->watch = 0;
}

/* Fill in all of @k; returns 0, or -EFAULT if there is no skb. */
int kbl_skb_read(struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;
	struct kbl_ext_skb *ext = &k->fp.skb;
	struct kbl_view v KBL_NOT_CLEARED;

	BUILD_BUG_ON(offsetof(struct skb_shared_info, gso_segs) !=
		     offsetof(struct skb_shared_info, gso_size) + 2);
	kbl_known_clear(k, addr);
	if (!kbl_is_kernel(addr) || unlikely(!kbl_fields_read(k, skb)) ||
	    unlikely(!kbl_view_read(&v, k, skb)))
		return -EFAULT;
	k->end = k->data + ext->len;
	ext->kind = KBL_EXT;
	ext->type = KBL_EXT_SKB;
	ext->ethertype = v.protocol;
	ext->ifindex = 0;
	ext->netns = 0;
	if (k->dev)
		kbl_dev_find((const void *)(unsigned long)k->dev, &ext->ifindex,
			     &ext->netns);
	k->fp.slots = 1;
	if (kbl_is_kernel(v.head))
		kbl_header(&v, k);
	if (likely(!k->watch))
		k->watched = addr;
	else if (!(k->watch & KBL_WATCH_NOT))
		k->also = addr;
	return 0;
}
NOKPROBE_SYMBOL(kbl_skb_read);
