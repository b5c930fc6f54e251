/* SPDX-License-Identifier: MIT */
/* Names of the struct that are typedefs of typedefs and macros of macros. */
typedef struct sk_buff skb_t;
typedef skb_t *skb_ptr_t;
#define SKBUFF struct sk_buff
#define PACKET SKBUFF
#define PACKETP skb_t *
#define PLAIN 5
#define OTHER PLAIN

struct sk_buff {
	struct sk_buff *next;
	int len;
};

struct queue {
	skb_ptr_t slots[4];
};

typedef struct {
	union {
		struct queue queue;
		long number;
	} u;
} private_t;
