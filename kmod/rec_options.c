// SPDX-License-Identifier: MIT
/* The command line.  Where tcpdump has a similar option, ours has the same name. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "rec.h"

enum rec_long {
	REC_OPT_COUNTER = 256,
	REC_OPT_CALIBRATE,
	REC_OPT_DURATION,
	REC_OPT_STATS,
	REC_OPT_NO_LIFE,
	REC_OPT_SAMPLE,
	REC_OPT_SAMPLE_PACKETS,
	REC_OPT_CODE,
	REC_OPT_END
};

static bool rec_given[REC_OPT_END];	/* the options of the command line */

/*
 * The options that can be used with -l and with -r.  All other options would have no effect
 * there.
 */
static const int rec_list_takes[] = { 'l', 'D', 'f', REC_OPT_NO_LIFE, 0 };
static const int rec_show_takes[] = { 'r', 'c', 't', 'U', 'v', REC_OPT_STATS, 0 };

static const struct option rec_longs[] = {
	{ "counter", required_argument, NULL, REC_OPT_COUNTER },
	{ "calibrate", no_argument, NULL, REC_OPT_CALIBRATE },
	{ "code", no_argument, NULL, REC_OPT_CODE },
	{ "duration", required_argument, NULL, REC_OPT_DURATION },
	{ "stats", no_argument, NULL, REC_OPT_STATS },
	{ "no-life", no_argument, NULL, REC_OPT_NO_LIFE },
	{ "sample", required_argument, NULL, REC_OPT_SAMPLE },
	{ "sample-packets", required_argument, NULL, REC_OPT_SAMPLE_PACKETS },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{}
};

static const char rec_help[] =
	"usage: kblrecord [-w FILE] [-f LIST] [-e GROUPS] [-c COUNT] [--duration S] [FILTER...]\n"
	"       kblrecord -r FILE [-c COUNT] [--stats | -t -U -v]\n"
	"       kblrecord -l [-f LIST [--no-life]]\n"
	"  -w FILE          write the recording to FILE (- is standard output); default: text\n"
	"  -r FILE          show a recording as text; needs no kernel module\n"
	"  -l, -D           list the functions: ID PROVIDER MODULE FUNCTION NAME\n"
	"  -f LIST          probe the functions in LIST; can be repeated (default:\n"
	"                   probes-VERSION.txt beside the program)\n"
	"  --no-life        with -f: leave out the quiet probes for allocations, clones and frees\n"
	"  -e GROUPS        record only these groups of events: net,qdisc,sock,copy,drop,syscall,\n"
	"                   irq,softirq,table,sched,lock,fault,queue,syscalls, all or none\n"
	"                   (default: the groups that are on in the module)\n"
	"  --counter EVENT  count a hardware event in each call\n"
	"  --calibrate      first measure what the probes cost\n"
	"  --code           with -w: also record the machine code of the functions, as it is in\n"
	"                   memory before the probes are set\n"
	"  --sample N[/SEED] record one connection in N; hosts with the same N and SEED\n"
	"                   choose the same connections\n"
	"  --sample-packets N[/SEED]  record one packet in N; refused where something\n"
	"                   segments, merges or rewrites packets\n"
	"  -c COUNT         stop after that many records\n"
	"  --duration S     stop after that many seconds\n"
	"  -C MB            start another file before this one exceeds MB million bytes\n"
	"  -G S             start another file every S seconds; strftime(3) formats FILE\n"
	"  -W COUNT         with -C: keep that many files, then overwrite the first\n"
	"  --stats          show a summary of each function's calls instead of text\n"
	"  -t               show no times; -tt: seconds since 1970, -ttt: since the previous\n"
	"                   line, -tttt: with the date\n"
	"  -U               show records immediately, calls in the order of their returns; with\n"
	"                   -w: write records to FILE a hundred times a second\n"
	"  -v               also show records that only say which thread is running\n"
	"FILTER: see kblrecord(1)\n";

static void __attribute__((noreturn)) rec_usage(const char *wrong)
{
	if (wrong)
		fprintf(stderr, "kblrecord: %s\n", wrong);
	fputs(rec_help, wrong ? stderr : stdout);
	exit(wrong ? 2 : 0);
}

