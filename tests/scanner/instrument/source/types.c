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

static const struct sk_buff *const_pointer(const struct sk_buff *skb) { return skb; }
static struct sk_buff *const constant_pointer(struct sk_buff *skb) { return skb; }
static const int constant(struct sk_buff *skb) { return skb->len; }
static skb_ptr pointer_typedef(struct sk_buff *skb) { return skb; }
static struct sk_buff **pointer_pointer(struct sk_buff *skb) { return &skb->next; }
static ax25 *shadowed(ax25 *ax25) { return ax25->next ? ax25->next : ax25; }
static verdict_t verdict(struct sk_buff *skb) { if (skb->len) return NET_BAD; return NET_OK; }
static enum { RED, GREEN } unnamed(struct sk_buff *skb) { return skb->len ? RED : GREEN; }
static unsigned long long int wide(struct sk_buff *skb) { return 1ULL << (32 + skb->len); }
static u64 wide_typedef(struct sk_buff *skb) { return 1ULL << (33 + skb->len); }
static struct pair pair(struct sk_buff *skb) { return (struct pair){ skb->len, 2 }; }
static _Bool truth(struct sk_buff *skb) { return skb->len & 6; }
static unsigned char narrow(struct sk_buff *skb) { return skb->len + 255; }
static size_t foreign(struct sk_buff *skb) { return sizeof(*skb); }
static int is_empty(struct sk_buff *skb) { return !skb->len; }
static int (*function_pointer(struct sk_buff *skb, int which))(struct sk_buff *)
{
	if (which > 1)
		return NULL;
	return is_empty;
}
static handler handler_typedef(struct sk_buff *skb) { return skb ? is_empty : NULL; }
static volatile int *array_of(struct sk_buff *skb, int numbers[4])
{
	numbers[0] = skb->len;
	return numbers;
}

int main(void)
{
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
	return 0;
}
