// SPDX-License-Identifier: MIT
/* Every way in which a function can have to do with a packet, in the manner of Linux 6. */
#include <skbuff.h>

#define pr_fmt(fmt) "core: " fmt
#define TAG "tag"

struct sk_ops {
	int (*sendmsg)(void *sk, void *msg);
	int (*poll)(int fd);
};

static struct sk_buff_head backlog;

/* direct, at level 0: a parameter */
void drop_packet(struct sk_buff *skb)
{
	kfree(skb);
}
EXPORT_SYMBOL(drop_packet);

/* direct: the result */
struct sk_buff *__must_check new_packet(unsigned int size)
{
	struct sk_buff *skb = kmalloc(size, GFP_KERNEL);

	if (!skb)
		return NULL;
	pr_info("new" TAG "%u\n", size);
	return skb;
}
EXPORT_SYMBOL_GPL(new_packet)

/* direct: by the typedefs and the alias */
static int by_typedef(skb_pointer_t skb, SKB_TYPE *other)
{
	return skb->len + other->len;
}

static noinline_for_copy int by_chain(skb_chain_t *chain)
{
	return chain->count;
}

/* direct at level 1 and 2 */
static int by_queue(struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	skb_walk(queue, skb) {
		if (skb->len > 0)
			return by_typedef(skb, skb);
	}
	return 0;
}

static int by_fragments(struct frag_queue *fq)
{
	return by_queue(&fq->fragments);
}

/* not direct: only a pointer to a function takes one */
static void register_handler(skb_handler_t handler, int (*plain)(struct sk_buff *))
{
	save(handler, plain);
}

/* caller: of a local */
static int make_and_drop(int size)
{
	struct sk_buff *skb = new_packet(size);

	drop_packet(skb);
	return 0;
}

/* caller: of a file's variable; a caller of this passes nothing */
static void flush_backlog(void)
{
	by_queue(&backlog);
}

static void work(int unused)
{
	flush_backlog();
}

/* callees: what the packet is handed to without its type */
static void hexdump(const void *data, int len)
{
	print(data, len);
}

static void only_number(int len)
{
	print(&len, len);
}

static void dump(struct sk_buff *skb)
{
	hexdump(skb->data, skb->len);
	only_number(skb->len);
}

/* calls through macros */
static int through_macro(struct my_cb *cb, void *cookie)
{
	DROP(cookie, cb->flags);
	return 0;
}

static int finish(struct sk_buff *skb)
{
	return skb->len;
}

static int receive(struct sk_buff *skb)
{
	skb_first_byte(skb);
	return NF_HOOK(2, skb, finish);
}

static int send_a(void *sk, void *cookie)
{
	return 0;
}

static int send_b(void *sk, void *cookie)
{
	return 0;
}

static int send(struct sk_buff *skb, int (*f)(void *, void *))
{
	return INDIRECT_CALL_2(f, send_a, send_b, NULL, skb);
}

/* a table of operations */
static int tcp_like_sendmsg(void *sk, void *msg)
{
	return 0;
}

static int tcp_like_poll(int fd)
{
	return fd;
}

static const struct sk_ops ops = {
	.sendmsg = tcp_like_sendmsg,
	.poll = tcp_like_poll,
};

static int by_table(struct sk_ops *table, struct sk_buff *skb)
{
	table->poll(3);
	return table->sendmsg(NULL, skb);
}

/* heads by macros */
SYSCALL_DEFINE3(sendit, int, fd, struct sk_buff __user *, skb,
		unsigned int, flags)
{
	return finish(skb);
}

BPF_CALL_2(bpf_length, struct sk_buff *, skb, u64, flags)
{
	return skb->len;
}

/* twice, by #ifdef; one body over two heads; an #else inside a body */
#ifdef CONFIG_A
static int twice(struct sk_buff *skb)
{
	return 1;
}
#else
static int twice(struct sk_buff *skb)
{
	return finish(skb);
}
#endif

#ifdef CONFIG_B
static int headed(struct sk_buff *skb)
#else
static int headed(struct sk_buff *skb, int more)
#endif
{
	if (IS_ENABLED(CONFIG_C)) {
#ifdef CONFIG_C
		if (skb->len) {
#else
		if (skb) {
#endif
			return finish(skb);
		}
	}
	return 0;
}

/* what newer kernels write */
static int guarded(struct sk_buff *skb)
{
	struct my_cb *cb __free(kfree) = kzalloc(sizeof(*cb), GFP_KERNEL);
	int a = skb->len ?: 1;

	guard(mutex)(&lock);
	scoped_guard(spinlock, &skb->lock) {
		if (a)
			return finish(skb);
	}
	switch (a) {
	case 1 ... 3:
		return min_t(int, a, 2);
	default:
		return container_of(cb, struct frame, cb)->size;
	}
}
