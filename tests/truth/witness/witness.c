// SPDX-License-Identifier: GPL-2.0
/*
 * A witness of what happens to each skb, for tests.  It shares no code with the module under test.
 * It is a module because fetch arguments of kprobe events read linear bytes only.
 * Loaded, it writes down; "0" in on ends that; trace shows it all, stats what was missed.
 */
#include <linux/crc32.h>
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/if_vlan.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <net/sock.h>

#define WITNESS_WORDS 11

enum witness_kind { RCV, NIT, BORN, CLONED, FREED, RELEASED, STOLEN, KFREE, CONSUME, XMIT, QUEUE,
		    RECEIVE, KINDS };

static const char * const witness_names[KINDS] = {
	"rcv", "nit", "born", "cloned", "freed", "released", "stolen", "kfree_skb", "consume_skb",
	"net_dev_xmit", "net_dev_queue", "netif_receive_skb",
};

/* other: the skb it was cloned from, or who dropped it; number: its reason, what xmit returned */
struct witness_row {
	u64 mono, real, tstamp;
	const void *skb, *other, *sock, *head, *data;
	const char *symbol;
	char comm[TASK_COMM_LEN];
	u64 words[WITNESS_WORDS];
	u32 kind, cpu, pid, ifindex, orig, netns, inode, len, paged, mac, nh, vlan, crc;
	s32 type, number;
};

static uint rows = 200000;
module_param(rows, uint, 0400);

static struct witness_row *witness_rows;
static atomic_t witness_next;
static atomic_t witness_hits[KINDS];
static bool witness_on, witness_traced;
static struct dentry *witness_folder;

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

static struct witness_row *witness_row(enum witness_kind kind, const char *symbol,
				       const struct sk_buff *skb)
{
	struct witness_row *row;
	uint at;

	if (!READ_ONCE(witness_on) || !skb)
		return NULL;
	atomic_inc(&witness_hits[kind]);
	at = atomic_fetch_inc(&witness_next);
	if (at >= rows)
		return NULL;
	row = &witness_rows[at];
	row->mono = ktime_get_mono_fast_ns();
	row->real = ktime_get_real_fast_ns();
	row->kind = kind;
	row->symbol = symbol;
	row->cpu = raw_smp_processor_id();
	row->pid = current->pid;
	memcpy(row->comm, current->comm, sizeof(row->comm));
	row->skb = skb;
	row->head = skb->head;
	row->data = skb->data;
	row->len = skb->len;
	row->paged = skb->data_len;
	return row;
}

static void witness_device(struct witness_row *row, const struct net_device *dev)
{
	if (!row || !dev)
		return;
	row->ifindex = dev->ifindex;
	row->netns = dev_net(dev)->ns.inum;
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

static int witness_asked(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs_get_kernel_argument(regs, 0);
	return 0;
}

static int witness_born(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		witness_row(BORN, rp->kp.symbol_name, (void *)regs_return_value(regs));
	return 0;
}

static int witness_cloned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct witness_row *row = NULL;

	if (rp)
		row = witness_row(CLONED, rp->kp.symbol_name, (void *)regs_return_value(regs));
	if (row)
		row->other = *(void **)ri->data;
	return 0;
}

#define WITNESS_RETURN(name, what) { .kp.symbol_name = name, .handler = what,		\
	.entry_handler = witness_asked, .data_size = sizeof(long), .maxactive = 64 }

static struct kretprobe witness_returns[] = {
	WITNESS_RETURN("__alloc_skb", witness_born),
	WITNESS_RETURN("build_skb", witness_born),
	WITNESS_RETURN("napi_build_skb", witness_born),
	WITNESS_RETURN("skb_clone", witness_cloned),
};

static void witness_kfree(void *unused, struct sk_buff *skb, void *location, int reason)
{
	struct witness_row *row = witness_row(KFREE, "kfree_skb", skb);

	if (!row)
		return;
	row->other = location;
	row->number = reason;
}

static void witness_consume(void *unused, struct sk_buff *skb)
{
	witness_row(CONSUME, "consume_skb", skb);
}

/* The skb may be gone: only its address is taken. */
static void witness_xmit(void *unused, struct sk_buff *skb, int rc, struct net_device *dev)
{
	struct witness_row *row = witness_row(XMIT, "net_dev_xmit", skb);

	if (!row)
		return;
	row->head = row->data = NULL;
	row->len = row->paged = 0;
	row->number = rc;
	witness_device(row, dev);
}

static void witness_queue(void *unused, struct sk_buff *skb)
{
	witness_device(witness_row(QUEUE, "net_dev_queue", skb), skb->dev);
}

