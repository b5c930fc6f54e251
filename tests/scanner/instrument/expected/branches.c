// SPDX-License-Identifier: MIT
/* #if in the way: compiled with every combination of A, B and C. */
#include "skb.h"
#include <linux/kbl_probe.h>
int inside(struct sk_buff *skb)
{ KBL_ENTER(1, skb); KBL_RESULT(int);
	{ kbl_ret = ( skb->len
#ifdef A
		+ 100
#elif defined(B)
		+ 200
#endif
		); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; }
}

int two_ends(struct sk_buff *skb)
{ KBL_ENTER(2, skb); KBL_RESULT(int);
	{ kbl_ret = ( skb->len
#ifdef A
		+ 1); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
#else
		); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
#endif
}

int two_starts(struct sk_buff *skb)
{ KBL_ENTER(3, skb); KBL_RESULT(int);
#ifdef A
	{ kbl_ret = ( 1 +
#else
	{ kbl_ret = ( 2 +
#endif
		skb->len); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; }
KBL_LEAVE(3); }

int half_an_if(struct sk_buff *skb)
{ KBL_ENTER(4, skb); KBL_RESULT(int);
#ifdef A
	if (skb->len > 1)
		{ kbl_ret = ( 5); KBL_LEAVE_VALUE(4, kbl_ret); return kbl_ret; }
	else
#endif
		{ kbl_ret = ( 6); KBL_LEAVE_VALUE(4, kbl_ret); return kbl_ret; }
KBL_LEAVE(4); }

#ifdef A
int twice(struct sk_buff *skb)
{ KBL_ENTER(5, skb); KBL_RESULT(int);
	{ kbl_ret = ( 7); KBL_LEAVE_VALUE(5, kbl_ret); return kbl_ret; }
}
#else
int twice(struct sk_buff *skb)
{ KBL_ENTER(6, skb); KBL_RESULT(int);
	if (skb->len)
		{ kbl_ret = ( 8); KBL_LEAVE_VALUE(6, kbl_ret); return kbl_ret; }
	{ kbl_ret = ( 9); KBL_LEAVE_VALUE(6, kbl_ret); return kbl_ret; }
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
{ KBL_ENTER_SCOPE(7, skb);
	skb->len += 2;
#ifdef B
	if (!extra)
		return;
#endif
	printf("optional %d\n", skb->len);
}

int deep(struct sk_buff *skb)
{ KBL_ENTER(8, skb); KBL_RESULT(int);
#ifdef A
	{ kbl_ret = ( 1); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
#else
#ifdef B
	if (skb->len)
		{ kbl_ret = ( 2); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
#ifdef C
	{ kbl_ret = ( 3); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
#else
	{ kbl_ret = ( 4); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
#endif
#else
#ifdef C
	{ kbl_ret = ( 5); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
#else
	{ kbl_ret = ( 6); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
#endif
#endif
#endif
KBL_LEAVE(8); }

void uneven(struct sk_buff *skb)
{ KBL_ENTER_SCOPE(9, skb);
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
{ KBL_ENTER(10); KBL_RESULT(int);
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
	{ kbl_ret = ( 0); KBL_LEAVE_VALUE(10, kbl_ret); return kbl_ret; }
}
