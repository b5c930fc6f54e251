// SPDX-License-Identifier: MIT
/* #if in the way: compiled with every combination of A, B and C. */
#include "skb.h"

int inside(struct sk_buff *skb)
{
	return skb->len
#ifdef A
		+ 100
#elif defined(B)
		+ 200
#endif
		;
}

int two_ends(struct sk_buff *skb)
{
	return skb->len
#ifdef A
		+ 1;
#else
		;
#endif
}

int two_starts(struct sk_buff *skb)
{
#ifdef A
	return 1 +
#else
	return 2 +
#endif
		skb->len;
}

int half_an_if(struct sk_buff *skb)
{
#ifdef A
	if (skb->len > 1)
		return 5;
	else
#endif
		return 6;
}

#ifdef A
int twice(struct sk_buff *skb)
{
	return 7;
}
#else
int twice(struct sk_buff *skb)
{
	if (skb->len)
		return 8;
	return 9;
}
#endif

#ifdef A
static int two_heads(struct sk_buff *skb, int more)
{
#else
static int two_heads(struct sk_buff *skb)
{
	int more = 3;
#endif
	return skb->len + more;
}

static void optional(
#ifdef B
	struct sk_buff *extra,
#endif
	struct sk_buff *skb)
{
	skb->len += 2;
#ifdef B
	if (!extra)
		return;
#endif
	printf("optional %d\n", skb->len);
}

int deep(struct sk_buff *skb)
{
#ifdef A
	return 1;
#else
#ifdef B
	if (skb->len)
		return 2;
#ifdef C
	return 3;
#else
	return 4;
#endif
#else
#ifdef C
	return 5;
#else
	return 6;
#endif
#endif
#endif
}

void uneven(struct sk_buff *skb)
{
#ifdef A
	if (skb->len) {
#else
	if (!skb->len) {
#endif
		return;
	}
	printf("uneven\n");
}

int main(void)
{
	struct sk_buff skb = { 0, NULL, NULL };
	int len;

	for (len = 0; len < 3; len++) {
		skb.len = len;
		printf("%d %d %d\n", inside(&skb), two_ends(&skb), two_starts(&skb));
		printf("%d %d %d\n", half_an_if(&skb), twice(&skb), deep(&skb));
		uneven(&skb);
#ifdef A
		printf("%d\n", two_heads(&skb, 4));
#else
		printf("%d\n", two_heads(&skb));
#endif
#ifdef B
		optional(NULL, &skb);
#endif
		optional(
#ifdef B
			&skb,
#endif
			&skb);
	}
	return 0;
}