/* Parse a number greater than 0. */
static double rec_number(const char *option, const char *text, double most, bool whole)
{
	char *end, wrong[160];
	double value = strtod(text, &end);

	if (end != text && !*end && value > 0 && value <= most &&
	    (!whole || value == (double)(kbl_u64)value))
		return value;
	snprintf(wrong, sizeof(wrong), "%s: '%.80s' is not a %s above 0", option, text,
		 whole ? "whole number" : "number");
	rec_usage(wrong);
}

/* "50" or "50/7": one connection or packet in 50, with seed 7. */
static void rec_option_sample(struct rec_options *o, const char *text, bool packets)
{
	unsigned long long rate, seed = 0;
	char *end;

	rate = strtoull(text, &end, 10);
	if (*end == '/' && end[1])
		seed = strtoull(end + 1, &end, 10);
	if (*end || text[strspn(text, "0123456789/")] || !rate || rate > UINT32_MAX ||
	    seed > UINT32_MAX)
		rec_usage(packets ? "--sample-packets takes a number N above 0, or N/SEED, of at "
				    "most 32 bits each" :
				    "--sample takes a number N above 0, or N/SEED, of at most 32 "
				    "bits each");
	o->sample = rate;
	o->sample_seed = seed;
	o->sample_packets = packets;
}

static void rec_option_list(struct rec_options *o, const char *path)
{
	o->lists = rec_more(o->lists, o->nr_lists + 1, sizeof(*o->lists));
	o->lists[o->nr_lists++] = path;
}

/* Options with a value; false: another option. */
static bool rec_option_value(struct rec_options *o, int option, const char *value)
{
	if (option == 'w')
		o->out = value;
	else if (option == 'r')
		o->in = value;
	else if (option == 'f')
		rec_option_list(o, value);
	else if (option == 'e')
		o->events = value;
	else if (option == 'c')
		o->count = rec_number("-c", value, 1e18, true);
	else if (option == 'C')
		o->file_bytes = 1e6 * rec_number("-C", value, 1e12, false);
	else if (option == 'G')
		o->file_seconds = rec_number("-G", value, 4e9, true);
	else if (option == 'W')
		o->file_limit = rec_number("-W", value, 1e6, true);
	else if (option == REC_OPT_COUNTER)
		o->counter = value;
	else if (option == REC_OPT_SAMPLE)
		rec_option_sample(o, value, false);
	else if (option == REC_OPT_SAMPLE_PACKETS)
		rec_option_sample(o, value, true);
	else if (option == REC_OPT_DURATION)
		o->duration = rec_number("--duration", value, 1e9, false);
	else
		return false;
	return true;
}

static bool rec_option_flag(struct rec_options *o, int option)
{
	if (option == 'l' || option == 'D')
		o->list = true;
	else if (option == 't')
		o->time_style++;
	else if (option == 'U')
		o->unbuffered = true;
	else if (option == 'v')
		o->verbose = true;
	else if (option == REC_OPT_CALIBRATE)
		o->calibrate = true;
	else if (option == REC_OPT_CODE)
		o->code = true;
	else if (option == REC_OPT_STATS)
		o->stats = true;
	else if (option == REC_OPT_NO_LIFE)
		o->life = false;
	else
		return false;
	return true;
}

static void rec_option(struct rec_options *o, int option, const char *value)
{
	rec_given[option] = true;
	if (rec_option_value(o, option, value) || rec_option_flag(o, option))
		return;
	if (option == 'h')
		rec_usage(NULL);
	if (option != 'V')
		rec_usage("an unknown option, or an option without its value");
	printf("kblrecord, KBL version %d\n", KBL_VERSION);
	exit(0);
}

/* The filter may be several words, as with tcpdump. */
static char *rec_join(char **word, int n)
{
	struct rec_bytes text = {};

	for (int i = 0; i < n; i++) {
		rec_append(&text, " ", i ? 1 : 0);
		rec_append(&text, word[i], strlen(word[i]));
	}
	rec_append(&text, "", 1);
	return text.data;
}

