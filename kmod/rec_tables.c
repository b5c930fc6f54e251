// SPDX-License-Identifier: MIT
/* The file header and the small tables: clock, counters, devices, meta, calibration. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rec.h"

struct rec_field {
	const char *name;
	size_t offset;
};

#define REC_COUNTER(name) { #name, offsetof(struct kbl_counters, name) }
static const struct rec_field rec_counters[] = {
	REC_COUNTER(mono_ns), REC_COUNTER(written), REC_COUNTER(lost), REC_COUNTER(missed),
	REC_COUNTER(null_skb), REC_COUNTER(nested), REC_COUNTER(bytes), REC_COUNTER(filtered),
	REC_COUNTER(open), REC_COUNTER(unpaired), REC_COUNTER(inner_outside),
	REC_COUNTER(inner_missed), REC_COUNTER(sample_broken), { NULL, 0 }
};

#define REC_COST(name) { #name, offsetof(struct kbl_calibration, name) }
static const struct rec_field rec_costs[] = {
	REC_COST(tau_empty), REC_COST(tau_pair), REC_COST(tau_nested), REC_COST(n_empty),
	REC_COST(n_pair), REC_COST(n_nested), REC_COST(tau_skb_empty), REC_COST(tau_skb_pair),
	REC_COST(tau_skb_nested), REC_COST(n_skb_empty), REC_COST(n_skb_pair),
	REC_COST(n_skb_nested), REC_COST(mono_ns), { NULL, 0 }
};

/* Parse a line "name value" and set the field of that name. */
static void rec_field_read(const struct rec_field *field, void *to, const char *line)
{
	unsigned long long value;
	char name[32];

	if (sscanf(line, "%31s %llu", name, &value) != 2)
		return;
	for (; field->name; field++)
		if (!strcmp(field->name, name))
			*(kbl_u64 *)((char *)to + field->offset) = value;
}

static bool rec_clock_read(struct kbl_clock *clock)
{
	unsigned long long mono, real, boot, span;
	char *text = rec_module_read("clock"), *rest = text, *line = text ? rec_line(&rest) : NULL;
	bool good = line && sscanf(line, "%llu %llu %llu %llu", &mono, &real, &boot, &span) == 4;

	free(text);
	if (good)
		*clock = (struct kbl_clock){ mono, real, boot, span };
	return good;
}

static void rec_boot_id(kbl_u8 id[16])
{
	char *text = rec_slurp("/proc/sys/kernel/random/boot_id"), *p = text;
	unsigned int byte;

	for (int i = 0; p && i < 16; i++, p += 2) {
		p += *p == '-';
		if (sscanf(p, "%2x", &byte) == 1)
			id[i] = byte;
	}
	free(text);
}

void rec_header_fill(struct kbl_file_header *header, kbl_u64 stext)
{
	struct kbl_clock clock;
	struct utsname name;

	if (!rec_clock_read(&clock))
		rec_die("%s: the contents are not understood", rec_module_path("clock"));
	uname(&name);
	*header = (struct kbl_file_header){
		.magic = KBL_MAGIC,
		.version = KBL_VERSION,
		.header_len = sizeof(*header),
		.ptr_size = sizeof(void *),
		.clock_id = 1,
		.nr_cpus = sysconf(_SC_NPROCESSORS_CONF),
		.stext = stext,
		.start_mono_ns = clock.mono_ns,
		.start_real_ns = clock.real_ns,
	};
	rec_boot_id(header->boot_id);
	snprintf(header->arch, sizeof(header->arch), "%.15s", name.machine);
	snprintf(header->release, sizeof(header->release), "%.63s", name.release);
	snprintf(header->hostname, sizeof(header->hostname), "%.63s", name.nodename);
}

/* Writes nothing if the module does not answer any more. */
void rec_clock_write(struct rec_file *f)
{
	struct kbl_clock clock;

	if (rec_clock_read(&clock))
		rec_table(f, KBL_CHUNK_CLOCK, &clock, 1, sizeof(clock));
}

/* Fields that cannot be read keep their value. */
bool rec_counters_read(struct kbl_counters *c)
{
	char *text = rec_module_read("stats"), *rest = text, *line;

	while (text && (line = rec_line(&rest)))
		rec_field_read(rec_counters, c, line);
	free(text);
	return text;
}

/* Leave what was counted since `before`; the time stays.  Another recorder may reset the module. */
void rec_counters_subtract(struct kbl_counters *c, const struct kbl_counters *before)
{
	for (const struct rec_field *field = rec_counters; field->name; field++) {
		kbl_u64 *value = (kbl_u64 *)((char *)c + field->offset);
		kbl_u64 less = *(const kbl_u64 *)((const char *)before + field->offset);

		if (value != &c->mono_ns)
			*value -= less < *value ? less : *value;
	}
}

