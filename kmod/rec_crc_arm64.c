// SPDX-License-Identifier: MIT
/* CRC-32 with the instructions of ARMv8's CRC extension. */
#include <string.h>

#include "rec.h"

#ifdef __aarch64__
#include <sys/auxv.h>

#define REC_HWCAP_CRC32 (1 << 7)	/* asm/hwcap.h */

bool rec_crc_arm64_able(void)
{
	return getauxval(AT_HWCAP) & REC_HWCAP_CRC32;
}

kbl_u32 rec_crc_arm64(kbl_u32 crc, const unsigned char *p, size_t len)
{
	for (; len >= 8; p += 8, len -= 8) {
		kbl_u64 word;

		memcpy(&word, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		word = __builtin_bswap64(word);
#endif
		__asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(crc) : "r"(word));
	}
	for (; len; p++, len--)
		__asm__(".arch_extension crc\n\tcrc32b %w0, %w0, %w1" : "+r"(crc) : "r"(*p));
	return crc;
}

#else

bool rec_crc_arm64_able(void)
{
	return false;
}

kbl_u32 rec_crc_arm64(kbl_u32 crc, const unsigned char *p, size_t len)
{
	return rec_crc_table(crc, p, len);
}

#endif
