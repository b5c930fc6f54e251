// SPDX-License-Identifier: GPL-2.0-only
/*
 * The footprint of an skb: where it is and which packet it carries, as far as
 * known now.  Everything is read with faults disabled and within the linear
 * area: a probe may see an skb at any moment of its life.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/uaccess.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "kbl_internal.h"

/* The linear area, from skb->head to the tail. */
struct kbl_linear {
	const u8 *head;
	u32 tail;
};

/* The fields of the transport header that identify a packet. */
struct kbl_l4 {
	u16 sport;
	u16 dport;
	u32 seq;
	u32 ack;
	u8 tcp_flags;
	u8 valid;
};

int kbl_skb_copy(struct sk_buff *to, u64 addr)
{
	return copy_from_kernel_nofault(to, (const void *)(unsigned long)addr, sizeof(*to));
}
NOKPROBE_SYMBOL(kbl_skb_copy);

static bool kbl_read(const struct kbl_linear *area, u32 offset, void *to, u32 len)
{
	if (offset > area->tail || len > area->tail - offset)
		return false;
	return !copy_from_kernel_nofault(to, area->head + offset, len);
}
NOKPROBE_SYMBOL(kbl_read);

static void kbl_l4_tcp(const struct kbl_linear *area, u32 offset, struct kbl_l4 *l4)
{
	struct tcphdr th;

	if (!kbl_read(area, offset, &th, sizeof(th)))
		return;
	l4->sport = ntohs(th.source);
	l4->dport = ntohs(th.dest);
	l4->seq = ntohl(th.seq);
	l4->ack = ntohl(th.ack_seq);
	l4->tcp_flags = ((u8 *)&th)[13];
	l4->valid = 1;
}
NOKPROBE_SYMBOL(kbl_l4_tcp);

static void kbl_l4_udp(const struct kbl_linear *area, u32 offset, struct kbl_l4 *l4)
{
	struct udphdr uh;

	if (!kbl_read(area, offset, &uh, sizeof(uh)))
		return;
	l4->sport = ntohs(uh.source);
	l4->dport = ntohs(uh.dest);
	l4->valid = 1;
}
NOKPROBE_SYMBOL(kbl_l4_udp);

/* The first eight bytes of ICMP and ICMPv6 have one layout. */
static void kbl_l4_icmp(const struct kbl_linear *area, u32 offset, struct kbl_l4 *l4)
{
	struct icmphdr ih;

	if (!kbl_read(area, offset, &ih, sizeof(ih)))
		return;
	l4->sport = ih.type << 8 | ih.code;
	l4->dport = ntohs(ih.un.echo.id);
	l4->seq = ntohs(ih.un.echo.sequence);
	l4->valid = 1;
}
NOKPROBE_SYMBOL(kbl_l4_icmp);

static void kbl_l4_read(const struct kbl_linear *area, u32 offset, u8 protocol, struct kbl_l4 *l4)
{
	switch (protocol) {
	case IPPROTO_TCP:
		kbl_l4_tcp(area, offset, l4);
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		kbl_l4_udp(area, offset, l4);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		kbl_l4_icmp(area, offset, l4);
		break;
	}
}
NOKPROBE_SYMBOL(kbl_l4_read);

static unsigned int kbl_ipv4(struct kbl_cpu *c, const struct kbl_linear *area, u32 offset,
			     bool finished)
{
	struct kbl_ext_ipv4 *ext;
	struct kbl_l4 l4 = {};
	struct iphdr iph;

	if (!kbl_read(area, offset, &iph, sizeof(iph)) || iph.version != 4 || iph.ihl < 5)
		return 0;
	if (!(iph.frag_off & htons(IP_OFFSET)))
		kbl_l4_read(area, offset + iph.ihl * 4, iph.protocol, &l4);
	ext = &kbl_ext(c, KBL_EXT_IPV4)->ipv4;
	ext->protocol = iph.protocol;
	ext->l4_valid = l4.valid;
	ext->ip_id = ntohs(iph.id);
	ext->frag_off = ntohs(iph.frag_off);
	memcpy(ext->saddr, &iph.saddr, sizeof(ext->saddr));
	memcpy(ext->daddr, &iph.daddr, sizeof(ext->daddr));
	ext->sport = l4.sport;
	ext->dport = l4.dport;
	ext->seq = l4.seq;
	ext->ack = l4.ack;
	/* __ip_local_out() fills tot_len in; before it the field is stale. */
	ext->tot_len = finished ? ntohs(iph.tot_len) : 0;
	ext->tcp_flags = l4.tcp_flags;
	ext->ttl = iph.ttl;
	return 1;
}
NOKPROBE_SYMBOL(kbl_ipv4);

