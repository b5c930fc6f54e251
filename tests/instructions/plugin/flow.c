// SPDX-License-Identifier: MIT
/*
 * Adds each executed block to the kernel's sum or to the probes', by control flow.
 *
 * A probe begins where control enters a trampoline, and ends where it returns out of that.  A
 * tracepoint's handler begins at its first instruction, and ends where it returns out of the module.
 * All that runs between is the probe's, whatever function it is, except interrupts.  Only a stack of
 * what was interrupted is kept, so a thread must not be switched out within a probe; the kernels of the tests
 * do not do that.
 */
#include "counting.h"

#define NR_FRAMES 32

enum frame_kind { FRAME_PROBE, FRAME_INTERRUPT };

struct frame {
	enum frame_kind kind;
	const struct range *code;	/* FRAME_PROBE: the trampoline, or NULL: a handler */
	uint64_t place;			/* FRAME_PROBE: where it was entered from */
	unsigned int depth;		/* FRAME_INTERRUPT: entries without their return */
	struct block *before;		/* FRAME_INTERRUPT: the last block of what it interrupted */
};

uint64_t flow_all, flow_sums[NR_SIDES];
uint64_t flow_cuts, flow_faults;
static uint64_t added;		/* of flow_all, what is in a sum */
static struct frame frames[NR_FRAMES];
static unsigned int nr_frames;
static struct block *last;	/* the block that is being executed */
static enum side last_side;

static struct frame *top(void)
{
	return nr_frames ? &frames[nr_frames - 1] : 0;
}

static void push(struct frame frame)
{
	if (nr_frames == NR_FRAMES) {
		flow_faults++;
		nr_frames = 0;
	}
	frames[nr_frames++] = frame;
}

enum side flow_side(void)
{
	return last_side;
}

bool flow_is_in(const struct range *code)
{
	return last && last->start >= code->begin && last->start < code->end;
}

void flow_clear(void)
{
	for (int side = 0; side < NR_SIDES; side++)
		flow_sums[side] = 0;
	flow_cuts = flow_faults = 0;
	added = flow_all;
	nr_frames = 0;
	last = 0;
}

/* Add the last block's instructions.  It may have been left before its end, by a page fault. */
static void settle(void)
{
	uint64_t run = flow_all - added;

	added = flow_all;
	flow_sums[last_side] += run;
	if (!last)
		return;
	last->runs[last_side]++;
	last->executed[last_side] += run;
	flow_cuts += run < last->insns;
}

static bool is_interrupt(const struct block *b)
{
	return b->exception || (b->vectors && !(last && last->vectors && last->after == b->start));
}

/* An interrupt ends with the return that belongs to it: then its block before is the last again. */
static void leave_interrupt(void)
{
	struct frame *f = top();

	if (f && f->kind == FRAME_INTERRUPT && last && last->ends == END_IRET && !--f->depth) {
		last = f->before;
		nr_frames--;
	}
}

static void enter_interrupt(void)
{
	struct frame *f = top();

	if (f && f->kind == FRAME_PROBE)
		push((struct frame){ .kind = FRAME_INTERRUPT, .depth = 1, .before = last });
	else if (f)
		f->depth++;
}

static void leave_probe(const struct block *b)
{
	struct frame *f = top();

	if (!f || f->kind != FRAME_PROBE || !last || last->ends != END_RET)
		return;
	if (f->code ? last->probe == f->code && b->probe != f->code : last->module && !b->module)
		nr_frames--;
}

static void enter_handler(const struct block *b)
{
	if (!top() || top()->kind != FRAME_PROBE)
		push((struct frame){ .kind = FRAME_PROBE, .place = b->start });
}

/* The place of an entry is behind the function's call, that of an exit the block that returned. */
static void enter_probe(const struct block *b)
{
	uint64_t place = !last ? 0 : last->ends == END_RET ? last->start : last->after;

	push((struct frame){ .kind = FRAME_PROBE, .code = b->probe, .place = place });
}

/* Control is at the beginning of a block. */
void flow_block(struct block *b)
{
	settle();
	if (last && last->ends == END_IRET)
		exception_return();
	if (b->switches)
		exceptions_switch();
	leave_interrupt();
	if (is_interrupt(b)) {
		if (b->exception)
			b->exception->runs[last_side]++;
		exception_enter(b->exception);
		enter_interrupt();
	} else {
		leave_probe(b);
		if (b->probe_entry)
			enter_probe(b);
		else if (b->handler)
			enter_handler(b);
	}
	last = b;
	last_side = !(b->start >> 63) ? SIDE_USER :
		    top() && top()->kind == FRAME_PROBE ? SIDE_PROBE : SIDE_KERNEL;
	if (b->mark == MARK_WATCH)
		marks_add(b->mark, b->start);
	else if (b->mark)
		marks_add(b->mark, last_side == SIDE_PROBE ? top()->place : 0);
}

/* A frame that is left at the end was never left: the sums are wrong. */
void flow_end(void)
{
	flow_faults += nr_frames;
}
