// SPDX-License-Identifier: MIT
/*
 * Read probe lists.  A line is "NAME [0xADDR] [CARRIER...] [EVENT] [module=M] [void]
 * [quiet|inner]". A # starts a comment.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rec.h"

static bool rec_list_returns(struct rec_probe *probe, const char *word)
{
	static const char *const words[] = { "void", "int", "bool" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], word)) {
			probe->returns = words[i];
			return true;
		}
	return false;
}

static bool rec_list_carrier(struct kbl_probe *slot, const char *word)
{
	int carrier = rec_carrier_named(word), n = 0;

	while (n < KBL_MAX_CARRIERS && slot->carrier[n])
		n++;
	if (carrier < 0 || n == KBL_MAX_CARRIERS)
		return false;
	slot->carrier[n] = carrier;
	if (carrier == (KBL_CARRY_SKB << 4 | KBL_AT_RET))
		slot->ret = 1;
	else if (carrier >> 4 <= KBL_CARRY_SKBP && slot->arg == 0xff)
		slot->arg = carrier & 15;
	return true;
}

static bool rec_list_word(struct rec_probe *probe, char *word)
{
	char *end;

	if (!strncmp(word, "0x", 2)) {
		probe->asked = strtoull(word, &end, 16);
		return !*end && probe->asked;
	}
	if (!strncmp(word, "module=", 7)) {
		probe->module = word + 7;
		return word[7];
	}
	if (!strcmp(word, "quiet")) {
		probe->quiet = true;
		return true;
	}
	if (!strcmp(word, "inner")) {
		probe->slot.flags |= KBL_PROBE_INNER;
		return true;
	}
	if (strchr(word, '@'))
		return rec_list_carrier(&probe->slot, word);
	if (rec_list_returns(probe, word))
		return true;
	if (probe->slot.event || rec_event_named(word) < 0)
		return false;
	probe->slot.event = rec_event_named(word);
	return true;
}

static const char rec_list_inner[] =
	"'inner' goes with no carrier, no event and not with 'quiet'";

static bool rec_list_inner_right(const struct rec_probe *probe)
{
	return !(probe->slot.flags & KBL_PROBE_INNER) ||
	       (!probe->slot.carrier[0] && !probe->slot.event && !probe->quiet);
}

/*
 * If two lists have the same address, it gets one probe.  The words of the first list count; only
 * words that it lacks are taken from the second.  The probe is quiet only if both lists say so.
 */
static void rec_list_merge(struct rec_probe *to, const struct rec_probe *from)
{
	if (!to->slot.event)
		to->slot.event = from->slot.event;
	if (!to->slot.carrier[0]) {
		memcpy(to->slot.carrier, from->slot.carrier, sizeof(to->slot.carrier));
		to->slot.arg = from->slot.arg;
		to->slot.ret = from->slot.ret;
	}
	if (!*to->returns)
		to->returns = from->returns;
	to->quiet &= from->quiet;
	to->slot.flags &= from->slot.flags;
}

static void rec_list_add(struct rec_probes *p, const struct rec_probe *probe, kbl_u64 addr,
			 const char *module)
{
	struct rec_probe *to = NULL;

	for (size_t i = 0; i < p->n && !to; i++)
		if (p->v[i].asked == addr &&
		    (addr || (!strcmp(p->v[i].name, probe->name) &&
			      !strcmp(p->v[i].module, module))))
			to = &p->v[i];
	if (to) {
		rec_list_merge(to, probe);
		return;
	}
	to = rec_probe_add(p, probe);
	to->name = rec_copy(probe->name);
	to->module = rec_copy(module);
	to->asked = addr;
	to->slot.error = addr ? 0 : -ENOENT;
}

/*
 * A name may have several addresses; one without address is kept, but not armed.  A line without
 * module= means the kernel's image, or, if that has no such function, the loaded modules.
 */
