// SPDX-License-Identifier: MIT
/*
 * calls OUT: known system calls.  Writes "thread TID" first, then one line for
 * each call that the module must record, "NAME NUMBER FD RESULT".  Calls on
 * files that are no sockets are made too and must not be recorded.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PORT 4000
#define CLOSED_PORT 4001

static FILE *out;

/* Write how a call must be recorded; a failed one returns its negative errno. */
static long report(const char *name, long number, int fd, long result)
{
	if (result < 0)
		result = -errno;
	fprintf(out, "%s %ld %d %ld\n", name, number, fd, result);
	return result;
}

#define REPORT(name, fd, call) report(#name, SYS_##name, fd, call)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void unrecorded(void)
{
	char byte = 'x';
	int ends[2];

	if (pipe(ends) || write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
		fail("pipe");
	if (close(ends[0]) || close(ends[1]))
		fail("close");
}

/* Raw calls: the library's wrappers choose other numbers on some machines. */
static void datagrams(int a, int b)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct pollfd polled = { .fd = a, .events = POLLIN };
	struct iovec part = { .iov_base = "vec", .iov_len = 3 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	char text[16];

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REPORT(bind, a, syscall(SYS_bind, a, &to, sizeof(to)));
	REPORT(connect, b, syscall(SYS_connect, b, &to, sizeof(to)));
	REPORT(write, b, syscall(SYS_write, b, "write", 5));
	REPORT(poll, a, syscall(SYS_poll, &polled, 1, 1000));
	REPORT(read, a, syscall(SYS_read, a, text, sizeof(text)));
	REPORT(writev, b, syscall(SYS_writev, b, &part, 1));
	REPORT(recvfrom, a, syscall(SYS_recvfrom, a, text, sizeof(text), 0, NULL, NULL));
	REPORT(sendmsg, b, syscall(SYS_sendmsg, b, &message, 0));
	part.iov_base = text;
	REPORT(recvmsg, a, syscall(SYS_recvmsg, a, &message, 0));
	REPORT(recvfrom, a, syscall(SYS_recvfrom, a, text, sizeof(text), MSG_DONTWAIT, NULL, NULL));
}

static void waits(int a, int b)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct timeval second = { .tv_sec = 1 };
	int waiter = epoll_create1(0), file = open("/proc/self/exe", O_RDONLY);
	fd_set set;
	char text[16];

	REPORT(epoll_ctl, a, syscall(SYS_epoll_ctl, waiter, EPOLL_CTL_ADD, a, &event));
	REPORT(sendto, b, syscall(SYS_sendto, b, "sendto", 6, 0, NULL, 0));
	REPORT(epoll_wait, waiter, syscall(SYS_epoll_wait, waiter, &event, 1, 1000));
	FD_ZERO(&set);
	FD_SET(a, &set);
	REPORT(select, a, syscall(SYS_select, a + 1, &set, NULL, NULL, &second));
	REPORT(read, a, syscall(SYS_read, a, text, sizeof(text)));
	REPORT(sendfile, b, syscall(SYS_sendfile, b, file, NULL, 10));
	close(file);
	close(waiter);
}

static void stream(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(CLOSED_PORT) };
	int fd = REPORT(socket, -1, syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REPORT(connect, fd, syscall(SYS_connect, fd, &to, sizeof(to)));
	REPORT(shutdown, fd, syscall(SYS_shutdown, fd, SHUT_RDWR));
	REPORT(close, fd, syscall(SYS_close, fd));
}

int main(int argc, char **argv)
{
	int a, b;

	out = argc == 2 ? fopen(argv[1], "w") : NULL;
	if (!out)
		fail("calls OUT");
	fprintf(out, "thread %ld\n", (long)syscall(SYS_gettid));
	a = REPORT(socket, -1, syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0));
	b = REPORT(socket, -1, syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0));
	unrecorded();
	datagrams(a, b);
	waits(a, b);
	REPORT(close, a, syscall(SYS_close, a));
	REPORT(close, b, syscall(SYS_close, b));
	stream();
	REPORT(listen, 77, syscall(SYS_listen, 77, 1));
	return fclose(out);
}
