// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runtime of probes in a kernel's source; "skbscan instrument --runtime" puts it into lib/.
 *
 * Sites may be anywhere in the data of the kernel and its modules.  Each entry of the tables of
 * jump labels points to a static key, and so to the site with this key.  Therefore neither a
 * section nor a linker script is needed. Neither this file nor what a recorder calls may be
 * instrumented.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <linux/kbl_probe.h>

#ifndef CONFIG_JUMP_LABEL
#error "probes compiled into the kernel need CONFIG_JUMP_LABEL"
#endif

static DEFINE_MUTEX(kbl_mutex);	/* protects everything below, and which sites are enabled */
static const struct kbl_probe_ops *kbl_ops;
static struct kbl_site **kbl_by_name;
static unsigned int kbl_nr_sites;

DEFINE_STATIC_CALL_NULL(kbl_probe_enter, *((struct kbl_probe_ops *)0)->enter);
DEFINE_STATIC_CALL_NULL(kbl_probe_leave, *((struct kbl_probe_ops *)0)->leave);

/*
 * In an inlined copy, @caller is the return address of the enclosing function.  But the
 * enclosing function itself is the caller of the copy, and the probe's @place is in it.
 */
static __always_inline unsigned long kbl_probe_caller(const struct kbl_site *site,
						      unsigned long place, unsigned long caller)
{
	return place - site->start < site->size ? caller : place;
}

void notrace kbl_probe_open(struct kbl_site *site, unsigned long frame, unsigned long caller,
			    const void *a, const void *b, const void *c, const void *d)
{
	const void *more[KBL_SITE_CARRIERS - 1] = { b, c, d };

	if (unlikely(site->copied))
		caller = kbl_probe_caller(site, _RET_IP_, caller);
	preempt_disable_notrace();
	static_call_cond(kbl_probe_enter)(site, caller, frame, a, more);
	preempt_enable_notrace();
}
EXPORT_SYMBOL(kbl_probe_open);
NOKPROBE_SYMBOL(kbl_probe_open);

/* Returns the value. */
unsigned long notrace kbl_probe_close(struct kbl_site *site, unsigned long frame,
				      unsigned long value)
{
	preempt_disable_notrace();
	static_call_cond(kbl_probe_leave)(site, frame, value);
	preempt_enable_notrace();
	return value;
}
EXPORT_SYMBOL(kbl_probe_close);
NOKPROBE_SYMBOL(kbl_probe_close);

#ifdef KBL_STUB

/*
 * The function that the stubs call.  It preserves all registers except those that the stubs may
 * use.  r10: the site, r11: the address of the return address, rax: the first carrier, the
 * others are on the stack; rcx: the value.
 */
#ifndef ASM_RET
#define ASM_RET "ret\n"
#endif

#define KBL_THUNK(name, first, code) \
	asm("\t.pushsection .kprobes.text, \"ax\"\n" \
	    "\t.globl " #name "\n" \
	    "\t.type " #name ", @function\n" \
	    "\t.balign 16\n" \
	    #name ":\n" \
	    "\tpush %" first "\n\tpush %rdx\n\tpush %rsi\n\tpush %rdi\n\tpush %r8\n\tpush %r9\n" \
	    code \
	    "\tpop %r9\n\tpop %r8\n\tpop %rdi\n\tpop %rsi\n\tpop %rdx\n\tpop %" first "\n" \
	    "\t" ASM_RET \
	    "\t.size " #name ", . - " #name "\n" \
	    "\t.popsection\n")

KBL_THUNK(kbl_probe_entry_thunk, "rcx",
	  "\tmov %r10, %rdi\n"
	  "\tmov %r11, %rsi\n"
	  "\tmov %rax, %rdx\n"
	  "\tmov 48(%rsp), %rcx\n"
	  "\tlea 56(%rsp), %r8\n"
	  "\tcall kbl_probe_entered\n");
EXPORT_SYMBOL(kbl_probe_entry_thunk);

