// SPDX-License-Identifier: MIT
/* Returns that macros make, or that are given to macros. */
#include "skb.h"

#define FAIL return -1
#define BAIL { return; }
#define CHECK(x) do { if (!(x)) return -2; } while (0)
#define CHECK_TWICE(x) CHECK(x); CHECK((x) != 9)
#define OTHERWISE(x, action...) do { if (!(x)) { action; } } while (0)
#define NEED(x) ({ if (!(x)) return -3; (x); })
#define EACH(i, n) for ((i) = 0; (i) < (n); (i)++)
#define TWICE(x) ADD(x, x)
#define ADD(x, y) ((x) + (y))
#define PAIR 1, 2
#include <linux/kbl_probe.h>
int object_like(struct sk_buff *skb)
{ KBL_ENTER_SCOPE(1, skb);
	if (!skb->len)
		FAIL;
	return 1;
}

void block(struct sk_buff *skb)
{ KBL_ENTER_SCOPE(2, skb);
	if (skb->len)
		BAIL
	printf("block\n");
}

int function_like(struct sk_buff *skb)
{ KBL_ENTER_SCOPE(3, skb);
	CHECK(skb->len);
	return 2;
}

int macro_in_macro(struct sk_buff *skb)
{ KBL_ENTER_SCOPE(4, skb);
	CHECK_TWICE(skb->len);
	return 3;
}

int argument(struct sk_buff *skb)
{ KBL_ENTER_SCOPE(5, skb);
	OTHERWISE(skb->len, return -4);
	OTHERWISE(skb->len - 1, return 4, 5; skb->len = 3);
	return 4;
}

int expression(struct sk_buff *skb)
{ KBL_ENTER_SCOPE(6, skb);
	int len = NEED(skb->len);

	return len + ({ if (len == 2) return -5; len; });
}

int own_expression(struct sk_buff *skb)
{ KBL_ENTER(7, skb); KBL_RESULT(int);
	int len = ({ int l = skb->len; if (l == 3) { kbl_ret = ( -6); KBL_LEAVE_VALUE(7, kbl_ret); return kbl_ret; } l; });

	{ kbl_ret = ( ({ if (len == 1) { kbl_ret = ( -7); KBL_LEAVE_VALUE(7, kbl_ret); return kbl_ret; } TWICE(TWICE(len)); })); KBL_LEAVE_VALUE(7, kbl_ret); return kbl_ret; }
KBL_LEAVE(7); }

int loop(struct sk_buff *skb)
{ KBL_ENTER(8, skb); KBL_RESULT(int);
	int i;

	EACH(i, 4)
		if (i == skb->len)
			{ kbl_ret = ( i); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
	EACH(i, 2) { kbl_ret = ( ADD(TWICE(i), 40)); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
	{ kbl_ret = ( PAIR); KBL_LEAVE_VALUE(8, kbl_ret); return kbl_ret; }
}

int main(void)
{ KBL_ENTER(9); KBL_RESULT(int);
	struct sk_buff skb = { 0, NULL, NULL };
	int len;

	for (len = 0; len < 10; len++) {
		skb.len = len;
		printf("%d %d %d\n", object_like(&skb), function_like(&skb), macro_in_macro(&skb));
		printf("%d %d %d\n", expression(&skb), own_expression(&skb), loop(&skb));
		block(&skb);
		printf("%d\n", argument(&skb));
	}
	{ kbl_ret = ( 0); KBL_LEAVE_VALUE(9, kbl_ret); return kbl_ret; }
}
