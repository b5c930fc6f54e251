// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a filter says of a packet: yes, no, or unknown as long as what decides
 * is not there yet.  All of it runs inside probe handlers.
 */
#include "kbl_filter.h"

#define KBL_ETH_ALL 0x0003	/* no EtherType of the wire: a raw socket's wish */
#define KBL_ETH_IP 0x0800
#define KBL_ETH_TEB 0x6558
#define KBL_ETH_ARP 0x0806
#define KBL_ETH_RARP 0x8035
#define KBL_ETH_8021Q 0x8100
#define KBL_ETH_IPV6 0x86dd
#define KBL_ETH_MPLS_UC 0x8847
#define KBL_ETH_PPP_SES 0x8864
#define KBL_ETH_8021AD 0x88a8

#define KBL_TCP 6
#define KBL_UDP 17
#define KBL_SCTP 132

#define KBL_AF_INET 2
#define KBL_AF_INET6 10
#define KBL_AF_PACKET 17
#define KBL_TCP_TIME_WAIT 6
#define KBL_TCP_NEW_SYN_RECV 12
#define KBL_PROTO_MPTCP 262

/* Inside a tag or tunnel may be anything. */
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

/* Headers that may stand between IPv6 and what it carries (RFC 8200, section 4). */
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

/*
 * From a footprint; @ipv4, or @ipv6 and @l4, may be missing.  Before there is
 * a network layer the mark is not set yet either.
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
}
NOKPROBE_SYMBOL(kbl_facts_packet);

/* The IPv4 addresses an ARP packet speaks of. */
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

/* ::ffff:a.b.c.d: an IPv6 socket that speaks IPv4. */
static bool kbl_is_mapped(const u8 *addr)
{
	return kbl_is_zero(addr, 10) && addr[10] == 0xff && addr[11] == 0xff;
}
NOKPROBE_SYMBOL(kbl_is_mapped);

/* An address that is not bound yet is zero; it says nothing. */
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
 * From a socket, where there is no header yet.  A packet without one is on its
 * way out (@outgoing); a call that has only the socket may be for either way.
 * The small sockets of a handshake and of TIME-WAIT end before sk_protocol.
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

static inline enum kbl_verdict kbl_of(bool yes)
{
	return yes ? KBL_YES : KBL_NO;
}

static inline enum kbl_verdict kbl_min(enum kbl_verdict a, enum kbl_verdict b)
{
	return a < b ? a : b;
}

static inline enum kbl_verdict kbl_max(enum kbl_verdict a, enum kbl_verdict b)
{
	return a > b ? a : b;
}

/* Both ends into one; without a known direction "src" may be either of them. */
static enum kbl_verdict kbl_ends(u8 dir, bool directed, enum kbl_verdict src, enum kbl_verdict dst)
{
	switch (dir) {
	case KBL_DIR_EITHER:
		return kbl_max(src, dst);
	case KBL_DIR_BOTH:
		return kbl_min(src, dst);
	}
	if (directed)
		return dir == KBL_DIR_SRC ? src : dst;
	return src == dst ? src : KBL_UNKNOWN;
}
NOKPROBE_SYMBOL(kbl_ends);

static enum kbl_verdict kbl_eval_layer3(u8 want, const struct kbl_filter_facts *facts)
{
	if (facts->layer3 == KBL_L3_UNKNOWN)
		return KBL_UNKNOWN;
	if (facts->layer3 == KBL_L3_IP)
		return want == KBL_L3_IPV4 || want == KBL_L3_IPV6 ? KBL_UNKNOWN : KBL_NO;
	return kbl_of(facts->layer3 == want);
}
NOKPROBE_SYMBOL(kbl_eval_layer3);

static bool kbl_is_ip(const struct kbl_filter_facts *facts)
{
	return facts->layer3 == KBL_L3_IPV4 || facts->layer3 == KBL_L3_IPV6 ||
	       facts->layer3 == KBL_L3_IP;
}
NOKPROBE_SYMBOL(kbl_is_ip);

static enum kbl_verdict kbl_eval_proto(const struct kbl_filter_op *op,
				       const struct kbl_filter_facts *facts)
{
	enum kbl_verdict layer3 = KBL_YES;

	if (op->layer3)
		layer3 = kbl_eval_layer3(op->layer3, facts);
	if (facts->protocol_known)
		layer3 = kbl_min(layer3, kbl_of(facts->protocol == op->protocol));
	else
		layer3 = kbl_min(layer3, KBL_UNKNOWN);
	if (facts->layer3 == KBL_L3_UNKNOWN)
		return kbl_min(layer3, KBL_UNKNOWN);
	return kbl_is_ip(facts) ? layer3 : KBL_NO;
}
NOKPROBE_SYMBOL(kbl_eval_proto);

static enum kbl_verdict kbl_eval_addr(const struct kbl_filter_op *op,
				      const struct kbl_filter_end *end)
{
	u32 bytes = op->prefix_len / 8, bits = op->prefix_len % 8, i;

	if (!end->addr_known)
		return op->prefix_len ? KBL_UNKNOWN : KBL_YES;
	for (i = 0; i < bytes; i++)
		if (op->addr[i] != end->addr[i])
			return KBL_NO;
	return kbl_of(!bits || !((op->addr[bytes] ^ end->addr[bytes]) >> (8 - bits)));
}
NOKPROBE_SYMBOL(kbl_eval_addr);

