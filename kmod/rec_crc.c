// SPDX-License-Identifier: MIT
/* CRC-32 of IEEE 802.3, as in zlib: with the CPU's instructions, or eight bytes at a time. */
#include "rec.h"

#define REC_POLYNOMIAL 0xedb88320u

static kbl_u32 rec_crc_tables[8][256];

static void rec_crc_prepare(void)
{
	for (kbl_u32 i = 0; i < 256; i++) {
		kbl_u32 crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? REC_POLYNOMIAL ^ crc >> 1 : crc >> 1;
		rec_crc_tables[0][i] = crc;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++) {
			kbl_u32 crc = rec_crc_tables[t - 1][i];

			rec_crc_tables[t][i] = rec_crc_tables[0][crc & 0xff] ^ crc >> 8;
		}
}

static kbl_u32 rec_le32(const unsigned char *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (kbl_u32)p[3] << 24;
}

/* The "slicing by eight" algorithm. */
kbl_u32 rec_crc_table(kbl_u32 crc, const unsigned char *p, size_t len)
{
	const kbl_u32 (*t)[256] = (const void *)rec_crc_tables;

	if (!t[0][255])
		rec_crc_prepare();
	for (; len >= 8; p += 8, len -= 8) {
		kbl_u32 low = rec_le32(p) ^ crc, high = rec_le32(p + 4);

		crc = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^
		      t[4][low >> 24] ^ t[3][high & 0xff] ^ t[2][high >> 8 & 0xff] ^
		      t[1][high >> 16 & 0xff] ^ t[0][high >> 24];
	}
	while (len--)
		crc = t[0][(crc ^ *p++) & 0xff] ^ crc >> 8;
	return crc;
}

kbl_u32 rec_crc32(const void *data, size_t len)
{
	static kbl_u32 (*crc)(kbl_u32 crc, const unsigned char *p, size_t len);

	if (!crc && rec_crc_x86_able())
		crc = rec_crc_x86;
	else if (!crc && rec_crc_arm64_able())
		crc = rec_crc_arm64;
	else if (!crc)
		crc = rec_crc_table;
	return ~crc(~0u, data, len);
}
