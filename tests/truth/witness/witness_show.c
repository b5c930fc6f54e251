// SPDX-License-Identifier: GPL-2.0-only
/* A row as text, in the look of tracefs. */
#include <linux/seq_file.h>

#include "witness.h"

static const char * const witness_names[KINDS] = {
	"rcv", "nit", "born", "cloned", "freed", "released", "stolen", "kfree_skb", "consume_skb",
	"net_dev_xmit", "net_dev_queue", "netif_receive_skb",
};

const char *witness_name(enum witness_kind kind)
{
	return witness_names[kind];
}

static void witness_show_bytes(struct seq_file *m, const struct witness_row *row)
{
	int i;

	seq_printf(m, " pt=%d mac=%u nh=%u vlan=0x%x crc=0x%08x b={", row->type, row->mac, row->nh,
		   row->vlan, row->crc);
	for (i = 0; i < WITNESS_WORDS; i++)
		seq_printf(m, "%s0x%llx", i ? "," : "", row->words[i]);
	seq_puts(m, "}");
}

void witness_show_row(struct seq_file *m, const struct witness_row *row)
{
	u32 ns;
	u64 s = div_u64_rem(row->mono, NSEC_PER_SEC, &ns);

	seq_printf(m, "%16s-%-7u [%03u] ..... %5llu.%06u: %s: (%s+0x0/0x0) mono=%llu real=%llu",
		   row->comm, row->pid, row->cpu, s, ns / 1000, witness_names[row->kind],
		   row->symbol, row->mono, row->real);
	seq_printf(m, " skb=0x%lx if=%u netns=%u len=%u paged=%u head=0x%lx data=0x%lx",
		   (ulong)row->skb, row->ifindex, row->netns, row->len, row->paged,
		   (ulong)row->head, (ulong)row->data);
	if (row->kind == RCV)
		seq_printf(m, " orig=%u sock=0x%lx inode=%u", row->orig, (ulong)row->sock,
			   row->inode);
	if (row->kind == CLONED)
		seq_printf(m, " from=0x%lx", (ulong)row->other);
	if (row->kind == KFREE)
		seq_printf(m, " location=%pS reason=%d", row->other, row->number);
	if (row->kind == XMIT)
		seq_printf(m, " rc=%d", row->number);
	if (row->kind <= NIT) {
		seq_printf(m, " tstamp=%llu", row->tstamp);
		witness_show_bytes(m, row);
	}
	seq_putc(m, '\n');
}

