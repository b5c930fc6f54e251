// SPDX-License-Identifier: MIT
/* A recording: set up the kernel module, read what it writes, and stop it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec_session.h"

#define REC_PERIOD_MS 90
#define REC_FILE_MS 180	/* then read sub-buffers that are not full, which needs a copy */
#define REC_HASTY_MS 10		/* -U */
#define REC_WAIT_NS 200000000ull	/* text waits that long for earlier records */
#define REC_TICK_NS 1000000000ull

/*
 * What to probe: the functions of the lists, and, as quiet probes, the functions with life
 * events.
 */
void rec_session_probes(struct rec_session *s, struct rec_options *o)
{
	const char *standard = rec_list_default();
	bool own = o->nr_lists;

	rec_symbols_reload(&s->symbols);
	if (!own && !standard)
		rec_die("there is no probes-VERSION.txt beside the program: give a list with -f");
	if (!own) {
		o->lists = rec_more(NULL, 1, sizeof(*o->lists));
		o->lists[o->nr_lists++] = standard;
	}
	for (size_t i = 0; i < o->nr_lists; i++)
		rec_list_load(&s->probes, o->lists[i], &s->symbols, false);
	if (own && o->life && standard)
		rec_list_load(&s->probes, standard, &s->symbols, true);
	else if (own && o->life && !o->list)
		fputs("kblrecord: no probes-VERSION.txt beside the program: "
		      "allocations, clones and frees are not recorded\n", stderr);
	for (size_t i = 0; i < s->probes.n; i++)
		if (s->probes.v[i].asked)
			return;
	rec_die("%s: none of its functions is in this kernel", o->lists[0]);
}

/* "-e net,drop" switches on exactly these groups; the module knows the names. */
static void rec_session_groups(const char *words)
{
	char *copy = rec_copy(words), *rest = copy, *word, text[128];
	bool none = !strcmp(words, "none");

	rec_module_set("events", "-all\n");
	while (!none && (word = strsep(&rest, ", "))) {
		snprintf(text, sizeof(text), "+%.99s\n", word);
		if (*word)
			rec_module_set("events", text);
	}
	free(copy);
}

/* Set everything that an earlier recording may have changed. */
static void rec_session_setup(struct rec_session *s)
{
	const struct rec_options *o = s->o;
	char command[64];

	rec_module_set("control", "deactivate\n");
	rec_module_set("control", "clear\n");
	snprintf(command, sizeof(command), "stext 0x%llx\n", (unsigned long long)s->symbols.stext);
	rec_module_set("control", command);
	rec_probes_send(&s->probes);
	/* A wrong expression is named as it was typed. */
	if (o->sample && o->expression)
		rec_module_set("filter", o->expression);
	rec_module_set("filter", o->filter ? o->filter : "\n");
	if (o->counter)
		rec_module_set("counter", o->counter);
	else
		rec_module_write("counter", "off\n");
	if (o->events)
		rec_session_groups(o->events);
	if (o->calibrate)
		rec_module_set("control", "calibrate\n");
}

/* Devices may appear and disappear. */
static void rec_session_devices(struct rec_session *s)
{
	int n = rec_devices_read(&s->devices);

	s->names.device = (void *)s->devices.data;
	s->names.devices = n > 0 ? n : 0;
}

static void rec_session_names(struct rec_session *s)
{
	struct kbl_file_header now;
	char *text = rec_module_read("reasons"), *rest = text, *line, reason[64];
	int number;

	rec_header_fill(&now, s->symbols.stext);
	rec_session_devices(s);
	s->names.symbols = &s->symbols;
	s->names.real_minus_mono = now.start_real_ns - (kbl_s64)now.start_mono_ns;
	memcpy(s->names.machine, now.arch, sizeof(s->names.machine) - 1);
	for (size_t i = 0; i < s->probes.n; i++)
		rec_names_probe(&s->names, s->probes.v[i].slot.id, s->probes.v[i].name);
	while (text && (line = rec_line(&rest)))
		if (sscanf(line, "%d %63s", &number, reason) == 2)
			rec_names_reason(&s->names, number, reason);
	free(text);
}

void rec_session_take(void *self, unsigned int cpu, const struct rec_walk *walk, char *data,
		      size_t len)
{
	struct rec_session *s = self;

	if (s->text)
		rec_text_take(s->text, cpu, walk, data, len);
	if (s->summary)
		rec_summary_take(s->summary, cpu, walk, data, len);
	if (s->o->out)
		rec_session_file_take(s, cpu, walk, data, len);
}

/*
 * From here on only this process can read the buffers.  This fails if another process reads one;
 * nothing has been changed yet in that case.
 */
