// SPDX-License-Identifier: MIT
/*
 * Raw IPv4 or IPv6 packets with UDP, whose headers are chosen:
 *   send from=ADDRESS to=ADDRESS [n=PACKETS] [gap=US] [burst=PACKETS] [sport=PORT] [dport=PORT]
 *        [ports=SOURCE_PORTS] [len=BYTES] [ttl=HOPS] [df=1] [checksum=0] [device=NAME]
 *        [id=random|count|zero|const:N|cycle:K|wrap] [fragment=BYTES] [ext=LETTERS]
 * id=zero needs df=1: the kernel numbers others itself.  wrap counts from 65,536 less 100.
 * ext=: IPv6 extension headers in this order: h hop-by-hop, d destination options, r routing,
 * f a fragment header; fragment=: payload bytes of a fragment, a multiple of 8.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>

#include "zoo.h"

struct sender {
	char **words;
	struct sockaddr_storage from, to;
	socklen_t len;
	uint8_t chain[128];	/* extension headers before the fragment header */
	int chain_len, chain_next;
	int fd, six, fragment;
	uint32_t number;
};

static uint32_t add(const void *bytes, size_t len, uint32_t sum)
{
	const uint8_t *b = bytes;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? b[i] : b[i] << 8;
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum & 0xffff);
}