KBL_THUNK(kbl_probe_exit_thunk, "rax",
	  "\tmov %r10, %rdi\n"
	  "\tmov %r11, %rsi\n"
	  "\tmov %rcx, %rdx\n"
	  "\tcall kbl_probe_close\n");
EXPORT_SYMBOL(kbl_probe_exit_thunk);

/* @stub: the address after the call, where the stub jumps back to the probe. */
void notrace __used kbl_probe_entered(struct kbl_site *site, const unsigned long *frame,
				      const void *first, const u8 *stub, const void *const *more)
{
	unsigned long caller = *frame;

	if (unlikely(site->copied)) {
		/* The four bytes of the add, the jump's opcode and its distance; see KBL_STUB(). */
		while (*stub != 0xe9)
			stub++;
		caller = kbl_probe_caller(site, (unsigned long)stub + 5 + *(const s32 *)(stub + 1),
					  caller);
	}
	preempt_disable_notrace();
	static_call_cond(kbl_probe_enter)(site, caller, (unsigned long)frame, first, more);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kbl_probe_entered);

#endif

/* Attach a recorder; there can be only one.  Its sites are enabled one by one. */
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

/* Disable all sites.  When this returns, no function of the recorder runs or will be called. */
void kbl_probe_detach(const struct kbl_probe_ops *ops)
{
	unsigned int i;

	mutex_lock(&kbl_mutex);
	if (kbl_ops == ops) {
		for (i = 0; i < kbl_nr_sites; i++)
			kbl_site_disable(kbl_by_name[i]);
		static_call_update(kbl_probe_enter, NULL);
		static_call_update(kbl_probe_leave, NULL);
		kbl_ops = NULL;
		synchronize_rcu();
	}
	mutex_unlock(&kbl_mutex);
}
EXPORT_SYMBOL_GPL(kbl_probe_detach);

/* While this is held, no module with sites is loaded or unloaded. */
void kbl_sites_lock(void)
{
	mutex_lock(&kbl_mutex);
}
EXPORT_SYMBOL_GPL(kbl_sites_lock);

void kbl_sites_unlock(void)
{
	mutex_unlock(&kbl_mutex);
}
EXPORT_SYMBOL_GPL(kbl_sites_unlock);

/* The site whose key a jump label uses, NULL: another key. */
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

/*
 * Add the sites of the kernel itself, or of a module that is loaded.  Labels of one key are
 * consecutive.  A module's labels may also use keys of others.
 */
