/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of the module share.  The file layout is in kbl.h.
 *
 * The module has layers.  A file calls functions of its own layer and of the layers below it;
 * tests/kmod/test_layers.py checks that.  A layer calls up only through pointers that it was
 * given, such as the operations of a file or of a back end.  From top to bottom, without kbl_:
 *
 * control:   main control recording calibrate calibrate_round
 * targets:   target target_parse target_refuse
 * back ends: kretprobe fprobe source armed_site.h fake_regs.h open_calls.h
 * waits:     trace_sched trace_lock trace_fault
 * events:    trace trace_skb trace_irq syscall notify route events.h
 * lengths:   trace_length
 * call:      hot.h call call_exit call_packet call_table inner
 * lifetime:  carry life tap stack
 * filter:    filter filter_parse filter_id filter_words filter_sock
 * verdict:   filter_eval filter_facts filter_sample filter_table
 * footprint: footprint known.h footprint.h whole skb dev
 * records:   read relay_batch record.h relay
 * clock:     clock counter
 * state:     state context.h l4.h view.h arch.h arch_irq.h arch_counter.h
 */
#ifndef KBL_INTERNAL_H
#define KBL_INTERNAL_H

#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>

#include "kbl.h"
#include "kbl_arch.h"
#include "kbl_map.h"
#include "kbl_tap.h"
#include "kbl_target.h"
#include "kbl_view.h"

#define KBL_SEEN_TASKS 64	/* a power of two */
#define KBL_MAX_SEGMENTS 64
#define KBL_BATCH_SLOTS 48	/* slots of one commit; a longer batch is written in parts */
#define KBL_NR_CALLS 256	/* open calls that were entered on one CPU */
#define KBL_KNOWN_BITS 6	/* log2 of the skbs whose footprint a CPU remembers */

/* Kernels may zero-initialise stack variables.  Skip that where every byte is written anyway. */
#if __has_attribute(__uninitialized__)
#define KBL_NOT_CLEARED __attribute__((__uninitialized__))
#else
#define KBL_NOT_CLEARED
#endif

union kbl_slot {
	struct kbl_call_slot call;
	struct kbl_span_slot span;
	struct kbl_event_slot event;
	struct kbl_lost_slot lost;
	struct kbl_ext_ipv4 ipv4;
	struct kbl_ext_ipv6 ipv6;
	struct kbl_ext_ipv6_l4 ipv6_l4;
	struct kbl_ext_skb skb;
	struct kbl_ext_call ext_call;
	struct kbl_ext_comm comm;
	struct kbl_ext_counter counter;
	struct kbl_ext_drop drop;
	struct kbl_ext_stack stack;
	struct kbl_ext_addr addr;
	struct kbl_ext_neigh neigh;
	struct kbl_ext_route route;
	struct kbl_ext_syscall syscall;
	struct kbl_ext_tap tap;
	u64 words[KBL_SLOT_SIZE / 8];
};

/* The footprint of an skb as files have it: EXT_SKB, then nothing, IPV4, or IPV6 and IPV6_L4. */
struct kbl_footprint {
	struct kbl_ext_skb skb;
	union {
		struct kbl_ext_ipv4 ipv4;
		struct {
			struct kbl_ext_ipv6 ipv6;
			struct kbl_ext_ipv6_l4 l4;
		};
	};
	u8 slots;		/* 1..3 */
};

#define KBL_CALL_RETURNED ((struct kbl_target *)1)

/* Thread and CPU, compared as one word. */
union kbl_who {
	struct {
		u32 pid;	/* U32_MAX: no thread */
		u32 cpu;	/* CPU number | KBL_CALL_ODD */
	};
	u64 both;
};

/* An open call, in the table of the CPU where it was entered. */
struct kbl_call {
	union {
		struct kbl_span_slot span;	/* dur is not set */
		u64 words[KBL_SLOT_SIZE / 8];
		struct {
			u64 before_sum[3];
			u32 caller;
			union kbl_tap_sum tap_sum;	/* in the place of dur */
		};
	};
	union kbl_who who;
	union {
		struct kbl_target *target;	/* KBL_CALL_RETURNED: kbl_sweep() frees it */
		struct kbl_call *next;		/* next free entry */
	};
	union {
		u64 data;	/* data of the exit's life event */
		union kbl_tap_head tap_head;
	};
	union {
		u64 counter;
		u64 tap_sk;	/* if the counter is off */
	};
};