/* A calibration that was not made has rounds 0 and is not written. */
void rec_calibration_write(struct rec_file *f)
{
	char *text = rec_module_read("calibration"), *rest = text, *line;
	struct kbl_calibration cost = {};

	while (text && (line = rec_line(&rest))) {
		rec_field_read(rec_costs, &cost, line);
		sscanf(line, "rounds %u", &cost.rounds);
		sscanf(line, "mechanism %u", &cost.mechanism);
	}
	free(text);
	if (cost.rounds)
		rec_table(f, KBL_CHUNK_CALIBRATION, &cost, 1, sizeof(cost));
}

/* Read struct kbl_device[]; returns their number, or -1 if the module does not answer any more. */
int rec_devices_read(struct rec_bytes *table)
{
	char *text = rec_module_read("devices"), *rest = text, *line;
	int n = 0;

	table->len = 0;
	while (text && (line = rec_line(&rest))) {
		struct kbl_device device = {};

		if (sscanf(line, "%u %u %15s", &device.ifindex, &device.netns, device.name) != 3)
			continue;
		rec_append(table, &device, sizeof(device));
		n++;
	}
	free(text);
	return text ? n : -1;
}

void rec_devices_write(struct rec_file *f)
{
	struct rec_bytes table = {};
	int n = rec_devices_read(&table);

	if (n >= 0)
		rec_table(f, KBL_CHUNK_DEVICES, table.data, n, table.len);
	free(table.data);
}

static size_t rec_meta_add(struct rec_bytes *meta, const char *key, const char *value)
{
	rec_append(meta, key, strlen(key));
	rec_append(meta, "=", 1);
	rec_append(meta, value, strcspn(value, "\n"));
	rec_append(meta, "\n", 1);
	return 1;
}

static size_t rec_meta_reasons(struct rec_bytes *meta)
{
	char *text = rec_module_read("reasons"), *rest = text, *line, key[32], reason[64];
	size_t n = 0;
	int number;

	while (text && (line = rec_line(&rest))) {
		if (sscanf(line, "%d %63s", &number, reason) != 2)
			continue;
		snprintf(key, sizeof(key), "drop_reason.%d", number);
		n += rec_meta_add(meta, key, reason);
	}
	free(text);
	return n;
}

/* events=net,drop: the groups that are on when the file begins, if the module has this line. */
static size_t rec_meta_groups(struct rec_bytes *meta)
{
	char *text = rec_module_read("events"), *rest = text, *line, group[32], state[8];
	struct rec_bytes names = {};
	size_t n = 0;

	while (text && (line = rec_line(&rest))) {
		if (sscanf(line, "%31s %7s", group, state) != 2 || strcmp(state, "on"))
			continue;
		rec_append(&names, ",", names.len ? 1 : 0);
		rec_append(&names, group, strlen(group));
	}
	if (names.len) {
		rec_append(&names, "", 1);
		n = rec_meta_add(meta, "events", names.data);
	}
	free(names.data);
	free(text);
	return n;
}

/* probes=A.txt,B.txt */
static size_t rec_meta_lists(struct rec_bytes *meta, const struct rec_options *o)
{
	struct rec_bytes names = {};

	for (size_t i = 0; i < o->nr_lists; i++) {
		const char *slash = strrchr(o->lists[i], '/');
		const char *name = slash ? slash + 1 : o->lists[i];

		rec_append(&names, ",", i ? 1 : 0);
		rec_append(&names, name, strlen(name));
	}
	rec_append(&names, "", 1);
	rec_meta_add(meta, "probes", names.data);
	free(names.data);
	return 1;
}

/* sample.rate=50 (of connections) or sample.packets=50, sample.seed=7 */
static size_t rec_meta_sample(struct rec_bytes *meta, const struct rec_options *o)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", o->sample);
	rec_meta_add(meta, o->sample_packets ? "sample.packets" : "sample.rate", number);
	snprintf(number, sizeof(number), "%u", o->sample_seed);
	return 1 + rec_meta_add(meta, "sample.seed", number);
}

/* missed_ms: interval of reading the missed hits, 0 = never. */
void rec_meta_write(struct rec_file *f, const struct rec_options *o, int missed_ms)
{
	struct rec_bytes meta = {};
	struct utsname name;
	char recorder[32], period[16];
	size_t n = 0;

	uname(&name);
	snprintf(recorder, sizeof(recorder), "kblrecord %d", KBL_VERSION);
	n += rec_meta_add(&meta, "recorder", recorder);
	n += rec_meta_lists(&meta, o);
	n += rec_meta_add(&meta, "kernel", name.version);
	snprintf(period, sizeof(period), "%d", missed_ms);
	if (missed_ms)
		n += rec_meta_add(&meta, "missed_poll_ms", period);
	if (o->filter)
		n += rec_meta_add(&meta, "filter", o->filter);
	if (o->sample)
		n += rec_meta_sample(&meta, o);
	if (o->counter)
		n += rec_meta_add(&meta, "counter", o->counter);
	n += rec_meta_groups(&meta);
	n += rec_meta_reasons(&meta);
	rec_table(f, KBL_CHUNK_META, meta.data, n, meta.len);
	free(meta.data);
}
