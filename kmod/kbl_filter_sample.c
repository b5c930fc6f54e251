// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling: one connection or one packet in N, chosen by a hash of header fields that no host on
 * the way changes.  Both directions of a connection have the same hash, and every host computes
 * it alike, so two recorders with the same N and seed choose the same.  docs/filter.md defines
 * the hashes; skbviewer/matching/connection_sample.py and packet_sample.py compute them from
 * captured packets.  All of it runs inside probe handlers.
 */
#include "kbl_filter.h"

#define KBL_TCP 6
#define KBL_UDP 17
#define KBL_UDPLITE 136

/* The second half of MurmurHash3's finalizer. */
static inline u64 kbl_mix(u64 x)
{
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

static u64 kbl_sample_end(u64 seed, const struct kbl_filter_end *end, u32 len, bool has_ports)
{
	u64 hash = seed;
	u32 i;

	for (i = 0; i < len; i += 4)
		hash = kbl_mix(hash ^ ((u32)end->addr[i] << 24 | end->addr[i + 1] << 16 |
				       end->addr[i + 2] << 8 | end->addr[i + 3]));
	return kbl_mix(hash ^ (has_ports ? end->port : 0));
}
NOKPROBE_SYMBOL(kbl_sample_end);

/* Each end has its own hash, and the sum does not depend on their order. */
static u64 kbl_sample_hash(const struct kbl_filter_op *op, const struct kbl_filter_facts *facts,
			   bool has_ports, u8 protocol)
{
	u32 len = facts->layer3 == KBL_L3_IPV6 ? 16 : 4;
	u64 seed = kbl_mix(op->high + 1ull);
	u64 hash = kbl_sample_end(seed, &facts->src, len, has_ports) +
		   kbl_sample_end(seed, &facts->dst, len, has_ports);

	return kbl_mix(hash ^ protocol);
}
NOKPROBE_SYMBOL(kbl_sample_hash);

static enum kbl_verdict kbl_sample_chooses(const struct kbl_filter_op *op, u64 hash)
{
	return (hash >> 32) * op->low >> 32 ? KBL_NO : KBL_YES;
}
NOKPROBE_SYMBOL(kbl_sample_chooses);

/*
 * Is the packet's connection chosen?  op->low is N, op->high the seed.  Only IP is sampled.  Of
 * protocols other than TCP, UDP and UDP-Lite, all packets between two hosts are one connection.
 */
enum kbl_verdict kbl_filter_sample(const struct kbl_filter_op *op,
				   const struct kbl_filter_facts *facts)
{
	bool has_ports = facts->protocol == KBL_TCP || facts->protocol == KBL_UDP ||
			 facts->protocol == KBL_UDPLITE;

	if (facts->layer3 == KBL_L3_UNKNOWN || facts->layer3 == KBL_L3_IP)
		return KBL_UNKNOWN;
	if (facts->layer3 != KBL_L3_IPV4 && facts->layer3 != KBL_L3_IPV6)
		return KBL_YES;
	if (!facts->protocol_known || !facts->src.addr_known || !facts->dst.addr_known)
		return KBL_UNKNOWN;
	if (has_ports && (!facts->src.port_known || !facts->dst.port_known))
		return KBL_UNKNOWN;
	return kbl_sample_chooses(op, kbl_sample_hash(op, facts, has_ports, facts->protocol));
}
NOKPROBE_SYMBOL(kbl_filter_sample);

/*
 * Is the packet chosen?  Fragments of a datagram, and packets that may still be cut into
 * fragments, differ by their identification only.
 */
enum kbl_verdict kbl_filter_sample_packets(const struct kbl_filter_op *op,
					   const struct kbl_filter_facts *facts)
{
	const struct kbl_filter_number *number = &facts->number;
	u64 hash;

	if (facts->layer3 == KBL_L3_UNKNOWN || facts->layer3 == KBL_L3_IP)
		return KBL_UNKNOWN;
	if (facts->layer3 != KBL_L3_IPV4 && facts->layer3 != KBL_L3_IPV6)
		return KBL_YES;
	if (!number->known || (!facts->protocol_known && !number->fragment))
		return KBL_UNKNOWN;
	hash = kbl_sample_hash(op, facts, number->whole, number->fragment ? 0 : facts->protocol);
	hash = kbl_mix(hash ^ number->id);
	if (number->whole) {
		hash = kbl_mix(hash ^ ((u64)number->seq << 32 | number->ack));
		hash = kbl_mix(hash ^ number->len);
	}
	return kbl_sample_chooses(op, hash);
}
NOKPROBE_SYMBOL(kbl_filter_sample_packets);