/* The exit needs the slow path, or the call has no table entry. */
#define KBL_CALL_ODD (1U << 31)

#define KBL_CALL_REFUSED 0	/* span.kind of a call that kbl_enter_refused() took */

/* What a back end keeps between entry and exit. */
struct kbl_ticket {
	struct kbl_call *call;	/* NULL: not recorded; &kbl_unpaired: the table was full */
	struct kbl_target *target;	/* only if call is &kbl_unpaired */
	u64 skb;			/* only if call is &kbl_unpaired */
	u64 data;			/* kbl_life_data(), only if call is &kbl_unpaired */
};

#define KBL_WATCH_DATA 1	/* the header is found by skb->data */
#define KBL_WATCH_IPV6 2	/* the header has 40 bytes */
#define KBL_WATCH_BARE 4	/* no header and no place for one yet */
#define KBL_WATCH_NOT 8		/* the headers are not contiguous: never compared */

/* The footprint that a CPU recorded of an skb, and the raw fields it was made from. */
struct kbl_known {
	u64 addr;		/* the skb, 0 = none */
	u64 watched;		/* addr if kbl_packet_alike() compares everything; otherwise 1 */
	u64 also;		/* addr if kbl_packet_watched() compares all; otherwise 1 */
	u64 head;
	u64 place;		/* protocol and network_header, see kbl_place_read() */
	const void *l3;		/* the header, or where it will be; never NULL */
	u64 l3_word[5];		/* IPv4: 20 bytes */
	const void *l4;
	u64 l4_word[2];
	u64 dev;
	u64 end;		/* data + len */
	const void *gso;	/* &gso_size, gso_segs follows; never NULL */
	u64 data;
	u32 epoch;		/* kbl_filter_epoch when the filter refused it */
	u8 watch;		/* KBL_WATCH_* */
	struct kbl_footprint fp;	/* mark, gso and sk are compared with the skb */
};

#define KBL_KNOWN_SIZE 256	/* a power of two, so that the hash needs a mask only */

struct kbl_seen {
	u32 pid;		/* pid + 1, 0 = none */
	u64 comm[2];
};

struct kbl_cpu {
	u64 now;		/* time of the last record; strictly increasing */
	u64 clock_mult;		/* kbl_clock.c: ns per cycle ... */
	u64 clock_base;		/* ... and ns at cycle 0 */
	u64 clock_until;	/* read the kernel's clock again then; 0: each time */
	u64 head;		/* first word of CALLs entered here; KBL_SLOW: kbl_detour */
	struct kbl_call *free;
	union kbl_slot *at;	/* where the next record goes; NULL: no sub-buffer */
	union kbl_slot *limit;	/* a CALL fits if at <= limit; NULL: c->slow is set */
	union kbl_slot *end;	/* end of the sub-buffer's records */
	u64 written;
	u64 task_comm[2];
	union kbl_who last_who;	/* thread of the last TASK record, on this CPU */
	bool slow;		/* losses must be recorded before the next record */
	bool gap;		/* records were lost, but no LOST record was written yet */
	bool has_losses;		/* the current batch contains LOST records */
	bool returned;		/* entries of calls that returned elsewhere wait for kbl_sweep() */
	bool remembers;	/* TASK or FOOTPRINT was written since kbl_forget() */
	unsigned long irq;	/* not 0: a record is being written; restored after it */
	struct rchan_buf *buf;	/* NULL: c->slow is set */
	size_t ready;		/* complete sub-buffers, see kbl_read.c */
	u64 clock_span;		/* ns for which cycles are trusted, 0 = never */
	u64 bytes;		/* in full sub-buffers; kbl_total() adds the last one */
	u64 lost;
	u64 lost_pending;
	u64 lost_first_ns;
	u64 nested;
	u64 nested_pending;
	u64 nested_first_ns;
	u64 nested_in_batch;	/* how many of them the current batch records */
	u64 null_skb;
	u64 filtered;
	u64 open;
	u64 unpaired;
	u64 inner_outside;
	u64 inner_missed;
	u64 counter;		/* hardware counter at the current exit */
	/* The current batch. */
	union kbl_slot *base;	/* in the relay buffer, or slots below */
	unsigned int nslots;
	unsigned int nheads;
	unsigned int nlosable;	/* heads that count as lost if the batch is lost */
	unsigned int nprelude;	/* LOST and TASK slots before the first record */
	struct kbl_seen *fresh;	/* thread that the prelude names */
	struct kbl_call spare;	/* for a call that finds no free entry */
	/* The packets of the call that is being entered. */
	u64 entered;		/* first packet, or socket */
	u8 entered_flags;
	u64 carried[KBL_MAX_CARRIED];
	unsigned int ncarried;
	unsigned int nmore;
	struct kbl_seen seen[KBL_SEEN_TASKS];
	union kbl_slot slots[KBL_BATCH_SLOTS];
	struct kbl_known known[1 << KBL_KNOWN_BITS];
	struct kbl_known refused[1 << KBL_KNOWN_BITS];	/* skbs that the filter refused last */
	struct kbl_call calls[KBL_NR_CALLS];
	u64 hits[KBL_MAX_PROBES];
};

