// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runtime of probes compiled into a kernel; "skbscan instrument --runtime" puts it into lib/.
 *
 * Sites lie anywhere among the kernel's data.  They are found by the table of jump labels, where
 * the key of each stands: so neither a section nor the linker's script is needed.
 *
 * Nothing here may be instrumented itself, nor what a recorder calls.
 */
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <linux/kbl_probe.h>

#ifndef CONFIG_JUMP_LABEL
#error "probes compiled into the kernel need CONFIG_JUMP_LABEL"
#endif

static DEFINE_MUTEX(kbl_mutex);
static const struct kbl_probe_ops *kbl_ops;
static u64 kbl_stamp;		/* the last given to a site */
static struct kbl_site **kbl_by_name;
static unsigned int kbl_nr_sites;

static void *kbl_no_enter(struct kbl_site *site, unsigned long caller, const void *a,
			  const void *b, const void *c, const void *d)
{
	return NULL;
}
NOKPROBE_SYMBOL(kbl_no_enter);

static void kbl_no_leave(struct kbl_site *site, void *token, unsigned long value)
{
}
NOKPROBE_SYMBOL(kbl_no_leave);

DEFINE_STATIC_CALL(kbl_probe_enter, kbl_no_enter);
DEFINE_STATIC_CALL(kbl_probe_leave, kbl_no_leave);

/*
 * In an inlined copy, @caller is where the function around returns to; but the copy's caller is
 * that function, and so are we called from there.
 */
void *notrace kbl_probe_open(struct kbl_site *site, unsigned long caller, const void *a,
			     const void *b, const void *c, const void *d)
{
	void *token;

	if (unlikely(_RET_IP_ - site->start >= site->size))
		caller = _RET_IP_;
	preempt_disable_notrace();
	token = static_call(kbl_probe_enter)(site, caller, a, b, c, d);
	preempt_enable_notrace();
	return token;
}
EXPORT_SYMBOL(kbl_probe_open);
NOKPROBE_SYMBOL(kbl_probe_open);

/* Returns the value. */
unsigned long notrace kbl_probe_close(struct kbl_site *site, void *token, unsigned long value)
{
	preempt_disable_notrace();
	static_call(kbl_probe_leave)(site, token, value);
	preempt_enable_notrace();
	return value;
}
EXPORT_SYMBOL(kbl_probe_close);
NOKPROBE_SYMBOL(kbl_probe_close);

