/* SPDX-License-Identifier: MIT */
/* C as it was: no declaration after a statement, parameters declared behind the parentheses. */
#include "skb.h"

#define SCTP_STATIC static
#define asmlinkage
#define fastcall __attribute__((noinline))
#include <linux/kbl_probe.h>
static int kr(skb, more)
	struct sk_buff *skb;
	int more;
{ KBL_ENTER(1, skb); KBL_RESULT(int);
	int sum = skb->len;
	int i;

	for (i = 0; i < more; i++)
		if (sum > 100)
			{ kbl_ret = ( i); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; }
		else
			sum += sum + 1;
	{ kbl_ret = ( sum); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; }
}

static implicit(skb)
	struct sk_buff *skb;
{ KBL_ENTER(2, skb); KBL_RESULT(int);
	register int len = skb->len;

	if (len > 2)
		{ kbl_ret = ( len); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
	{ kbl_ret = ( 0); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
}

untyped(skb, more)
	skb_ptr skb;
	unsigned more;
{ KBL_ENTER(3, skb); KBL_RESULT(int);
	if (skb->len > (int)more)
		{ kbl_ret = ( skb->len); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; }
	{ kbl_ret = ( more); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; }
}

SCTP_STATIC int macro_static(struct sk_buff *skb)
{ KBL_ENTER(4, skb); KBL_RESULT(int);
	int one = skb->len, two = 2;
	{
		int three = 3;

		if (one == two)
			{ kbl_ret = ( three); KBL_LEAVE_VALUE(4, kbl_ret); return kbl_ret; }
	}
	{ kbl_ret = ( one); KBL_LEAVE_VALUE(4, kbl_ret); return kbl_ret; }
}

asmlinkage int linkage(struct sk_buff *skb)
{ KBL_ENTER(5, skb); KBL_RESULT(int);
	static int calls;

	{ kbl_ret = ( ++calls + skb->len); KBL_LEAVE_VALUE(5, kbl_ret); return kbl_ret; }
}

fastcall void fast(struct sk_buff *skb)
{ KBL_ENTER(6, skb);
	struct sk_buff *next;

	next = skb->next;
	if (!next)
		{ KBL_LEAVE(6); return; }
	fast(next);
KBL_LEAVE(6); }

static void no_value(struct sk_buff *skb)
{ KBL_ENTER(7, skb);
	int len = skb->len;

	switch (len) {
	case 0:
		{ KBL_LEAVE(7); return; }
	case 1:
		printf("one\n");
	}
KBL_LEAVE(7); }

int main(void)
{ KBL_ENTER(8); KBL_RESULT(int);
	struct sk_buff skb = { 0, NULL, NULL };

	for (skb.len = 0; skb.len < 5; skb.len++) {
		struct sk_buff outer = { 0, &skb, NULL };

		printf("%d %d %d %d\n", kr(&skb, skb.len), implicit(&skb), macro_static(&skb),
		       linkage(&skb));
		printf("%d\n", untyped(&skb, 2));
		fast(&outer);
		no_value(&skb);
	}
	{ kbl_ret = ( 0); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
}

#define __initfunc(head) head
#define FASTCALL(head) head

__initfunc(int set_up(struct sk_buff *skb))
{
	return skb->len;
}

FASTCALL(struct sk_buff *whole(struct sk_buff *skb))
{ KBL_ENTER(9, skb); KBL_RESULT(struct sk_buff *);
	{ kbl_ret = ( skb); KBL_LEAVE_VALUE(9, kbl_ret); return kbl_ret; }
}