/* kbl_state.c */
DECLARE_PER_CPU(struct kbl_cpu *, kbl_cpu);
extern unsigned long kbl_stext;
extern bool kbl_active;
extern struct mutex kbl_lock;	/* protects the list of targets and kbl_active */
DECLARE_STATIC_KEY_FALSE(kbl_detour);
void kbl_heads_make(void);
void kbl_detour_switch(struct static_key_false *key, bool on);

/* kbl_read.c */
const struct file_operations *kbl_cpu_file(void);

/* kbl_relay.c */
int kbl_relay_open(struct dentry *dir, const struct file_operations *file, size_t subbuf_size,
		   size_t n_subbufs);
void kbl_relay_close(void);
void kbl_relay_clear(void);
size_t kbl_relay_last(const struct kbl_cpu *c);
size_t kbl_relay_offset(const struct kbl_cpu *c, const struct rchan_buf *buf);
void kbl_relay_place(struct kbl_cpu *c, void *from, void *to);
void kbl_limit(struct kbl_cpu *c);
bool kbl_relay_copy(struct kbl_cpu *c);
void kbl_relay_start(void);

/* kbl_relay_batch.c */
struct kbl_cpu *kbl_batch_open(void);
struct kbl_cpu *kbl_event_open(void);
struct kbl_cpu *kbl_batch_open_last(void);
bool kbl_batch_close(struct kbl_cpu *c);
void kbl_batch_begin(struct kbl_cpu *c);
bool kbl_batch_end(struct kbl_cpu *c);
void kbl_batch_part(struct kbl_cpu *c);
bool kbl_emit_last_losses(struct kbl_cpu *c);
union kbl_slot *kbl_head(struct kbl_cpu *c);
union kbl_slot *kbl_ext(struct kbl_cpu *c, u8 type);
struct kbl_event_slot *kbl_event(struct kbl_cpu *c, u8 event, u64 skb, u64 data);
void kbl_nested(struct kbl_cpu *c);
void kbl_lose(struct kbl_cpu *c, unsigned int records);
void kbl_forget(struct kbl_cpu *c);
void kbl_event_alone_slow(u8 event, u64 skb, u64 data);
void kbl_batch_start(void);
void kbl_batch_stop(void);

/* kbl_skb.c */
int kbl_skb_read(struct kbl_known *k, u64 addr);
bool kbl_skb_view(struct kbl_view *v, const struct kbl_known *k, const struct sk_buff *skb);

/* kbl_tap.c */
bool kbl_tap_is(const char *name);
void kbl_tap_read(const struct kbl_known *k, const struct kbl_target *t, struct kbl_call *call,
		  struct pt_regs *regs);

/* kbl_footprint.c */
extern const u64 kbl_place_mask;
int kbl_footprint_read(struct kbl_footprint *fp, u64 skb);
void kbl_footprint_emit(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp);
int kbl_skb_emit(struct kbl_cpu *c, u64 skb);
bool kbl_skb_emit_alone(struct kbl_cpu *c, u64 skb);
bool kbl_watched_same(const struct kbl_known *k, const struct sk_buff *skb);

/* kbl_clock.c */
void kbl_cycles_start(void);
u64 kbl_clock_read(struct kbl_cpu *c);

/*
 * kbl_call.c, kbl_call_exit.c; the inline part is kbl_hot.h.  The order of the arguments is
 * that of an fprobe handler, so that most stay in their registers.  addr: the return address.
 */
