/* SPDX-License-Identifier: MIT */
/* The forms that a struct sk_buff takes, in the manner of Linux 2.4 and 2.6. */
#ifndef _SKBUFF_H
#define _SKBUFF_H

#define FASTCALL(x)	x __attribute__((regparm(3)))
#define fastcall	__attribute__((regparm(3)))
#define asmlinkage	__attribute__((regparm(0)))
#define SCTP_STATIC	static
#define PFX		"old: "

struct sk_buff {
	/* These two members must be first. */
	struct sk_buff	* next;
	struct sk_buff	* prev;
	struct sk_buff_head * list;
	struct sock	*sk;
	union {
		struct tcphdr	*th;
		unsigned char	*raw;
	} h;
	unsigned int	len;
	char		cb[48];
	unsigned char	*data;
};

struct sk_buff_head {
	struct sk_buff	*next;
	struct sk_buff	*prev;
};

struct tcphdr {
	__u16	source;
	__u16	dest;
};

struct sock {
	struct sk_buff_head	receive_queue;
	int			(*backlog_rcv)(struct sock *sk, struct sk_buff *skb);
};

struct proto_ops {
	int	family;
	int	(*sendmsg)(struct socket *sock, void *m, int len);
	int	(*release)(struct socket *sock);
};

struct socket {
	struct proto_ops	*ops;
	struct sock		*sk;
};

extern struct sk_buff *alloc_skb(unsigned int size, int priority);
extern void FASTCALL(__kfree_skb(struct sk_buff *skb));

extern __inline__ void kfree_skb(struct sk_buff *skb)
{
	__kfree_skb(skb);
}

extern inline int skb_queue_empty(struct sk_buff_head *list)
{
	return (list->next == (struct sk_buff *) list);
}

#define NF_HOOK(pf, hook, skb, indev, outdev, okfn) \
({int __ret; \
if ((__ret = nf_hook_slow(pf, hook, &(skb))) == 1) \
	__ret = (okfn)(skb); \
__ret;})

#endif
