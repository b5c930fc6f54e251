// SPDX-License-Identifier: GPL-2.0-only
/*
 * The facts that a filter uses.  They come from a packet's footprint, or, before the packet has
 * a header, from its socket.  All code in this file runs inside probe handlers.
 */
#include "kbl_filter.h"

#define KBL_ETH_ALL 0x0003	/* not an EtherType on the wire: a raw socket asked for all */
#define KBL_ETH_IP 0x0800
#define KBL_ETH_TEB 0x6558
#define KBL_ETH_ARP 0x0806
#define KBL_ETH_RARP 0x8035
#define KBL_ETH_8021Q 0x8100
#define KBL_ETH_IPV6 0x86dd
#define KBL_ETH_MPLS_UC 0x8847
#define KBL_ETH_PPP_SES 0x8864
#define KBL_ETH_8021AD 0x88a8

#define KBL_ICMP 1
#define KBL_TCP 6
#define KBL_UDP 17
#define KBL_ICMPV6 58
#define KBL_UDPLITE 136

/* The flags and the offset of an IPv4 header's frag_off. */
#define KBL_DF 0x4000
#define KBL_MF 0x2000
#define KBL_OFFSET 0x1fff

#define KBL_AF_INET 2
#define KBL_AF_INET6 10
#define KBL_AF_PACKET 17
#define KBL_TCP_TIME_WAIT 6
#define KBL_TCP_NEW_SYN_RECV 12
#define KBL_PROTO_MPTCP 262

/* A tag or tunnel may contain anything. */
static u8 kbl_ethertype_layer3(u16 ethertype)
{
	switch (ethertype) {
	case KBL_ETH_IP:
		return KBL_L3_IPV4;
	case KBL_ETH_IPV6:
		return KBL_L3_IPV6;
	case KBL_ETH_ARP:
		return KBL_L3_ARP;
	case KBL_ETH_RARP:
		return KBL_L3_RARP;
	case 0:
	case KBL_ETH_ALL:
	case KBL_ETH_TEB:
	case KBL_ETH_8021Q:
	case KBL_ETH_8021AD:
	case KBL_ETH_MPLS_UC:
	case KBL_ETH_PPP_SES:
		return KBL_L3_UNKNOWN;
	}
	return KBL_L3_OTHER;
}
NOKPROBE_SYMBOL(kbl_ethertype_layer3);

static inline void kbl_copy_bytes(u8 *to, const u8 *from, u32 len)
{
	while (len--)
		*to++ = *from++;
}

static void kbl_facts_ports(struct kbl_filter_facts *facts, u16 sport, u16 dport)
{
	facts->src.port = sport;
	facts->dst.port = dport;
	facts->src.port_known = true;
	facts->dst.port_known = true;
}
NOKPROBE_SYMBOL(kbl_facts_ports);

static void kbl_facts_ipv4(struct kbl_filter_facts *facts, const struct kbl_ext_ipv4 *ipv4)
{
	facts->layer3 = KBL_L3_IPV4;
	facts->protocol = ipv4->protocol;
	facts->protocol_known = true;
	kbl_copy_bytes(facts->src.addr, ipv4->saddr, 4);
	kbl_copy_bytes(facts->dst.addr, ipv4->daddr, 4);
	facts->src.addr_known = true;
	facts->dst.addr_known = true;
	if (ipv4->l4_valid)
		kbl_facts_ports(facts, ipv4->sport, ipv4->dport);
}
NOKPROBE_SYMBOL(kbl_facts_ipv4);

/* Headers that may come between IPv6 and its payload (RFC 8200, section 4). */
static bool kbl_is_extension(u8 nexthdr)
{
	switch (nexthdr) {
	case 0:		/* hop-by-hop options */
	case 43:	/* routing */
	case 44:	/* fragment */
	case 51:	/* authentication */
	case 60:	/* destination options */
	case 135:	/* mobility */
	case 139:	/* host identity */
	case 140:	/* shim6 */
		return true;
	}
	return false;
}
NOKPROBE_SYMBOL(kbl_is_extension);

