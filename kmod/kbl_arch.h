/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything that depends on the architecture: registers, and reads that may fault. */
#ifndef KBL_ARCH_H
#define KBL_ARCH_H

#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>

#include "kbl_arch_irq.h"

#if defined(CONFIG_X86_64)

#include <asm/asm.h>
#include <asm/tsc.h>

#define KBL_REG_ARGS 6

/* User addresses and non-canonical addresses are below it. */
static inline unsigned long kbl_arch_kernel_low(void)
{
	return -(1UL << (boot_cpu_data.x86_virt_bits - 1));
}

/* Offset in struct pt_regs of an argument passed in a register. */
static __always_inline unsigned int kbl_arg_offset(unsigned int n)
{
	static const u8 at[KBL_REG_ARGS] = {
		offsetof(struct pt_regs, di), offsetof(struct pt_regs, si),
		offsetof(struct pt_regs, dx), offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
	};

	return at[n];
}

/* The seventh and later arguments are above the return address. */
static __always_inline unsigned long kbl_arg_stack(const struct pt_regs *regs, unsigned int n)
{
	return regs->sp + sizeof(long) * (1 + n);
}

/* The value by which kernel/trace/rethook.c identifies a frame. */
static __always_inline unsigned long kbl_frame(const struct pt_regs *regs)
{
	return regs->sp;
}

/* At the entry the stack pointer points to the return address. */
static __always_inline unsigned long kbl_return_address(const struct pt_regs *regs)
{
	return *(unsigned long *)regs->sp;
}

static __always_inline unsigned long kbl_ret(const struct pt_regs *regs)
{
	return regs->ax;
}

/*
 * Set what kbl_return_address(), kbl_arg_stack() and kbl_frame() read, if there are no
 * registers.
 */
static __always_inline void kbl_arch_fake(struct pt_regs *regs, unsigned long *stack,
					  unsigned long caller)
{
	stack[0] = caller;
	regs->sp = (unsigned long)stack;
}

/* Offset in such a stack of the stack argument @n. */
static inline unsigned int kbl_arch_stack_offset(unsigned int n)
{
	return sizeof(long) * (1 + n);
}

static __always_inline void kbl_arch_fake_return(struct pt_regs *regs, unsigned long value)
{
	regs->ax = value;
}

/* Kernel text and modules are within 2 GB: any two addresses differ by an s32. */
#define KBL_ARCH_NEAR 1

/*
 * A cycle counter, which may be the one that the kernel's clock reads, and its frequency; 0 =
 * unknown.  Reads are not ordered: an error of some nanoseconds does not matter here, nor to
 * the kernel's own trace clock.
 */
#define KBL_ARCH_CYCLES
static __always_inline u64 kbl_cycles(void)
{
	return rdtsc();
}

static inline unsigned int kbl_cycles_khz(void)
{
	return tsc_khz;
}

/* Bits 32 to 95 of the product.  With a 128-bit type compilers align the stack. */
#define KBL_SCALE
static __always_inline u64 kbl_scale(u64 cycles, u64 mult)
{
	asm("mulq %[mult]\n"
	    "shrd $32, %%rdx, %%rax\n"
	    : "+a" (cycles) : [mult] "rm" (mult) : "rdx", "cc");
	return cycles;
}

/*
 * Read *@ptr; a fault sets @err and leaves garbage in @to.  Unlike with kbl_get(), one test
 * serves many fields.
 */
#define kbl_load(to, ptr, err)							\
do {										\
	asm volatile("1: mov %[from], %[into]\n"				\
		     "2:\n"							\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[error])	\
		     : [into] "=r" (to), [error] "+r" (err)			\
		     : [from] "m" (*(ptr)));					\
} while (0)

/*
 * Is *@p, which may fault, equal to @was?  It uses asm goto without outputs, since some
 * compilers lack outputs: two instructions for a field, and no error to test.
 */
