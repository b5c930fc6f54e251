/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions which the lab probes, and what calls them. */
#ifndef KBLTEST_H
#define KBLTEST_H

#include <linux/skbuff.h>

#define KBLTEST_LISTED 70	/* packets of a list: more than a record holds */
#define KBLTEST_PROBED noinline __noclone

/* kbltest_main.c: probed */
int kbltest_call(struct sk_buff *skb, unsigned long number);
int kbltest_sleep(struct sk_buff *skb);

/* kbltest_run.c: kbltest_call() from a chosen context */
ssize_t kbltest_run(const char *context, unsigned int cpu, unsigned long count);

/* kbltest_skb.c: packets, and probed functions which carry them in other ways */
struct sk_buff *kbltest_skb(u16 id);
int kbltest_carry_all(void);
int kbltest_frag(struct sk_buff *skb);
int kbltest_merged(struct sk_buff *skb);
int kbltest_skbp(struct sk_buff **skb);
int kbltest_list(struct list_head *list);
int kbltest_queue(int unused, struct sk_buff_head *queue);
int kbltest_sock(struct sock *sk);
struct sock *kbltest_sock_ret(long unused, struct sock *sk);
struct sk_buff *kbltest_ret(struct sk_buff *skb);
int kbltest_ninth(long a, long b, long c, long d, long e, long f, long g, long h,
		  struct sk_buff *skb);
int kbltest_four(struct sk_buff *skb, struct sk_buff **skbp, struct list_head *list,
		 struct sk_buff_head *queue);

/* kbltest_loop.c: may add files to the module's folder in debugfs */
int kbltest_loop_init(struct dentry *dir);

#endif /* KBLTEST_H */
