// SPDX-License-Identifier: MIT
/* Results of every kind of type. */
#include "skb.h"

typedef struct sk_buff ax25;
typedef enum { NET_OK, NET_BAD } verdict_t;
typedef int (*handler)(struct sk_buff *skb);

struct pair {
	int one;
	int two;
};
#include <linux/kbl_probe.h>
static const struct sk_buff *const_pointer(const struct sk_buff *skb) { KBL_ENTER(1, skb); KBL_RESULT(const struct sk_buff *); { kbl_ret = ( skb); KBL_LEAVE_VALUE(1, kbl_ret); return kbl_ret; } }
static struct sk_buff *const constant_pointer(struct sk_buff *skb) { KBL_ENTER(2, skb); KBL_RESULT(struct sk_buff *); { kbl_ret = ( skb); KBL_LEAVE_VALUE(2, kbl_ret); return kbl_ret; } }
static const int constant(struct sk_buff *skb) { KBL_ENTER(3, skb); KBL_RESULT(int); { kbl_ret = ( skb->len); KBL_LEAVE_VALUE(3, kbl_ret); return kbl_ret; } }
static skb_ptr pointer_typedef(struct sk_buff *skb) { KBL_ENTER(4, skb); KBL_RESULT(skb_ptr); { kbl_ret = ( skb); KBL_LEAVE_VALUE(4, kbl_ret); return kbl_ret; } }
static struct sk_buff **pointer_pointer(struct sk_buff *skb) { KBL_ENTER(5, skb); KBL_RESULT(struct sk_buff **); { kbl_ret = ( &skb->next); KBL_LEAVE_VALUE(5, kbl_ret); return kbl_ret; } }
static ax25 *shadowed(ax25 *ax25) { KBL_ENTER(6, ax25); KBL_RESULT(__typeof__(shadowed(ax25))); { kbl_ret = ( ax25->next ? ax25->next : ax25); KBL_LEAVE(6); return kbl_ret; } }
static verdict_t verdict(struct sk_buff *skb) { KBL_ENTER(7, skb); KBL_RESULT(verdict_t); if (skb->len) { kbl_ret = ( NET_BAD); KBL_LEAVE(7); return kbl_ret; } { kbl_ret = ( NET_OK); KBL_LEAVE(7); return kbl_ret; } }
static enum { RED, GREEN } unnamed(struct sk_buff *skb) { KBL_ENTER(8, skb); KBL_RESULT(__typeof__(unnamed(skb))); { kbl_ret = ( skb->len ? RED : GREEN); KBL_LEAVE(8); return kbl_ret; } }
static unsigned long long int wide(struct sk_buff *skb) { KBL_ENTER(9, skb); KBL_RESULT(unsigned long long int); { kbl_ret = ( 1ULL << (32 + skb->len)); KBL_LEAVE_VALUE(9, kbl_ret); return kbl_ret; } }
static u64 wide_typedef(struct sk_buff *skb) { KBL_ENTER(10, skb); KBL_RESULT(u64); { kbl_ret = ( 1ULL << (33 + skb->len)); KBL_LEAVE_VALUE(10, kbl_ret); return kbl_ret; } }
static struct pair pair(struct sk_buff *skb) { KBL_ENTER(11, skb); KBL_RESULT(struct pair); { kbl_ret = ( (struct pair){ skb->len, 2 }); KBL_LEAVE(11); return kbl_ret; } }
static _Bool truth(struct sk_buff *skb) { KBL_ENTER(12, skb); KBL_RESULT(_Bool); { kbl_ret = ( skb->len & 6); KBL_LEAVE_VALUE(12, kbl_ret); return kbl_ret; } }
static unsigned char narrow(struct sk_buff *skb) { KBL_ENTER(13, skb); KBL_RESULT(unsigned char); { kbl_ret = ( skb->len + 255); KBL_LEAVE_VALUE(13, kbl_ret); return kbl_ret; } }
static size_t foreign(struct sk_buff *skb) { KBL_ENTER(14, skb); KBL_RESULT(__typeof__(foreign(skb))); { kbl_ret = ( sizeof(*skb)); KBL_LEAVE(14); return kbl_ret; } }
static int is_empty(struct sk_buff *skb) { KBL_ENTER(15, skb); KBL_RESULT(int); { kbl_ret = ( !skb->len); KBL_LEAVE_VALUE(15, kbl_ret); return kbl_ret; } }
static int (*function_pointer(struct sk_buff *skb, int which))(struct sk_buff *)
{ KBL_ENTER(16, skb); KBL_RESULT(__typeof__(function_pointer(skb, which)));
	if (which > 1)
		{ kbl_ret = ( NULL); KBL_LEAVE(16); return kbl_ret; }
	{ kbl_ret = ( is_empty); KBL_LEAVE(16); return kbl_ret; }
}
static handler handler_typedef(struct sk_buff *skb) { KBL_ENTER(17, skb); KBL_RESULT(handler); { kbl_ret = ( skb ? is_empty : NULL); KBL_LEAVE_VALUE(17, kbl_ret); return kbl_ret; } }
static volatile int *array_of(struct sk_buff *skb, int numbers[4])
{ KBL_ENTER(18, skb); KBL_RESULT(volatile int *);
	numbers[0] = skb->len;
	{ kbl_ret = ( numbers); KBL_LEAVE_VALUE(18, kbl_ret); return kbl_ret; }
}

int main(void)
{ KBL_ENTER(19); KBL_RESULT(int);
	int numbers[4] = { 0 };
	struct sk_buff skb = { 3, NULL, NULL };

	printf("%d %d %d\n", const_pointer(&skb)->len, constant_pointer(&skb)->len, constant(&skb));
	printf("%d %d %d\n", pointer_typedef(&skb)->len, *pointer_pointer(&skb) == NULL,
	       shadowed(&skb)->len);
	printf("%d %d %llx\n", verdict(&skb), unnamed(&skb), wide(&skb));
	printf("%llx %d %d\n", wide_typedef(&skb), pair(&skb).two, truth(&skb));
	printf("%d %d\n", narrow(&skb), foreign(&skb) > 4);
	printf("%d %d\n", function_pointer(&skb, 1)(&skb), function_pointer(&skb, 2) == NULL);
	printf("%d %d\n", handler_typedef(&skb)(&skb), *array_of(&skb, numbers));
	{ kbl_ret = ( 0); KBL_LEAVE_VALUE(19, kbl_ret); return kbl_ret; }
}
