/* SPDX-License-Identifier: MIT */
/* What returns a packet's header is known only after its callers were looked at. */
#include <skbuff.h>

static void fill(struct header *h)
{
	h->number = 1;
}

static void write_header(struct sk_buff *skb)
{
	struct header *h = third(skb);

	fill(h);
}

void *third(struct sk_buff *skb)
{
	return second(skb);
}

void *second(struct sk_buff *skb)
{
	return first(skb);
}

void *first(struct sk_buff *skb)
{
	return skb->data;
}

static void look(struct header *h)
{
}

static void look_elsewhere(struct header *h)
{
}

/* what it gives is of a packet where it is given one */
static void reads(struct sk_buff *skb)
{
	struct header *h = behind(0, skb->data);

	look(h);
}

static void reads_elsewhere(struct header *other)
{
	struct header *h = behind(0, other);

	look_elsewhere(h);
}

void *behind(int n, void *attribute)
{
	return next_to(attribute);
}

void *next_to(void *attribute)
{
	return attribute + 1;
}
