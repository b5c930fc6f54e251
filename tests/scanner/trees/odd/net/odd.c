/* SPDX-License-Identifier: MIT */
/* What only a macro or an old compiler makes sense of. */
#define IRDA_ASSERT(expr, func) \
do { if (!(expr)) { func } } while (0)
#define MAC_FMT "%02x"
#define KERN_INFO "<6>"
#define LIST_WALK(entry, list) list_for_each_entry(entry, list, node)
#define list_for_each_entry(entry, list, node) for (entry = first(list); entry; entry++)
#define SHOW(name) static int name##_show(struct sk_buff *skb, char *buf)

struct sk_buff {
	int len;
};

MODULE_PARM(x, "i");
MODULE_LICENSE("GPL")
__setup("ip=", ip_auto_config_setup);

static struct proto_ops SOCKOPS_WRAPPED(ipx_dgram_ops) = {
	.family = PF_IPX,
};

int asserted(struct sk_buff *skb)
{
	IRDA_ASSERT(skb != NULL, return -1;);
	IRDA_ASSERT(skb->len, goto out;);
	IRDA_ASSERT(skb->magic == LAP_MAGIC, return f(skb, 1););
	IRDA_ASSERT(peculiar(skb), { kfree_skb(skb); return -1; } );
	return 1;
out:
	return 0;
}

static void peculiar(struct sk_buff *skb)
{
	static const char *names[] = { "a" "b", MAC_FMT "c" };
	unsigned long flags; long (*fn)(int, struct sk_buff *) = NULL;
	struct { int a; } x = { a: 3 };
	u8 *p = (u8 *)&skb->len;

	DEBUGP("x" "y=%lu" KERN_INFO, (unsigned long)(skb->len));
	spin_lock_irqsave(&lock, flags);
	LIST_WALK(skb, &list)
		kfree_skb(skb);
	sk_for_each(sk, node, &head) {
		if (x.a)
			continue;
	}
	*p++ = ((u16)skb->len << 8) | (u8) x.a;
	switch (x.a) { case 1: case 'c': break; default: ; }
	if (0) { lab: ; }
	goto *(&&lab);
	__asm__ __volatile__("nop" : : "r" (p) : "memory");
	va_arg(ap, struct sk_buff *); va_arg(ap, u32); va_arg(ap, u8 *);
	out("a" MAC_FMT "b", x); offsetof(struct sk_buff, len);
	NETDEBUG(printk(KERN_INFO "x" __stringify(y) "\n"));
	x.a = sizeof(struct sk_buff) + __alignof__(struct y) + sizeof x;
	for (;;) ;
}

const char *cases(int x, struct sk_buff *skb)
{
#define N(val) case NETDEV_##val: return "N" __stringify(val);
	switch (x) {
	N(UP) N(DOWN)
	N(REBOOT)
	}
#undef N
	return "x";
}

SHOW(first)
{
	return skb->len;
}

int (*gives_pointer(struct sk_buff *skb))(int)
{
	return 0;
}

static int after(int val, struct sk_buff *skb) { return 1; };

/* A macro that makes declarations, alone on its line. */
#define DECLARED(name) extern int name;
EVERY_one
#undef DECLARED

BPF_CALL_1(below, struct sk_buff *, skb)
{
	return skb->len;
}