/* The filter that the module gets: the expression, and what the sampling chooses. */
static char *rec_sampled(const struct rec_options *o)
{
	const char *own = o->expression ? o->expression : "";
	size_t size = strlen(own) + 64;
	char *text = rec_more(NULL, size, 1);

	snprintf(text, size, *own ? "%s %u/%u and (%s)" : "%s %u/%u",
		 o->sample_packets ? "sample-packets" : "sample", o->sample, o->sample_seed, own);
	return text;
}

/* "-c" or "--stats". */
static void rec_option_name(int option, char *name, size_t size)
{
	const struct option *found = rec_longs;

	while (found->name && found->val != option)
		found++;
	if (option < REC_OPT_COUNTER)
		snprintf(name, size, "-%c", option);
	else
		snprintf(name, size, "--%s", found->name);
}

/* The message about an option that has no effect with -l or -r, or NULL. */
static const char *rec_options_foreign(const struct rec_options *o, const char *mode,
				       const int *takes)
{
	static char wrong[64];
	char name[32];

	for (int option = 1; option < REC_OPT_END; option++) {
		const int *take = takes;

		while (*take && *take != option)
			take++;
		if (*take || !rec_given[option])
			continue;
		rec_option_name(option, name, sizeof(name));
		snprintf(wrong, sizeof(wrong), "%s cannot be used with %s", name, mode);
		return wrong;
	}
	snprintf(wrong, sizeof(wrong), "%s takes no filter", mode);
	return o->expression ? wrong : NULL;
}

/* Options about text, which neither -w nor --stats shows. */
static const char *rec_options_text(const struct rec_options *o)
{
	if (o->out && (o->time_style || o->verbose))
		return "-t and -v have no effect with -w, which shows no text";
	if (o->stats && (o->time_style || o->verbose))
		return "-t and -v have no effect with --stats, which shows no text";
	if (o->stats && !o->out && o->unbuffered)
		return "with --stats, -U needs -w";
	return NULL;
}

static const char *rec_options_files(const struct rec_options *o)
{
	if ((rec_given['C'] || o->file_seconds || o->file_limit) && !o->out)
		return "-C, -G and -W need -w";
	if (o->code && !o->out)
		return "--code needs -w";
	if ((rec_given['C'] || o->file_seconds) && !strcmp(o->out, "-"))
		return "-C and -G need files: they cannot write to standard output";
	if (o->file_limit && !rec_given['C'])
		return "-W needs -C";
	if (rec_given['C'] && o->file_bytes < REC_READ_BYTES)
		return "-C takes at least 0.262144: a file has at least one chunk of records";
	return NULL;
}

/* Check for options that exclude one another, and for options without effect. */
static const char *rec_options_wrong(const struct rec_options *o)
{
	const char *wrong = NULL;

	if ((o->in != NULL) + (o->out != NULL) + o->list > 1)
		return "-w, -r and -l cannot be used together";
	if (o->list)
		wrong = rec_options_foreign(o, "-l", rec_list_takes);
	else if (o->in)
		wrong = rec_options_foreign(o, "-r", rec_show_takes);
	if (!wrong)
		wrong = rec_options_text(o);
	if (!wrong && rec_given[REC_OPT_SAMPLE] && rec_given[REC_OPT_SAMPLE_PACKETS])
		wrong = "--sample and --sample-packets exclude one another";
	if (!wrong && !o->life && !o->nr_lists)
		wrong = "--no-life needs -f";
	return wrong ? wrong : rec_options_files(o);
}

void rec_options_parse(struct rec_options *o, int argc, char **argv)
{
	const char *wrong;
	int option;

	o->life = true;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "w:r:lDf:e:c:C:G:W:tUvhV", rec_longs, NULL)) >= 0)
		rec_option(o, option, optarg);
	if (optind < argc)
		o->expression = rec_join(argv + optind, argc - optind);
	o->filter = o->sample ? rec_sampled(o) : o->expression;
	wrong = rec_options_wrong(o);
	if (wrong)
		rec_usage(wrong);
}
