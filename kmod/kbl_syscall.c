// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls.  Group syscall records the network's system calls, and calls on any file that is
 * a socket, with their arguments.  Group syscalls records all system calls without arguments.
 * The end of a system call is recorded only if its start was recorded on the same thread.
 */
#include <linux/atomic.h>
#include <linux/compat.h>
#include <linux/fdtable.h>
#include <linux/hash.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <net/sock.h>

#include "kbl_arch.h"
#include "kbl_events.h"

#define KBL_NR_SYSCALLS 512
#define KBL_WAITING_BITS 14
#define KBL_WAITING_WINDOW 16	/* slots searched, starting at the hash */
#define KBL_POLLED 8		/* most entries of a poll() that are read */

/* Where a call's socket is. */
enum kbl_call_kind {
	KBL_CALL_NONE,
	KBL_CALL_MAKE,		/* it creates one; argument 0 is the family */
	KBL_CALL_SOCKET,	/* argument 0, always recorded */
	KBL_CALL_ADDRESS,	/* as SOCKET; argument 1 is a struct sockaddr */
	KBL_CALL_FILE0,		/* argument 0, recorded if it is a socket */
	KBL_CALL_FILE1,
	KBL_CALL_FILE2,
	KBL_CALL_FILE01,	/* argument 0 or 1 */
	KBL_CALL_FILE02,
	KBL_CALL_POLL,		/* argument 0 is an array of struct pollfd */
	KBL_CALL_SELECT,	/* arguments 1 to 3 are bit sets */
	KBL_CALL_EPOLL		/* what it waits for is unknown: always recorded */
};

static const u8 kbl_call_kinds[KBL_NR_SYSCALLS] = {
	[__NR_socket] = KBL_CALL_MAKE,
	[__NR_socketpair] = KBL_CALL_MAKE,
	[__NR_bind] = KBL_CALL_ADDRESS,
	[__NR_connect] = KBL_CALL_ADDRESS,
	[__NR_listen] = KBL_CALL_SOCKET,
	[__NR_accept] = KBL_CALL_SOCKET,
	[__NR_accept4] = KBL_CALL_SOCKET,
	[__NR_getsockname] = KBL_CALL_SOCKET,
	[__NR_getpeername] = KBL_CALL_SOCKET,
	[__NR_sendto] = KBL_CALL_SOCKET,
	[__NR_recvfrom] = KBL_CALL_SOCKET,
	[__NR_sendmsg] = KBL_CALL_SOCKET,
	[__NR_recvmsg] = KBL_CALL_SOCKET,
	[__NR_sendmmsg] = KBL_CALL_SOCKET,
	[__NR_recvmmsg] = KBL_CALL_SOCKET,
	[__NR_shutdown] = KBL_CALL_SOCKET,
	[__NR_setsockopt] = KBL_CALL_SOCKET,
	[__NR_getsockopt] = KBL_CALL_SOCKET,
	[__NR_read] = KBL_CALL_FILE0,
	[__NR_write] = KBL_CALL_FILE0,
	[__NR_readv] = KBL_CALL_FILE0,
	[__NR_writev] = KBL_CALL_FILE0,
	[__NR_close] = KBL_CALL_FILE0,
	[__NR_sendfile] = KBL_CALL_FILE01,
	[__NR_splice] = KBL_CALL_FILE02,
	[__NR_epoll_ctl] = KBL_CALL_FILE2,
	[__NR_epoll_pwait] = KBL_CALL_EPOLL,
	[__NR_epoll_pwait2] = KBL_CALL_EPOLL,
	[__NR_ppoll] = KBL_CALL_POLL,
	[__NR_pselect6] = KBL_CALL_SELECT,
	/* Only on older architectures. */
#ifdef __NR_epoll_wait
	[__NR_epoll_wait] = KBL_CALL_EPOLL,
#endif
#ifdef __NR_poll
	[__NR_poll] = KBL_CALL_POLL,
#endif
#ifdef __NR_select
	[__NR_select] = KBL_CALL_SELECT,
#endif
};

/*
 * The threads inside a recorded call, by task; 0 = free.  Their ids may change: a thread that
 * calls exec() takes its process's.
 */
static unsigned long kbl_waiting[1 << KBL_WAITING_BITS];
static atomic_t kbl_not_waiting;

/* The groups that are on.  A call begun while syscalls was on may be waiting: kbl_any_end. */
static bool kbl_socket_calls;
static bool kbl_all_calls;
static bool kbl_any_end;

void kbl_syscall_start(void)
{
	memset(kbl_waiting, 0, sizeof(kbl_waiting));
	atomic_set(&kbl_not_waiting, 0);
	WRITE_ONCE(kbl_any_end, false);
}

