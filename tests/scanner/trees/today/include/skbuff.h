/* SPDX-License-Identifier: MIT */
/* The forms that a struct sk_buff takes, in the manner of Linux 6. */
#ifndef _SKBUFF_H
#define _SKBUFF_H

#define __printf(a, b) __attribute__((__format__(printf, a, b)))
#define __must_check __attribute__((__warn_unused_result__))
#define __user
#define noinline_for_copy __attribute__((__noinline__))
#define INDIRECT_CALLABLE static

struct net_device;
struct sock;

struct sk_buff {
	union {
		struct {
			struct sk_buff *next;
			struct sk_buff *prev;
		};
		struct list_head list;
	};
	struct sock *sk;
	struct_group(headers,
		__u8 pkt_type:3;
		__be16 protocol;
	);
	char cb[48] __aligned(8);
	unsigned int len;
	unsigned char *head, *data;
};

struct sk_buff_head {
	struct_group_tagged(sk_buff_list, list,
		struct sk_buff *next;
		struct sk_buff *prev;
	);
	__u32 qlen;
};

struct frag_queue {
	struct sk_buff_head fragments;
	DECLARE_FLEX_ARRAY(struct sk_buff *, spare);
};

struct only_points {
	int (*receive)(struct sk_buff *skb);
};

typedef struct sk_buff *skb_pointer_t;
typedef int (*skb_handler_t)(struct sk_buff *skb, void *data);
typedef struct {
	struct sk_buff *first;
	int count;
} skb_chain_t;

#define SKB_TYPE struct sk_buff
#define MY_CB(skb) ((struct my_cb *)&((skb)->cb[0]))
#define skb_walk(queue, skb) \
	for (skb = (queue)->next; skb != (struct sk_buff *)(queue); skb = skb->next)

struct my_cb {
	int flags;
};

static inline unsigned char *skb_start(const struct sk_buff *skb)
{
	return skb->data;
}

#define skb_first_byte(skb) (*skb_start(skb))
#define DROP(skb, why) do { if (why) drop_packet(skb); } while (0)

void drop_packet(struct sk_buff *skb);

#define INDIRECT_CALL_1(f, f1, ...) \
	({ (f == f1) ? f1(__VA_ARGS__) : f(__VA_ARGS__); })
#define INDIRECT_CALL_2(f, f2, f1, ...) \
	({ (f == f2) ? f2(__VA_ARGS__) : INDIRECT_CALL_1(f, f1, __VA_ARGS__); })

static inline int
NF_HOOK(unsigned char pf, struct sk_buff *skb, int (*okfn)(struct sk_buff *))
{
	return okfn(skb);
}

#endif