#define KBL_SAME(bits)								\
static __always_inline bool kbl_same##bits(const void *p, u##bits was)		\
{										\
	asm goto("1: cmp %[was], %[now]\n"					\
		 "   jne %l[differs]\n"						\
		 _ASM_EXTABLE(1b, (%l[differs]))				\
		 : : [now] "m" (*(const u##bits *)p), [was] "r" (was)		\
		 : "cc" : differs);						\
	return true;								\
differs:									\
	return false;								\
}

/* Are *@p, which may fault, and *@was equal in all bits of *@mask? */
#define KBL_SAME_MASKED
static __always_inline bool kbl_same_masked(const u64 *p, const u64 *was, const u64 *mask)
{
	asm goto("1: mov %[now], %%rax\n"
		 "   xor %[was], %%rax\n"
		 "   test %%rax, %[mask]\n"
		 "   jne %l[differs]\n"
		 _ASM_EXTABLE(1b, (%l[differs]))
		 : : [now] "m" (*p), [was] "m" (*was), [mask] "m" (*mask)
		 : "rax", "cc" : differs);
	return true;
differs:
	return false;
}

/* Is *@a + *@b, which may fault, equal to @was? */
#define KBL_SAME_SUM
static __always_inline bool kbl_same_sum(const u64 *a, const u32 *b, u64 was)
{
	asm goto("1: mov %[addend], %%eax\n"
		 "2: add %[base], %%rax\n"
		 "   cmp %[was], %%rax\n"
		 "   jne %l[differs]\n"
		 _ASM_EXTABLE(1b, (%l[differs]))
		 _ASM_EXTABLE(2b, (%l[differs]))
		 : : [base] "m" (*a), [addend] "m" (*b), [was] "rm" (was)
		 : "rax", "cc" : differs);
	return true;
differs:
	return false;
}

#elif defined(CONFIG_ARM64)

#define KBL_REG_ARGS 8

static inline unsigned long kbl_arch_kernel_low(void)
{
	return PAGE_OFFSET;
}

static __always_inline unsigned int kbl_arg_offset(unsigned int n)
{
	return offsetof(struct pt_regs, regs) + n * sizeof(u64);
}

static __always_inline unsigned long kbl_arg_stack(const struct pt_regs *regs, unsigned int n)
{
	return regs->sp + sizeof(long) * n;
}

static __always_inline unsigned long kbl_frame(const struct pt_regs *regs)
{
	return regs->regs[29];
}

static __always_inline unsigned long kbl_return_address(const struct pt_regs *regs)
{
	return regs->regs[30];
}

static __always_inline unsigned long kbl_ret(const struct pt_regs *regs)
{
	return regs->regs[0];
}

static __always_inline void kbl_arch_fake(struct pt_regs *regs, unsigned long *stack,
					  unsigned long caller)
{
	regs->regs[29] = 0;
	regs->regs[30] = caller;
	regs->sp = (unsigned long)stack;
}

static inline unsigned int kbl_arch_stack_offset(unsigned int n)
{
	return sizeof(long) * n;
}

static __always_inline void kbl_arch_fake_return(struct pt_regs *regs, unsigned long value)
{
	regs->regs[0] = value;
}

#else
#error "kbl knows the registers of x86-64 and arm64 only"
#endif

#ifndef KBL_SAME
#define KBL_SAME(bits)								\
static __always_inline bool kbl_same##bits(const void *p, u##bits was)		\
{										\
	u##bits now;								\
										\
	__get_kernel_nofault(&now, (const u##bits *)p, u##bits, differs);	\
	return now == was;							\
differs:									\
	return false;								\
}
#endif

KBL_SAME(16)
KBL_SAME(32)
KBL_SAME(64)

#ifndef KBL_SCALE
static __always_inline u64 kbl_scale(u64 cycles, u64 mult)
{
	return mul_u64_u64_shr(cycles, mult, 32);
}
#endif

#ifndef KBL_ARCH_NEAR
#define KBL_ARCH_NEAR 0
#endif

extern unsigned long kbl_kernel_low;

/* True if it is neither a user address, nor non-canonical, nor an error pointer. */
static __always_inline bool kbl_is_kernel(u64 addr)
{
	return addr - kbl_kernel_low < -PAGE_SIZE - kbl_kernel_low;
}

/*
 * Read a field that may have been freed.  Only for kernel addresses: a fault there never
 * searches for a user page, so nothing needs to be disabled first.
 */
#define kbl_get(to, ptr, label) __get_kernel_nofault(&(to), ptr, typeof(to), label)

#ifndef KBL_SAME_MASKED
static __always_inline bool kbl_same_masked(const u64 *p, const u64 *was, const u64 *mask)
{
	u64 now;

	kbl_get(now, p, differs);
	return !((now ^ *was) & *mask);
differs:
	return false;
}
#endif

#ifndef KBL_SAME_SUM
static __always_inline bool kbl_same_sum(const u64 *a, const u32 *b, u64 was)
{
	u64 base;
	u32 addend;

	kbl_get(base, a, differs);
	kbl_get(addend, b, differs);
	return base + addend == was;
differs:
	return false;
}
#endif

#ifndef kbl_load
#define kbl_load(to, ptr, err)							\
do {										\
	__label__ fault;							\
	int kbl_failed = -EFAULT;						\
										\
	__get_kernel_nofault(&(to), ptr, typeof(to), fault);			\
	kbl_failed = 0;								\
fault:										\
	(err) |= kbl_failed;							\
} while (0)
#endif

static __always_inline u64 kbl_arg(const struct pt_regs *regs, unsigned int n)
{
	unsigned long value;

	if (n < KBL_REG_ARGS)
		return *(const unsigned long *)((const u8 *)regs + kbl_arg_offset(n));
	kbl_get(value, (unsigned long *)kbl_arg_stack(regs, n - KBL_REG_ARGS), fault);
	return value;
fault:
	return 0;
}

/* The number by which 32-bit programs of this architecture end all their threads. */
#ifdef CONFIG_X86
#define KBL_ARCH_EXIT_GROUP_32 252
#else
#define KBL_ARCH_EXIT_GROUP_32 248
#endif

#endif /* KBL_ARCH_H */
