// SPDX-License-Identifier: MIT
struct private {
	struct one *link;
};

static void takes_one(struct one *o) { }
static void takes_two(struct two *t) { }
static void takes_three(struct three *t) { }
static void takes_four(struct four *f) { }
static void takes_inode(struct inode *i) { }
static void takes_task(struct task *t) { }
static void takes_calls(struct calls *c) { }
static void takes_ring(struct ring *r) { }
static void takes_either(union either *e) { }
static void takes_private(struct private *p) { }
static void takes_pointer(int (*f)(struct sk_buff *skb)) { }
static struct four *gives_four(void) { return 0; }
