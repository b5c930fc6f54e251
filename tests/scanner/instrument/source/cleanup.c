// SPDX-License-Identifier: MIT
/* Scopes that clean up behind a return, and returns that macros make of pointers. */
#include "skb.h"

#define __cleanup(f) __attribute__((cleanup(f)))
#define __free(name) __cleanup(__free_##name)
#define no_free_ptr(p) ({ __typeof__(p) kept = (p); (p) = NULL; kept; })
#define return_ptr(p) return no_free_ptr(p)
#define JOIN(a, b) JOINED(a, b)
#define JOINED(a, b) a##b
#define guard(name) struct name *JOIN(guard, __LINE__) __cleanup(name##_unlock) = name##_lock
#define scoped_guard(name, lock) \
	for (struct name *held __cleanup(name##_unlock) = name##_lock(lock), *once = held; once; \
	     once = NULL)

#define LOCKED(sk) ({ guard(sock)(sk); (sk)->state; })

void kfree_skb(struct sk_buff *skb)
{
	if (!skb)
		return;
	printf("free %d\n", skb->len);
	free(skb);
}

static void __free_skb(struct sk_buff **skb)
{
	kfree_skb(*skb);
}

static struct sock *sock_lock(struct sock *sk)
{
	sk->state++;
	return sk;
}

static void sock_unlock(struct sock **sk)
{
	if (*sk)
		printf("unlock %d\n", --(*sk)->state);
}

struct sk_buff *build(int len)
{
	struct sk_buff *skb __free(skb) = calloc(1, sizeof(*skb));

	skb->len = len;
	if (len > 2)
		return NULL;
	return_ptr(skb);
}

int guarded(struct sk_buff *skb)
{
	guard(sock)(skb->sk);
	if (skb->len == 1)
		return 1;
	return skb->sk->state;
}

int scoped(struct sk_buff *skb)
{
	scoped_guard(sock, skb->sk) {
		if (skb->len == 1)
			return 2;
		skb->len++;
	}
	return skb->sk->state;
}

int contained(struct sk_buff *skb)
{
	if (skb->len == 2)
		return LOCKED(skb->sk);
	return skb->sk->state;
}

void attribute(struct sk_buff *skb)
{
	struct sk_buff *mine __attribute__((cleanup(__free_skb))) = build(skb->len);

	if (mine)
		return;
	printf("none\n");
}

int main(void)
{
	struct sock sk = { 0 };
	int len;

	for (len = 0; len < 5; len++) {
		struct sk_buff *skb = build(len);
		struct sk_buff local = { len, NULL, &sk };

		printf("%d %d\n", guarded(&local), scoped(&local));
		printf("%d\n", contained(&local));
		attribute(&local);
		kfree_skb(skb);
	}
	return 0;
}
