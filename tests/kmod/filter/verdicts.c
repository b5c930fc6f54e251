// SPDX-License-Identifier: MIT
/*
 * verdicts FILE: of each filter on standard input, a line, the verdict over
 * each struct subject of FILE: N, U or Y; or "AT LEN WHY" where it is refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kbl_filter.h"

struct subject {
	u8 is_sock;
	u8 has_ipv4;
	u8 has_ipv6;
	u8 has_arp;
	u8 outgoing;
	u8 pad[3];
	struct kbl_ext_skb skb;
	struct kbl_ext_ipv4 ipv4;
	struct kbl_ext_ipv6 ipv6;
	struct kbl_ext_ipv6_l4 l4;
	u8 spa[4];
	u8 tpa[4];
	char dev[KBL_FILTER_NAME];
	u32 tid;
	u32 tgid;
	struct kbl_filter_sock sock;
};

static char verdict(const struct kbl_filter_program *program, const struct subject *s)
{
	struct kbl_filter_facts facts = { .tid = s->tid, .tgid = s->tgid };

	if (s->is_sock)
		kbl_facts_sock(&facts, &s->sock, s->outgoing);
	else
		kbl_facts_packet(&facts, &s->skb, s->has_ipv4 ? &s->ipv4 : NULL,
				 s->has_ipv6 ? &s->ipv6 : NULL, &s->l4);
	if (s->has_arp)
		kbl_facts_arp(&facts, s->spa, s->tpa);
	facts.dev_known = s->dev[0];
	memcpy(facts.dev, s->dev, sizeof(facts.dev));
	return "NUY"[kbl_filter_eval(program, &facts)];
}

int main(int argc, char **argv)
{
	static struct subject subjects[4096];
	static struct kbl_filter_program program;
	struct kbl_filter_error error;
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	char *line = NULL;
	size_t room = 0, n;
	ssize_t len;

	if (!file)
		return 2;
	n = fread(subjects, sizeof(subjects[0]), 4096, file);
	fclose(file);
	while ((len = getline(&line, &room, stdin)) > 0) {
		/* An exact copy, so that a look behind its end is seen. */
		char *text = strndup(line, len - (line[len - 1] == '\n'));

		if (kbl_filter_parse(&program, text, &error))
			printf("%u %u %s", error.at, error.len, error.why);
		else
			for (size_t i = 0; i < n; i++)
				putchar(verdict(&program, &subjects[i]));
		putchar('\n');
		free(text);
	}
	free(line);
	return 0;
}