static void witness_receive(void *unused, struct sk_buff *skb)
{
	witness_device(witness_row(RECEIVE, "netif_receive_skb", skb), skb->dev);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} witness_events[] = {
	{ "kfree_skb", witness_kfree }, { "consume_skb", witness_consume },
	{ "net_dev_xmit", witness_xmit }, { "net_dev_queue", witness_queue },
	{ "netif_receive_skb", witness_receive },
};

static void witness_find(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_events); i++)
		if (!strcmp(tp->name, witness_events[i].name))
			witness_events[i].tracepoint = tp;
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

static void witness_show_row(struct seq_file *m, const struct witness_row *row)
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

static uint witness_kept(void)
{
	return min_t(uint, atomic_read(&witness_next), rows);
}

static void *witness_start(struct seq_file *m, loff_t *at)
{
	return *at < witness_kept() ? &witness_rows[*at] : NULL;
}

static void *witness_following(struct seq_file *m, void *row, loff_t *at)
{
	(*at)++;
	return witness_start(m, at);
}

static void witness_stop(struct seq_file *m, void *row)
{
}

static int witness_show(struct seq_file *m, void *row)
{
	witness_show_row(m, row);
	return 0;
}

static const struct seq_operations witness_trace_sops = {
	.start = witness_start, .next = witness_following, .stop = witness_stop,
	.show = witness_show,
};
DEFINE_SEQ_ATTRIBUTE(witness_trace);

static int witness_stats_show(struct seq_file *m, void *unused)
{
	int i;

	seq_printf(m, "entries %u\noverrun %u\n", witness_kept(),
		   atomic_read(&witness_next) - witness_kept());
	for (i = 0; i < KINDS; i++)
		seq_printf(m, "event %s %u\n", witness_names[i], atomic_read(&witness_hits[i]));
	for (i = 0; i < ARRAY_SIZE(witness_watches); i++)
		seq_printf(m, "missed %s %d 0\n", witness_watches[i].symbol,
			   witness_traced && witness_watches[i].armed);
	for (i = 0; i < ARRAY_SIZE(witness_returns); i++)
		seq_printf(m, "missed %s %d %lu\n", witness_returns[i].kp.symbol_name,
			   !!witness_returns[i].kp.addr,
			   witness_returns[i].nmissed + witness_returns[i].kp.nmissed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(witness_stats);

/* What a kernel does not have is left out; stats shows it. */
static void witness_register(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_watches); i++)
		witness_watches[i].armed =
			!ftrace_set_filter(&witness_ops, (u8 *)witness_watches[i].symbol,
					   strlen(witness_watches[i].symbol), 0);
	witness_traced = !register_ftrace_function(&witness_ops);
	for (i = 0; i < ARRAY_SIZE(witness_returns); i++)
		if (register_kretprobe(&witness_returns[i]))
			witness_returns[i].kp.addr = NULL;
	for_each_kernel_tracepoint(witness_find, NULL);
	for (i = 0; i < ARRAY_SIZE(witness_events); i++)
		if (witness_events[i].tracepoint)
			tracepoint_probe_register(witness_events[i].tracepoint,
						  witness_events[i].probe, NULL);
}

static int __init witness_init(void)
{
	witness_rows = vzalloc(array_size(rows, sizeof(*witness_rows)));
	if (!witness_rows)
		return -ENOMEM;
	witness_folder = debugfs_create_dir("witness", NULL);
	debugfs_create_file("trace", 0400, witness_folder, NULL, &witness_trace_fops);
	debugfs_create_file("stats", 0400, witness_folder, NULL, &witness_stats_fops);
	debugfs_create_bool("on", 0600, witness_folder, &witness_on);
	witness_register();
	WRITE_ONCE(witness_on, true);
	return 0;
}

static void __exit witness_exit(void)
{
	int i;

	WRITE_ONCE(witness_on, false);
	for (i = 0; i < ARRAY_SIZE(witness_events); i++)
		if (witness_events[i].tracepoint)
			tracepoint_probe_unregister(witness_events[i].tracepoint,
						    witness_events[i].probe, NULL);
	tracepoint_synchronize_unregister();
	for (i = 0; i < ARRAY_SIZE(witness_returns); i++)
		if (witness_returns[i].kp.addr)
			unregister_kretprobe(&witness_returns[i]);
	if (witness_traced)
		unregister_ftrace_function(&witness_ops);
	debugfs_remove(witness_folder);
	vfree(witness_rows);
}

module_init(witness_init);
module_exit(witness_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Writes down what happens to each skb, for tests");
