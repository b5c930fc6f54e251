// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter in the kernel.  It reads what a verdict needs in addition to the footprint, and
 * remembers which packets were accepted.  A new filter replaces the whole old one under RCU.
 * Handlers run with preemption off, so a grace period waits for all of them.
 */
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "kbl_arch.h"
#include "kbl_filter.h"
#include "kbl_internal.h"
#include "kbl_whole.h"

struct kbl_filter {
	struct kbl_filter_program program;
	atomic_long_t overflows;
	char text[KBL_FILTER_TEXT];
	struct kbl_filter_table table;
};

DEFINE_STATIC_KEY_FALSE(kbl_filter_on);
u32 kbl_filter_epoch;

static DEFINE_MUTEX(kbl_filter_lock);
static struct kbl_filter __rcu *kbl_filter;

/* An ARP packet for Ethernet and IPv4: struct arphdr, then sha, spa, tha, tpa. */
static bool kbl_arp_at(struct kbl_filter_facts *facts, const u8 *arp)
{
	__be64 head;
	u32 spa, tpa;

	kbl_get(head, (__be64 *)arp, fault);
	/* ar_pro, ar_hln and ar_pln; ar_hrd and ar_op may have any value. */
	if ((be64_to_cpu(head) >> 16 & 0xffffffff) != 0x08000604)
		return false;
	kbl_get(spa, (u32 *)(arp + sizeof(struct arphdr) + ETH_ALEN), fault);
	kbl_get(tpa, (u32 *)(arp + sizeof(struct arphdr) + 2 * ETH_ALEN + 4), fault);
	kbl_facts_arp(facts, (const u8 *)&spa, (const u8 *)&tpa);
	return true;
fault:
	return false;
}
NOKPROBE_SYMBOL(kbl_arp_at);

/* If a driver has not set network_header yet, data is the header. */
static void kbl_filter_arp(struct kbl_filter_facts *facts, const struct sk_buff *skb)
{
	unsigned long head, data;
	u16 network;

	kbl_get(head, (unsigned long *)&skb->head, fault);
	kbl_get(data, (unsigned long *)&skb->data, fault);
	kbl_get(network, &skb->network_header, fault);
	if (!kbl_is_kernel(head) || !kbl_is_kernel(data))
		return;
	if (!network || !kbl_arp_at(facts, (const u8 *)head + network))
		kbl_arp_at(facts, (const u8 *)data);
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_filter_arp);

/*
 * The footprint has found the device, so skb->dev is not the scratch word that shares its
 * memory.
 */
static void kbl_filter_dev(struct kbl_filter_facts *facts, const struct sk_buff *skb)
{
	unsigned long dev;
	u64 word;
	u32 i;

	kbl_get(dev, (unsigned long *)&skb->dev, fault);
	if (!kbl_is_kernel(dev))
		return;
	for (i = 0; i < KBL_FILTER_NAME; i += 8) {
		kbl_get(word, (u64 *)(((const struct net_device *)dev)->name + i), fault);
		memcpy(facts->dev + i, &word, 8);
	}
	facts->dev_known = true;
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_filter_dev);

static void kbl_filter_packet(struct kbl_filter_facts *facts, const struct kbl_filter *f,
			      const struct sk_buff *skb, const struct kbl_footprint *fp)
{
	bool ipv4 = fp->slots > 1 && fp->ipv4.type == KBL_EXT_IPV4;
	bool ipv6 = fp->slots > 2;

	kbl_facts_packet(facts, &fp->skb, ipv4 ? &fp->ipv4 : NULL, ipv6 ? &fp->ipv6 : NULL,
			 &fp->l4);
	if (facts->layer3 == KBL_L3_ARP || facts->layer3 == KBL_L3_RARP)
		kbl_filter_arp(facts, skb);
	if (f->program.wants_dev && fp->skb.ifindex)
		kbl_filter_dev(facts, skb);
}
NOKPROBE_SYMBOL(kbl_filter_packet);

