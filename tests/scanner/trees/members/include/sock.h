/* SPDX-License-Identifier: MIT */
/* Members that are macros for members of members, as those of struct sock. */

struct sk_buff {
	int len;
	void *data;
};

struct proto {
	int (*init)(struct sk_buff *skb, void *cookie);
	int (*close)(struct sk_buff *skb, void *cookie);
	int (*connect)(struct sk_buff *skb, void *cookie);
	int (*accept)(struct sk_buff *skb, void *cookie);
	int (*bind)(struct sk_buff *skb, void *cookie);
	int (*hash)(struct sk_buff *skb, void *cookie);
	int (*unhash)(struct sk_buff *skb, void *cookie);
	int (*shutdown)(struct sk_buff *skb, void *cookie);
};

struct net_operations {
	int (*init)(struct sk_buff *skb, void *cookie);
	int (*close)(struct sk_buff *skb, void *cookie);
	int (*connect)(struct sk_buff *skb, void *cookie);
	int (*accept)(struct sk_buff *skb, void *cookie);
	int (*bind)(struct sk_buff *skb, void *cookie);
	int (*hash)(struct sk_buff *skb, void *cookie);
	int (*unhash)(struct sk_buff *skb, void *cookie);
	int (*shutdown)(struct sk_buff *skb, void *cookie);
};

struct sock_common {
	int skc_family;
	struct proto *skc_prot;
	union {
		struct proto *second;
	} skc_u;
};

struct sock {
	struct sock_common __sk_common;
#define sk_prot		__sk_common.skc_prot
#define sk_family	__sk_common.skc_family
#define sk_second	__sk_common . skc_u.second
};

struct inet_sock {
	struct sock sk;
#define inet_prot	sk.sk_prot
};

struct request {
	struct sock *rsk;
#define rsk_prot	rsk->sk_prot
};

/* a name of two macros: each means what its struct has */
struct timewait {
	struct sock_common __tw_common;
#define tw_prot		__tw_common.skc_prot
};

struct late {
	struct sock_common __late_common;
#define tw_prot		__late_common.skc_prot
};

/* macros that name themselves, or each other */
struct ring {
	struct ring *next;
#define forever		next->forever
#define ping		next->pong
#define pong		next->ping
};