/* Call a recorder from now on; its sites are enabled one by one.  One recorder at a time. */
int kbl_probe_attach(const struct kbl_probe_ops *ops)
{
	int err = -EBUSY;

	mutex_lock(&kbl_mutex);
	if (!kbl_ops) {
		static_call_update(kbl_probe_leave, ops->leave);
		static_call_update(kbl_probe_enter, ops->enter);
		kbl_ops = ops;
		err = 0;
	}
	mutex_unlock(&kbl_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(kbl_probe_attach);

/* Disable all sites; when this returns, no function of the recorder runs or will be called. */
void kbl_probe_detach(const struct kbl_probe_ops *ops)
{
	unsigned int i;

	mutex_lock(&kbl_mutex);
	if (kbl_ops == ops) {
		for (i = 0; i < kbl_nr_sites; i++)
			kbl_site_disable(kbl_by_name[i]);
		static_call_update(kbl_probe_enter, kbl_no_enter);
		static_call_update(kbl_probe_leave, kbl_no_leave);
		kbl_ops = NULL;
		synchronize_rcu();
	}
	mutex_unlock(&kbl_mutex);
}
EXPORT_SYMBOL_GPL(kbl_probe_detach);

/* The site whose key a jump label hangs on, NULL: it is another key. */
static struct kbl_site *kbl_site_at(struct jump_entry *entry)
{
	struct static_key *key = jump_entry_key(entry);
	struct kbl_site *site;
	u32 magic;

	site = container_of(key, struct kbl_site, key.key);
	if (jump_entry_is_init(entry) || get_kernel_nofault(magic, &site->magic))
		return NULL;
	return magic == KBL_SITE_MAGIC ? site : NULL;
}

static int kbl_site_compare(const void *a, const void *b)
{
	const struct kbl_site *x = *(struct kbl_site **)a, *y = *(struct kbl_site **)b;

	return strcmp(x->name, y->name) ?: (x->id > y->id) - (x->id < y->id);
}

/* Those of the kernel itself.  The jump labels of one key stand together. */
static int __init kbl_sites_find(void)
{
	struct jump_entry *entry;
	struct kbl_site *site, *last = NULL;

	for (entry = __start___jump_table; entry < __stop___jump_table; entry++) {
		site = kbl_site_at(entry);
		kbl_nr_sites += site && site != last;
		last = site;
	}
	kbl_by_name = kvmalloc_array(kbl_nr_sites + 1, sizeof(*kbl_by_name), GFP_KERNEL);
	if (!kbl_by_name) {
		kbl_nr_sites = 0;
		return -ENOMEM;
	}
	kbl_nr_sites = 0;
	last = NULL;
	for (entry = __start___jump_table; entry < __stop___jump_table; entry++) {
		site = kbl_site_at(entry);
		if (site && site != last) {
			/* BPF_CALL_n() puts the body of f into ____f. */
			if (!strncmp(site->name, "____", 4))
				site->name += 4;
			site->labels = entry;
			kbl_by_name[kbl_nr_sites++] = site;
		}
		last = site;
	}
	sort(kbl_by_name, kbl_nr_sites, sizeof(*kbl_by_name), kbl_site_compare, NULL);
	return 0;
}
late_initcall(kbl_sites_find);

/* All of them, by name; nobody frees the array. */
struct kbl_site **kbl_sites(unsigned int *nr)
{
	*nr = kbl_nr_sites;
	return kbl_by_name;
}
EXPORT_SYMBOL_GPL(kbl_sites);

/* Those of one name; a compiler's copy, as f.constprop.0, is the function it was made of. */
struct kbl_site **kbl_sites_named(const char *name, unsigned int *nr)
{
	unsigned int low = 0, high = kbl_nr_sites, len = strcspn(name, ".");

	while (low < high) {
		unsigned int middle = (low + high) / 2;
		const char *other = kbl_by_name[middle]->name;

		if ((strncmp(other, name, len) ?: other[len]) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*nr = 0; low + *nr < kbl_nr_sites; (*nr)++) {
		const char *other = kbl_by_name[low + *nr]->name;

		if (strncmp(other, name, len) || other[len])
			break;
	}
	return kbl_by_name + low;
}
EXPORT_SYMBOL_GPL(kbl_sites_named);

/* That of a number in the manifest, NULL: it is not in this kernel. */
struct kbl_site *kbl_site_of(unsigned int id)
{
	unsigned int i;

	for (i = 0; i < kbl_nr_sites; i++)
		if (kbl_by_name[i]->id == id)
			return kbl_by_name[i];
	return NULL;
}
EXPORT_SYMBOL_GPL(kbl_site_of);

static bool kbl_symbol_of(const struct kbl_site *site, const char *symbol)
{
	size_t len = strlen(site->name);

	return !strncmp(symbol, site->name, len) && (!symbol[len] || symbol[len] == '.');
}

/* Where the site's own code is; returns an address in it, or in what it is inlined into. */
static unsigned long kbl_site_place(const struct kbl_site *site, unsigned long *start,
				    unsigned long *size)
{
	unsigned long code, offset, first = 0;
	char symbol[KSYM_NAME_LEN];
	struct jump_entry *entry;
	const char *name;
	char *module;

	*start = 0;
	*size = 0;
	for (entry = site->labels; entry < __stop___jump_table; entry++) {
		if (jump_entry_key(entry) != &site->key.key)
			break;
		code = jump_entry_code(entry);
		first = first ?: code;
		name = kallsyms_lookup(code, size, &offset, &module, symbol);
		if (name && kbl_symbol_of(site, name)) {
			*start = code - offset;
			return *start;
		}
		/* Without names of symbols nothing is known of copies. */
		*size = name ? 0 : ULONG_MAX;
	}
	return first;
}

/* Of the function, or where it was inlined, if that was done everywhere. */
unsigned long kbl_site_address(const struct kbl_site *site)
{
	unsigned long start, size;

	return kbl_site_place(site, &start, &size);
}
EXPORT_SYMBOL_GPL(kbl_site_address);

/*
 * Let a function tell of its calls, from the next one on.  The stamp is like no other, and like
 * nothing else that may lie on a stack: no address, no small number.
 */
void kbl_site_enable(struct kbl_site *site)
{
	unsigned long start = 0, size = ULONG_MAX;

	/* A recorder may have sites of its own. */
	if (site->labels)
		kbl_site_place(site, &start, &size);
	mutex_lock(&kbl_mutex);
	site->start = start;
	site->size = size;
	if (!kbl_stamp)
		kbl_stamp = (u64)0x4b << 32 | get_random_u32();
	WRITE_ONCE(site->stamp, ++kbl_stamp);
	mutex_unlock(&kbl_mutex);
	static_branch_enable(&site->key);
}
EXPORT_SYMBOL_GPL(kbl_site_enable);

/* Calls that are open stay so: their exits are not told. */
void kbl_site_disable(struct kbl_site *site)
{
	static_branch_disable(&site->key);
	WRITE_ONCE(site->stamp, 0);
}
EXPORT_SYMBOL_GPL(kbl_site_disable);