static const void *bytes_of(const struct sockaddr_storage *a, int six)
{
	return six ? (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr :
		     (const void *)&((const struct sockaddr_in *)a)->sin_addr;
}

static uint16_t next_id(const struct sender *s)
{
	const char *how = zoo_word(s->words, "id", "random");

	if (!strncmp(how, "const:", 6))
		return strtoul(how + 6, NULL, 0);
	if (!strncmp(how, "cycle:", 6))
		return 1000 + s->number % strtoul(how + 6, NULL, 0);
	if (!strcmp(how, "count"))
		return s->number + 1;
	if (!strcmp(how, "wrap"))
		return 65536 - 100 + s->number;
	return strcmp(how, "zero") ? zoo_random() % 65535 + 1 : 0;
}

/* The datagram: ports, a marked payload, a checksum unless it shall be 0. */
static size_t datagram(const struct sender *s, uint8_t *to)
{
	size_t len = zoo_number(s->words, "len", 64), size = s->six ? 16 : 4;
	struct udphdr *udp = (void *)to;
	uint32_t sum;

	len += sizeof(*udp);
	zoo_mark(to + sizeof(*udp), len - sizeof(*udp), s->number);
	udp->source = htons(zoo_number(s->words, "sport", 4000) +
			    s->number % zoo_number(s->words, "ports", 1));
	udp->dest = htons(zoo_number(s->words, "dport", 7));
	udp->len = htons(len);
	udp->check = 0;
	if (!zoo_number(s->words, "checksum", 1))
		return len;
	sum = add(bytes_of(&s->from, s->six), size, 0);
	sum = add(bytes_of(&s->to, s->six), size, sum);
	udp->check = folded(add(to, len, sum + IPPROTO_UDP + len));
	if (!udp->check)
		udp->check = 0xffff;
	return len;
}

static void put(const struct sender *s, const uint8_t *packet, size_t len)
{
	struct sockaddr_storage to = s->to;

	((struct sockaddr_in6 *)&to)->sin6_port = 0;
	if (sendto(s->fd, packet, len, 0, (void *)&to, s->len) < 0 && errno != ENOBUFS &&
	    errno != EPERM && errno != EHOSTUNREACH && errno != ENETUNREACH)
		zoo_fail("sendto");
}

static void put_v4(const struct sender *s, uint16_t id, const uint8_t *l4, size_t n, size_t at,
		   int more)
{
	uint8_t packet[2048];
	struct iphdr *ip = (void *)packet;

	memset(ip, 0, sizeof(*ip));
	ip->version = 4;
	ip->ihl = 5;
	ip->id = htons(id);
	ip->ttl = zoo_number(s->words, "ttl", 64);
	ip->protocol = IPPROTO_UDP;
	ip->frag_off = htons(at / 8 | (more ? 0x2000 : 0) |
			     (zoo_number(s->words, "df", 0) ? 0x4000 : 0));
	memcpy(&ip->saddr, bytes_of(&s->from, 0), 4);
	memcpy(&ip->daddr, bytes_of(&s->to, 0), 4);
	memcpy(packet + sizeof(*ip), l4, n);
	put(s, packet, sizeof(*ip) + n);
}

static void put_v6(const struct sender *s, uint32_t id, const uint8_t *l4, size_t n, size_t at,
		   int more)
{
	uint8_t packet[2048];
	struct ip6_hdr *ip = (void *)packet;
	size_t len = sizeof(*ip);
	struct ip6_frag *frag;
	const char *ext = zoo_word(s->words, "ext", "");
	int cut = s->fragment || strchr(ext, 'f');

	memset(ip, 0, sizeof(*ip));
	ip->ip6_flow = htonl(6u << 28);
	ip->ip6_hlim = zoo_number(s->words, "ttl", 64);
	ip->ip6_nxt = s->chain_len ? s->chain_next : cut ? IPPROTO_FRAGMENT : IPPROTO_UDP;
	memcpy(&ip->ip6_src, bytes_of(&s->from, 1), 16);
	memcpy(&ip->ip6_dst, bytes_of(&s->to, 1), 16);
	memcpy(packet + len, s->chain, s->chain_len);
	len += s->chain_len;
	if (cut) {
		frag = (void *)(packet + len);
		memset(frag, 0, sizeof(*frag));
		frag->ip6f_nxt = IPPROTO_UDP;
		frag->ip6f_offlg = htons(at | !!more);
		frag->ip6f_ident = htonl(id);
		len += sizeof(*frag);
	}
	memcpy(packet + len, l4, n);
	len += n;
	ip->ip6_plen = htons(len - sizeof(*ip));
	put(s, packet, len);
}

static void send_one(struct sender *s)
{
	uint8_t l4[65536];
	size_t len = datagram(s, l4), at, n;
	uint16_t id = next_id(s);

	for (at = 0; at < len; at += n) {
		n = s->fragment && len - at > (size_t)s->fragment ? (size_t)s->fragment : len - at;
		if (s->six)
			put_v6(s, id, l4 + at, n, at, at + n < len);
		else
			put_v4(s, id, l4 + at, n, at, at + n < len);
	}
	s->number++;
}

/* A header of eight bytes each: options that only pad, a route of no further stop. */
static void make_chain(struct sender *s)
{
	static const struct { char letter; uint8_t protocol; } known[] = {
		{ 'h', IPPROTO_HOPOPTS }, { 'd', IPPROTO_DSTOPTS }, { 'r', IPPROTO_ROUTING },
		{ 'f', IPPROTO_FRAGMENT },
	};
	const char *ext = zoo_word(s->words, "ext", "");
	uint8_t *next = (uint8_t *)&s->chain_next;
	size_t i;

	for (; *ext; ext++) {
		for (i = 0; i < 4 && known[i].letter != *ext; i++)
			;
		if (i == 4)
			zoo_fail("ext");
		*next = known[i].protocol;
		if (*ext == 'f')
			return;
		next = s->chain + s->chain_len;
		if (*ext == 'r') {	/* type 0, an address that was passed */
			next[1] = 2;
			memcpy(next + 8, bytes_of(&s->from, 1), 16);
			s->chain_len += 24;
		} else {
			next[2] = 1;	/* PadN of six bytes */
			next[3] = 4;
			s->chain_len += 8;
		}
	}
	*next = s->fragment ? IPPROTO_FRAGMENT : IPPROTO_UDP;
}

int main(int argc, char **argv)
{
	static struct sender s;
	long n = zoo_amount(argv, "n", 1), gap = zoo_number(argv, "gap", 1000), i;
	long burst = zoo_number(argv, "burst", 1);
	const char *device = zoo_word(argv, "device", NULL);
	int one = 1;

	(void)argc;
	s.words = argv;
	s.fragment = zoo_number(argv, "fragment", 0);
	zoo_address(&s.from, zoo_word(argv, "from", "127.0.0.1"), 0);
	s.len = zoo_address(&s.to, zoo_word(argv, "to", "127.0.0.1"), 0);
	s.six = s.to.ss_family == AF_INET6;
	make_chain(&s);
	s.fd = socket(s.to.ss_family, SOCK_RAW, IPPROTO_RAW);
	if (s.fd < 0 || setsockopt(s.fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)))
		zoo_fail("socket");
	if (device && setsockopt(s.fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)))
		zoo_fail(device);
	for (i = 0; i < n; i++) {
		send_one(&s);
		if (gap && i % burst == burst - 1)
			zoo_pause(gap);
	}
	return 0;
}