static void kbl_facts_ipv6(struct kbl_filter_facts *facts, const struct kbl_ext_ipv6 *ipv6,
			   const struct kbl_ext_ipv6_l4 *l4)
{
	facts->layer3 = KBL_L3_IPV6;
	facts->protocol = ipv6->nexthdr;
	facts->protocol_known = !kbl_is_extension(ipv6->nexthdr);
	kbl_copy_bytes(facts->src.addr, ipv6->saddr_hi, 8);
	kbl_copy_bytes(facts->src.addr + 8, ipv6->saddr_lo, 8);
	kbl_copy_bytes(facts->dst.addr, ipv6->daddr_hi, 8);
	kbl_copy_bytes(facts->dst.addr + 8, l4->daddr_lo, 8);
	facts->src.addr_known = true;
	facts->dst.addr_known = true;
	if (l4->l4_valid)
		kbl_facts_ports(facts, l4->sport, l4->dport);
}
NOKPROBE_SYMBOL(kbl_facts_ipv6);

/* May the packet have a transport header whose fields the footprint has? */
static bool kbl_has_l4(u8 protocol)
{
	return protocol == KBL_TCP || protocol == KBL_UDP || protocol == KBL_UDPLITE ||
	       protocol == KBL_ICMP || protocol == KBL_ICMPV6;
}
NOKPROBE_SYMBOL(kbl_has_l4);

static void kbl_number_ipv4(struct kbl_filter_number *number, const struct kbl_ext_ipv4 *ipv4)
{
	number->id = ipv4->ip_id;
	number->whole = (ipv4->frag_off & (KBL_DF | KBL_MF | KBL_OFFSET)) == KBL_DF;
	number->len = ipv4->tot_len;
	number->seq = ipv4->seq;
	number->ack = ipv4->ack;
	number->known = !number->whole || ipv4->l4_valid || !kbl_has_l4(ipv4->protocol);
}
NOKPROBE_SYMBOL(kbl_number_ipv4);

static void kbl_number_ipv6(struct kbl_filter_number *number, const struct kbl_ext_ipv6 *ipv6,
			    const struct kbl_ext_ipv6_l4 *l4)
{
	number->fragment = l4->frag_off || l4->frag_id;
	number->whole = !number->fragment;
	number->id = l4->frag_id;
	number->len = l4->payload_len;
	number->seq = l4->seq;
	number->ack = l4->ack;
	number->known = !number->whole || l4->l4_valid || !kbl_has_l4(ipv6->nexthdr);
}
NOKPROBE_SYMBOL(kbl_number_ipv6);

/*
 * Facts from a footprint; @ipv4, or @ipv6 and @l4, may be missing.  Before there is a network
 * layer, the mark is not set either.
 */
void kbl_facts_packet(struct kbl_filter_facts *facts, const struct kbl_ext_skb *skb,
		      const struct kbl_ext_ipv4 *ipv4, const struct kbl_ext_ipv6 *ipv6,
		      const struct kbl_ext_ipv6_l4 *l4)
{
	facts->layer3 = kbl_ethertype_layer3(skb->ethertype);
	facts->directed = true;
	facts->netns = skb->netns;
	facts->mark = skb->mark;
	if (ipv4)
		kbl_facts_ipv4(facts, ipv4);
	if (ipv6)
		kbl_facts_ipv6(facts, ipv6, l4);
	facts->mark_known = facts->layer3 != KBL_L3_UNKNOWN;
	/* A sender sets the EtherType last; before that, fields of the headers are stale. */
	if (skb->gso_size)
		return;
	if (ipv4 && skb->ethertype == KBL_ETH_IP)
		kbl_number_ipv4(&facts->number, ipv4);
	if (ipv6 && skb->ethertype == KBL_ETH_IPV6)
		kbl_number_ipv6(&facts->number, ipv6, l4);
}
NOKPROBE_SYMBOL(kbl_facts_packet);

