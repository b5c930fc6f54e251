/* SPDX-License-Identifier: MIT */
/* Declarations that the files of kblrecord share. */
#ifndef REC_H
#define REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "kbl.h"

#define REC_CALLERS 65536	/* indexed by the low 16 bits of an offset */
#define REC_BLOCK 4096u		/* of the disk */
#define REC_READ_BYTES (256 << 10)	/* of one CPU at once: most records of a chunk */
#define REC_TAIL (KBL_MAX_EXT * KBL_SLOT_SIZE)
#define REC_NO_PROBE 0xffffffffu
#define REC_PROBES 65536	/* a CALL has 16 bits for the id */

/* A growing array of bytes. */
struct rec_bytes {
	char *data;
	size_t len;
	size_t room;
};

/* The file being written.  If a write fails, the complete chunks before it remain. */
struct rec_file {
	const char *path;
	int fd;
	int direct;		/* fd with O_DIRECT of this file, -1 = none */
	kbl_u64 good;		/* bytes of complete chunks */
	kbl_u64 table_seq;
	kbl_u64 *cpu_seq;	/* by CPU number */
	size_t cpus;
	kbl_u64 own_seq;	/* of KBL_CPU_RECORDER */
};

/* A text symbol; name and module point into the text it was parsed from. */
struct rec_symbol {
	kbl_u64 addr;
	const char *name;
	const char *module;
	bool used;
};

/*
 * The symbols of this boot, and those that this recording's records refer to. callers is a
 * direct-mapped cache of callers that are already noted.
 */
struct rec_symbols {
	char *text;
	struct rec_symbol *v;
	size_t n;
	kbl_u32 *by_name;
	kbl_u64 stext;
	struct rec_bytes used;	/* struct kbl_symbol[] */
	struct rec_bytes strings;
	size_t written;		/* bytes of used that are in the file */
	bool stale;		/* a kernel module was loaded or unloaded */
	kbl_s32 callers[REC_CALLERS];
};

/* A function of the probe lists, once for each address with its name. */
struct rec_probe {
	char *name;
	char *module;
	const char *returns;	/* "void", "int", ... as in the list, or "" */
	bool quiet;
	const char *list;	/* file of the list */
	int line;
	kbl_u64 asked;		/* address of the name, 0 = none */
	struct kbl_probe slot;	/* id: REC_NO_PROBE until the kernel module reports it */
};

struct rec_probes {
	struct rec_probe *v;
	size_t n;
	size_t room;
	bool polled;		/* LOST records report missed hits: */
	kbl_u64 *missed;	/* by id: number reported so far */
	size_t nr_missed;
};

/* The result of a walk over records. */
struct rec_walk {
	kbl_u64 limit;		/* stop after that many records, 0 = never */
	kbl_u32 heads;
	kbl_u64 first_ns;
	kbl_u64 last_ns;
};

/* A relay file.  The end of a read may be an incomplete record, which is kept in tail. */
struct rec_cpu {
	int fd;
	unsigned int number;
	size_t have;
	char *map;		/* see rec_map.c; NULL: only read() */
	char tail[REC_TAIL];
};

struct rec_cpus {
	struct rec_cpu *v;
	size_t n;
	size_t room;		/* bytes of one read */
	char *data;
	kbl_u64 bytes;		/* read so far */
	bool quiet;		/* the last turn found nothing: poll() may be wrong */
	bool gone;		/* the kernel module was unloaded */
};

/* A consumer of records: a file, a screen, a summary. */
struct rec_sink {
	void (*take)(void *self, unsigned int cpu, const struct rec_walk *walk, char *data,
		     size_t len);
	void *self;
};

struct rec_options {
	const char *out;	/* -w */
	const char *in;		/* -r */
	const char **lists;	/* -f */
	size_t nr_lists;
	char *expression;	/* FILTER, NULL = none */
	char *filter;		/* with the sampling, NULL = none */
	kbl_u32 sample;		/* one connection in that many, 0 = all */
	bool sample_packets;	/* one packet, not one connection */
	kbl_u32 sample_seed;
	const char *events;
	const char *counter;
	kbl_u64 count;
	kbl_u64 file_bytes;	/* -C */
	unsigned int file_seconds;	/* -G */
	unsigned int file_limit;	/* -W */
	double duration;
	int time_style;		/* number of -t */
	bool list;
	bool life;
	bool calibrate;
	bool code;
	bool stats;
	bool unbuffered;
	bool verbose;
};

/* The machine code of functions, as in the tables CODE and CODE_BYTES. */
struct rec_code {
	struct rec_bytes table;	/* struct kbl_code[] */
	struct rec_bytes bytes;
};

/* What -w writes: one file, or a series of files. */
/* A file name with its time, without number, and how many files have it. */
struct rec_named {
	char *path;
	unsigned int files;
};

struct rec_output {
	const struct rec_options *o;
	struct rec_file file;
	char path[4096];
	struct rec_named *named;	/* all names with a time that were used */
	size_t nr_named;
	kbl_u64 began_ns;
	kbl_u64 empty;		/* bytes of the file before its first records */
};

/* rec_bytes.c */
void rec_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *rec_more(void *old, size_t count, size_t size);
char *rec_copy(const char *text);
void rec_append(struct rec_bytes *to, const void *data, size_t len);
kbl_u64 rec_now_ns(void);
char *rec_slurp(const char *path);
char *rec_line(char **rest);

