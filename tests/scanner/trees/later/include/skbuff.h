/* SPDX-License-Identifier: MIT */
struct sk_buff {
	int len;
	void *data;
};

struct header {
	int number;
};
