// SPDX-License-Identifier: MIT
/* The tables are of the type of a macro's value. */
#include <values.h>

static int family_send(void *packet, void *cookie)
{
	return 0;
}

static int family_receive(void *packet, void *cookie)
{
	return 0;
}

static int family_poll(void *packet, void *cookie)
{
	return 0;
}

static int driver_send(void *packet, void *cookie)
{
	return 0;
}

static int driver_receive(void *packet, void *cookie)
{
	return 0;
}

static int driver_poll(void *packet, void *cookie)
{
	return 0;
}

static struct family_operations family_table = {
	.send = family_send,
	.receive = family_receive,
	.poll = family_poll,
};

static struct driver_operations driver_table = {
	.send = driver_send,
	.receive = driver_receive,
	.poll = driver_poll,
};

/* a macro whose value is that of another one */
static int send(struct socket *sock, struct sk_buff *skb)
{
	return READ_ONCE(sock->ops)->send(skb, NULL);
}

/* a macro that is given a type inside */
static int receive(struct sock *sk, struct sk_buff *skb)
{
	return family_sk(sk)->ops->receive(skb, NULL);
}

/* and one around it */
static int poll(struct socket *sock, struct sk_buff *skb)
{
	return family_of(sock)->ops->poll(skb, NULL);
}
