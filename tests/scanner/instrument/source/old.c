/* SPDX-License-Identifier: MIT */
/* C as it was: no declaration after a statement, parameters declared behind the parentheses. */
#include "skb.h"

#define SCTP_STATIC static
#define asmlinkage
#define fastcall __attribute__((noinline))

static int kr(skb, more)
	struct sk_buff *skb;
	int more;
{
	int sum = skb->len;
	int i;

	for (i = 0; i < more; i++)
		if (sum > 100)
			return i;
		else
			sum += sum + 1;
	return sum;
}

static implicit(skb)
	struct sk_buff *skb;
{
	register int len = skb->len;

	if (len > 2)
		return len;
	return 0;
}

untyped(skb, more)
	skb_ptr skb;
	unsigned more;
{
	if (skb->len > (int)more)
		return skb->len;
	return more;
}

SCTP_STATIC int macro_static(struct sk_buff *skb)
{
	int one = skb->len, two = 2;
	{
		int three = 3;

		if (one == two)
			return three;
	}
	return one;
}

asmlinkage int linkage(struct sk_buff *skb)
{
	static int calls;

	return ++calls + skb->len;
}

fastcall void fast(struct sk_buff *skb)
{
	struct sk_buff *next;

	next = skb->next;
	if (!next)
		return;
	fast(next);
}

static void no_value(struct sk_buff *skb)
{
	int len = skb->len;

	switch (len) {
	case 0:
		return;
	case 1:
		printf("one\n");
	}
}

int main(void)
{
	struct sk_buff skb = { 0, NULL, NULL };

	for (skb.len = 0; skb.len < 5; skb.len++) {
		struct sk_buff outer = { 0, &skb, NULL };

		printf("%d %d %d %d\n", kr(&skb, skb.len), implicit(&skb), macro_static(&skb),
		       linkage(&skb));
		printf("%d\n", untyped(&skb, 2));
		fast(&outer);
		no_value(&skb);
	}
	return 0;
}

#define __initfunc(head) head
#define FASTCALL(head) head

__initfunc(int set_up(struct sk_buff *skb))
{
	return skb->len;
}

FASTCALL(struct sk_buff *whole(struct sk_buff *skb))
{
	return skb;
}
