/* SPDX-License-Identifier: MIT */
/* Levels of nesting, hubs, tags that stand for two structs, function pointers. */

struct sk_buff {
	int len;
};

struct one {
	struct sk_buff *skb;
};

struct two {
	struct one inside[4];
};

struct three {
	union {
		struct two *pointer;
		int number;
	} named;
};

struct four {
	struct {
		struct three here;
	};
};

/* the hub: everything has an inode */
struct inode {
	struct four *private;
};

struct task {
	struct inode *cwd;
};

struct calls {
	void (*handle)(struct sk_buff *skb);
};

/* a circle */
struct ring {
	struct ring *next;
	struct chain *chain;
};

struct chain {
	struct ring *first;
	struct one *payload;
};

typedef struct chain chain_t;

union either {
	chain_t *chain;
	long number;
};
