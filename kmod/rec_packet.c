// SPDX-License-Identifier: MIT
/* Print footprints as text, as similar to tcpdump's lines as the known fields permit. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "rec_text.h"

void rec_address_show(FILE *out, unsigned int family, const kbl_u8 *addr)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(family == AF_INET6 ? AF_INET6 : AF_INET, addr, text, sizeof(text)))
		fputs(text, out);
}

/* The fields after the addresses, for both IP versions. */
struct rec_l4 {
	unsigned int protocol;
	bool valid;
	kbl_u16 sport;
	kbl_u16 dport;
	kbl_u32 seq;
	kbl_u32 ack;
	kbl_u8 flags;
};

static bool rec_has_ports(const struct rec_l4 *l4)
{
	return l4->valid && (l4->protocol == IPPROTO_TCP || l4->protocol == IPPROTO_UDP ||
			     l4->protocol == IPPROTO_SCTP || l4->protocol == IPPROTO_UDPLITE ||
			     l4->protocol == IPPROTO_DCCP);
}

static void rec_end_show(FILE *out, const struct rec_l4 *l4, unsigned int family,
			 const kbl_u8 *addr, kbl_u16 port)
{
	rec_address_show(out, family, addr);
	if (rec_has_ports(l4))
		fprintf(out, ".%u", port);
}

static void rec_tcp_show(FILE *out, const struct rec_l4 *l4)
{
	static const char letters[] = "FSRP.UEW";	/* bit 0 first, as in tcpdump */
	char text[9], *at = text;

	for (int bit = 0; bit < 8; bit++)
		if (l4->flags & 1 << bit)
			*at++ = letters[bit];
	*at = 0;
	fprintf(out, "tcp [%s] seq %u", *text ? text : "none", l4->seq);
	if (l4->flags & 0x10)
		fprintf(out, " ack %u", l4->ack);
}

static void rec_l4_show(FILE *out, const struct rec_l4 *l4)
{
	if (!l4->valid)
		fprintf(out, "proto %u", l4->protocol);
	else if (l4->protocol == IPPROTO_TCP)
		rec_tcp_show(out, l4);
	else if (l4->protocol == IPPROTO_UDP)
		fputs("udp", out);
	else if (l4->protocol == IPPROTO_ICMP || l4->protocol == IPPROTO_ICMPV6)
		fprintf(out, "%s type %u code %u id %u seq %u",
			l4->protocol == IPPROTO_ICMP ? "icmp" : "icmp6", l4->sport >> 8,
			l4->sport & 0xff, l4->dport, l4->seq);
	else
		fprintf(out, "proto %u", l4->protocol);
}

static void rec_ipv4_show(FILE *out, const struct kbl_ext_ipv4 *ip)
{
	struct rec_l4 l4 = { ip->protocol, ip->l4_valid, ip->sport, ip->dport, ip->seq, ip->ack,
			     ip->tcp_flags };

	fputs("IP ", out);
	rec_end_show(out, &l4, AF_INET, ip->saddr, ip->sport);
	fputs(" > ", out);
	rec_end_show(out, &l4, AF_INET, ip->daddr, ip->dport);
	fputs(": ", out);
	rec_l4_show(out, &l4);
	fprintf(out, " length %u id %u ttl %u", ip->tot_len, ip->ip_id, ip->ttl);
	if (ip->frag_off & 0x4000)
		fputs(" DF", out);
	if (ip->frag_off & 0x3fff)
		fprintf(out, " fragment %u%s", (ip->frag_off & 0x1fff) * 8,
			ip->frag_off & 0x2000 ? "+" : "");
}

static void rec_ipv6_show(FILE *out, const struct kbl_ext_ipv6 *ip,
			  const struct kbl_ext_ipv6_l4 *rest)
{
	struct rec_l4 l4 = { ip->nexthdr, rest->l4_valid, rest->sport, rest->dport, rest->seq,
			     rest->ack, rest->tcp_flags };
	kbl_u8 saddr[16], daddr[16];

	memcpy(saddr, ip->saddr_hi, 8);
	memcpy(saddr + 8, ip->saddr_lo, 8);
	memcpy(daddr, ip->daddr_hi, 8);
	memcpy(daddr + 8, rest->daddr_lo, 8);
	fputs("IP6 ", out);
	rec_end_show(out, &l4, AF_INET6, saddr, rest->sport);
	fputs(" > ", out);
	rec_end_show(out, &l4, AF_INET6, daddr, rest->dport);
	fputs(": ", out);
	rec_l4_show(out, &l4);
	fprintf(out, " payload %u hlim %u", rest->payload_len, ip->hop_limit);
	if (ip->flow_label)
		fprintf(out, " flow 0x%05x", ip->flow_label);
	if (rest->frag_id)
		fprintf(out, " fragment of 0x%08x", rest->frag_id);
}

static void rec_place_show(FILE *out, const struct rec_names *names, const struct kbl_ext_skb *skb)
{
	const char *device = rec_device_name(names, skb->netns, skb->ifindex);

	if (device)
		fprintf(out, "%s: ", device);
	else if (skb->ifindex)
		fprintf(out, "dev %u: ", skb->ifindex);
	if (skb->gso_size)
		fprintf(out, "gso %u x %u ", skb->gso_segs, skb->gso_size);
	if (skb->mark)
		fprintf(out, "mark 0x%x ", skb->mark);
}

/* The EXT slots of a footprint: SKB, then none, IPV4, or IPV6 and IPV6_L4. */
void rec_packet_show(FILE *out, const struct rec_names *names, const union rec_slot *ext,
		     unsigned int n)
{
	if (!n || ext->skb.type != KBL_EXT_SKB)
		return;
	rec_place_show(out, names, &ext->skb);
	if (n >= 2 && ext[1].ipv4.type == KBL_EXT_IPV4)
		rec_ipv4_show(out, &ext[1].ipv4);
	else if (n >= 3 && ext[1].ipv6.type == KBL_EXT_IPV6)
		rec_ipv6_show(out, &ext[1].ipv6, &ext[2].l4);
	else if (ext->skb.ethertype)
		fprintf(out, "ethertype 0x%04x", ext->skb.ethertype);
	else
		fputs("no header yet", out);
	fprintf(out, " len %u", ext->skb.len);
	if (ext->skb.sk)
		fprintf(out, " sock 0x%llx", (unsigned long long)ext->skb.sk);
}