void rec_session_open(struct rec_session *s)
{
	rec_cpus_find(&s->cpus);
	if (!s->cpus.n)
		rec_die("%s: no cpu files", rec_module_path(""));
}

void rec_session_begin(struct rec_session *s)
{
	const struct rec_options *o = s->o;

	rec_session_setup(s);
	if (o->code)	/* now no probe is armed */
		rec_code_read(&s->code, &s->probes, &s->symbols);
	rec_missed_begin(s);
	if (o->out)
		rec_session_file_open(s);
	rec_module_set("control", "activate\n");
	rec_probes_update(&s->probes);
	rec_counters_read(&s->counters);
	rec_session_names(s);
	if (o->out)
		rec_session_file_begin(s);
	else if (!o->stats)
		s->text = rec_text_new(o, &s->names);
	if (o->stats)
		s->summary = rec_summary_new(&s->names);
	s->began_ns = s->tick_ns = s->read_ns = rec_now_ns();
	fprintf(stderr, "kblrecord: recording %zu of %zu functions%s%s\n",
		rec_probes_armed(&s->probes), s->probes.n, o->out ? " to " : "",
		o->out ? s->out.path : "");
	rec_probes_report(&s->probes);
}

static void rec_session_read(struct rec_session *s)
{
	const struct rec_sink sink = { rec_session_take, s };
	kbl_u64 left = s->o->count ? s->o->count - s->records : 0;

	if (s->o->count && !left)
		return;
	s->records += rec_cpus_drain(&s->cpus, &s->symbols, &sink, left);
}

/*
 * Each second: write clock and counters, find new CPUs, check whether the module was
 * deactivated.
 */
static void rec_session_tick(struct rec_session *s)
{
	s->tick_ns = rec_now_ns();
	if (s->symbols.stale)
		rec_symbols_reload(&s->symbols);
	rec_cpus_find(&s->cpus);
	rec_counters_read(&s->counters);
	/* What has been recorded so far belongs to the old file. */
	if (s->o->out && rec_output_old(&s->out))
		rec_session_read(s);
	if (s->o->out)
		rec_session_file_tick(s);
	if (s->text)
		rec_session_devices(s);
	rec_session_redraw(s);
	s->stopped = !s->cpus.gone && !rec_module_active();
}

/*
 * Wait until there is much to read, or until it is time to read the little there is, or the
 * missed hits.
 */
static void rec_session_wait(struct rec_session *s)
{
	int period = s->o->unbuffered ? REC_HASTY_MS : s->text ? REC_PERIOD_MS : REC_FILE_MS;
	kbl_u64 next = s->read_ns + period * 1000000ull, now = rec_now_ns();
	int ms = next > now ? (next - now) / 1000000 + 1 : 0, missed = rec_missed_wait(s);
	bool full = rec_cpus_wait(&s->cpus, ms < missed ? ms : missed);

	now = rec_now_ns();
	if (!rec_missed_wait(s))
		rec_missed_poll(s);
	if (!full && now < next)
		return;
	rec_session_read(s);
	s->read_ns = rec_now_ns();
}

/* Read once; false: the recording is over. */
bool rec_session_turn(struct rec_session *s)
{
	const struct rec_options *o = s->o;
	kbl_u64 now;

	rec_session_wait(s);
	now = rec_now_ns();
	if (s->text)
		rec_text_flush(s->text, o->unbuffered ? ~0ull : now - REC_WAIT_NS);
	if (s->text && rec_text_failed())
		return false;
	if (now - s->tick_ns >= REC_TICK_NS)
		rec_session_tick(s);
	if (o->duration > 0 && now - s->began_ns >= o->duration * 1e9)
		return false;
	return !s->cpus.gone && !s->stopped && (!o->count || s->records < o->count);
}

/* Stop the module and read the rest; returns the exit status. */
int rec_session_end(struct rec_session *s)
{
	kbl_u64 before;

	rec_missed_poll(s);
	rec_module_write("control", "deactivate\n");
	rec_missed_poll(s);
	do {
		before = s->records;
		rec_session_read(s);
	} while (s->records != before);
	rec_counters_read(&s->counters);
	if (s->o->out)
		rec_session_file_end(s);
	if (s->text)
		rec_text_flush(s->text, ~0ull);
	if (s->summary)
		rec_summary_show(s->summary, strcmp(s->o->out ? s->o->out : "", "-") ? stdout :
				 stderr, 0);
	if (s->cpus.gone)
		fputs("kblrecord: the kernel module was unloaded\n", stderr);
	else if (s->stopped)
		fputs("kblrecord: the kernel module was deactivated\n", stderr);
	rec_session_report(s);
	return s->cpus.gone || rec_text_failed();
}