static void rec_list_resolve(struct rec_probes *p, const struct rec_probe *probe,
			     const struct rec_symbols *s, bool life_only)
{
	const char *module = probe->module;
	const struct rec_symbol *symbol;
	kbl_u64 site;

	if (probe->asked) {
		rec_list_add(p, probe, probe->asked, module);
		return;
	}
	symbol = rec_symbol_named(s, probe->name, module, NULL);
	site = symbol ? 0 : rec_site_address(probe->name);
	if (!symbol && !site && !*module) {
		module = NULL;
		symbol = rec_symbol_named(s, probe->name, module, NULL);
	}
	if (!symbol && (!life_only || site))
		rec_list_add(p, probe, site, probe->module);
	for (; symbol; symbol = rec_symbol_named(s, probe->name, module, symbol))
		rec_list_add(p, probe, symbol->addr, symbol->module);
}

/* life_only: only functions with a life event, and without recording their CALLs. */
void rec_list_load(struct rec_probes *p, const char *path, const struct rec_symbols *s,
		   bool life_only)
{
	char *text = rec_slurp(path), *rest = text, *line;

	if (!text)
		rec_die("%s: %s", path, strerror(errno));
	for (int number = 1; (line = strsep(&rest, "\n")); number++) {
		struct rec_probe probe = { .module = "", .returns = "", .list = path,
					   .line = number, .slot = { .arg = 0xff } };
		char *word;

		line[strcspn(line, "#")] = 0;
		while ((word = strsep(&line, " \t\r"))) {
			if (*word && !probe.name)
				probe.name = word;
			else if (*word && !rec_list_word(&probe, word))
				rec_die("%s:%d: '%s' is not understood", path, number, word);
		}
		if (!rec_list_inner_right(&probe))
			rec_die("%s:%d: %s", path, number, rec_list_inner);
		probe.quiet |= life_only;
		if (probe.name && (!life_only || probe.slot.event))
			rec_list_resolve(p, &probe, s, life_only);
	}
	free(text);
}

/* "probes-6.12.txt" -> 6012; -1: another name. */
static int rec_list_version(const char *name)
{
	unsigned int major, minor;
	int end = 0;

	if (sscanf(name, "probes-%2u.%3u.txt%n", &major, &minor, &end) != 2 || !end || name[end])
		return -1;
	return major * 1000 + minor;
}

/* The list for the newest kernel that is not newer than the running one, or the oldest. */
static const char *rec_list_choose(DIR *folder, int running)
{
	static char best[64];
	struct dirent *entry;
	int chosen = -1;

	while ((entry = readdir(folder))) {
		int version = rec_list_version(entry->d_name);
		bool better = version <= running ? version > chosen || chosen > running
						 : chosen > running && version < chosen;

		if (version < 0 || (chosen >= 0 && !better))
			continue;
		chosen = version;
		snprintf(best, sizeof(best), "%.63s", entry->d_name);
	}
	return chosen < 0 ? NULL : best;
}

/* The list beside the program, chosen by the version of the running kernel. */
const char *rec_list_default(void)
{
	static char path[4096];
	unsigned int major = 0, minor = 0;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 80);
	struct utsname name;
	const char *chosen;
	DIR *folder;

	if (n < 0)
		rec_die("/proc/self/exe: %s", strerror(errno));
	path[n] = 0;
	*strrchr(path, '/') = 0;
	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	folder = opendir(*path ? path : "/");
	chosen = folder ? rec_list_choose(folder, major * 1000 + minor) : NULL;
	if (folder)
		closedir(folder);
	if (!chosen)
		return NULL;
	snprintf(path + strlen(path), 80, "/%s", chosen);
	return path;
}

/* As dtrace -l: a line for each entry and each return, numbered as in a recording. */
void rec_list_show(const struct rec_probes *p)
{
	static const char *const ends[] = { "entry", "return" };
	size_t id = 0;

	printf("%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
	for (size_t i = 0; i < p->n; i++) {
		for (int end = 0; p->v[i].asked && end < 2; end++)
			printf("%5zu %10s %17s %33s %s\n", id, "kbl",
			       *p->v[i].module ? p->v[i].module : "vmlinux", p->v[i].name,
			       ends[end]);
		id += p->v[i].asked != 0;
	}
	fflush(stdout);
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].asked)
			fprintf(stderr, "kblrecord: %s is not in this kernel\n", p->v[i].name);
}