static void kbl_ipv6_l4(struct kbl_cpu *c, const struct kbl_linear *area, u32 offset,
			const struct ipv6hdr *ip6h)
{
	struct kbl_ext_ipv6_l4 *ext = &kbl_ext(c, KBL_EXT_IPV6_L4)->ipv6_l4;
	struct kbl_l4 l4 = {};
	struct frag_hdr fh;
	u8 nexthdr = ip6h->nexthdr;

	offset += sizeof(*ip6h);
	if (nexthdr == NEXTHDR_FRAGMENT && kbl_read(area, offset, &fh, sizeof(fh))) {
		ext->frag_id = ntohl(fh.identification);
		nexthdr = fh.frag_off & htons(IP6_OFFSET) ? NEXTHDR_NONE : fh.nexthdr;
		offset += sizeof(fh);
	}
	kbl_l4_read(area, offset, nexthdr, &l4);
	ext->l4_valid = l4.valid;
	ext->tcp_flags = l4.tcp_flags;
	ext->sport = l4.sport;
	ext->dport = l4.dport;
	memcpy(ext->daddr_lo, &ip6h->daddr.s6_addr[8], sizeof(ext->daddr_lo));
	ext->seq = l4.seq;
	ext->ack = l4.ack;
	ext->payload_len = ntohs(ip6h->payload_len);
}
NOKPROBE_SYMBOL(kbl_ipv6_l4);

static unsigned int kbl_ipv6(struct kbl_cpu *c, const struct kbl_linear *area, u32 offset)
{
	struct kbl_ext_ipv6 *ext;
	struct ipv6hdr ip6h;

	if (!kbl_read(area, offset, &ip6h, sizeof(ip6h)) || ip6h.version != 6)
		return 0;
	ext = &kbl_ext(c, KBL_EXT_IPV6)->ipv6;
	ext->nexthdr = ip6h.nexthdr;
	ext->hop_limit = ip6h.hop_limit;
	ext->flow_label = ntohl(ip6_flowlabel(&ip6h));
	memcpy(ext->saddr_hi, &ip6h.saddr.s6_addr[0], sizeof(ext->saddr_hi));
	memcpy(ext->saddr_lo, &ip6h.saddr.s6_addr[8], sizeof(ext->saddr_lo));
	memcpy(ext->daddr_hi, &ip6h.daddr.s6_addr[0], sizeof(ext->daddr_hi));
	kbl_ipv6_l4(c, area, offset, &ip6h);
	return 2;
}
NOKPROBE_SYMBOL(kbl_ipv6);

static unsigned int kbl_network(struct kbl_cpu *c, const struct sk_buff *skb,
				const struct kbl_linear *area, u32 offset)
{
	unsigned int slots = 0;

	if (skb->protocol != htons(ETH_P_IPV6))
		slots = kbl_ipv4(c, area, offset, skb->protocol);
	if (!slots && skb->protocol != htons(ETH_P_IP))
		slots = kbl_ipv6(c, area, offset);
	return slots;
}
NOKPROBE_SYMBOL(kbl_network);

/*
 * On the way out the header appears before skb->protocol is set; then it is
 * trusted only where skb->data points at it, because the memory is recycled.
 * On the way in a driver has not set network_header yet: data is the header.
 */
static unsigned int kbl_header(struct kbl_cpu *c, const struct sk_buff *skb)
{
	u32 data = skb->data - skb->head;
	struct kbl_linear area = { .head = skb->head, .tail = skb_tail_pointer(skb) - skb->head };
	unsigned int slots = 0;
	bool ip = skb->protocol == htons(ETH_P_IP) || skb->protocol == htons(ETH_P_IPV6);

	if (skb->protocol && !ip)
		return 0;
	if (skb->network_header && (ip || skb->network_header == data))
		slots = kbl_network(c, skb, &area, skb->network_header);
	if (!slots && ip)
		slots = kbl_network(c, skb, &area, data);
	return slots;
}
NOKPROBE_SYMBOL(kbl_header);

/* Append KBL_EXT_SKB and the IP header if there is one; returns the EXT slots. */
unsigned int kbl_skb_footprint(struct kbl_cpu *c, const struct sk_buff *skb, bool with_header)
{
	struct kbl_ext_skb *ext = &kbl_ext(c, KBL_EXT_SKB)->skb;
	struct skb_shared_info shared;

	ext->ethertype = ntohs(skb->protocol);
	kbl_dev_find(skb->dev, &ext->ifindex, &ext->netns);
	ext->len = skb->len;
	ext->mark = skb->mark;
	ext->sk = (unsigned long)skb->sk;
	if (!with_header)
		return 1;
	if (!copy_from_kernel_nofault(&shared, skb_end_pointer(skb),
				      offsetof(struct skb_shared_info, hwtstamps))) {
		ext->gso_size = shared.gso_size;
		ext->gso_segs = shared.gso_segs;
	}
	return 1 + kbl_header(c, skb);
}
NOKPROBE_SYMBOL(kbl_skb_footprint);
