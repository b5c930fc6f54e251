/* SPDX-License-Identifier: MIT */
#ifndef SKB_H
#define SKB_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct sk_buff *skb_ptr;
typedef void nothing_t;

struct sock {
	int state;
};

struct sk_buff {
	int len;
	struct sk_buff *next;
	struct sock *sk;
};

#endif
