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

int object_like(struct sk_buff *skb)
{
	if (!skb->len)
		FAIL;
	return 1;
}

void block(struct sk_buff *skb)
{
	if (skb->len)
		BAIL
	printf("block\n");
}

int function_like(struct sk_buff *skb)
{
	CHECK(skb->len);
	return 2;
}

int macro_in_macro(struct sk_buff *skb)
{
	CHECK_TWICE(skb->len);
	return 3;
}

int argument(struct sk_buff *skb)
{
	OTHERWISE(skb->len, return -4);
	OTHERWISE(skb->len - 1, return 4, 5; skb->len = 3);
	return 4;
}

int expression(struct sk_buff *skb)
{
	int len = NEED(skb->len);

	return len + ({ if (len == 2) return -5; len; });
}

int own_expression(struct sk_buff *skb)
{
	int len = ({ int l = skb->len; if (l == 3) return -6; l; });

	return ({ if (len == 1) return -7; TWICE(TWICE(len)); });
}

int loop(struct sk_buff *skb)
{
	int i;

	EACH(i, 4)
		if (i == skb->len)
			return i;
	EACH(i, 2) return ADD(TWICE(i), 40);
	return PAIR;
}

int main(void)
{
	struct sk_buff skb = { 0, NULL, NULL };
	int len;

	for (len = 0; len < 10; len++) {
		skb.len = len;
		printf("%d %d %d\n", object_like(&skb), function_like(&skb), macro_in_macro(&skb));
		printf("%d %d %d\n", expression(&skb), own_expression(&skb), loop(&skb));
		block(&skb);
		printf("%d\n", argument(&skb));
	}
	return 0;
}
