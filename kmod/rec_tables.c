// SPDX-License-Identifier: MIT
/* The file header and the small tables: clock, counters, devices, meta. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rec.h"

static void rec_clock_read(struct kbl_clock *clock)
{
	unsigned long long mono, real, boot, span;
	char *text = rec_slurp(REC_DEBUGFS "/clock", NULL);

	if (sscanf(text, "%llu %llu %llu %llu", &mono, &real, &boot, &span) != 4)
		rec_die(REC_DEBUGFS "/clock: not understood");
	free(text);
	*clock = (struct kbl_clock){ mono, real, boot, span };
}

static void rec_boot_id(kbl_u8 id[16])
{
	char *text = rec_slurp("/proc/sys/kernel/random/boot_id", NULL), *p = text;
	unsigned int byte;

	for (int i = 0; i < 16; i++, p += 2) {
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

	rec_clock_read(&clock);
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

void rec_write_clock(struct rec_file *f)
{
	struct kbl_clock clock;

	rec_clock_read(&clock);
	rec_table(f, KBL_CHUNK_CLOCK, &clock, 1, sizeof(clock));
}

void rec_write_counters(struct rec_file *f, struct kbl_counters *c)
{
	unsigned long long v[6];
	char *text = rec_slurp(REC_DEBUGFS "/stats", NULL);

	if (sscanf(text, "%llu %llu %llu %llu %llu %llu", v, v + 1, v + 2, v + 3, v + 4,
		   v + 5) != 6)
		rec_die(REC_DEBUGFS "/stats: not understood");
	free(text);
	*c = (struct kbl_counters){ v[0], v[1], v[2], v[3], v[4], v[5] };
	rec_table(f, KBL_CHUNK_COUNTERS, c, 1, sizeof(*c));
}

void rec_write_devices(struct rec_file *f)
{
	char *text = rec_slurp(REC_DEBUGFS "/devices", NULL), *rest = text, *line;
	struct rec_bytes table = {};
	size_t n = 0;

	while ((line = strsep(&rest, "\n"))) {
		struct kbl_device device = {};

		if (sscanf(line, "%u %u %15s", &device.ifindex, &device.netns, device.name) != 3)
			continue;
		rec_append(&table, &device, sizeof(device));
		n++;
	}
	rec_table(f, KBL_CHUNK_DEVICES, table.data, n, table.len);
	free(table.data);
	free(text);
}

void rec_write_meta(struct rec_file *f, const char *probes_path)
{
	char *text = rec_slurp(REC_DEBUGFS "/reasons", NULL), *rest = text, *line;
	struct rec_bytes meta = {};
	const char *slash = strrchr(probes_path, '/');
	struct utsname name;
	char entry[256];
	size_t n = 3;

	uname(&name);
	snprintf(entry, sizeof(entry), "recorder=kblrecord %d\nprobes=%.99s\nkernel=%.99s\n",
		 KBL_VERSION, slash ? slash + 1 : probes_path, name.version);
	rec_append(&meta, entry, strlen(entry));
	while ((line = strsep(&rest, "\n"))) {
		char reason[64];
		int number;

		if (sscanf(line, "%d %63s", &number, reason) != 2)
			continue;
		snprintf(entry, sizeof(entry), "drop_reason.%d=%s\n", number, reason);
		rec_append(&meta, entry, strlen(entry));
		n++;
	}
	rec_table(f, KBL_CHUNK_META, meta.data, n, meta.len);
	free(meta.data);
	free(text);
}
