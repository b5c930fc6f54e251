// SPDX-License-Identifier: GPL-2.0-only
/* Turn qualifiers and a word, such as "tcp src port" and "80", into one operation of a filter. */
#include "kbl_filter.h"

#define KBL_TCP 6
#define KBL_UDP 17
#define KBL_SCTP 132
#define KBL_ICMP 1
#define KBL_ICMPV6 58

static const struct {
	u8 layer3;
	u8 protocol;		/* 0: the word names a network layer */
	const char *name;
} kbl_protos[] = {
	[KBL_Q_IP] = { KBL_L3_IPV4, 0, "ip" },
	[KBL_Q_IP6] = { KBL_L3_IPV6, 0, "ip6" },
	[KBL_Q_ARP] = { KBL_L3_ARP, 0, "arp" },
	[KBL_Q_RARP] = { KBL_L3_RARP, 0, "rarp" },
	[KBL_Q_TCP] = { KBL_L3_UNKNOWN, KBL_TCP, "tcp" },
	[KBL_Q_UDP] = { KBL_L3_UNKNOWN, KBL_UDP, "udp" },
	[KBL_Q_SCTP] = { KBL_L3_UNKNOWN, KBL_SCTP, "sctp" },
	[KBL_Q_ICMP] = { KBL_L3_IPV4, KBL_ICMP, "icmp" },
	[KBL_Q_ICMP6] = { KBL_L3_IPV6, KBL_ICMPV6, "icmp6" },
};

/* The word has no qualifiers: "tcp", "arp". */
bool kbl_proto_op(u8 proto, struct kbl_filter_op *op)
{
	op->layer3 = kbl_protos[proto].layer3;
	op->protocol = kbl_protos[proto].protocol;
	op->code = op->protocol ? KBL_OP_PROTO : KBL_OP_LAYER3;
	return true;
}

/* Short forms as in "net 10.9" end in zeros and imply their prefix length. */
static bool kbl_id_address(const char *at, u32 len, struct kbl_filter_op *op, u32 *bits)
{
	u32 parts;

	op->code = KBL_OP_NET;
	op->version = 4;
	if (kbl_text_ipv4(at, len, op->addr, &parts)) {
		*bits = parts * 8;
		return true;
	}
	op->version = 6;
	*bits = 128;
	return kbl_text_ipv6(at, len, op->addr);
}

static bool kbl_has_host_bits(const struct kbl_filter_op *op)
{
	u32 bit, size = op->version == 4 ? 32 : 128;

	for (bit = op->prefix_len; bit < size; bit++)
		if (op->addr[bit / 8] & (0x80 >> bit % 8))
			return true;
	return false;
}

/* "ip", "arp" and so on before host or net; protocols without addresses are refused. */
static bool kbl_id_layer3(const struct kbl_qual *q, struct kbl_filter_op *op, const char **why)
{
	if (q->proto && kbl_protos[q->proto].protocol)
		*why = "this protocol has no addresses of its own";
	op->layer3 = kbl_protos[q->proto].layer3;
	if (op->version == 4 && q->proto == KBL_Q_IP6)
		*why = "ip6 with an IPv4 address";
	if (op->version == 6 && q->proto && q->proto != KBL_Q_IP6)
		*why = "an IPv6 address goes with ip6 only";
	return !*why;
}

static bool kbl_id_host(const struct kbl_qual *q, const struct kbl_word *word,
			struct kbl_filter_op *op, const char **why)
{
	u32 bits;

	if (kbl_text_find(word->at, word->len, '/') < word->len)
		*why = "not one address; use net";
	else if (!kbl_id_address(word->at, word->len, op, &bits))
		*why = "not an address (names are not looked up)";
	else if (bits != (op->version == 4 ? 32 : 128))
		*why = "not a whole address; use net";
	op->prefix_len = bits;
	return !*why && kbl_id_layer3(q, op, why);
}

static bool kbl_id_net(const struct kbl_qual *q, const struct kbl_word *word,
		       struct kbl_filter_op *op, const char **why)
{
	u32 slash = kbl_text_find(word->at, word->len, '/'), bits;

	if (!kbl_id_address(word->at, slash, op, &bits)) {
		*why = "not a network";
		return false;
	}
	if (slash < word->len &&
	    !kbl_text_number(word->at + slash + 1, word->len - slash - 1,
			     op->version == 4 ? 32 : 128, &bits))
		*why = "bad prefix length";
	op->prefix_len = bits;
	if (!*why && kbl_has_host_bits(op))
		*why = "has bits set after its prefix";
	return !*why && kbl_id_layer3(q, op, why);
}

/* "net A mask M": the mask must be a prefix. */
bool kbl_id_netmask(struct kbl_filter_op *op, const struct kbl_word *word, const char **why)
{
	u8 mask[4];
	u32 parts, bits = 0, value, i;

	if (op->version != 4 || !kbl_text_ipv4(word->at, word->len, mask, &parts) || parts != 4) {
		*why = "not an IPv4 mask";
		return false;
	}
	value = (u32)mask[0] << 24 | mask[1] << 16 | mask[2] << 8 | mask[3];
	for (i = 0; i < 32 && value & (0x80000000u >> i); i++)
		bits++;
	if (bits < 32 && value << bits)
		*why = "the bits of the mask are not contiguous";
	op->prefix_len = bits;
	if (!*why && kbl_has_host_bits(op))
		*why = "the network has bits set outside this mask";
	return !*why;
}