/* May be called while handlers run. */
void kbl_syscall_choose(bool sockets, bool all)
{
	WRITE_ONCE(kbl_socket_calls, sockets);
	if (all)
		WRITE_ONCE(kbl_any_end, true);
	WRITE_ONCE(kbl_all_calls, all);
}

void kbl_syscall_show(struct seq_file *m)
{
	seq_printf(m, "syscalls_not_told %d\n", atomic_read(&kbl_not_waiting));
}

static __always_inline unsigned long *kbl_waiting_slot(unsigned long task, unsigned int i)
{
	return &kbl_waiting[(hash_long(task, KBL_WAITING_BITS) + i) &
			    ((1 << KBL_WAITING_BITS) - 1)];
}

static __always_inline bool kbl_wait_begin(void)
{
	unsigned long task = (unsigned long)current;
	unsigned int i;

	for (i = 0; i < KBL_WAITING_WINDOW; i++)
		if (!READ_ONCE(*kbl_waiting_slot(task, i)) &&
		    !cmpxchg(kbl_waiting_slot(task, i), 0, task))
			return true;
	atomic_inc(&kbl_not_waiting);
	return false;
}

/* True if the start was recorded.  Called by the thread itself only. */
static __always_inline bool kbl_wait_end(void)
{
	unsigned long task = (unsigned long)current;
	unsigned int i;

	for (i = 0; i < KBL_WAITING_WINDOW; i++) {
		if (READ_ONCE(*kbl_waiting_slot(task, i)) != task)
			continue;
		WRITE_ONCE(*kbl_waiting_slot(task, i), 0);
		return true;
	}
	return false;
}

static __always_inline u8 kbl_call_kind(long id)
{
	/* The numbers of another instruction set mean other calls. */
	if (id < 0 || id >= KBL_NR_SYSCALLS || in_compat_syscall())
		return KBL_CALL_NONE;
	return kbl_call_kinds[id];
}

/* Another thread may close it meanwhile: the fields are read as if they were gone. */
static void kbl_socket_read(const struct socket *sock, struct kbl_ext_syscall *call)
{
	u64 sk;

	if (!kbl_is_kernel((unsigned long)sock))
		return;
	kbl_get(sk, (u64 *)&sock->sk, gone);
	if (!kbl_is_kernel(sk))
		return;
	kbl_get(call->family, &((struct sock *)sk)->__sk_common.skc_family, gone);
	call->sk = sk;
gone:
	return;
}
NOKPROBE_SYMBOL(kbl_socket_read);

/* Fills in what @fd is; false if it is not a socket. */
static bool kbl_socket_at(int fd, struct kbl_ext_syscall *call)
{
	struct files_struct *files = current->files;
	struct socket *sock = NULL;
	struct file *file;

	if (fd < 0 || !files)
		return false;
	rcu_read_lock();
	file = files_lookup_fd_raw(files, fd);
	if (file)
		sock = sock_from_file(file);
	if (sock) {
		call->fd = fd;
		kbl_socket_read(sock, call);
	}
	rcu_read_unlock();
	return sock;
}
NOKPROBE_SYMBOL(kbl_socket_at);

static bool kbl_poll_socket(const unsigned long *args, struct kbl_ext_syscall *call)
{
	const struct pollfd __user *fds = (const struct pollfd __user *)args[0];
	unsigned int i, n = min_t(unsigned long, args[1], KBL_POLLED);
	struct pollfd fd;

	for (i = 0; i < n && !copy_from_user_nofault(&fd, &fds[i], sizeof(fd)); i++)
		if (kbl_socket_at(fd.fd, call))
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_poll_socket);

/* The first word of each set: descriptors below 64. */
static bool kbl_select_socket(const unsigned long *args, struct kbl_ext_syscall *call)
{
	unsigned long set, all = 0;
	unsigned int i;

	for (i = 1; i <= 3; i++)
		if (args[i] && !copy_from_user_nofault(&set, (const void __user *)args[i],
						       sizeof(set)))
			all |= set;
	if (args[0] < BITS_PER_LONG)
		all &= BIT(args[0]) - 1;
	for (; all; all &= all - 1)
		if (kbl_socket_at(__ffs(all), call))
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_select_socket);

