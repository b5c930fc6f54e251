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

/* A translated block: one entry by code, not by translation. */
struct block {
	uint64_t start, after;		/* addresses of the first byte and behind the last */
	uint32_t insns, ends;		/* enum block_end */
	const struct range *probe;	/* the probe's code that it is part of */
	bool module;			/* it is part of the module's code */
	bool probe_entry, handler, exception, vectors;
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

/* Addresses that the guest announced: symbols.c */
void symbols_clear(void);
void symbols_message(unsigned int message, uint64_t addr);
void symbols_classify(struct block *b);
const struct range *symbols_accesses(uint64_t addr);

/* Blocks and accesses, by hash: tables.c */
struct block *block_get(uint64_t start, uint64_t after, uint32_t insns, uint32_t ends);
void access_add(uint64_t function, uint64_t addr, uint64_t physical, bool store);
void tables_clear(void);
struct block *block_first(void);
struct block *block_after(struct block *b);
const struct access *access_at(unsigned int slot);	/* NULL behind the last slot */
extern uint64_t accesses_lost;

/* Where control is: flow.c */
extern uint64_t flow_all;	/* every instruction adds 1 before it is executed */
extern uint64_t flow_sums[NR_SIDES];
extern uint64_t flow_cuts, flow_faults, marks_lost;
enum side flow_side(void);
void flow_clear(void);
void flow_block(struct block *b);
void flow_end(void);

/* Marks: marks.c */
void marks_clear(void);
void marks_add(enum mark_kind kind, uint64_t place);
const struct mark *marks_all(uint64_t *nr);

/* The file: output.c */
int output_write(const char *path);

#endif /* COUNTING_H */
