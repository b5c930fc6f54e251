// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a filter reads of a socket, for a packet that has no header yet.  All of it runs inside
 * probe handlers.
 */
#include <net/sock.h>

#include "kbl_arch.h"
#include "kbl_filter.h"
#include "kbl_internal.h"

/* Sockets of a handshake and of TIME-WAIT are little more than struct sock_common. */
static bool kbl_is_full_sock(u8 state)
{
	return state != TCP_TIME_WAIT && state != TCP_NEW_SYN_RECV;
}
NOKPROBE_SYMBOL(kbl_is_full_sock);

static bool kbl_sock_addrs(struct kbl_filter_sock *to, const struct sock *sk)
{
	u32 local, remote;
	u16 dport;

	kbl_get(local, &sk->sk_rcv_saddr, fault);
	kbl_get(remote, &sk->sk_daddr, fault);
	kbl_get(to->num, &sk->sk_num, fault);
	kbl_get(dport, (u16 *)&sk->sk_dport, fault);
	memcpy(to->local4, &local, 4);
	memcpy(to->remote4, &remote, 4);
	to->dport = ntohs((__force __be16)dport);
	return true;
fault:
	return false;
}
NOKPROBE_SYMBOL(kbl_sock_addrs);

static bool kbl_sock_addrs6(struct kbl_filter_sock *to, const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	u32 word, i;

	for (i = 0; i < 4; i++) {
		kbl_get(word, (u32 *)&sk->sk_v6_rcv_saddr + i, fault);
		memcpy(to->local6 + 4 * i, &word, 4);
		kbl_get(word, (u32 *)&sk->sk_v6_daddr + i, fault);
		memcpy(to->remote6 + 4 * i, &word, 4);
	}
	return true;
fault:
#endif
	return false;
}
NOKPROBE_SYMBOL(kbl_sock_addrs6);

static bool kbl_sock_read(struct kbl_filter_sock *to, const struct sock *sk)
{
	kbl_get(to->family, &sk->sk_family, fault);
	kbl_get(to->state, (u8 *)&sk->sk_state, fault);
	if (to->family != AF_INET && to->family != AF_INET6)
		return true;
	if (kbl_is_full_sock(to->state))
		kbl_get(to->protocol, &sk->sk_protocol, fault);
	return kbl_sock_addrs(to, sk) && (to->family == AF_INET || kbl_sock_addrs6(to, sk));
fault:
	return false;
}
NOKPROBE_SYMBOL(kbl_sock_read);

/* The namespace of the socket, while the packet is at no device. */
static void kbl_sock_netns(struct kbl_filter_facts *facts, const struct sock *sk)
{
#ifdef CONFIG_NET_NS
	unsigned long net;

	kbl_get(net, (unsigned long *)&sk->__sk_common.skc_net.net, fault);
	if (kbl_is_kernel(net))
		kbl_get(facts->netns, &((const struct net *)net)->ns.inum, fault);
fault:
	return;
#endif
}
NOKPROBE_SYMBOL(kbl_sock_netns);

/* Facts that the packet will have, from its socket; also the mark, which it does not have yet. */
static void kbl_filter_tuple(struct kbl_filter_facts *facts, const struct sock *sk, bool outgoing)
{
	struct kbl_filter_sock sock = {};

	if (!kbl_sock_read(&sock, sk))
		return;
	kbl_facts_sock(facts, &sock, outgoing);
	if (facts->mark_known || !kbl_is_full_sock(sock.state))
		return;
	kbl_get(facts->mark, &sk->sk_mark, fault);
	facts->mark_known = true;
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_filter_tuple);

/* Facts that the header does not have yet, from the socket at @addr. */
void kbl_filter_sock(struct kbl_filter_facts *facts, u64 addr, bool outgoing)
{
	const struct sock *sk = (const struct sock *)(unsigned long)addr;

	if (!kbl_is_kernel(addr))
		return;
	/* Before the header exists, the socket has the addresses. */
	if (!facts->src.addr_known && facts->layer3 <= KBL_L3_IPV6)
		kbl_filter_tuple(facts, sk, outgoing);
	if (!facts->netns && facts->layer3 != KBL_L3_FOREIGN)
		kbl_sock_netns(facts, sk);
}
NOKPROBE_SYMBOL(kbl_filter_sock);
