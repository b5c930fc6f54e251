/* SPDX-License-Identifier: MIT */
/* Parameters declared on the line of the head. */
#include <skbuff.h>

beside(skb) struct sk_buff *skb; { return skb->len; }

static struct sk_buff *typed(n, skb) int n; register struct sk_buff *skb; { return skb; }

on_both(bytes, skb) char *bytes;
	struct sk_buff *skb;
{
	beside(skb); {
		return *bytes;
	}
}

/* what is not declared is an int */
undeclared(n, skb) struct sk_buff *skb; { return skb->len + n; }

undeclared_below(n, skb)
	struct sk_buff *skb;
{
	return skb->len + n;
}
