/* SPDX-License-Identifier: MIT */
/* Shapes of statements and declarations that kernels of the 2.6 years wrote. */
#include <skbuff.h>

DEFINE_SNMP_STAT(struct echo_mib, echo_statistics);

static DEFINE_PER_CPU(struct socket *, __echo_socket) = NULL;
#define echo_socket	__get_cpu_var(__echo_socket)

#define LIMIT_NETDEBUG(x) do { if (net_ratelimit()) { x; } } while (0)
#define sk_for_each(__sk, node, list) \
	hlist_for_each_entry(__sk, node, list, sk_node)
#define hlist_for_each_entry(tpos, pos, head, member) \
	for (pos = (head)->first; pos && (tpos = hlist_entry(pos, member), 1); pos = pos->next)
#define skb_queue_walk(queue, skb) \
		for (skb = (queue)->next; skb != (struct sk_buff *)(queue); skb = skb->next)

struct echo_param {
	struct sk_buff *skb;
	struct {
		struct iphdr h;
		__u32	       times[3];
	} data;
	unsigned char  optbuf[40];
};

/* Linkage of its own, inline all the same. */
__inline__ void send_check(struct iphdr *iph)
{
	iph->check = 0;
}

static __inline__ void
measure(struct tcp_opt *tp, struct sk_buff *skb)
{
	if (skb->len > 3 ||
	    /* a remark 8)) in a condition */
	    (tp &&
	     !(skb->len & 4))) {
		return;
	}
}

static __inline__ int xmit_lock(void)
{
	if (unlikely(!spin_trylock(&echo_socket->sk->lock.slock)))
		return 1;
	return 0;
}

int glue_bits(void *from, char *to, int offset, int len, int odd,
	      struct sk_buff *skb)
{
	struct echo_param *param = (struct echo_param *)from;

	skb->csum = csum_add(skb->csum, copy_bits(param->skb, to, len), odd);
	return 0;
}

/* A label in front of the last brace; a block whose variable is initialised by members. */
static void push_reply(struct echo_param *param, struct sk_buff *skb)
{
	struct sk_buff *skb1;

	if (xmit_lock())
		return;
	{
		struct flowi fl = { .nl_u = { .ip4_u =
					      { .daddr = 1,
						.tos = RT_TOS(skb->len) } },
				    .proto = 1 };
		if (route_key(&fl, skb))
			goto out;
	}
	if (append(echo_socket->sk, glue_bits, param) < 0)
		flush(echo_socket->sk);
	else if ((skb = skb_peek(&echo_socket->sk->receive_queue)) != NULL) {
		skb_queue_walk(&echo_socket->sk->receive_queue, skb1) {
			skb->csum += skb1->csum;
		}
	}
	LIMIT_NETDEBUG(
		printk(KERN_INFO "%u: "
				 "twice " PFX
				 "\n",
		       NIPQUAD(skb->len)));
out:;
}

/* A condition that #ifdef makes longer, a hook without braces. */
int mc_output(struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	if (skb->flags & 1) {
		if ((!sk || sk->mc_loop)
#ifdef CONFIG_IP_MROUTE
		/* not those that don't return */
		    && ((skb->flags & 2) || !(skb->flags & 4))
#endif
		) {
			struct sk_buff *newskb = skb_clone(skb, 1);
			if (newskb)
				NF_HOOK(2, 4, newskb, NULL,
					newskb->dev,
					loopback_xmit);
		}
	}
	if (skb->len > 1500)
		return fragment(skb, finish_output);
	else
		return finish_output(skb);
}

static int loopback_xmit(struct sk_buff *newskb)
{
#ifdef CONFIG_NETFILTER_DEBUG
	debug_loopback(newskb);
#endif
	netif_rx(newskb);
	return 0;
}

static inline int finish_output(struct sk_buff *skb)
{
	struct dst_entry *dst = skb->dst;

	if (dst->hh) {
		return dst->hh->output(skb);
	} else if (dst->neighbour)
		return dst->neighbour->output(skb);

	kfree_skb(skb);
	return -22;
}

/* The function that is called for each piece is a parameter. */
int fragment(struct sk_buff *skb, int (*output)(struct sk_buff*))
{
	struct sk_buff *skb2;

	if ((skb2 = alloc_skb(skb->len, 1)) == NULL) {
		NETDEBUG(printk(KERN_INFO "no memory!\n"));
		goto fail;
	}
	return output(skb2);
fail:
	kfree_skb(skb);
	return -12;
}

/* Returns in blocks of cases, in branches of #ifdef, behind a label. */
static int echo_ioctl(struct sock *sk, int cmd, unsigned long arg)
{
	switch (cmd) {
		case 1: {
			int amount = atomic_read(&sk->wmem);
			return put_user(amount, (int __user *)arg);
		}
		case 2: {
			struct sk_buff *skb;
			int amount = 0;

			skb = skb_peek(&sk->receive_queue);
			if (skb != NULL)
				amount = skb->len;
			return put_user(amount, (int __user *)arg);
		}

		default:
#ifdef CONFIG_IP_MROUTE
			return mr_ioctl(sk, cmd, (void __user *)arg);
#else
			return -515;
#endif
	}
}

static struct sock *get_next(struct seq_file *seq, struct sock *sk)
{
	struct iter_state* state = seq->private;
	struct hlist_node *node;

	do {
		sk = sk_next(sk);
try_again:
		;
	} while (sk && sk->family != 2);

	if (!sk && ++state->bucket < 256) {
		sk = sk_head(&table[state->bucket]);
		goto try_again;
	}
	sk_for_each(sk, node, &table[state->bucket])
		if (sk->family == 2)
			goto found;
	sk = NULL;
found:
	return sk;
}

