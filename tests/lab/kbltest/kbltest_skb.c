// SPDX-License-Identifier: GPL-2.0-only
/* Packets that never saw a wire, and functions that carry them in every way. */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "kbltest.h"

#define KBLTEST_BYTES (sizeof(struct iphdr) + sizeof(struct udphdr))
#define KBLTEST_MORE 1000	/* bytes that kbltest_merge() says were added */

/* 10.8.0.1:1111 to 10.8.0.2:2222, UDP */
static void kbltest_headers(void *to, u16 id)
{
	struct iphdr *ip = to;
	struct udphdr *udp = to + sizeof(*ip);

	memset(to, 0, KBLTEST_BYTES);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->id = htons(id);
	ip->tot_len = htons(KBLTEST_BYTES);
	ip->saddr = htonl(0x0a080001);
	ip->daddr = htonl(0x0a080002);
	udp->source = htons(1111);
	udp->dest = htons(2222);
	udp->len = htons(sizeof(*udp));
}

struct sk_buff *kbltest_skb(u16 id)
{
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + KBLTEST_BYTES, GFP_KERNEL);

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_reset_network_header(skb);
	kbltest_headers(skb_put(skb, KBLTEST_BYTES), id);
	skb_set_transport_header(skb, sizeof(struct iphdr));
	skb->protocol = htons(ETH_P_IP);
	return skb;
}

/* As a driver hands it over before GRO pulls the headers: all bytes in a page. */
static struct sk_buff *kbltest_frag_skb(u16 id)
{
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + KBLTEST_BYTES, GFP_KERNEL);
	struct page *page = alloc_page(GFP_KERNEL);

	if (!skb || !page) {
		kfree_skb(skb);
		if (page)
			__free_page(page);
		return NULL;
	}
	skb_reserve(skb, NET_SKB_PAD);
	kbltest_headers(page_address(page) + 100, id);
	skb_add_rx_frag(skb, 0, page, 100, KBLTEST_BYTES, PAGE_SIZE);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sizeof(struct iphdr));
	skb->protocol = htons(ETH_P_IP);
	return skb;
}

KBLTEST_PROBED int kbltest_frag(struct sk_buff *skb)
{
	barrier();
	return -7;
}

KBLTEST_PROBED int kbltest_merged(struct sk_buff *skb)
{
	barrier();
	return 0;
}

KBLTEST_PROBED int kbltest_skbp(struct sk_buff **skb)
{
	barrier();
	return 0;
}

KBLTEST_PROBED int kbltest_list(struct list_head *list)
{
	barrier();
	return 0;
}

KBLTEST_PROBED int kbltest_queue(int unused, struct sk_buff_head *queue)
{
	barrier();
	return 0;
}

KBLTEST_PROBED int kbltest_sock(struct sock *sk)
{
	barrier();
	return 0;
}

KBLTEST_PROBED struct sock *kbltest_sock_ret(long unused, struct sock *sk)
{
	barrier();
	return sk;
}

KBLTEST_PROBED struct sk_buff *kbltest_ret(struct sk_buff *skb)
{
	barrier();
	return skb;
}

KBLTEST_PROBED int kbltest_ninth(long a, long b, long c, long d, long e, long f, long g, long h,
				 struct sk_buff *skb)
{
	barrier();
	return 0;
}

/* Four carriers, each of another kind. */
KBLTEST_PROBED int kbltest_four(struct sk_buff *skb, struct sk_buff **skbp, struct list_head *list,
				struct sk_buff_head *queue)
{
	barrier();
	return 0;
}

/* As GRO does: copy the header from the page to the linear area, and change it there. */
static int kbltest_merge(struct sk_buff *skb)
{
	if (!pskb_may_pull(skb, KBLTEST_BYTES))
		return -ENOMEM;
	ip_hdr(skb)->tot_len = htons(KBLTEST_BYTES + KBLTEST_MORE);
	return 0;
}

static int kbltest_carry_one(struct sk_buff *skb, struct sk_buff *frag)
{
	static struct sock *sk = (struct sock *)&init_net;	/* never looked into */

	if (!skb || !frag)
		return -ENOMEM;
	kbltest_frag(frag);
	if (kbltest_merge(frag))
		return -ENOMEM;
	kbltest_merged(frag);
	kbltest_skbp(&skb);
	kbltest_sock(sk);
	kbltest_sock_ret(0, sk);
	kbltest_ret(skb);
	kbltest_ninth(0, 1, 2, 3, 4, 5, 6, 7, skb);
	return 0;
}

static int kbltest_carry_many(struct sk_buff_head *queue)
{
	struct sk_buff *skb;
	LIST_HEAD(list);
	int i;

	for (i = 0; i < KBLTEST_LISTED; i++) {
		skb = kbltest_skb(100 + i);
		if (!skb)
			return -ENOMEM;
		__skb_queue_tail(queue, skb);
	}
	kbltest_queue(0, queue);
	while ((skb = __skb_dequeue(queue)))
		list_add_tail(&skb->list, &list);
	kbltest_list(&list);
	list_for_each_entry(skb, &list, list)
		i--;
	while (!list_empty(&list)) {
		skb = list_first_entry(&list, struct sk_buff, list);
		skb_list_del_init(skb);
		__skb_queue_tail(queue, skb);
	}
	return i;	/* 0: all are still there */
}

/* Of the packets 200 to 205: one, one behind a pointer, two in a list, two in a queue. */
static int kbltest_carry_four(struct sk_buff_head *queue)
{
	struct sk_buff *skb[6];
	int i, err = -ENOMEM;
	LIST_HEAD(list);

	for (i = 0; i < ARRAY_SIZE(skb); i++) {
		skb[i] = kbltest_skb(200 + i);
		if (!skb[i])
			goto out;
	}
	list_add_tail(&skb[2]->list, &list);
	list_add_tail(&skb[3]->list, &list);
	__skb_queue_tail(queue, skb[4]);
	__skb_queue_tail(queue, skb[5]);
	kbltest_four(skb[0], &skb[1], &list, queue);
	skb_list_del_init(skb[2]);
	skb_list_del_init(skb[3]);
	__skb_unlink(skb[4], queue);
	__skb_unlink(skb[5], queue);
	err = 0;
out:
	while (i--)
		kfree_skb(skb[i]);
	return err;
}

int kbltest_carry_all(void)
{
	struct sk_buff *skb = kbltest_skb(3), *frag = kbltest_frag_skb(4);
	struct sk_buff_head queue;
	int err;

	__skb_queue_head_init(&queue);
	err = kbltest_carry_one(skb, frag) ?: kbltest_carry_four(&queue) ?:
	      kbltest_carry_many(&queue);
	__skb_queue_purge(&queue);
	kfree_skb(frag);
	kfree_skb(skb);
	return err;
}