/* True if the call must be recorded.  Fills in the socket. */
static bool kbl_call_socket(u8 kind, const unsigned long *args, struct kbl_ext_syscall *call)
{
	call->fd = -1;
	switch (kind) {
	case KBL_CALL_MAKE:
		call->family = args[0];
		return true;
	case KBL_CALL_SOCKET:
	case KBL_CALL_ADDRESS:
	case KBL_CALL_EPOLL:
		if (!kbl_socket_at(args[0], call))
			call->fd = args[0];
		return true;
	case KBL_CALL_FILE01:
		return kbl_socket_at(args[0], call) || kbl_socket_at(args[1], call);
	case KBL_CALL_FILE02:
		return kbl_socket_at(args[0], call) || kbl_socket_at(args[2], call);
	case KBL_CALL_FILE2:
		return kbl_socket_at(args[2], call);
	case KBL_CALL_POLL:
		return kbl_poll_socket(args, call);
	case KBL_CALL_SELECT:
		return kbl_select_socket(args, call);
	default:
		return kbl_socket_at(args[0], call);
	}
}
NOKPROBE_SYMBOL(kbl_call_socket);

static void kbl_call_args(u8 kind, const unsigned long *args, struct kbl_ext_syscall *call)
{
	call->args[0] = args[1];
	call->args[1] = args[2];
	if (kind == KBL_CALL_ADDRESS &&
	    copy_from_user_nofault(call->args, (const void __user *)args[1],
				   min_t(unsigned long, args[2], sizeof(call->args))))
		memset(call->args, 0, sizeof(call->args));
}
NOKPROBE_SYMBOL(kbl_call_args);

static __always_inline void kbl_syscall_emit(struct kbl_cpu *c, long id,
					     const struct kbl_ext_syscall *call)
{
	struct kbl_ext_syscall *ext;

	kbl_event(c, KBL_EV_SYSCALL_ENTRY, 0, id)->ext = 1;
	ext = &kbl_ext(c, KBL_EXT_SYSCALL)->syscall;
	ext->family = call->family;
	ext->fd = call->fd;
	ext->sk = call->sk;
	ext->args[0] = call->args[0];
	ext->args[1] = call->args[1];
}

/* Record a call on a socket.  False if it is none, or if the filter refuses the socket. */
static bool kbl_enter_socket(u8 kind, struct pt_regs *regs, long id)
{
	struct kbl_ext_syscall call = {};
	unsigned long args[6];
	struct kbl_cpu *c;
	bool pass;

	syscall_get_arguments(current, regs, args);
	if (!kbl_call_socket(kind, args, &call))
		return false;
	kbl_call_args(kind, args, &call);
	c = kbl_event_open();
	if (!c)
		return true;
	pass = !static_branch_unlikely(&kbl_filter_on) || kbl_filter_pass(c, 0, NULL, call.sk);
	if (pass && kbl_wait_begin())
		kbl_syscall_emit(c, id, &call);
	kbl_batch_close(c);
	return pass;
}
NOKPROBE_SYMBOL(kbl_enter_socket);

/* These calls do not return. */
static __always_inline bool kbl_call_exits(u64 number)
{
	switch (number) {
	case __NR_exit:
	case __NR_exit_group:
	case KBL_SYSCALL_32BIT | 1:
	case KBL_SYSCALL_32BIT | KBL_ARCH_EXIT_GROUP_32:
#ifdef CONFIG_X86_X32_ABI
	case KBL_SYSCALL_32BIT | __X32_SYSCALL_BIT | __NR_exit:
	case KBL_SYSCALL_32BIT | __X32_SYSCALL_BIT | __NR_exit_group:
#endif
		return true;
	default:
		return false;
	}
}

/* Record any call, without its arguments.  As the kernel's own tracer does, none below 0. */
static __always_inline void kbl_enter_any(long id)
{
	u64 number = (u32)id | (in_compat_syscall() ? KBL_SYSCALL_32BIT : 0);

	if (unlikely(id < 0))
		return;
	/* Nothing is recorded, so no end will be due. */
	if (unlikely(!data_race(kbl_active)))
		return;
	if (kbl_call_exits(number) || kbl_wait_begin())
		kbl_event_alone(KBL_EV_SYSCALL_ENTRY, 0, number);
}

void kbl_on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	u8 kind = READ_ONCE(kbl_socket_calls) ? kbl_call_kind(id) : KBL_CALL_NONE;

	if (unlikely(kind != KBL_CALL_NONE) && kbl_enter_socket(kind, regs, id))
		return;
	if (READ_ONCE(kbl_all_calls))
		kbl_enter_any(id);
}
NOKPROBE_SYMBOL(kbl_on_sys_enter);

/* A return from a signal handler restores the registers: it has no number and no result. */
void kbl_on_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	int id = syscall_get_nr(current, regs);

	if (!READ_ONCE(kbl_any_end) && likely(kbl_call_kind(id) == KBL_CALL_NONE))
		return;
	if (kbl_wait_end())
		kbl_event_alone(KBL_EV_SYSCALL_EXIT, 0, id < 0 ? 0 : ret);
}
NOKPROBE_SYMBOL(kbl_on_sys_exit);
