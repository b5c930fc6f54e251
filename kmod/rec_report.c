// SPDX-License-Identifier: MIT
/* Report how many records were stored, and how many were lost. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "rec_session.h"

/* Printed on SIGUSR1 and at the end. */
void rec_session_report(struct rec_session *s)
{
	const struct kbl_counters *c = &s->counters;

	rec_counters_read(&s->counters);
	fprintf(stderr, "kblrecord: %llu records, %llu lost, %llu missed, %llu nested",
		(unsigned long long)s->records, (unsigned long long)c->lost,
		(unsigned long long)c->missed, (unsigned long long)c->nested);
	if (c->filtered)
		fprintf(stderr, ", %llu filtered", (unsigned long long)c->filtered);
	if (c->open)
		fprintf(stderr, ", %llu open", (unsigned long long)c->open);
	if (c->unpaired)
		fprintf(stderr, ", %llu unpaired", (unsigned long long)c->unpaired);
	if (c->inner_missed)
		fprintf(stderr, ", %llu inner missed", (unsigned long long)c->inner_missed);
	fprintf(stderr, "; %llu bytes\n", (unsigned long long)s->cpus.bytes);
	if (c->sample_broken)
		fputs("kblrecord: packets were segmented, merged or rewritten, or could have been: "
		      "the sample is incomplete\n", stderr);
}

/* Print the summary again if stdout is a terminal. */
void rec_session_redraw(const struct rec_session *s)
{
	struct winsize size = { .ws_row = 24 };

	if (!s->summary || s->o->out || !isatty(STDOUT_FILENO))
		return;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	fputs("\033[H\033[2J", stdout);
	rec_summary_show(s->summary, stdout, size.ws_row > 4 ? size.ws_row - 4 : 1);
}