extern struct kbl_call kbl_unpaired;
extern unsigned long kbl_hooked;
unsigned long kbl_unhooked_entry(unsigned long addr);
int kbl_enter_nested(struct kbl_cpu *c, const struct kbl_target *t, unsigned long irq);
int kbl_enter_late(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		   struct pt_regs *regs, struct kbl_ticket *ticket);
int kbl_enter_jumped(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		     struct pt_regs *regs, struct kbl_ticket *ticket);
int kbl_enter_slow(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		   struct pt_regs *regs, struct kbl_ticket *ticket);
int kbl_enter_rest(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		   struct pt_regs *regs, struct kbl_ticket *ticket);
void kbl_leave_slow(struct kbl_cpu *c, unsigned long unused, unsigned long unused2,
		    struct pt_regs *regs, const struct kbl_ticket *ticket);
void kbl_leave_late(struct kbl_cpu *c, unsigned long unused, unsigned long unused2,
		    struct pt_regs *regs, const struct kbl_ticket *ticket);
void kbl_leave_nested(struct kbl_cpu *c, const struct kbl_ticket *ticket, unsigned long irq);
void kbl_call_give_back(struct kbl_call *call);
void kbl_call_record(struct kbl_cpu *c, u8 kind, const struct kbl_call *call, u8 flags);

/* kbl_call_packet.c */
int kbl_enter_moved(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
		    struct pt_regs *regs, struct kbl_ticket *ticket);
int kbl_enter_unlike(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
		     struct pt_regs *regs, struct kbl_ticket *ticket);

/* kbl_inner.c */
extern bool kbl_inner_hooked;
bool kbl_inner_inside(struct kbl_cpu *c, u8 context);

/* kbl_call_table.c */
int kbl_calls_init(void);
void kbl_calls_exit(void);
void kbl_calls_reset(void);
void kbl_calls_close(void);

/* kbl_carry.c */
bool kbl_carry(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs, s32 caller);

/* kbl_stack.c */
void kbl_hook_note(u64 skb, u8 hook, u8 pf);

/* kbl_life.c */
extern u64 kbl_probe_events;	/* bit per enum kbl_event that probes may record */
extern const char *const kbl_life_names[];
int kbl_life_number(const char *name);
void kbl_life_kind(struct kbl_target *t);
void kbl_life_entry(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs, u64 skb,
		    s32 caller);
bool kbl_life_entry_alone(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs,
			  u64 skb, s32 caller);
u64 kbl_life_data(const struct kbl_target *t, struct pt_regs *regs);
bool kbl_life_births(const struct kbl_target *t);
void kbl_life_refused(struct kbl_cpu *c, const struct kbl_call *call, unsigned long ret);
void kbl_life_exit(struct kbl_cpu *c, const struct kbl_call *call, unsigned long ret);
union kbl_slot *kbl_life_exit_write(struct kbl_cpu *c, union kbl_slot *slot,
				    const struct kbl_call *call, unsigned long ret);

/* kbl_control.c */
int kbl_control_init(struct dentry *dir);
void kbl_control_shut(void);

/* kbl_recording.c, under kbl_lock */
int kbl_activate(void);
void kbl_deactivate(void);
int kbl_clear(void);
u64 kbl_total(size_t offset);

/* kbl_dev.c */
int kbl_dev_init(void);
void kbl_dev_exit(void);
bool kbl_dev_find(const void *dev, u32 *ifindex, u32 *netns);
void kbl_dev_show(struct seq_file *m);

/* kbl_filter.c */
DECLARE_STATIC_KEY_FALSE(kbl_filter_on);
extern u32 kbl_filter_epoch;	/* refusals of this epoch may be remembered, 0 = none */
bool kbl_filter_pass(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp, u64 sk);
bool kbl_filter_pass_again(u64 skb, const struct kbl_footprint *fp, u64 sk, bool refused);
bool kbl_filter_accepted(u64 skb);
void kbl_filter_life(u8 event, u64 parent, u64 child);
int kbl_filter_set(const char *text);
void kbl_filter_hold(bool hold);
void kbl_filter_show(struct seq_file *m);

/* kbl_trace.c and the files it starts */
int kbl_trace_set(const char *words);
void kbl_trace_show(struct seq_file *m);
int kbl_trace_start(void);
void kbl_trace_stop(void);

/* kbl_counter.c */
DECLARE_STATIC_KEY_FALSE(kbl_counter_on);
u64 kbl_counter_read(void);
u32 kbl_counter_event(void);
int kbl_counter_set(const char *text);
void kbl_counter_show(struct seq_file *m);

/* kbl_calibrate.c */
int kbl_calibrate(void);
void kbl_calibration_show(struct seq_file *m);

#endif /* KBL_INTERNAL_H */
