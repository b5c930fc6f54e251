/* SPDX-License-Identifier: MIT */
/* What kernels of the 2.x years wrote. */
#include <skbuff.h>

static char version[] __initdata = KERN_INFO PFX "loaded " VERSION "\n";

/* K&R definitions */
int kr_receive(skb, dev, count)
	struct sk_buff *skb;
	struct net_device *dev;
	int count;
{
	return skb->len + count;
}

static struct sk_buff *kr_make(size)
int size;
{
	return alloc_skb(size, 0);
}

void fastcall __kfree_skb(struct sk_buff *skb)
{
	printk(KERN_WARNING PFX "freeing in %s\n" , __FUNCTION__);
}

int nf_hook_slow(int pf, unsigned int hook, struct sk_buff **pskb)
{
	return 1;
}

static inline int
ip_output_finish(struct sk_buff *skb)
{
	return 0;
}

int ip_output(struct sk_buff *skb)
{
	return NF_HOOK(2, 4, skb, NULL, NULL, ip_output_finish);
}

SCTP_STATIC int sctp_receive(struct sock *sk)
{
	struct sk_buff *skb = sk->receive_queue.next;
	struct tcphdr *th = skb->h.th;

	check_header(th);
	return kr_receive(skb, NULL, 1);
}

static void check_header(struct tcphdr *th)
{
	if (th->source == 0)
		printk("%s: no port\n", __FUNCTION__);
}

static int old_sendmsg(struct socket *sock, void *m, int len)
{
	return sctp_receive(sock->sk);
}

static int old_release(struct socket *sock)
{
	return 0;
}

/* initialisers in the manner of gcc 2 */
static struct proto_ops old_ops = {
	family:		2,
	sendmsg:	old_sendmsg,
	release:	old_release,
};

static struct proto_ops newer_ops = {
	.family	= 2,
	.sendmsg = old_sendmsg,
};

int sock_send(struct socket *sock, void *m, int len)
{
	return sock->ops->sendmsg(sock, m, len);
}

asmlinkage long sys_send(int fd, void *buff, size_t len)
{
	return sys_sendto(fd, buff, len);
}

#ifdef CONFIG_SMP
static void per_cpu_flush(int cpu)
{
	struct sk_buff *skb = kr_make(cpu);

	kfree_skb(skb);
}
#else
# define per_cpu_flush(cpu) do { } while (0)
#endif

#ifdef CONFIG_OLD_RECEIVE
static int receive_one(struct sk_buff *skb)
{
	return 0;
}
#elif defined(CONFIG_MIDDLE_RECEIVE)
static int receive_one(struct sk_buff *skb, int middle)
{
	return middle;
}
#else
static int receive_one(struct sk_buff *skb, int new, int more)
{
	return new + more;
}
#endif

/* a macro that makes functions */
#define META_COLLECTOR(FUNC) static void meta_##FUNC(struct sk_buff *skb, \
	struct meta_value *v, int *err)

META_COLLECTOR(int_length)
{
	*err = skb->len;
}

META_COLLECTOR(var_dev)
{
	*err = 0;
}

/* statement expressions, old casts, computed strings */
static int peculiar(struct sk_buff *skb)
{
	int x = ({ int y = skb->len; y + 1; });
	struct { struct sk_buff *skb; } local;

	local.skb = (struct sk_buff *) skb;
	printk("<7>" "%d" PFX "\n", x);
	for (;;)
		break;
again:
	if (x--)
		goto again;
	return kr_receive(local.skb, NULL, va_arg(x, int));
}

/* the whole head is given to a macro */
__initfunc(int old_setup(struct sk_buff_head *queue))
{
	return 0;
}

FASTCALL(static struct sk_buff *fast_receive(struct sk_buff *skb,
					     int (*next)(struct sk_buff *)))
{
	return skb;
}
