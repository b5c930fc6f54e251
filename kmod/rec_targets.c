// SPDX-License-Identifier: MIT
/*
 * The functions that recorded code calls or jumps to.  Their symbols are written to the log, so
 * that readers can name them.  The code is not decoded: bytes that only look like a call add one
 * unneeded symbol.
 */
#include <string.h>

#include "rec_code.h"

#if defined(__aarch64__) || defined(__x86_64__)

static void rec_target_use(struct rec_symbols *s, kbl_u64 target)
{
	const struct rec_symbol *symbol = rec_symbol_at(s, target);

	if (symbol && symbol->addr == target)
		rec_symbols_use(s, target);
}

#endif

#if defined(__aarch64__)

/* B and BL: 26 bits, in units of 4 bytes. */
void rec_targets_use(struct rec_symbols *s, kbl_u64 addr, const unsigned char *code, size_t len)
{
	for (size_t at = 0; at + 4 <= len; at += 4) {
		kbl_u32 word;

		memcpy(&word, code + at, 4);
		if ((word & 0x7c000000) == 0x14000000)
			rec_target_use(s, addr + at + ((kbl_s64)(kbl_s32)(word << 6) >> 4));
	}
}

#elif defined(__x86_64__)

/* CALL (e8), JMP (e9) and Jcc (0f 80 to 0f 8f): 32 bits, from the end of the instruction. */
void rec_targets_use(struct rec_symbols *s, kbl_u64 addr, const unsigned char *code, size_t len)
{
	for (size_t at = 0; at + 5 <= len; at++) {
		bool jcc = at && code[at - 1] == 0x0f && (code[at] & 0xf0) == 0x80;
		kbl_s32 distance;

		if (code[at] != 0xe8 && code[at] != 0xe9 && !jcc)
			continue;
		memcpy(&distance, code + at + 1, 4);
		rec_target_use(s, addr + at + 5 + distance);
	}
}

#else

void rec_targets_use(struct rec_symbols *s, kbl_u64 addr, const unsigned char *code, size_t len)
{
	(void)s;
	(void)addr;
	(void)code;
	(void)len;
}

#endif