static enum kbl_verdict kbl_filter_verdict(const struct kbl_filter *f, u64 skb,
					   const struct kbl_footprint *fp, u64 sk)
{
	struct kbl_filter_facts facts = { .tid = current->pid, .tgid = current->tgid };
	enum kbl_verdict verdict;

	if (fp) {
		kbl_filter_packet(&facts, f, (const struct sk_buff *)(unsigned long)skb, fp);
		sk = fp->skb.sk ?: sk;
	}
	kbl_filter_sock(&facts, sk, fp);
	verdict = kbl_filter_eval(&f->program, &facts);
	if (verdict != KBL_UNKNOWN || !f->program.by_packet)
		return verdict;
	/*
	 * An skb with several packets shows that the sampling left out an unknown number.  At no
	 * device, TCP has merged packets that it had received one by one.
	 */
	if (fp && fp->skb.gso_size && fp->skb.ifindex)
		kbl_whole_broken();
	return KBL_NO;
}
NOKPROBE_SYMBOL(kbl_filter_verdict);

static void kbl_filter_accept(struct kbl_filter *f, u64 skb)
{
	if (skb && unlikely(!kbl_table_add(&f->table, skb)))
		atomic_long_inc(&f->overflows);
}
NOKPROBE_SYMBOL(kbl_filter_accept);

/* True if the packet was accepted before. */
bool kbl_filter_accepted(u64 skb)
{
	const struct kbl_filter *f = rcu_dereference_raw(kbl_filter);

	return !f || (skb && kbl_table_has(&f->table, skb));
}
NOKPROBE_SYMBOL(kbl_filter_accepted);

/*
 * May this call be recorded?  @skb, @fp and @sk may each be missing.  What cannot be decided
 * passes, unless it was @refused earlier, when more was known.  A filter that samples packets
 * refuses it.
 */
bool kbl_filter_pass_again(u64 skb, const struct kbl_footprint *fp, u64 sk, bool refused)
{
	struct kbl_filter *f = rcu_dereference_raw(kbl_filter);

	if (!f || kbl_filter_accepted(skb))
		return true;
	switch (kbl_filter_verdict(f, skb, fp, sk)) {
	case KBL_YES:
		kbl_filter_accept(f, skb);
		return true;
	case KBL_UNKNOWN:
		return !refused;
	default:
		return skb && unlikely(kbl_table_full(&f->table, skb));
	}
}
NOKPROBE_SYMBOL(kbl_filter_pass_again);

bool kbl_filter_pass(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp, u64 sk)
{
	return kbl_filter_pass_again(skb, fp, sk, false);
}
NOKPROBE_SYMBOL(kbl_filter_pass);

static void kbl_filter_inherit(struct kbl_filter *f, u64 from, u64 to)
{
	if (kbl_table_has(&f->table, from))
		kbl_filter_accept(f, to);
}
NOKPROBE_SYMBOL(kbl_filter_inherit);

/* What is made of an skb inherits its verdict; the verdict ends with the skb. */
void kbl_filter_life(u8 event, u64 skb, u64 other)
{
	struct kbl_filter *f = rcu_dereference_raw(kbl_filter);

	if (!f || !skb)
		return;
	switch (event) {
	case KBL_EV_ALLOC:
	case KBL_EV_FREE:
		kbl_table_forget(&f->table, skb);
		break;
	case KBL_EV_CLONE:
	case KBL_EV_COPY:
	case KBL_EV_SEGMENT:
		kbl_table_forget(&f->table, other);
		kbl_filter_inherit(f, skb, other);
		break;
	case KBL_EV_GRO_MERGE:
	case KBL_EV_COALESCE:
		if (!f->program.by_packet)
			kbl_filter_inherit(f, skb, other);
		break;
	case KBL_EV_MORPH:
		kbl_filter_inherit(f, other, skb);
		break;
	}
}
NOKPROBE_SYMBOL(kbl_filter_life);