/* An IPv4 address may also be one that ARP or RARP speaks of. */
static enum kbl_verdict kbl_eval_net(const struct kbl_filter_op *op,
				     const struct kbl_filter_facts *facts)
{
	bool speaks = op->version == 6 ? facts->layer3 == KBL_L3_IPV6 :
		      facts->layer3 == KBL_L3_IPV4 || facts->layer3 == KBL_L3_ARP ||
		      facts->layer3 == KBL_L3_RARP;

	if (facts->layer3 == KBL_L3_UNKNOWN)
		return KBL_UNKNOWN;
	if (facts->layer3 == KBL_L3_IP)
		return op->layer3 == KBL_L3_ARP || op->layer3 == KBL_L3_RARP ? KBL_NO :
		       KBL_UNKNOWN;
	if (!speaks || (op->layer3 && op->layer3 != facts->layer3))
		return KBL_NO;
	return kbl_ends(op->dir, facts->directed, kbl_eval_addr(op, &facts->src),
			kbl_eval_addr(op, &facts->dst));
}
NOKPROBE_SYMBOL(kbl_eval_net);

static enum kbl_verdict kbl_eval_end_port(const struct kbl_filter_op *op,
					  const struct kbl_filter_end *end)
{
	if (!end->port_known)
		return KBL_UNKNOWN;
	return kbl_of(end->port >= op->low && end->port <= op->high);
}
NOKPROBE_SYMBOL(kbl_eval_end_port);

static enum kbl_verdict kbl_eval_port(const struct kbl_filter_op *op,
				      const struct kbl_filter_facts *facts)
{
	u8 protocol = facts->protocol;
	bool has_ports = protocol == KBL_TCP || protocol == KBL_UDP || protocol == KBL_SCTP;
	enum kbl_verdict port;

	if (facts->layer3 != KBL_L3_UNKNOWN && !kbl_is_ip(facts))
		return KBL_NO;
	if (facts->protocol_known && (!has_ports || (op->protocol && op->protocol != protocol)))
		return KBL_NO;
	port = kbl_ends(op->dir, facts->directed, kbl_eval_end_port(op, &facts->src),
			kbl_eval_end_port(op, &facts->dst));
	if (facts->layer3 == KBL_L3_UNKNOWN || !facts->protocol_known)
		return kbl_min(port, KBL_UNKNOWN);
	return port;
}
NOKPROBE_SYMBOL(kbl_eval_port);

static enum kbl_verdict kbl_eval_dev(const struct kbl_filter_op *op,
				     const struct kbl_filter_facts *facts)
{
	u32 i;

	if (!facts->dev_known)
		return KBL_UNKNOWN;
	for (i = 0; i < KBL_FILTER_NAME; i++) {
		if (op->name[i] != facts->dev[i])
			return KBL_NO;
		if (!op->name[i])
			break;
	}
	return KBL_YES;
}
NOKPROBE_SYMBOL(kbl_eval_dev);

static enum kbl_verdict kbl_eval_leaf(const struct kbl_filter_op *op,
				      const struct kbl_filter_facts *facts)
{
	switch (op->code) {
	case KBL_OP_LAYER3:
		return kbl_eval_layer3(op->layer3, facts);
	case KBL_OP_PROTO:
		return kbl_eval_proto(op, facts);
	case KBL_OP_NET:
		return kbl_eval_net(op, facts);
	case KBL_OP_PORT:
		return kbl_eval_port(op, facts);
	case KBL_OP_DEV:
		return kbl_eval_dev(op, facts);
	case KBL_OP_NETNS:
		return facts->netns ? kbl_of(facts->netns == op->low) : KBL_UNKNOWN;
	case KBL_OP_MARK:
		return facts->mark_known ? kbl_of((facts->mark & op->high) == op->low) :
					   KBL_UNKNOWN;
	case KBL_OP_PID:
		return kbl_of(facts->tid == op->low || facts->tgid == op->low);
	}
	return KBL_UNKNOWN;
}
NOKPROBE_SYMBOL(kbl_eval_leaf);

/* The stack of verdicts is one number, two bits each, its top the lowest. */
enum kbl_verdict kbl_filter_eval(const struct kbl_filter_program *program,
				 const struct kbl_filter_facts *facts)
{
	u64 stack = 0;
	u32 i;

	if (!program->nops)
		return KBL_YES;
	if (facts->layer3 == KBL_L3_FOREIGN)
		return KBL_NO;
	for (i = 0; i < program->nops; i++) {
		const struct kbl_filter_op *op = &program->ops[i];
		enum kbl_verdict top = stack & 3, below = stack >> 2 & 3;

		if (op->code == KBL_OP_NOT)
			stack = (stack & ~3ull) | (KBL_YES - top);
		else if (op->code == KBL_OP_AND)
			stack = (stack >> 2 & ~3ull) | kbl_min(top, below);
		else if (op->code == KBL_OP_OR)
			stack = (stack >> 2 & ~3ull) | kbl_max(top, below);
		else
			stack = stack << 2 | kbl_eval_leaf(op, facts);
	}
	return stack & 3;
}
NOKPROBE_SYMBOL(kbl_filter_eval);
