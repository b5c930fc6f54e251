// SPDX-License-Identifier: MIT
/*
 * Broadcast frames with the same UDP datagram, given to a device by a packet socket:
 *   frame device=NAME from=ADDRESS to=ADDRESS [n=FRAMES] [gap=US] [burst=FRAMES]
 *         [tos=N,...] [mac=N,...] [vlan=N,...] [later=US,...]
 * mac= is the last byte of the sender's, vlan=0 is no tag.  Of N,... the first frame has the first,
 * the second one the second, and so on, over and over.  later= asks the kernel to send the frame so
 * much later (SO_TXTIME): without a qdisc that waits, the frame has a time that has not come yet.
 */
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include "zoo.h"

#define PAYLOAD 64

static long pick(char **argv, const char *name, long number)
{
	const char *list = zoo_word(argv, name, NULL);
	long values[32], n = 0;
	char *end;

	while (list && n < 32) {
		values[n++] = strtol(list, &end, 0);
		list = *end == ',' ? end + 1 : NULL;
	}
	return n ? values[number % n] : 0;
}

static uint16_t folded(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum & 0xffff);
}

static void address(char **argv, const char *name, uint32_t *to)
{
	struct sockaddr_storage found;

	zoo_address(&found, zoo_word(argv, name, ""), 0);
	memcpy(to, &((struct sockaddr_in *)&found)->sin_addr, sizeof(*to));
}

/* Returns the length; the datagram has no checksum, so that it is the same in all frames. */
static size_t make(char **argv, long number, uint8_t *frame)
{
	uint8_t *at = frame + 12;
	struct iphdr ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP };
	struct udphdr udp = { .source = htons(4000), .dest = htons(7) };
	long vlan = pick(argv, "vlan", number);

	memset(frame, 0xff, 6);
	memset(frame + 6, 0, 6);
	frame[6] = 2;
	frame[11] = pick(argv, "mac", number);
	if (vlan) {
		memcpy(at, (uint8_t[]){ 0x81, 0, vlan >> 8, vlan }, 4);
		at += 4;
	}
	memcpy(at, (uint8_t[]){ 8, 0 }, 2);
	at += 2;
	udp.len = htons(sizeof(udp) + PAYLOAD);
	ip.tos = pick(argv, "tos", number);
	ip.id = htons(1);
	ip.tot_len = htons(sizeof(ip) + sizeof(udp) + PAYLOAD);
	address(argv, "from", &ip.saddr);
	address(argv, "to", &ip.daddr);
	ip.check = folded((void *)&ip, sizeof(ip));
	memcpy(at, &ip, sizeof(ip));
	memcpy(at + sizeof(ip), &udp, sizeof(udp));
	memset(at + sizeof(ip) + sizeof(udp), 'U', PAYLOAD);
	return at + sizeof(ip) + sizeof(udp) + PAYLOAD - frame;
}

static void send_frame(int fd, uint8_t *frame, size_t len, struct sockaddr_ll *to, long later)
{
	char control[CMSG_SPACE(sizeof(uint64_t))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { .iov_base = frame, .iov_len = len };
	struct msghdr message = { .msg_name = to, .msg_namelen = sizeof(*to), .msg_iov = &part,
				  .msg_iovlen = 1 };
	struct cmsghdr *head = (void *)control;
	struct timespec now;
	uint64_t ns;

	if (later) {
		clock_gettime(CLOCK_REALTIME, &now);
		ns = now.tv_sec * 1000000000ULL + now.tv_nsec + later * 1000ULL;
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_TXTIME;
		head->cmsg_len = CMSG_LEN(sizeof(ns));
		memcpy(CMSG_DATA(head), &ns, sizeof(ns));
	}
	if (sendmsg(fd, &message, 0) < 0)
		zoo_fail("sendmsg");
}

int main(int argc, char **argv)
{
	struct sock_txtime when = { .clockid = CLOCK_REALTIME };
	long n = zoo_amount(argv, "n", 1), gap = zoo_number(argv, "gap", 1000), i;
	long burst = zoo_number(argv, "burst", 1);
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = 6 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	uint8_t frame[256];

	(void)argc;
	to.sll_ifindex = if_nametoindex(zoo_word(argv, "device", ""));
	if (fd < 0 || !to.sll_ifindex)
		zoo_fail("socket");
	if (zoo_word(argv, "later", NULL) &&
	    setsockopt(fd, SOL_SOCKET, SO_TXTIME, &when, sizeof(when)))
		zoo_fail("SO_TXTIME");
	for (i = 0; i < n; i++) {
		size_t len = make(argv, i, frame);

		memcpy(&to.sll_protocol, frame + 12, 2);
		memcpy(to.sll_addr, frame, 6);
		send_frame(fd, frame, len, &to, pick(argv, "later", i));
		if (gap && i % burst == burst - 1)
			zoo_pause(gap);
	}
	return 0;
}
