// SPDX-License-Identifier: MIT
/* The same tag as in a.c, another struct. */
struct private {
	int number;
};

static void takes_other_private(struct private *p) { }
