// SPDX-License-Identifier: MIT
/* Convert files from machines with the other byte order: each struct of kbl.h, field by field. */
#include <string.h>

#include "rec_text.h"

static const char *const rec_heads[] = {
	[KBL_ENTRY] = "111148844",
	[KBL_EXIT] = "111148844",
	[KBL_CALL] = "1111228844",
	[KBL_EVENT] = "11114888",
	[KBL_LOST] = "11114888",
};

static const char *const rec_exts[] = {
	[KBL_EXT_IPV4] = "111122x22442",	/* the rest are bytes */
	[KBL_EXT_IPV6] = "11114",
	[KBL_EXT_IPV6_L4] = "111122x44224",
	[KBL_EXT_SKB] = "1124444228",
	[KBL_EXT_CALL] = "112488",
	[KBL_EXT_COMM] = "1124",
	[KBL_EXT_COUNTER] = "11248",
	[KBL_EXT_DROP] = "1124444444",
	[KBL_EXT_STACK] = "1124444444",
	[KBL_EXT_ADDR] = "11114xx44",
	[KBL_EXT_NEIGH] = "11114",
	[KBL_EXT_ROUTE] = "11114xx44",
	[KBL_EXT_SYSCALL] = "11248",
	[KBL_EXT_TAP] = "1111482114",
};

/* widths: the size of each number, in bytes.  x stands for eight bytes that are not swapped. */
void rec_swap(void *data, const char *widths)
{
	char *p = data;

	for (; *widths; widths++) {
		int width = *widths == 'x' ? 8 : *widths - '0';

		for (int i = 0; *widths != 'x' && i < width / 2; i++) {
			char byte = p[i];

			p[i] = p[width - 1 - i];
			p[width - 1 - i] = byte;
		}
		p += width;
	}
}

/* Unknown kinds are not changed. */
void rec_swap_records(char *data, size_t len)
{
	for (; len >= KBL_SLOT_SIZE; data += KBL_SLOT_SIZE, len -= KBL_SLOT_SIZE) {
		unsigned char kind = data[0], type = data[1];
		const char *widths = NULL;

		if (kind == KBL_EXT && type < sizeof(rec_exts) / sizeof(rec_exts[0]))
			widths = rec_exts[type];
		else if (kind < sizeof(rec_heads) / sizeof(rec_heads[0]))
			widths = rec_heads[kind];
		if (widths)
			rec_swap(data, widths);
	}
}