/* The IPv4 addresses in an ARP packet. */
void kbl_facts_arp(struct kbl_filter_facts *facts, const u8 *spa, const u8 *tpa)
{
	kbl_copy_bytes(facts->src.addr, spa, 4);
	kbl_copy_bytes(facts->dst.addr, tpa, 4);
	facts->src.addr_known = true;
	facts->dst.addr_known = true;
}
NOKPROBE_SYMBOL(kbl_facts_arp);

static bool kbl_is_zero(const u8 *bytes, u32 len)
{
	u8 any = 0;

	while (len--)
		any |= *bytes++;
	return !any;
}
NOKPROBE_SYMBOL(kbl_is_zero);

/* ::ffff:a.b.c.d: an IPv6 socket that uses IPv4. */
static bool kbl_is_mapped(const u8 *addr)
{
	return kbl_is_zero(addr, 10) && addr[10] == 0xff && addr[11] == 0xff;
}
NOKPROBE_SYMBOL(kbl_is_mapped);

/* An address that is not bound yet is zero: unknown. */
static void kbl_facts_end(struct kbl_filter_end *end, const u8 *addr, u32 len, u16 port)
{
	end->addr_known = !kbl_is_zero(addr, len);
	kbl_copy_bytes(end->addr, addr, len);
	end->port = port;
	end->port_known = port;
}
NOKPROBE_SYMBOL(kbl_facts_end);

static void kbl_facts_inet(struct kbl_filter_facts *facts, const struct kbl_filter_sock *sock)
{
	facts->layer3 = KBL_L3_IPV4;
	kbl_facts_end(&facts->src, sock->local4, 4, sock->num);
	kbl_facts_end(&facts->dst, sock->remote4, 4, sock->dport);
}
NOKPROBE_SYMBOL(kbl_facts_inet);

static void kbl_facts_inet6(struct kbl_filter_facts *facts, const struct kbl_filter_sock *sock)
{
	bool mapped = kbl_is_mapped(sock->remote6) || kbl_is_mapped(sock->local6);

	facts->layer3 = mapped ? KBL_L3_IPV4 : KBL_L3_IPV6;
	kbl_facts_end(&facts->src, sock->local6 + (mapped ? 12 : 0), mapped ? 4 : 16, sock->num);
	kbl_facts_end(&facts->dst, sock->remote6 + (mapped ? 12 : 0), mapped ? 4 : 16,
		      sock->dport);
	if (!mapped && !facts->src.addr_known && !facts->dst.addr_known)
		facts->layer3 = KBL_L3_IP;
}
NOKPROBE_SYMBOL(kbl_facts_inet6);

/*
 * Facts from a socket, if there is no header yet.  A packet without header is being sent
 * (@outgoing); a call that has only the socket may be for either direction. The small sockets
 * of a handshake and of TIME-WAIT end before sk_protocol.
 */
void kbl_facts_sock(struct kbl_filter_facts *facts, const struct kbl_filter_sock *sock,
		    bool outgoing)
{
	facts->directed = outgoing;
	facts->protocol = sock->protocol;
	facts->protocol_known = sock->protocol && sock->protocol < 255;
	if (sock->protocol == KBL_PROTO_MPTCP || sock->state == KBL_TCP_TIME_WAIT ||
	    sock->state == KBL_TCP_NEW_SYN_RECV) {
		facts->protocol = KBL_TCP;
		facts->protocol_known = true;
	}
	switch (sock->family) {
	case KBL_AF_INET:
		kbl_facts_inet(facts, sock);
		break;
	case KBL_AF_INET6:
		kbl_facts_inet6(facts, sock);
		break;
	case KBL_AF_PACKET:
		facts->protocol_known = false;
		break;
	default:
		facts->layer3 = KBL_L3_FOREIGN;
	}
}
NOKPROBE_SYMBOL(kbl_facts_sock);
