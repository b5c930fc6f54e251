// SPDX-License-Identifier: MIT
/* Functions in which a probe would be wrong, and some that only look so. */
#include "skb.h"

#define __init __attribute__((section(".text.init")))
#define notrace __attribute__((no_instrument_function))
#define __naked __attribute__((naked))
#define __noreturn __attribute__((noreturn))
#define __always_inline inline __attribute__((always_inline))
#define SYSCALL_DEFINE2(name, t, a, u, b) long sys_##name(t a, u b)

static int __init setup(struct sk_buff *skb)
{
	return skb->len;
}

notrace int traced(struct sk_buff *skb)
{
	return skb->len;
}

int by_attribute(struct sk_buff *skb) __attribute__((no_instrument_function));

static __attribute__((no_instrument_function)) int
untraced(struct sk_buff *skb)
{
	return skb->len;
}

__naked void bare(struct sk_buff *skb)
{
	__asm__("ret");
}

static void __noreturn leaves(struct sk_buff *skb)
{
	exit(skb->len);
}

extern inline __attribute__((gnu_inline)) int external(struct sk_buff *skb)
{
	return skb->len;
}

int external(struct sk_buff *skb)
{
	return skb->len;
}

static inline int inlined(struct sk_buff *skb)
{
	return skb->len + 1;
}

static __always_inline int always(struct sk_buff *skb)
{
	return inlined(skb) + inlined(skb);
}

int jumps(struct sk_buff *skb)
{
#if defined(__x86_64__)
	asm goto("testl %0, %0; jz %l[zero]" : : "r"(skb->len) : "cc" : zero);
#else
	if (!skb->len)
		goto zero;
#endif
	return 1;
zero:
	return 2;
}

int local_labels(struct sk_buff *skb)
{
	__label__ one, two;
	void *targets[2] = { &&one, &&two };

	goto *targets[skb->len & 1];
one:
	return 1;
two:
	return 2;
}

SYSCALL_DEFINE2(send, struct sk_buff *, skb, int, flags)
{
	if (flags)
		return -1;
	return skb->len;
}

#define COLLECTOR(name) static int collect_##name(struct sk_buff *skb, int *error)

COLLECTOR(len)
{
	if (!skb->len)
		return *error;
	return skb->len;
}

static int init(struct sk_buff *skb, int __exit_code, void (*exit)(int noreturn))
{
	return skb->len + __exit_code + !exit;
}

int main(void)
{
	int error = 5;

	struct sk_buff skb = { 0, NULL, NULL };
	int len;

	for (len = 0; len < 3; len++) {
		skb.len = len;
		printf("%d %d %d\n", setup(&skb), traced(&skb), untraced(&skb));
		printf("%d %d %d\n", external(&skb), always(&skb), jumps(&skb));
		printf("%d %ld\n", local_labels(&skb), sys_send(&skb, len == 2));
		printf("%d %d\n", collect_len(&skb, &error), init(&skb, 7, NULL));
		bare(&skb);
	}
	fflush(stdout);
	skb.len = 0;
	leaves(&skb);
}
