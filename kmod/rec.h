/* SPDX-License-Identifier: MIT */
/* What the parts of kblrecord share. */
#ifndef REC_H
#define REC_H

#include <stdbool.h>
#include <stddef.h>

#include "kbl.h"

#define REC_DEBUGFS "/sys/kernel/debug/kbl"

/* A growing array of bytes. */
struct rec_bytes {
	char *data;
	size_t len;
	size_t room;
};

/* The file being written; a failed write leaves the whole chunks before it. */
struct rec_file {
	const char *path;
	int fd;
	kbl_u64 good;		/* bytes that are whole */
	kbl_u64 table_seq;
	struct rec_bytes strings;
};

/* A text symbol; name and module point into the kallsyms text. */
struct rec_symbol {
	kbl_u64 addr;
	const char *name;
	const char *module;
	bool used;
};

struct rec_symbols {
	char *text;
	struct rec_symbol *v;
	size_t n;
	kbl_u64 stext;
};

/* A line of the probe list, once per address that bears the name. */
struct rec_probe {
	char name[64];
	char module[32];
	char arg[8];
	unsigned int ret;
	unsigned int event;
	struct kbl_probe slot;
};

struct rec_probes {
	struct rec_probe *v;
	size_t n;
	size_t room;
};

/* rec_file.c */
void rec_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *rec_more(void *old, size_t count, size_t size);
void rec_append(struct rec_bytes *to, const void *data, size_t len);
char *rec_slurp(const char *path, size_t *len);
void rec_open(struct rec_file *f, const char *path, const struct kbl_file_header *header);
void rec_chunk(struct rec_file *f, struct kbl_chunk_header *header, const void *payload,
	       size_t len);
void rec_table(struct rec_file *f, enum kbl_chunk_type type, const void *payload, size_t items,
	       size_t len);
kbl_u32 rec_string(struct rec_file *f, const char *text);

/* rec_symbols.c */
void rec_symbols_load(struct rec_symbols *s);
struct rec_symbol *rec_symbol_at(struct rec_symbols *s, kbl_u64 addr);
void rec_symbols_write(struct rec_symbols *s, struct rec_file *f);

/* rec_probes.c */
void rec_probes_load(struct rec_probes *p, const char *path, const struct rec_symbols *s);
void rec_probes_send(struct rec_probes *p);
void rec_probes_update(struct rec_probes *p);
void rec_probes_write(struct rec_probes *p, struct rec_file *f);
size_t rec_probes_armed(const struct rec_probes *p);

/* rec_tables.c */
void rec_header_fill(struct kbl_file_header *header, kbl_u64 stext);
void rec_write_clock(struct rec_file *f);
void rec_write_counters(struct rec_file *f, struct kbl_counters *c);
void rec_write_devices(struct rec_file *f);
void rec_write_meta(struct rec_file *f, const char *probes_path);

/* rec_cpu.c */
void rec_cpus_open(void);
kbl_u64 rec_cpus_read(struct rec_file *f, struct rec_symbols *s);

#endif /* REC_H */
