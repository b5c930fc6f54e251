// SPDX-License-Identifier: MIT
/* Functions that have probes in their source: they can be probed without a symbol. */
#include <stdlib.h>
#include <string.h>

#include "rec.h"

struct rec_site {
	const char *name;
	kbl_u64 addr;
};

static struct rec_site *rec_sites;
static size_t rec_nr_sites;

static int rec_by_site(const void *a, const void *b)
{
	return strcmp(((const struct rec_site *)a)->name, ((const struct rec_site *)b)->name);
}

/* Read once; the text stays allocated. */
static void rec_sites_load(void)
{
	static bool loaded;
	char *rest, *line;
	size_t room = 0;

	if (loaded)
		return;
	loaded = true;
	rest = rec_module_read("sites");
	while (rest && (line = rec_line(&rest))) {
		struct rec_site site;
		char *name;

		site.addr = strtoull(line, &name, 16);
		if (*name != ' ' || !site.addr)
			continue;
		if (rec_nr_sites == room) {
			room = room ? 2 * room : 4096;
			rec_sites = rec_more(rec_sites, room, sizeof(*rec_sites));
		}
		/* The module follows, if it is in one. */
		site.name = strtok(name + 1, " ");
		if (!site.name)
			continue;
		rec_sites[rec_nr_sites++] = site;
	}
	if (rec_nr_sites)
		qsort(rec_sites, rec_nr_sites, sizeof(*rec_sites), rec_by_site);
}

/* Compare up to a dot: f.constprop.0 is a copy of f that the compiler made. */
static int rec_site_is(const void *name, const void *site)
{
	const char *other = ((const struct rec_site *)site)->name;
	size_t len = strcspn(name, ".");

	return strncmp(name, other, len) ?: -other[len];
}

/* The address of a function with probes in its source, 0 = none. */
kbl_u64 rec_site_address(const char *name)
{
	const struct rec_site *found = NULL;

	rec_sites_load();
	if (rec_nr_sites)
		found = bsearch(name, rec_sites, rec_nr_sites, sizeof(*found), rec_site_is);
	return found ? found->addr : 0;
}
