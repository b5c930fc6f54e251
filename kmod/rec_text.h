/* SPDX-License-Identifier: MIT */
/* Records as lines of text: sorted by time, calls indented by depth. */
#ifndef REC_TEXT_H
#define REC_TEXT_H

#include "rec.h"

#define REC_LANES 1024		/* powers of two */
#define REC_COMMS 8192
#define REC_IRQS 4096
#define REC_NAME 64		/* of a module, interrupt or device */
#define REC_DEPTH 64
#define REC_NO_PID 0xffffffffu

struct rec_reason {
	int number;
	char *name;
};

/* Names for numbers: from the running kernel, or from the tables of a file. */
struct rec_names {
	const struct rec_symbols *symbols;
	const char **probe;	/* by id */
	size_t probes;
	struct rec_reason *reason;
	size_t reasons;
	struct kbl_device *device;
	size_t devices;
	kbl_s64 real_minus_mono;
	char machine[16];	/* uname -m, where it was recorded */
};

/* A record that waits for earlier ones. */
struct rec_line {
	kbl_u64 ts;
	kbl_u64 order;		/* order of arrival */
	kbl_u64 at;		/* in pool */
	kbl_u32 pid;		/* REC_NO_PID: unknown */
	kbl_u16 cpu;		/* CPU of the entry */
	kbl_u16 rank;		/* order at the same time: entries, exits, events */
};

/* When the open calls of a thread end, or of an idle CPU. */
struct rec_lane {
	kbl_u64 key;
	kbl_u64 last;
	unsigned int depth;
	kbl_u64 end[REC_DEPTH];
};

struct rec_comm {
	kbl_u32 tid;
	char name[16];
};

struct rec_irq {
	kbl_u32 irq;
	char name[REC_NAME];	/* "": unknown */
};

/* When the interrupt and softirq of a CPU began, in ns; 0: unknown or none. */
struct rec_began {
	kbl_u64 irq;
	kbl_u64 softirq;
};

struct rec_text {
	const struct rec_options *o;
	const struct rec_names *names;
	struct rec_bytes lines;	/* struct rec_line[] */
	struct rec_bytes pool;	/* their slots */
	kbl_u64 order;
	kbl_u64 newest;		/* ns */
	kbl_u64 shown;		/* time of the previous line, in ns */
	kbl_u32 *pid;		/* by CPU */
	struct rec_began *began;
	size_t cpus;
	struct rec_lane lane[REC_LANES];
	struct rec_comm comm[REC_COMMS];
	struct rec_irq irq[REC_IRQS];
};

union rec_slot {
	struct kbl_call_slot call;
	struct kbl_span_slot span;
	struct kbl_event_slot event;
	struct kbl_lost_slot lost;
	struct kbl_ext_ipv4 ipv4;
	struct kbl_ext_ipv6 ipv6;
	struct kbl_ext_ipv6_l4 l4;
	struct kbl_ext_skb skb;
	struct kbl_ext_call ret;
	struct kbl_ext_comm comm;
	struct kbl_ext_counter counter;
	struct kbl_ext_drop drop;
	struct kbl_ext_stack stack;
	struct kbl_ext_addr addr;
	struct kbl_ext_neigh neigh;
	struct kbl_ext_route route;
	struct kbl_ext_syscall syscall;
};

/* rec_names.c */
const char *rec_probe_name(const struct rec_names *names, unsigned int id);
const char *rec_reason_name(const struct rec_names *names, int number);
const char *rec_device_name(const struct rec_names *names, kbl_u32 netns, kbl_u32 ifindex);
void rec_names_forget(struct rec_names *names);
void rec_names_probe(struct rec_names *names, unsigned int id, const char *name);
void rec_names_reason(struct rec_names *names, int number, const char *name);

/* rec_text.c */
struct rec_text *rec_text_new(const struct rec_options *o, const struct rec_names *names);
void rec_text_take(void *text, unsigned int cpu, const struct rec_walk *walk, const char *data,
		   size_t len);
void rec_text_flush(struct rec_text *t, kbl_u64 until);
bool rec_text_failed(void);
void rec_text_forget(struct rec_text *t, unsigned int cpu);

/* rec_line.c */
void rec_line_show(struct rec_text *t, const struct rec_line *line, unsigned int depth);

/* rec_event.c */
void rec_event_show(FILE *out, const struct rec_names *names, const union rec_slot *slot);
void rec_symbol_show(FILE *out, const struct rec_names *names, kbl_s32 offset);

/* rec_interrupt.c */
bool rec_name(const union rec_slot *slot, char *name, size_t size);
void rec_interrupt_show(struct rec_text *t, unsigned int cpu, const union rec_slot *slot);

/* rec_words.c */
const char *rec_softirq_word(kbl_u64 number);
const char *rec_syscall_word(const char *machine, kbl_u32 number, bool is_32bit);
const char *rec_verdict_word(int verdict);
const char *rec_nud_word(unsigned int state);
const char *rec_table_word(kbl_u32 table);
void rec_hook_show(FILE *out, unsigned int hook);

/* rec_machine.c */
void rec_machine_show(FILE *out, const struct rec_names *names, const union rec_slot *slot);
void rec_length_show(FILE *out, const struct rec_names *names, const union rec_slot *slot);

/* rec_packet.c */
void rec_packet_show(FILE *out, const struct rec_names *names, const union rec_slot *ext,
		     unsigned int n);
void rec_address_show(FILE *out, unsigned int family, const kbl_u8 *addr);

/* rec_summary.c */
struct rec_summary;
struct rec_summary *rec_summary_new(const struct rec_names *names);
void rec_summary_take(void *summary, unsigned int cpu, const struct rec_walk *walk,
		      const char *data, size_t len);
void rec_summary_show(const struct rec_summary *s, FILE *out, unsigned int rows);

/* rec_swap.c */
void rec_swap(void *data, const char *widths);
void rec_swap_records(char *data, size_t len);

/* rec_show.c */
int rec_show(const struct rec_options *o);

#endif /* REC_TEXT_H */
