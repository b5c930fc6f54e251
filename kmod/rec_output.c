// SPDX-License-Identifier: MIT
/* The names of the files that -w, -C, -G and -W write, and when to start the next file. */
#include <string.h>
#include <time.h>

#include "rec.h"

/* FILE, formatted by strftime(3) if -G is given. */
static void rec_output_format(struct rec_output *out)
{
	time_t now = time(NULL);
	struct tm parts;

	if (!out->o->file_seconds)
		snprintf(out->path, sizeof(out->path), "%.4000s", out->o->out);
	else if (!localtime_r(&now, &parts) ||
		 !strftime(out->path, 4000, out->o->out, &parts))
		rec_die("%s: the name is too long", out->o->out);
}

/* The number precedes the suffix: a.kbl, a1.kbl, a2.kbl. */
static void rec_output_number(char *path, unsigned int number)
{
	char *slash = strrchr(path, '/'), *dot = strrchr(path, '.'), suffix[256] = "";

	if (dot && dot > (slash ? slash + 1 : path) && strlen(dot) < sizeof(suffix)) {
		strcpy(suffix, dot);
		*dot = 0;
	}
	sprintf(path + strlen(path), "%u%s", number, suffix);
}

/*
 * The number of the next file with the name out->path.  A name comes again after a day, for
 * example, or if the clock is set back.
 */
static unsigned int rec_output_again(struct rec_output *out)
{
	struct rec_named *named;

	for (named = out->named; named < out->named + out->nr_named; named++)
		if (!strcmp(named->path, out->path))
			return named->files++;
	out->named = rec_more(out->named, out->nr_named + 1, sizeof(*out->named));
	out->named[out->nr_named++] = (struct rec_named){ rec_copy(out->path), 1 };
	return 0;
}

/* Open the next file.  Only -W overwrites files of this recording. */
void rec_output_next(struct rec_output *out, const struct kbl_file_header *header)
{
	unsigned int number;

	rec_output_format(out);
	number = rec_output_again(out);
	if (out->o->file_limit)
		number %= out->o->file_limit;
	if (number)
		rec_output_number(out->path, number);
	rec_file_open(&out->file, out->path, header);
	out->began_ns = rec_now_ns();
}

/* True if `more` bytes of records, and the tables at the end, would exceed -C. */
bool rec_output_full(const struct rec_output *out, size_t more, size_t tables)
{
	return out->o->file_bytes && out->file.good > out->empty &&
	       out->file.good + more + tables > out->o->file_bytes;
}

/* True if the time of -G is over. */
bool rec_output_old(const struct rec_output *out)
{
	return out->o->file_seconds &&
	       rec_now_ns() - out->began_ns >= out->o->file_seconds * 1000000000ull;
}
