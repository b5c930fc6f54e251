// SPDX-License-Identifier: MIT
/* Two tables of operations with members of the same names; sockets call those of struct proto. */

static int proto_init(void *packet, void *cookie)
{
	return 0;
}

static int proto_close(void *packet, void *cookie)
{
	return 0;
}

static int proto_connect(void *packet, void *cookie)
{
	return 0;
}

static int proto_accept(void *packet, void *cookie)
{
	return 0;
}

static int proto_bind(void *packet, void *cookie)
{
	return 0;
}

static int proto_hash(void *packet, void *cookie)
{
	return 0;
}

static int proto_unhash(void *packet, void *cookie)
{
	return 0;
}

static int proto_shutdown(void *packet, void *cookie)
{
	return 0;
}

static int net_init(void *packet, void *cookie)
{
	return 0;
}

static int net_close(void *packet, void *cookie)
{
	return 0;
}

static int net_connect(void *packet, void *cookie)
{
	return 0;
}

static int net_accept(void *packet, void *cookie)
{
	return 0;
}

static int net_bind(void *packet, void *cookie)
{
	return 0;
}

static int net_hash(void *packet, void *cookie)
{
	return 0;
}

static int net_unhash(void *packet, void *cookie)
{
	return 0;
}

static int net_shutdown(void *packet, void *cookie)
{
	return 0;
}

static struct proto proto_table = {
	.init = proto_init,
	.close = proto_close,
	.connect = proto_connect,
	.accept = proto_accept,
	.bind = proto_bind,
	.hash = proto_hash,
	.unhash = proto_unhash,
	.shutdown = proto_shutdown,
};

static struct net_operations net_table = {
	.init = net_init,
	.close = net_close,
	.connect = net_connect,
	.accept = net_accept,
	.bind = net_bind,
	.hash = net_hash,
	.unhash = net_unhash,
	.shutdown = net_shutdown,
};

/* a macro for a member of a member */
static int create(struct sock *sk, struct sk_buff *skb)
{
	return sk->sk_prot->init(skb, NULL);
}

/* with spaces, and into an inner union without a tag */
static int second(struct sock *sk, struct sk_buff *skb)
{
	return sk->sk_second->close(skb, NULL);
}

/* macros of macros, with a dot and with an arrow */
static int chained(struct inet_sock *inet, struct request *req, struct sk_buff *skb)
{
	return inet->inet_prot->connect(skb, NULL) + req->rsk_prot->accept(skb, NULL);
}

/* one name, two macros: what the struct has is meant */
static int both(struct timewait *tw, struct late *late, struct sk_buff *skb)
{
	return tw->tw_prot->bind(skb, NULL) + late->tw_prot->hash(skb, NULL);
}

/* no end: the type stays unknown, so every table counts */
static int endless(struct ring *ring, struct sk_buff *skb)
{
	return ring->forever->unhash(skb, NULL) + ring->ping->shutdown(skb, NULL);
}
