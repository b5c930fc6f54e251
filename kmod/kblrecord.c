// SPDX-License-Identifier: MIT
/*
 * kblrecord - arms the functions of a probe list and writes what they record.
 *
 * Tables stand at the beginning of the file too, so that one cut short can be
 * read; a later table of the same type replaces the earlier.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rec.h"

#define REC_PERIOD_MS 50

struct rec_options {
	const char *out;
	const char *probes;
	kbl_u64 count;
	double duration;
	bool list;
};

static volatile sig_atomic_t rec_stop;

static void rec_on_signal(int number)
{
	(void)number;
	rec_stop = 1;
}

static void rec_usage(void)
{
	fputs("usage: kblrecord -w OUT.kbl [-f PROBES] [-c COUNT] [--duration S]\n"
	      "       kblrecord -l [-f PROBES]\n"
	      "  -w OUT.kbl    write the recording there\n"
	      "  -f PROBES     list of functions (default: probes-6.1.txt beside the program)\n"
	      "  -c COUNT      stop after that many records\n"
	      "  --duration S  stop after that many seconds\n"
	      "  -l            list the functions and their addresses, record nothing\n", stderr);
	exit(2);
}

static const char *rec_default_probes(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	if (n < 0)
		rec_die("/proc/self/exe: %s", strerror(errno));
	path[n] = 0;
	strcpy(strrchr(path, '/') + 1, "probes-6.1.txt");
	return path;
}

static void rec_parse(struct rec_options *o, int argc, char **argv)
{
	static const struct option longs[] = { { "duration", required_argument, NULL, 'd' }, {} };
	char *end = "";
	int c;

	while ((c = getopt_long(argc, argv, "w:f:c:l", longs, NULL)) >= 0) {
		if (c == 'w')
			o->out = optarg;
		else if (c == 'f')
			o->probes = optarg;
		else if (c == 'c')
			o->count = strtoull(optarg, &end, 10);
		else if (c == 'd')
			o->duration = strtod(optarg, &end);
		else if (c == 'l')
			o->list = true;
		else
			rec_usage();
		if (*end)
			rec_usage();
	}
	if (optind != argc || !o->out == !o->list)
		rec_usage();
	if (!o->probes)
		o->probes = rec_default_probes();
}

static void rec_list(const struct rec_probes *p)
{
	for (size_t i = 0; i < p->n; i++)
		printf("%016llx %s %s%s%s\n", (unsigned long long)p->v[i].slot.addr, p->v[i].arg,
		       p->v[i].name, *p->v[i].module ? " " : "", p->v[i].module);
}

static void rec_control(const char *command)
{
	int fd = open(REC_DEBUGFS "/control", O_WRONLY);

	if (fd < 0 && errno == ENOENT)
		rec_die(REC_DEBUGFS " is missing: insmod kbl.ko, "
			"and mount debugfs on /sys/kernel/debug");
	if (fd < 0 || write(fd, command, strlen(command)) < 0)
		rec_die("%s: %s", command, strerror(errno));
	close(fd);
}

static double rec_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void rec_begin(struct rec_file *f, const struct rec_options *o, struct rec_probes *p,
		      struct rec_symbols *s)
{
	struct kbl_file_header header;
	char command[64];

	rec_control("stop");
	rec_control("clear");
	snprintf(command, sizeof(command), "stext %llx", (unsigned long long)s->stext);
	rec_control(command);
	rec_probes_send(p);
	rec_header_fill(&header, s->stext);
	rec_open(f, o->out, &header);
	rec_write_meta(f, o->probes);
	rec_write_clock(f);
	rec_write_devices(f);
	rec_cpus_open();
	rec_control("start");
	rec_probes_update(p);
	rec_probes_write(p, f);
}

static kbl_u64 rec_run(struct rec_file *f, const struct rec_options *o, struct rec_symbols *s)
{
	double start = rec_seconds(), tick = start;
	struct kbl_counters counters;
	kbl_u64 records = 0;

	while (!rec_stop) {
		double now = rec_seconds();

		poll(NULL, 0, REC_PERIOD_MS);
		records += rec_cpus_read(f, s);
		if (o->count && records >= o->count)
			break;
		if (o->duration > 0 && now - start >= o->duration)
			break;
		if (now - tick >= 1) {
			rec_write_clock(f);
			rec_write_counters(f, &counters);
			tick = now;
		}
	}
	return records;
}

/* Everything again, complete now; the last counters say what is missing. */
static void rec_end(struct rec_file *f, struct rec_probes *p, struct rec_symbols *s,
		    struct kbl_counters *counters)
{
	rec_probes_update(p);
	for (size_t i = 0; i < p->n; i++) {
		struct rec_symbol *symbol = rec_symbol_at(s, p->v[i].slot.addr);

		if (symbol)
			symbol->used = true;
	}
	rec_symbols_write(s, f);
	rec_probes_write(p, f);
	rec_write_devices(f);
	rec_write_clock(f);
	rec_write_counters(f, counters);
	rec_table(f, KBL_CHUNK_END, NULL, 0, 0);
}

static void rec_record(const struct rec_options *o, struct rec_probes *p, struct rec_symbols *s)
{
	struct kbl_counters counters;
	struct rec_file f = {};
	kbl_u64 records;

	rec_begin(&f, o, p, s);
	fprintf(stderr, "kblrecord: recording %zu of %zu functions to %s\n",
		rec_probes_armed(p), p->n, o->out);
	records = rec_run(&f, o, s);
	rec_control("stop");
	records += rec_cpus_read(&f, s);
	rec_end(&f, p, s, &counters);
	if (close(f.fd))
		rec_die("%s: %s", o->out, strerror(errno));
	fprintf(stderr, "kblrecord: %llu records, %llu lost, %llu missed\n",
		(unsigned long long)records, (unsigned long long)counters.lost,
		(unsigned long long)counters.missed);
}

/* A recording that fails on the way must not leave the kernel probed. */
static void rec_disarm(void)
{
	int fd = open(REC_DEBUGFS "/control", O_WRONLY);

	if (fd >= 0) {
		if (write(fd, "stop", 4) < 0)
			perror("kblrecord: stop");
		close(fd);
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = rec_on_signal };
	struct rec_options options = {};
	struct rec_symbols symbols = {};
	struct rec_probes probes = {};

	rec_parse(&options, argc, argv);
	rec_symbols_load(&symbols);
	rec_probes_load(&probes, options.probes, &symbols);
	if (options.list) {
		rec_list(&probes);
		return 0;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	atexit(rec_disarm);
	rec_record(&options, &probes, &symbols);
	return 0;
}
