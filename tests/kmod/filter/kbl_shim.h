/* SPDX-License-Identifier: MIT */
/* The few names of the kernel that the filter uses, for user space. */
#ifndef KBL_SHIM_H
#define KBL_SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define NOKPROBE_SYMBOL(name)
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELAXED)
#define cmpxchg(at, old, new) __sync_val_compare_and_swap((at), (old), (new))

/* As in net/core/utils.c, for a text that ends at @len. */
static inline int in6_pton(const char *src, int len, u8 *dst, int delim, const char **end)
{
	char text[INET6_ADDRSTRLEN];

	(void)delim;
	if (len >= (int)sizeof(text))
		return 0;
	memcpy(text, src, len);
	text[len] = 0;
	*end = src + len;
	return inet_pton(AF_INET6, text, dst) == 1;
}

#endif /* KBL_SHIM_H */
