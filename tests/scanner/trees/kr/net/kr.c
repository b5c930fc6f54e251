/* SPDX-License-Identifier: MIT */
/* Definitions as of 1978: parameters declared below the head, results without a type. */
#include <skbuff.h>

static struct queue backlog;

untyped(skb, n)
	register struct sk_buff *skb;
	int n;
{
	return skb->len + n;
}

static void
by_typedef(a, b, c, skb)
	char *a, b;
	skb_ptr_t c, skb;
{
	untyped(skb, *a + b);
}

struct sk_buff *gives(bytes, len)
     register const unsigned char *bytes;
     unsigned len;
{
	return 0;
}

private(priv)
	volatile private_t *priv;
{
	return priv->u.number;
}

no_parameters()
{
	by_typedef(0, 0, 0, backlog.slots[0]);
}

unrelated(number)
	int number;
{
	return number;
}

PACKET *alias_of_alias(void) { return 0; }
int alias_of_typedef(PACKETP skb) { return skb->len; }
int no_alias(int number) { return OTHER + number; }