static bool kbl_id_ports(const struct kbl_qual *q, const struct kbl_word *word,
			 struct kbl_filter_op *op, const char **why)
{
	u32 dash = word->len, low, high;

	op->code = KBL_OP_PORT;
	op->protocol = q->proto ? kbl_protos[q->proto].protocol : 0;
	if (q->proto && q->proto != KBL_Q_TCP && q->proto != KBL_Q_UDP && q->proto != KBL_Q_SCTP)
		*why = "only tcp, udp and sctp have ports";
	if (q->type == KBL_Q_PORTRANGE)
		dash = kbl_text_find(word->at, word->len, '-');
	if (!kbl_text_number(word->at, dash, 0xffff, &low))
		*why = "not a port number (names are not looked up)";
	high = low;
	if (dash < word->len &&
	    !kbl_text_number(word->at + dash + 1, word->len - dash - 1, 0xffff, &high))
		*why = "not a range of ports";
	op->low = low < high ? low : high;
	op->high = low < high ? high : low;
	return !*why;
}

/* "proto 6", "ip proto \tcp"; the backslash is pcap's, and not needed here. */
static bool kbl_id_proto(const struct kbl_qual *q, const struct kbl_word *word,
			 struct kbl_filter_op *op, const char **why)
{
	struct kbl_word name = *word;
	u32 value = 0, i;

	if (q->dir || (q->proto && q->proto != KBL_Q_IP && q->proto != KBL_Q_IP6))
		*why = "only ip and ip6 may stand before proto";
	if (name.at[0] == '\\') {
		name.at++;
		name.len--;
	}
	for (i = KBL_Q_TCP; i <= KBL_Q_ICMP6; i++)
		if (kbl_word_is(&name, kbl_protos[i].name))
			value = kbl_protos[i].protocol;
	if (!value && !kbl_text_number(name.at, name.len, 255, &value))
		*why = "not a protocol";
	op->code = KBL_OP_PROTO;
	op->layer3 = kbl_protos[q->proto].layer3;
	op->protocol = value;
	return !*why;
}

static bool kbl_id_dev(const struct kbl_word *word, struct kbl_filter_op *op, const char **why)
{
	op->code = KBL_OP_DEV;
	if (word->len >= sizeof(op->name))
		*why = "a device's name has at most 15 characters";
	else
		memcpy(op->name, word->at, word->len);
	return !*why;
}

/* "mark 5", "mark 0x10/0xf0". */
static bool kbl_id_mark(const struct kbl_word *word, struct kbl_filter_op *op, const char **why)
{
	u32 slash = kbl_text_find(word->at, word->len, '/');

	op->code = KBL_OP_MARK;
	op->high = 0xffffffff;
	if (!kbl_text_number(word->at, slash, 0xffffffff, &op->low) ||
	    (slash < word->len && !kbl_text_number(word->at + slash + 1, word->len - slash - 1,
						   0xffffffff, &op->high)))
		*why = "not a mark, or mark/mask";
	else if (op->low & ~op->high)
		*why = "the value has bits outside its mask, so it never matches";
	return !*why;
}

/* "sample 50", "sample 50/7": one in 50, with seed 7. */
static bool kbl_id_sample(u8 code, const struct kbl_word *word, struct kbl_filter_op *op,
			  const char **why)
{
	u32 slash = kbl_text_find(word->at, word->len, '/');

	op->code = code;
	if (!kbl_text_number(word->at, slash, 0xffffffff, &op->low) || !op->low ||
	    (slash < word->len && !kbl_text_number(word->at + slash + 1, word->len - slash - 1,
						   0xffffffff, &op->high)))
		*why = "not a number N above 0, or N/seed";
	return !*why;
}

static bool kbl_id_value(u8 code, const struct kbl_word *word, struct kbl_filter_op *op,
			 const char **why)
{
	op->code = code;
	if (!kbl_text_number(word->at, word->len, 0xffffffff, &op->low))
		*why = "not a number of 32 bits";
	return !*why;
}

bool kbl_id_op(const struct kbl_qual *q, const struct kbl_word *word, struct kbl_filter_op *op,
	       const char **why)
{
	*op = (struct kbl_filter_op){
		.dir = q->dir == KBL_DIR_SAID_EITHER ? KBL_DIR_EITHER : q->dir,
	};
	if (q->type >= KBL_Q_DEV && (q->proto || q->dir)) {
		*why = "takes no protocol or direction before it";
		return false;
	}
	switch (q->type) {
	case KBL_Q_NET:
		return kbl_id_net(q, word, op, why);
	case KBL_Q_PORT:
	case KBL_Q_PORTRANGE:
		return kbl_id_ports(q, word, op, why);
	case KBL_Q_PROTO:
		return kbl_id_proto(q, word, op, why);
	case KBL_Q_DEV:
		return kbl_id_dev(word, op, why);
	case KBL_Q_NETNS:
		return kbl_id_value(KBL_OP_NETNS, word, op, why);
	case KBL_Q_MARK:
		return kbl_id_mark(word, op, why);
	case KBL_Q_PID:
		return kbl_id_value(KBL_OP_PID, word, op, why);
	case KBL_Q_SAMPLE:
		return kbl_id_sample(KBL_OP_SAMPLE, word, op, why);
	case KBL_Q_SAMPLE_PACKETS:
		return kbl_id_sample(KBL_OP_SAMPLE_PACKETS, word, op, why);
	default:
		return kbl_id_host(q, word, op, why);
	}
}
