/* SPDX-License-Identifier: MIT */
/* Probes that write what they see to the file descriptor 3, one line a call. */
#ifndef LINUX_KBL_PROBE_H
#define LINUX_KBL_PROBE_H

struct kbl_scope {
	int id;
};

void kbl_enter(int id, int count, ...);
void kbl_leave(int id, int has_value, unsigned long value);

static inline struct kbl_scope kbl_open(int id)
{
	struct kbl_scope scope;

	scope.id = id;
	return scope;
}

static inline void kbl_close(struct kbl_scope *scope)
{
	kbl_leave(scope->id, 0, 0);
}

#define KBL_COUNT(...) KBL_FIFTH(__VA_ARGS__, 4, 3, 2, 1, 0)
#define KBL_FIFTH(a, b, c, d, e, f, ...) f

#define KBL_ENTER(...) \
	int kbl_on __attribute__((unused)) = \
		(kbl_enter(KBL_FIRST(__VA_ARGS__, 0), KBL_COUNT(__VA_ARGS__), ##__VA_ARGS__), 1)
#define KBL_FIRST(id, ...) id
#define KBL_ENTER_SCOPE(...) \
	struct kbl_scope kbl_on __attribute__((cleanup(kbl_close), unused)) = \
		(kbl_enter(KBL_FIRST(__VA_ARGS__, 0), KBL_COUNT(__VA_ARGS__), ##__VA_ARGS__), \
		 kbl_open(KBL_FIRST(__VA_ARGS__, 0)))
#define KBL_RESULT(type) __typeof__(((void)0, *(type *)0)) kbl_ret __attribute__((unused))
#define KBL_LEAVE(id) do { if (kbl_on) kbl_leave(id, 0, 0); } while (0)
#define KBL_LEAVE_VALUE(id, value) \
	do { if (kbl_on) kbl_leave(id, 1, (unsigned long)(value)); } while (0)
#define KBL_VOID (void)
#define KBL_NOTHING (void)0

#endif
