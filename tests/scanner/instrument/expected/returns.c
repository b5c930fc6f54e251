// SPDX-License-Identifier: MIT
/* Every place where a return can stand; C90, so declarations come first. */
#include "skb.h"
#include <linux/kbl_probe.h>
int branches(struct sk_buff *skb)
{ KBL_ENTER(1, skb); KBL_RESULT(int);
	int twice = skb->len * 2;

	if (skb->len == 0)
		{ kbl_ret = ( 10); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; }
	else if (skb->len == 1)
		{ kbl_ret = ((11)); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; }
	else if (skb->len == 2)
		if (twice > 3) { kbl_ret = ( 12); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; } else { kbl_ret = ( -12); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; }
	else
		{ kbl_ret = ( skb->len, twice); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; }	/* a comma */
KBL_LEAVE(1); }

int cases(struct sk_buff *skb)
{ KBL_ENTER(2, skb); KBL_RESULT(int);
	switch (skb->len) {
	case 0: { kbl_ret = ( 20); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
	case 1:
		{ kbl_ret = (
			/* on its own; line */
			21 +
			skb->len); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
	case 2: {
		int more = 2;
		{ kbl_ret = ( more); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
	}
	case 3:
		break;
	default: { kbl_ret = ( "return 1; }"[0]); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; }
	}
	do { kbl_ret = ( 23); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; } while (skb->len);
KBL_LEAVE(2); }

int loops(struct sk_buff *skb)
{ KBL_ENTER(3, skb); KBL_RESULT(int);
	int i;

	for (i = 0; i < 9; i++)
		if (i > skb->len)
			{ kbl_ret = ( i); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; }
	while (skb->len < 20)
		{ kbl_ret = ( 30); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; }
	goto out;
back:
	{ kbl_ret = ( skb->len ? 31 : ({ 32; })); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; }
out:
	if (skb->len != 77) goto back;
	{ kbl_ret = ( '}'); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; }
}

void plain(struct sk_buff *skb)
{ KBL_ENTER(4, skb);
	if (skb->len == 0)
		{ KBL_LEAVE(4); return; }
	else if (skb->len == 1) { KBL_LEAVE(4); return ; } else if (skb->len == 2) { KBL_NOTHING /* ; */ ; KBL_LEAVE(4); return; }
	if (skb->len == 3) { { KBL_LEAVE(4); return; } }
	skb->len++;
KBL_LEAVE(4); }

void last_is_conditional(struct sk_buff *skb)
{ KBL_ENTER(5, skb);
	if (skb->len)
		{ KBL_LEAVE(5); return; }
KBL_LEAVE(5); }

void last_is_return(struct sk_buff *skb)
{ KBL_ENTER(6, skb);
	skb->len++;
	{ KBL_LEAVE(6); return; }
}

void empty(struct sk_buff *skb) { KBL_ENTER(7, skb);KBL_LEAVE(7); }

void gives_void(struct sk_buff *skb)
{ KBL_ENTER(8, skb);
	if (skb->len > 1)
		{ KBL_VOID ( plain(skb)); KBL_LEAVE(8); return; }
	else
		{ KBL_VOID ( (void)printf("void %d\n", skb->len)); KBL_LEAVE(8); return; }
KBL_LEAVE(8); }

nothing_t void_by_typedef(struct sk_buff *skb)
{ KBL_ENTER(9, skb);
	if (skb->len > 1)
		{ KBL_VOID ( empty(skb)); KBL_LEAVE(9); return; }
	skb->len = 5;
KBL_LEAVE(9); }

void label_at_end(struct sk_buff *skb)
{ KBL_ENTER(10, skb);
	if (skb->len)
		goto out;
	printf("zero\n");
out: ;
KBL_LEAVE(10); }

int recursive(struct sk_buff *skb)
{ KBL_ENTER(11, skb); KBL_RESULT(int);
	if (!skb->next) { kbl_ret = ( 1); KBL_LEAVE_VALUE(11, kbl_ret); return kbl_ret; }
	{ kbl_ret = ( recursive(skb->next) + recursive(skb->next)); KBL_LEAVE_VALUE(11, kbl_ret); return kbl_ret; }
}

int one_line(struct sk_buff *skb) { KBL_ENTER(12, skb); KBL_RESULT(int); { kbl_ret = ( skb->len); KBL_LEAVE_VALUE(12, kbl_ret); return kbl_ret; } }

int main(void)
{ KBL_ENTER(13); KBL_RESULT(int);
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
	{ kbl_ret = ( 0); KBL_LEAVE_VALUE(13, kbl_ret); return kbl_ret; }
}
