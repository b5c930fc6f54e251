/* SPDX-License-Identifier: MIT */
/* A program in the guest sends messages to the plugin; see messages.h. */
#ifndef SEND_H
#define SEND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "messages.h"

#define CODE_BYTES (1 << 20)
#define CODE_PAGE 4096
#define MESSAGE_BYTES 17

static unsigned char *code;	/* a message has not been translated before: each has its own bytes */

static inline bool prepare_to_send(void)
{
	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return code != MAP_FAILED;
}

static inline unsigned char *put_nop(unsigned char *at, uint32_t value)
{
	const uint32_t words[] = { MESSAGE_NOP, value };

	memcpy(at, words, sizeof(words));
	return at + sizeof(words);
}

/* The emulator translates the pages of code one by one, so a message must not cross a page's end. */
static inline void send(enum message message, uint64_t addr)
{
	unsigned char *begin, *end;

	if ((uintptr_t)code % CODE_PAGE > CODE_PAGE - MESSAGE_BYTES)
		code += CODE_PAGE - (uintptr_t)code % CODE_PAGE;
	begin = code;
	end = put_nop(put_nop(code, MESSAGE + message), addr);
	*end++ = 0xc3;
	code = end;
	((void (*)(void))begin)();
}

#endif /* SEND_H */
