// SPDX-License-Identifier: MIT
/*
 * CRC-32 by carry-less multiplication: Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel 2009.  The message is folded into its last
 * blocks; the table method computes the CRC of the remainder.
 */
#include <string.h>

#include "rec.h"

#ifdef __x86_64__
#include <immintrin.h>

#define REC_TARGET __attribute__((target("avx,pclmul")))
#define REC_WIDE_TARGET __attribute__((target("avx2,pclmul,vpclmulqdq")))

bool rec_crc_x86_able(void)
{
	return __builtin_cpu_supports("avx") && __builtin_cpu_supports("pclmul");
}

/* x^(n + 32) and x^(n - 32) modulo the polynomial, bits reversed, for a distance of n bits. */
REC_TARGET static inline __m128i rec_by_512(void)
{
	return _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
}

REC_TARGET static inline __m128i rec_by_128(void)
{
	return _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
}

REC_TARGET static inline __m128i rec_fold(__m128i x, __m128i by, __m128i next)
{
	__m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);

	return _mm_xor_si128(_mm_xor_si128(low, next), high);
}

REC_TARGET static inline __m128i rec_block(const unsigned char *p)
{
	return _mm_loadu_si128((const void *)p);
}

REC_TARGET static kbl_u32 rec_crc_narrow(kbl_u32 crc, const unsigned char *p, size_t len)
{
	__m128i a, b, c, d, by = rec_by_512();
	unsigned char rest[16];

	if (len < 64)
		return rec_crc_table(crc, p, len);
	a = _mm_xor_si128(rec_block(p), _mm_cvtsi32_si128(crc));
	b = rec_block(p + 16);
	c = rec_block(p + 32);
	d = rec_block(p + 48);
#pragma GCC unroll 4
	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
		a = rec_fold(a, by, rec_block(p));
		b = rec_fold(b, by, rec_block(p + 16));
		c = rec_fold(c, by, rec_block(p + 32));
		d = rec_fold(d, by, rec_block(p + 48));
	}
	by = rec_by_128();
	a = rec_fold(rec_fold(rec_fold(a, by, b), by, c), by, d);
	for (; len >= 16; p += 16, len -= 16)
		a = rec_fold(a, by, rec_block(p));
	_mm_storeu_si128((void *)rest, a);
	return rec_crc_table(rec_crc_table(0, rest, 16), p, len);
}

REC_WIDE_TARGET static inline __m256i rec_wide_fold(__m256i x, __m256i by, const unsigned char *p)
{
	__m256i low = _mm256_clmulepi64_epi128(x, by, 0x00);
	__m256i high = _mm256_clmulepi64_epi128(x, by, 0x11);
	__m256i next = _mm256_loadu_si256((const void *)p);

	return _mm256_xor_si256(_mm256_xor_si256(low, next), high);
}

/* Two blocks in each register; the result of the folding is a message itself. */
REC_WIDE_TARGET static kbl_u32 rec_crc_wide(kbl_u32 crc, const unsigned char *p, size_t len)
{
	const __m256i by = _mm256_set_epi64x(0x14a7fe880, 0x1e88ef372, 0x14a7fe880, 0x1e88ef372);
	unsigned char rest[128];
	__m256i x[4];

	if (len < 128)
		return rec_crc_narrow(crc, p, len);
	for (int i = 0; i < 4; i++)
		x[i] = _mm256_loadu_si256((const void *)(p + 32 * i));
	x[0] = _mm256_xor_si256(x[0], _mm256_zextsi128_si256(_mm_cvtsi32_si128(crc)));
	for (p += 128, len -= 128; len >= 128; p += 128, len -= 128) {
		x[0] = rec_wide_fold(x[0], by, p);
		x[1] = rec_wide_fold(x[1], by, p + 32);
		x[2] = rec_wide_fold(x[2], by, p + 64);
		x[3] = rec_wide_fold(x[3], by, p + 96);
	}
	memcpy(rest, x, sizeof(rest));
	return rec_crc_narrow(rec_crc_narrow(0, rest, sizeof(rest)), p, len);
}

kbl_u32 rec_crc_x86(kbl_u32 crc, const unsigned char *p, size_t len)
{
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq"))
		return rec_crc_wide(crc, p, len);
	return rec_crc_narrow(crc, p, len);
}

#else

bool rec_crc_x86_able(void)
{
	return false;
}

kbl_u32 rec_crc_x86(kbl_u32 crc, const unsigned char *p, size_t len)
{
	return rec_crc_table(crc, p, len);
}

#endif
