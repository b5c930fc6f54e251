// SPDX-License-Identifier: GPL-2.0-only
/* Who receives, copies and frees an skb: functions watched by ftrace, with the packet's bytes. */
#include <linux/crc32.h>
#include <linux/if_vlan.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <net/sock.h>

#include "witness.h"

/* Bytes of an skb to be copied and summed; room is what is left for the copy. */
struct witness_sum {
	u8 *to;
	size_t room;
	u32 crc;
};

static void witness_take(struct witness_sum *sum, const void *bytes, size_t n)
{
	size_t copied = min(n, sum->room);

	memcpy(sum->to, bytes, copied);
	sum->to += copied;
	sum->room -= copied;
	sum->crc = crc32_le(sum->crc, bytes, n);
}

/* As skb_copy_bits(), which is probed itself.  64-bit kernels have all pages mapped. */
static void witness_walk(struct witness_sum *sum, const struct sk_buff *skb, int depth)
{
	const struct sk_buff *part;
	int i;

	witness_take(sum, skb->data, skb_headlen(skb));
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		witness_take(sum, skb_frag_address(frag), skb_frag_size(frag));
	}
	for (part = skb_shinfo(skb)->frag_list; part && depth < 2; part = part->next)
		witness_walk(sum, part, depth + 1);
}

/* crc: of all that a sniffer without a snaplen writes, the bytes from the MAC header on. */
static void witness_bytes(struct witness_row *row, const struct sk_buff *skb)
{
	struct witness_sum sum = { (u8 *)row->words, sizeof(row->words), ~0 };

	row->tstamp = skb->tstamp;
	row->mac = skb->mac_header;
	row->nh = skb->network_header;
	row->vlan = skb_vlan_tag_present(skb) ? 0x10000 | skb->vlan_tci : 0;
	if (skb_mac_header_was_set(skb) && skb_mac_header(skb) < skb->data)
		sum.crc = crc32_le(sum.crc, skb_mac_header(skb), skb->data - skb_mac_header(skb));
	witness_walk(&sum, skb, 0);
	row->crc = ~sum.crc;
}

struct witness_watch {
	const char *symbol;
	void (*handle)(const struct witness_watch *watch, struct pt_regs *regs);
	enum witness_kind kind;
	bool armed;
	unsigned long ip;	/* known from the first hit on */
};

static void witness_rcv(const struct witness_watch *watch, struct pt_regs *regs)
{
	const struct sk_buff *skb = (void *)regs_get_kernel_argument(regs, 0);
	const struct net_device *dev = (void *)regs_get_kernel_argument(regs, 1);
	const struct packet_type *hook = (void *)regs_get_kernel_argument(regs, 2);
	const struct net_device *orig = (void *)regs_get_kernel_argument(regs, 3);
	struct witness_row *row = witness_row(RCV, watch->symbol, skb);
	const struct sock *sk = hook->af_packet_priv;
	struct socket *socket;

	if (!row)
		return;
	witness_device(row, dev);
	row->orig = orig ? orig->ifindex : 0;
	row->type = skb->pkt_type;
	row->sock = sk;
	socket = sk ? READ_ONCE(sk->sk_socket) : NULL;
	row->inode = socket ? SOCK_INODE(socket)->i_ino : 0;
	witness_bytes(row, skb);
}

static void witness_nit(const struct witness_watch *watch, struct pt_regs *regs)
{
	const struct sk_buff *skb = (void *)regs_get_kernel_argument(regs, 0);
	struct witness_row *row = witness_row(NIT, watch->symbol, skb);

	if (!row)
		return;
	witness_device(row, (void *)regs_get_kernel_argument(regs, 1));
	row->type = skb->pkt_type;
	witness_bytes(row, skb);
}

static void witness_end(const struct witness_watch *watch, struct pt_regs *regs)
{
	witness_row(watch->kind, watch->symbol, (void *)regs_get_kernel_argument(regs, 0));
}

static struct witness_watch witness_watches[] = {
	{ "tpacket_rcv", witness_rcv, RCV },
	{ "packet_rcv", witness_rcv, RCV },
	{ "dev_queue_xmit_nit", witness_nit, NIT },
	{ "kfree_skbmem", witness_end, FREED },
	{ "skb_release_head_state", witness_end, RELEASED },
	{ "napi_skb_free_stolen_head", witness_end, STOLEN },
};

static bool witness_is(struct witness_watch *watch, unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN];

	if (watch->ip)
		return watch->ip == ip;
	sprint_symbol_no_offset(name, ip);
	if (strcmp(name, watch->symbol))
		return false;
	watch->ip = ip;
	return true;
}

static void witness_hit(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	int i;

	for (i = 0; regs && i < ARRAY_SIZE(witness_watches); i++) {
		if (!witness_is(&witness_watches[i], ip))
			continue;
		witness_watches[i].handle(&witness_watches[i], regs);
		break;
	}
}

/* Not kprobes: they would share their guard against recursion with the probes under test, so that
 * both would miss the same hits.  One for all, because to take one back takes a while.
 */
static struct ftrace_ops witness_ops = {
	.func = witness_hit,
	.flags = FTRACE_OPS_FL_SAVE_REGS,
};

static bool witness_traced;

/* What a kernel does not have is left out; stats shows it. */
void witness_watch_begin(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_watches); i++)
		witness_watches[i].armed =
			!ftrace_set_filter(&witness_ops, (u8 *)witness_watches[i].symbol,
					   strlen(witness_watches[i].symbol), 0);
	witness_traced = !register_ftrace_function(&witness_ops);
}

void witness_watch_end(void)
{
	if (witness_traced)
		unregister_ftrace_function(&witness_ops);
}

/* ftrace counts no missed hits: nothing is skipped but what a watched function's own handler calls.
 */
void witness_watch_show(struct seq_file *m)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_watches); i++)
		seq_printf(m, "missed %s %d 0\n", witness_watches[i].symbol,
			   witness_traced && witness_watches[i].armed);
}