static int send_one(struct sock *sk, void *from, int len)
{
	struct sk_buff *skb = sock_alloc(sk, len);
	struct iphdr *iph;
	int err = 0;

	if (!
	    (skb && from
	     && len))
		goto out;
	skb->nh.iph = iph = (struct iphdr *)skb_put(skb, len);
	if (err)
		printk("never\n"); ;
	if (err)
		err = len;
	
	 else {
		err = NF_HOOK(2, 3, skb, NULL, NULL,
			      finish_output);
	}
out:	return err < 0 ? err : len;
}

#ifdef CONFIG_PROC_FS
extern int  proc_init(struct sock *sk);

int __init echo_proc_init(struct sock *sk)
{
	int rc = 0;

	if (proc_init(sk))
		goto out_proc;
out:
	return rc;
out_proc:
	rc = -12;
	goto out;
}

#else /* CONFIG_PROC_FS */
int __init echo_proc_init(struct sock *sk)
{
	return 0;
}
#endif /* CONFIG_PROC_FS */

static struct net_protocol echo_protocol = {
	.handler =	glue_bits,
	.no_policy =	1,
};

module_init(echo_proc_init);

EXPORT_SYMBOL(fragment);
MODULE_ALIAS_NETPROTO(PF_INET);

#define ADDR_COOKIE(name, from, to) \
	__u64 name = ((__u64)(from) << 32) | (to);
#define HARD_TX_LOCK(dev, cpu) {			\
	if ((dev->features & 4) == 0) {			\
		spin_lock(&dev->xmit_lock);		\
		dev->xmit_lock_owner = cpu;		\
	}						\
}
#define HARD_TX_UNLOCK(dev) {				\
	dev->xmit_lock_owner = -1;			\
	spin_unlock(&dev->xmit_lock);			\
}

DEFINE_PER_CPU(struct rx_stats, rx_stat) = { 0, };

static hook_func_t * hook_list [16];

/* A macro with its own semicolon among the declarations, a conditional without a middle. */
inline struct sock *lookup(struct sk_buff *skb, u32 daddr, u16 dport)
{
	struct hlist_head *head;
	ADDR_COOKIE(acookie, skb->len, daddr)
	__u32 ports = dport;
	struct sock *sk;
	struct hlist_node *node;

	sk_for_each(sk, node, head) {
		if (sk->ports == ports && acookie)
			goto hit; /* it's here */
	}
	sk = NULL;
out:
	return sk ? : lookup_listener(skb, daddr);
hit:
	hold(sk);
	goto out;
}

EXPORT_SYMBOL_GPL(lookup);

/* Both branches of an #ifdef open the block that is closed once. */
int queue_xmit(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	int rc = -12;

#ifdef CONFIG_CLS_ACT
	skb->verdict = AT(skb->verdict,EGRESS);
	if (skb->verdict) {
		rc = 0;
		goto ncls;
	}
#endif
	if (dev->queue) {
		rc = dev->enqueue(skb, dev);
		goto out;
	}
	if (dev->flags & 1) {
		int cpu = smp_processor_id(); /* BHs are off */

#ifdef CONFIG_PREEMPT_RT
		if (1) {
#else
		if (dev->xmit_lock_owner != cpu) {
#endif
			HARD_TX_LOCK(dev, cpu);
			if (!dev->hard_start_xmit(skb, dev)) {
				HARD_TX_UNLOCK(dev);
				goto out;
			}
			HARD_TX_UNLOCK(dev);
		} else {
//			schedule(dev);
			if (net_ratelimit())
				printk(KERN_CRIT "Dead loop on %s"
				       ", fix it!\n", dev->name);
		}
	}
#ifdef CONFIG_CLS_ACT
	skb->verdict = 0;
ncls:
#endif
	kfree_skb(skb);
	return rc;
out:
	return rc;
}

#if defined(CONFIG_BRIDGE) || defined (CONFIG_BRIDGE_MODULE)
int (*handle_frame_hook)(struct bridge_port *p, struct sk_buff **pskb);

static __inline__ int handle_bridge(struct sk_buff **pskb,
				    struct packet_type **pt_prev, int *ret)
{
	struct bridge_port *port;

	if ((*pskb)->flags == 5 ||
	    (port = rcu_dereference((*pskb)->dev->br_port)) == NULL)
		return 0;

	return handle_frame_hook(port, pskb);
}
#else
#define handle_bridge(skb, pt_prev, ret)	(0)
#endif

static __inline__ int deliver(struct sk_buff *skb,
			      struct packet_type *pt_prev)
{
	atomic_inc(&skb->users);
	return pt_prev->func(skb, skb->dev, pt_prev);
}

int receive(struct sk_buff *skb)
{
	struct packet_type *ptype, *pt_prev = NULL;
	int ret = 1;

	if (handle_bridge(&skb, &pt_prev, &ret))
		goto out;
	list_for_each_entry_rcu(ptype, &ptype_base[ntohs(skb->protocol)&15], list) {
		if (ptype->type == skb->protocol) {
			if (pt_prev) 
				ret = deliver(skb, pt_prev);
			pt_prev = ptype;
		}
	}
out:
	return ret;
}

static void rx_action(struct softirq_action *h)
{
	struct softnet_data *queue = &__get_cpu_var(softnet_data);

	while (!list_empty(&queue->poll_list)) {
		struct sk_buff *skb = queue->completion;

		DEFINE_WAIT(wait);

		if (unlikely(!skb))
			goto softnet_break;
		receive(skb);
	}
 ende:
	return;

softnet_break:
	__get_cpu_var(rx_stat).squeeze++;
	goto ende;
}