static void kbl_filter_complain(const char *text, const struct kbl_filter_error *error)
{
	if (error->len)
		pr_warn("kbl: filter: '%*pE' at character %u: %s\n", (int)min(error->len, 64U),
			text + error->at, error->at + 1, error->why);
	else
		pr_warn("kbl: filter: at the end: %s\n", error->why);
}

/* Returns NULL for an empty text. */
static struct kbl_filter *kbl_filter_make(const char *text)
{
	struct kbl_filter_error error = {};
	struct kbl_filter *f;

	if (strlen(text) >= sizeof(f->text)) {
		pr_warn("kbl: filter: longer than %zu characters\n", sizeof(f->text) - 1);
		return ERR_PTR(-EINVAL);
	}
	f = kvzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return ERR_PTR(-ENOMEM);
	strscpy(f->text, text, sizeof(f->text));
	if (kbl_filter_parse(&f->program, text, &error)) {
		kbl_filter_complain(text, &error);
		kvfree(f);
		return ERR_PTR(-EINVAL);
	}
	if (f->program.nops)
		return f;
	kvfree(f);
	return NULL;
}

/* Replace the filter, or leave it unchanged and return an error. */
int kbl_filter_set(const char *text)
{
	struct kbl_filter *f = kbl_filter_make(text), *old;
	static u32 epoch = 1;	/* odd, so never 0 */
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	mutex_lock(&kbl_filter_lock);
	err = kbl_whole_watch(f && f->program.by_packet);
	if (err) {
		mutex_unlock(&kbl_filter_lock);
		kvfree(f);
		return err;
	}
	/* Until all CPUs use the new filter, nobody knows which one refused a packet. */
	WRITE_ONCE(kbl_filter_epoch, 0);
	if (!f)
		kbl_detour_switch(&kbl_filter_on, false);
	old = rcu_replace_pointer(kbl_filter, f, lockdep_is_held(&kbl_filter_lock));
	if (f)
		kbl_detour_switch(&kbl_filter_on, true);
	synchronize_rcu();
	if (f && !f->program.wants_task)
		WRITE_ONCE(kbl_filter_epoch, epoch += 2);
	mutex_unlock(&kbl_filter_lock);
	kvfree(old);
	return 0;
}

/* Suspend the filter, or resume it; under kbl_lock. */
void kbl_filter_hold(bool hold)
{
	mutex_lock(&kbl_filter_lock);
	if (rcu_access_pointer(kbl_filter))
		kbl_detour_switch(&kbl_filter_on, !hold);
	mutex_unlock(&kbl_filter_lock);
}

static const char kbl_filter_help[] =
	"# Write an expression, a subset of pcap-filter(7); an empty line records everything.\n"
	"#   [ip|arp|rarp|ip6] [src|dst] host ADDRESS, net PREFIX[/LENGTH]\n"
	"#   [tcp|udp|sctp] [src|dst] port N, portrange N-N; [ip|ip6] proto N\n"
	"#   ip ip6 arp rarp tcp udp sctp icmp icmp6; and or not ( )\n"
	"#   dev NAME, netns INODE, mark N[/MASK], pid N\n"
	"#   sample N[/SEED]: one connection in N; sample-packets N[/SEED]: one packet in N,\n"
	"#   if nothing segments, merges or rewrites packets\n"
	"# What cannot be decided yet is recorded; an accepted packet stays accepted.\n";

void kbl_filter_show(struct seq_file *m)
{
	struct kbl_filter *f;

	seq_puts(m, kbl_filter_help);
	mutex_lock(&kbl_filter_lock);
	f = rcu_dereference_protected(kbl_filter, lockdep_is_held(&kbl_filter_lock));
	if (f) {
		seq_printf(m, "# %ld accepted packets are not remembered: the table was full\n",
			   atomic_long_read(&f->overflows));
		seq_escape(m, strim(f->text), "\n\\");
		seq_putc(m, '\n');
	}
	mutex_unlock(&kbl_filter_lock);
}
