// SPDX-License-Identifier: GPL-2.0-only
/*
 * Evaluate a filter for a packet.  The verdict is yes, no, or, while a deciding fact is missing,
 * unknown.  All code in this file runs inside probe handlers.
 */
#include "kbl_filter.h"

#define KBL_TCP 6
#define KBL_UDP 17
#define KBL_SCTP 132

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

/* Combine the verdicts of both ends. If the direction is unknown, either end may be "src". */
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

/* An IPv4 address may also be one in an ARP or RARP packet. */
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
	case KBL_OP_SAMPLE:
		return kbl_filter_sample(op, facts);
	case KBL_OP_SAMPLE_PACKETS:
		return kbl_filter_sample_packets(op, facts);
	}
	return KBL_UNKNOWN;
}
NOKPROBE_SYMBOL(kbl_eval_leaf);

/* The stack of verdicts is one number with two bits for each; the lowest two are its top. */
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
