/* SPDX-License-Identifier: MIT */
/*
 * What a program in the guest (announce.c) sends to the plugin.
 *
 * A message is two instructions, nopl VALUE(%rax,%rax,1) of eight bytes, and a return.  The first
 * VALUE is MESSAGE plus the message's number, the second is the low half of an address of the
 * kernel, whose high half is all ones, or four letters.  No compiler makes such a nop with a value but 0.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#define MESSAGE 0x4b420000
#define MESSAGE_NOP 0x00841f0f	/* its first four bytes */

enum message {
	MESSAGE_CLEAR,		/* forget all addresses */
	MESSAGE_FROM,		/* where the range begins that the next message ends */
	MESSAGE_PROBE,		/* code that is entered at its first byte and left by its own return */
	MESSAGE_VECTORS,	/* stubs of interrupts: a block that begins in them is an interrupt */
	MESSAGE_ACCESSES,	/* a function whose loads and stores are counted */
	MESSAGE_LETTERS,	/* the next four bytes of the name of what comes next */
	MESSAGE_EXCEPTION,	/* an exception's or interrupt's entry */
	MESSAGE_SWITCH,		/* where the kernel switches to another thread */
	MESSAGE_MODULE,		/* the module's code */
	MESSAGE_HANDLER,	/* the module's handler of a tracepoint */
	MESSAGE_ENTRY,		/* the module's handler of entries: makes a mark */
	MESSAGE_EXIT,		/* the module's handler of exits: makes a mark */
	MESSAGE_WATCH,		/* any function: makes a mark */
	MESSAGE_BEGIN,		/* count from here */
	MESSAGE_END,		/* to here, and write the file */
};

#endif /* MESSAGES_H */