/* rec_options.c */
void rec_options_parse(struct rec_options *o, int argc, char **argv);

/* rec_output.c */
void rec_output_next(struct rec_output *out, const struct kbl_file_header *header);
bool rec_output_full(const struct rec_output *out, size_t more, size_t tables);
bool rec_output_old(const struct rec_output *out);

/* rec_crc.c; each continues from a crc that is not inverted yet */
kbl_u32 rec_crc32(const void *data, size_t len);
kbl_u32 rec_crc_table(kbl_u32 crc, const unsigned char *p, size_t len);
kbl_u32 rec_crc_x86(kbl_u32 crc, const unsigned char *p, size_t len);
kbl_u32 rec_crc_arm64(kbl_u32 crc, const unsigned char *p, size_t len);
bool rec_crc_x86_able(void);
bool rec_crc_arm64_able(void);

/* rec_file.c */
void rec_file_open(struct rec_file *f, const char *path, const struct kbl_file_header *header);
void rec_file_close(struct rec_file *f);
void rec_file_write(struct rec_file *f, const void *data, size_t len);
void rec_file_failed(struct rec_file *f) __attribute__((noreturn));
void rec_chunk_complete(struct kbl_chunk_header *header, const void *payload, size_t len);
void rec_table(struct rec_file *f, enum kbl_chunk_type type, const void *payload, size_t items,
	       size_t len);
void rec_records(struct rec_file *f, unsigned int cpu, const struct rec_walk *walk,
		 char *payload, size_t len);

/* rec_direct.c */
char *rec_direct_buffer(size_t room);
void rec_direct_open(struct rec_file *f);
bool rec_direct_chunk(struct rec_file *f, struct kbl_chunk_header *header, char *payload,
		      size_t len);

/* rec_kallsyms.c */
void rec_symbols_load(struct rec_symbols *s);
const struct rec_symbol *rec_symbol_named(const struct rec_symbols *s, const char *name,
					  const char *module, const struct rec_symbol *after);
struct rec_symbol *rec_symbol_at(const struct rec_symbols *s, kbl_u64 addr);

/* rec_symbols.c */
kbl_u32 rec_string(struct rec_symbols *s, const char *text);
void rec_symbols_use(struct rec_symbols *s, kbl_u64 addr);
void rec_symbols_reload(struct rec_symbols *s);
void rec_symbols_write(struct rec_symbols *s, struct rec_file *f);

/* rec_walk.c */
size_t rec_walk(struct rec_walk *w, struct rec_symbols *s, const char *data, size_t len);

/* rec_holder.c */
const char *rec_holder_lock(int fd);
const char *rec_holder_file(const char *path);

/* rec_cpu.c */
void rec_cpus_find(struct rec_cpus *cpus);
bool rec_cpus_wait(const struct rec_cpus *cpus, int ms);
kbl_u64 rec_cpus_drain(struct rec_cpus *cpus, struct rec_symbols *s, const struct rec_sink *to,
		       kbl_u64 limit);

/* rec_map.c */
void rec_map_open(struct rec_cpu *c);
bool rec_map_next(const struct rec_cpu *c, char **data, size_t *len);
void rec_map_done(const struct rec_cpu *c, const char *data, size_t len);

/* rec_list.c */
void rec_list_load(struct rec_probes *p, const char *path, const struct rec_symbols *s,
		   bool life_only);
const char *rec_list_default(void);
void rec_list_show(const struct rec_probes *p);

/* rec_names.c */
int rec_event_named(const char *name);
const char *rec_event_name(unsigned int event);

/* rec_module.c */
const char *rec_module_path(const char *name);
char *rec_module_read(const char *name);
int rec_module_write(const char *name, const char *text);
void rec_module_set(const char *name, const char *text);
void rec_module_lock(void);
bool rec_module_active(void);

/* rec_sites.c */
kbl_u64 rec_site_address(const char *name);

/* rec_probes.c */
struct rec_probe *rec_probe_add(struct rec_probes *p, const struct rec_probe *probe);
int rec_carrier_named(const char *word);
void rec_probes_send(struct rec_probes *p);
void rec_probes_update(struct rec_probes *p);
void rec_probes_write(struct rec_probes *p, struct rec_symbols *s, struct rec_file *f);
size_t rec_probes_armed(const struct rec_probes *p);
void rec_probes_report(const struct rec_probes *p);

/* rec_code.c */
void rec_code_read(struct rec_code *c, const struct rec_probes *p, struct rec_symbols *s);
void rec_code_write(const struct rec_code *c, struct rec_file *f);

/* rec_tables.c */
void rec_header_fill(struct kbl_file_header *header, kbl_u64 stext);
void rec_clock_write(struct rec_file *f);
bool rec_counters_read(struct kbl_counters *c);
void rec_counters_subtract(struct kbl_counters *c, const struct kbl_counters *before);
int rec_devices_read(struct rec_bytes *table);
void rec_devices_write(struct rec_file *f);
void rec_meta_write(struct rec_file *f, const struct rec_options *o, int missed_ms);
void rec_calibration_write(struct rec_file *f);

#endif /* REC_H */
