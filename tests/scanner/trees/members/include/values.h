/* SPDX-License-Identifier: MIT */
/* Macros with a value, whose type is that of another macro's, or of a type they are given. */
#define __READ(x) (*(const volatile typeof(x) *)&(x))
#define READ_ONCE(x) ({ check(x); __READ(x); })
#define container_of(ptr, type, member) ({ void *__mptr = (ptr); ((type *)(__mptr - offsetof(type, member))); })
#define family_sk(ptr) container_of(ptr, struct family_sock, sk)
#define family_of(x) family_sk((x)->sk)

struct family_operations {
	int (*send)(struct sk_buff *skb, void *cookie);
	int (*receive)(struct sk_buff *skb, void *cookie);
	int (*poll)(struct sk_buff *skb, void *cookie);
};

struct driver_operations {
	int (*send)(struct sk_buff *skb, void *cookie);
	int (*receive)(struct sk_buff *skb, void *cookie);
	int (*poll)(struct sk_buff *skb, void *cookie);
};

struct socket {
	struct sock *sk;
	struct family_operations *ops;
};

struct family_sock {
	struct sock sk;
	struct family_operations *ops;
};
