// SPDX-License-Identifier: MIT
/* Every place where a return can stand; C90, so declarations come first. */
#include "skb.h"

int branches(struct sk_buff *skb)
{
	int twice = skb->len * 2;

	if (skb->len == 0)
		return 10;
	else if (skb->len == 1)
		return(11);
	else if (skb->len == 2)
		if (twice > 3) return 12; else return -12;
	else
		return skb->len, twice;	/* a comma */
}

int cases(struct sk_buff *skb)
{
	switch (skb->len) {
	case 0: return 20;
	case 1:
		return
			/* on its own; line */
			21 +
			skb->len;
	case 2: {
		int more = 2;
		return more;
	}
	case 3:
		break;
	default: return "return 1; }"[0];
	}
	do return 23; while (skb->len);
}

int loops(struct sk_buff *skb)
{
	int i;

	for (i = 0; i < 9; i++)
		if (i > skb->len)
			return i;
	while (skb->len < 20)
		return 30;
	goto out;
back:
	return skb->len ? 31 : ({ 32; });
out:
	if (skb->len != 77) goto back;
	return '}';
}

void plain(struct sk_buff *skb)
{
	if (skb->len == 0)
		return;
	else if (skb->len == 1) return ; else if (skb->len == 2) return /* ; */ ;
	if (skb->len == 3) { return; }
	skb->len++;
}

void last_is_conditional(struct sk_buff *skb)
{
	if (skb->len)
		return;
}

void last_is_return(struct sk_buff *skb)
{
	skb->len++;
	return;
}

void empty(struct sk_buff *skb) {}

void gives_void(struct sk_buff *skb)
{
	if (skb->len > 1)
		return plain(skb);
	else
		return (void)printf("void %d\n", skb->len);
}

nothing_t void_by_typedef(struct sk_buff *skb)
{
	if (skb->len > 1)
		return empty(skb);
	skb->len = 5;
}

void label_at_end(struct sk_buff *skb)
{
	if (skb->len)
		goto out;
	printf("zero\n");
out: ;
}

int recursive(struct sk_buff *skb)
{
	if (!skb->next) return 1;
	return recursive(skb->next) + recursive(skb->next);
}

int one_line(struct sk_buff *skb) { return skb->len; }

int main(void)
{
	struct sk_buff inner = { 0, NULL, NULL };
	struct sk_buff skb;
	int len;

	for (len = 0; len < 5; len++) {
		skb.len = len;
		skb.next = &inner;
		printf("%d %d %d %d\n", branches(&skb), cases(&skb), loops(&skb), recursive(&skb));
		label_at_end(&skb);
		plain(&skb);
		last_is_conditional(&skb);
		last_is_return(&skb);
		empty(&skb);
		gives_void(&skb);
		void_by_typedef(&skb);
		printf("%d\n", one_line(&skb));
	}
	return 0;
}
