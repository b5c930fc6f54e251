/* SPDX-License-Identifier: MIT */
/* Macros between others that are no C, and macros with values. */
#define check(p, space) ((void)(((typeof(*p) space *)p) == p))
#define checked(p) reached(p)
#define once(p) do { static int __section(".data.once") done; if (!done) seen(p); } while (0)
#define table_entry(n) [n] = { .number = n },
#define last(p) also_reached(p)
#define outer(p, member) inner((p)->member)
