/* SPDX-License-Identifier: MIT */
/* What the plugin's files share.  docs/instructions.md describes what is counted. */
#ifndef COUNTING_H
#define COUNTING_H

#include <stdbool.h>
#include <stdint.h>

enum side { SIDE_KERNEL, SIDE_PROBE, SIDE_USER, NR_SIDES };
enum mark_kind { MARK_NONE, MARK_ENTRY, MARK_EXIT, MARK_WATCH };
enum block_end { END_OTHER, END_RET, END_IRET };

struct range {
	uint64_t begin, end;
};

#define NAME_BYTES 48

/*
 * An exception or interrupt of the system, and how often it came, by what it interrupted.  Of those
 * that returned before another thread ran: how many, how many of the kernel's instructions were
 * executed meanwhile, and how many during the longest.
 */
struct exception {
	uint64_t address, runs[NR_SIDES];
	uint64_t returned, steps, longest;
	char name[NAME_BYTES];		/* without a 0 behind it if it is as long or longer */
};

/* A translated block: one entry by code, not by translation. */
struct block {
	uint64_t start, after;		/* addresses of the first byte and behind the last */
	uint32_t insns, ends;		/* enum block_end */
	const struct range *probe;	/* the probe's code that it is part of */
	bool module;			/* it is part of the module's code */
	struct exception *exception;	/* it is the first of its entry */
	bool probe_entry, handler, vectors, switches;
	enum mark_kind mark;
	uint64_t runs[NR_SIDES];	/* how often it was entered */
	uint64_t executed[NR_SIDES];	/* instructions; a run may end early */
	struct block *next;
};

struct mark {
	uint64_t all;			/* instructions executed until now, on all sides */
	uint64_t kernel, probe, user;	/* their parts */
	uint64_t place;			/* the function: see docs/instructions.md */
	uint64_t kind;
};

struct access {
	uint64_t function, line, physical;
	uint64_t loads, stores;
};

/* A cache line that a function accessed between two marks. */
struct touch {
	uint64_t marks;			/* how many marks were made before */
	uint64_t function, line;
	uint64_t loads, stores;
};

/* Addresses that the guest announced: symbols.c */
void symbols_clear(void);
void symbols_message(unsigned int message, uint64_t addr);
void symbols_classify(struct block *b);
const struct range *symbols_accesses_at(unsigned int at);	/* NULL behind the last */
bool symbols_probe(uint64_t addr);
const struct range *symbols_accesses(uint64_t addr);

/* Blocks and accesses, by hash: tables.c */
struct block *block_get(uint64_t start, uint64_t after, uint32_t insns, uint32_t ends);
void access_add(uint64_t function, uint64_t addr, uint64_t physical, bool store);
void tables_clear(void);
struct block *block_first(void);
struct block *block_after(struct block *b);
const struct access *access_at(unsigned int slot);	/* NULL behind the last slot */
extern uint64_t accesses_lost;

/* Accesses between marks: touches.c */
void touches_clear(void);
void touch_choose(uint64_t function);
void touch_add(uint64_t function, uint64_t addr, bool store);
const struct touch *touches_all(uint64_t *nr);
extern uint64_t touches_lost;

/* Exceptions and interrupts by name: exceptions.c */
void exceptions_forget(void);
void exceptions_clear(void);
void exception_letters(uint32_t letters);
void exception_add(uint64_t address);
struct exception *exception_at(uint64_t address);
void exception_enter(struct exception *entered);	/* NULL: a device's interrupt */
void exception_return(void);
void exceptions_switch(void);	/* another thread runs */
const struct exception *exceptions_all(uint64_t *nr);

/* Where control is: flow.c */
extern uint64_t flow_all;	/* every instruction adds 1 before it is executed */
extern uint64_t flow_sums[NR_SIDES];
extern uint64_t flow_cuts, flow_faults, marks_lost;
enum side flow_side(void);
bool flow_is_in(const struct range *code);
void flow_clear(void);
void flow_block(struct block *b);
void flow_end(void);

/* Marks: marks.c */
void marks_clear(void);
void marks_add(enum mark_kind kind, uint64_t place);
uint64_t marks_made(void);	/* also those for which there was no room */
const struct mark *marks_all(uint64_t *nr);

/* The file: output.c */
int output_write(const char *path);

#endif /* COUNTING_H */
