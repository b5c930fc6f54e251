// SPDX-License-Identifier: MIT
/* echo tun|tap NAME: a device that gives back each IPv4 packet with its addresses swapped. */
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "zoo.h"

static void swap(uint8_t *a, uint8_t *b, int n)
{
	uint8_t kept;

	for (; n--; a++, b++) {
		kept = *a;
		*a = *b;
		*b = kept;
	}
}

int main(int argc, char **argv)
{
	int fd = open("/dev/net/tun", O_RDWR), ether, n;
	static uint8_t packet[1 << 16];
	struct ifreq wish = { 0 };

	if (argc < 3)
		return 2;
	ether = strcmp(argv[1], "tun") ? ETH_HLEN : 0;
	wish.ifr_flags = (ether ? IFF_TAP : IFF_TUN) | IFF_NO_PI;
	strncpy(wish.ifr_name, argv[2], IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &wish))
		zoo_fail(argv[2]);
	puts("ready");
	fflush(stdout);
	while ((n = read(fd, packet, sizeof(packet))) > 0) {
		if (n < ether + 20 || packet[ether] >> 4 != 4)
			continue;
		if (ether)
			swap(packet, packet + ETH_ALEN, ETH_ALEN);
		swap(packet + ether + 12, packet + ether + 16, 4);
		(void)!write(fd, packet, n);
	}
	return 0;
}
