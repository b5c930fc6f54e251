// SPDX-License-Identifier: MIT
#include <macros.h>

static void reached(void *p)
{
}

static void seen(void *p)
{
}

static void also_reached(void *p)
{
}

static void inner(void *p)
{
}

void uses(struct sk_buff *skb)
{
	checked(skb);
	once(skb);
	last(skb);
	outer(skb, data);
}