static int kbl_sites_add(struct jump_entry *start, struct jump_entry *stop, struct module *owner)
{
	struct kbl_site **all, *site, *last = NULL;
	struct jump_entry *entry;

	all = kvmalloc_array(kbl_nr_sites + (stop - start) + 1, sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	if (kbl_nr_sites)
		memcpy(all, kbl_by_name, kbl_nr_sites * sizeof(*all));
	for (entry = start; entry < stop; entry++) {
		site = kbl_site_at(entry);
		if (!site || site == last || (owner && !within_module((unsigned long)site, owner)))
			continue;
		last = site;
		/* BPF_CALL_n() puts the body of f into ____f. */
		if (!strncmp(site->name, "____", 4))
			site->name += 4;
		site->owner = owner;
		site->labels = entry;
		site->labels_end = stop;
		all[kbl_nr_sites++] = site;
	}
	sort(all, kbl_nr_sites, sizeof(*all), kbl_site_compare, NULL);
	kvfree(kbl_by_name);
	kbl_by_name = all;
	return 0;
}

#ifdef CONFIG_MODULES
static void kbl_sites_remove(struct module *owner)
{
	unsigned int i, left = 0;
	bool enabled = false;

	for (i = 0; i < kbl_nr_sites; i++)
		if (kbl_by_name[i]->owner == owner && static_key_enabled(&kbl_by_name[i]->key)) {
			kbl_site_disable(kbl_by_name[i]);
			enabled = true;
		}
	if (enabled)
		synchronize_rcu();
	for (i = 0; i < kbl_nr_sites; i++) {
		struct kbl_site *site = kbl_by_name[i];

		if (site->owner != owner)
			kbl_by_name[left++] = site;
		else if (kbl_ops && kbl_ops->gone && site->data)
			kbl_ops->gone(site);
	}
	kbl_nr_sites = left;
}

/* Runs after the jump labels' own notifier, which sorts the table. */
static int kbl_module_changes(struct notifier_block *block, unsigned long state, void *data)
{
	struct module *m = data;

	mutex_lock(&kbl_mutex);
	if (state == MODULE_STATE_COMING && m->num_jump_entries &&
	    kbl_sites_add(m->jump_entries, m->jump_entries + m->num_jump_entries, m))
		pr_warn("kbl_probe: no memory for the sites of %s\n", m->name);
	else if (state == MODULE_STATE_GOING)
		kbl_sites_remove(m);
	mutex_unlock(&kbl_mutex);
	return NOTIFY_OK;
}

static struct notifier_block kbl_module_block = { .notifier_call = kbl_module_changes };
#endif

/* Before the first module can be loaded. */
static int __init kbl_sites_find(void)
{
	int err;

	mutex_lock(&kbl_mutex);
	err = kbl_sites_add(__start___jump_table, __stop___jump_table, NULL);
	mutex_unlock(&kbl_mutex);
#ifdef CONFIG_MODULES
	err = err ?: register_module_notifier(&kbl_module_block);
#endif
	return err;
}
core_initcall(kbl_sites_find);

/* All sites, sorted by name; under kbl_sites_lock(), like everything below. */
struct kbl_site **kbl_sites(unsigned int *nr)
{
	*nr = kbl_nr_sites;
	return kbl_by_name;
}
EXPORT_SYMBOL_GPL(kbl_sites);

/* The sites of one name.  A compiler's copy, as f.constprop.0, counts as the original function. */
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

static bool kbl_symbol_of(const struct kbl_site *site, const char *symbol)
{
	size_t len = strlen(site->name);

	return !strncmp(symbol, site->name, len) && (!symbol[len] || symbol[len] == '.');
}

/* Find the site's own code; returns an address in it, or in what it is inlined into. */
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
	for (entry = site->labels; entry < site->labels_end; entry++) {
		if (jump_entry_key(entry) != &site->key.key)
			break;
		code = jump_entry_code(entry);
		first = first ?: code;
		name = kallsyms_lookup(code, size, &offset, &module, symbol);
		if (name && kbl_symbol_of(site, name)) {
			*start = code - offset;
			return *start;
		}
		/* Without symbol names, copies of functions cannot be found. */
		*size = name ? 0 : ULONG_MAX;
	}
	return first;
}

/* The address of the function, or of a place where it was inlined if it has no code. */
unsigned long kbl_site_address(const struct kbl_site *site)
{
	unsigned long start, size;

	return kbl_site_place(site, &start, &size);
}
EXPORT_SYMBOL_GPL(kbl_site_address);

/* Is some of the function's code outside its symbol? */
static bool kbl_site_copied(const struct kbl_site *site)
{
	struct jump_entry *entry;

	for (entry = site->labels; entry < site->labels_end; entry++) {
		if (jump_entry_key(entry) != &site->key.key)
			break;
		if (jump_entry_code(entry) - site->start >= site->size)
			return true;
	}
	return false;
}

/* The name of the site's module, "": the kernel itself. */
const char *kbl_site_module(const struct kbl_site *site)
{
	return site->owner ? site->owner->name : "";
}
EXPORT_SYMBOL_GPL(kbl_site_module);

/* Report a function's calls, from the next one on. */
void kbl_site_enable(struct kbl_site *site)
{
	site->start = 0;
	site->size = ULONG_MAX;
	/* A recorder may have sites of its own. */
	if (site->labels)
		kbl_site_place(site, &site->start, &site->size);
	site->copied = site->labels && kbl_site_copied(site);
	static_branch_enable(&site->key);
}
EXPORT_SYMBOL_GPL(kbl_site_enable);
