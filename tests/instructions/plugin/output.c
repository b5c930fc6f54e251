// SPDX-License-Identifier: MIT
/* The file of one count: docs/instructions.md describes it. */
#include <stdio.h>
#include <string.h>

#include "counting.h"

struct head {
	char magic[8];
	uint64_t version, nr_marks, nr_blocks, nr_accesses;
	uint64_t kernel, probe, user;
	uint64_t cuts, faults, marks_lost, accesses_lost;
	uint64_t nr_touches, nr_exceptions, touches_lost;
};

struct block_row {
	uint64_t start, after, insns, kernel_runs, kernel, probe_runs, probe;
};

static bool ran(const struct block *b)
{
	return b->runs[SIDE_KERNEL] || b->runs[SIDE_PROBE];
}

static void write_blocks(FILE *file, struct head *head)
{
	for (struct block *b = block_first(); b; b = block_after(b)) {
		struct block_row row = { b->start, b->after, b->insns, b->runs[SIDE_KERNEL],
					 b->executed[SIDE_KERNEL], b->runs[SIDE_PROBE],
					 b->executed[SIDE_PROBE] };

		if (ran(b))
			head->nr_blocks += fwrite(&row, sizeof(row), 1, file);
	}
}

static void write_accesses(FILE *file, struct head *head)
{
	const struct access *a;

	for (unsigned int slot = 0; (a = access_at(slot)); slot++)
		if (a->function)
			head->nr_accesses += fwrite(a, sizeof(*a), 1, file);
}

/* Returns 0, or -1 if it cannot be written. */
int output_write(const char *path)
{
	struct head head = {
		.magic = "KBLINSNS",
		.version = 3,
		.kernel = flow_sums[SIDE_KERNEL],
		.probe = flow_sums[SIDE_PROBE],
		.user = flow_sums[SIDE_USER],
		.cuts = flow_cuts,
		.faults = flow_faults,
		.marks_lost = marks_lost,
		.accesses_lost = accesses_lost,
		.touches_lost = touches_lost,
	};
	const struct mark *marks = marks_all(&head.nr_marks);
	const struct touch *touches = touches_all(&head.nr_touches);
	const struct exception *exceptions = exceptions_all(&head.nr_exceptions);
	FILE *file = fopen(path, "wb");
	int bad;

	if (!file)
		return -1;
	fwrite(&head, sizeof(head), 1, file);
	fwrite(marks, sizeof(*marks), head.nr_marks, file);
	write_blocks(file, &head);
	write_accesses(file, &head);
	fwrite(touches, sizeof(*touches), head.nr_touches, file);
	fwrite(exceptions, sizeof(*exceptions), head.nr_exceptions, file);
	rewind(file);	/* now the numbers are known */
	fwrite(&head, sizeof(head), 1, file);
	bad = ferror(file);
	return fclose(file) || bad ? -1 : 0;
}
