// SPDX-License-Identifier: MIT
/*
 * Runs in the guest and sends addresses to the plugin of its emulator, by nops (see messages.h):
 *   announce symbols [watch NAME...] [accesses NAME...]
 *			where probes, interrupts and the module's handlers are, functions whose
 *			entries make a mark, and functions whose loads and stores are counted
 *   announce begin|end	count from here, and to here
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "send.h"

#define MOST_SYMBOLS 500000
#define PAGE 4096

struct symbol {
	uint64_t addr;
	char *name;
	bool module;	/* code of kbl.ko */
};

static struct symbol *symbols;
static size_t nr_symbols;

static void fail(const char *what)
{
	fprintf(stderr, "announce: %s\n", what);
	exit(1);
}

static void tell_range(enum message message, uint64_t begin, uint64_t end)
{
	send(MESSAGE_FROM, begin);
	send(message, end);
}

/* Letters are sent before the address that they name, four at a time. */
static void tell_named(enum message message, const struct symbol *s)
{
	size_t length = strlen(s->name);

	for (size_t at = 0; at < length; at += sizeof(uint32_t)) {
		uint32_t letters = 0;
		size_t left = length - at;

		memcpy(&letters, s->name + at, left < sizeof(letters) ? left : sizeof(letters));
		send(MESSAGE_LETTERS, letters);
	}
	send(message, s->addr);
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *l = left, *r = right;

	return l->addr < r->addr ? -1 : l->addr > r->addr;
}

/* A line is "ADDRESS TYPE NAME", and behind a tab the module's name.  They are many: no scanf. */
static void add_symbol(char *line)
{
	char *at, *name, *end;
	uint64_t addr = strtoull(line, &at, 16);

	if (!(addr >> 63) || at[0] != ' ' || !at[1] || at[2] != ' ')
		return;
	name = at + 3;
	end = name + strcspn(name, "\t\n");
	symbols[nr_symbols++] = (struct symbol){ addr, strndup(name, end - name),
		(at[1] | 0x20) == 't' && strstr(end, "[kbl]") };
}

static void read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[1024];

	symbols = calloc(MOST_SYMBOLS, sizeof(*symbols));
	if (!file || !symbols)
		fail("/proc/kallsyms");
	while (nr_symbols < MOST_SYMBOLS && fgets(line, sizeof(line), file))
		add_symbol(line);
	fclose(file);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
}

static uint64_t next_address(const struct symbol *s)
{
	const struct symbol *after = s;

	while (after < symbols + nr_symbols && after->addr == s->addr)
		after++;
	return after < symbols + nr_symbols ? after->addr : s->addr + PAGE;
}

static const struct symbol *find(const char *name)
{
	for (size_t i = 0; i < nr_symbols; i++)
		if (!strcmp(symbols[i].name, name))
			return &symbols[i];
	return NULL;
}

static void tell_if_there(enum message message, const char *const *names)
{
	for (; *names; names++) {
		const struct symbol *s = find(*names);

		if (s)
			send(message, s->addr);
	}
}

/* ftrace's trampoline for all its users together ends some bytes behind a label. */
static void tell_shared_trampoline(const char *name, const char *label, unsigned int behind)
{
	const struct symbol *begin = find(name), *end = find(label);

	if (begin && end)
		tell_range(MESSAGE_PROBE, begin->addr, end->addr + behind);
}

static void tell_probes(void)
{
	static const char *const entries[] = { "kbl_fprobe_entry", "kbl_fprobe_pv_entry",
		"kbl_kretprobe_entry", "kbl_kretprobe_trap_entry", "kbl_kretprobe_pv_entry", NULL };
	static const char *const exits[] = { "kbl_fprobe_exit", "kbl_fprobe_pv_exit",
		"kbl_kretprobe_exit", "kbl_kretprobe_pv_exit", NULL };
	const struct symbol *hook = find("arch_rethook_trampoline");

	if (hook)
		tell_range(MESSAGE_PROBE, hook->addr, next_address(hook));
	tell_shared_trampoline("ftrace_caller", "ftrace_caller_end", 8);
	tell_shared_trampoline("ftrace_regs_caller", "ftrace_regs_caller_end", 64);
	tell_if_there(MESSAGE_ENTRY, entries);
	tell_if_there(MESSAGE_EXIT, exits);
}

/* The last function's end is not known, but nothing else is on its page. */
static void tell_module(void)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (const struct symbol *s = symbols; s < symbols + nr_symbols; s++) {
		if (s->module && s->addr < begin)
			begin = s->addr;
		if (s->module && s->addr > end)
			end = s->addr;
	}
	if (end)
		tell_range(MESSAGE_MODULE, begin, (end | (PAGE - 1)) + 1);
}

static void tell_symbols(void)
{
	static const char *const switches[] = { "__switch_to_asm", NULL };

	send(MESSAGE_CLEAR, 0);
	tell_module();
	tell_probes();
	tell_if_there(MESSAGE_SWITCH, switches);
	for (const struct symbol *s = symbols; s < symbols + nr_symbols; s++) {
		if (!strcmp(s->name, "ftrace_trampoline"))
			tell_range(MESSAGE_PROBE, s->addr, s->addr + PAGE);
		else if (!strcmp(s->name, "irq_entries_start") ||
			 !strcmp(s->name, "spurious_entries_start"))
			tell_range(MESSAGE_VECTORS, s->addr, next_address(s));
		else if (!strncmp(s->name, "kbl_on_", 7))
			send(MESSAGE_HANDLER, s->addr);
		else if (!strncmp(s->name, "asm_exc_", 8) || !strncmp(s->name, "asm_sysvec_", 11))
			tell_named(MESSAGE_EXCEPTION, s);
	}
}

/* Returns the first word behind the names. */
static char **tell_names(enum message message, char **names)
{
	for (; *names && strcmp(*names, "watch") && strcmp(*names, "accesses"); names++) {
		const struct symbol *s = find(*names);

		if (!s)
			fail(*names);
		if (message == MESSAGE_ACCESSES)
			tell_range(message, s->addr, next_address(s));
		else
			send(message, s->addr);
	}
	return names;
}

static void tell_all(char **words)
{
	read_symbols();
	tell_symbols();
	while (*words)
		words = tell_names(strcmp(*words, "watch") ? MESSAGE_ACCESSES : MESSAGE_WATCH,
				   words + 1);
}

int main(int argc, char **argv)
{
	if (argc < 2 || !prepare_to_send())
		fail("symbols [watch NAME...] [accesses NAME...], or begin, or end");
	if (!strcmp(argv[1], "begin"))
		send(MESSAGE_BEGIN, 0);
	else if (!strcmp(argv[1], "end"))
		send(MESSAGE_END, 0);
	else if (!strcmp(argv[1], "symbols"))
		tell_all(argv + 2);
	else
		fail("unknown word");
	return 0;
}
