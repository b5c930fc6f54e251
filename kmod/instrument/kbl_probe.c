// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runtime of probes compiled into a kernel: copy to lib/, obj-y += kbl_probe.o, and keep the
 * section of the sites: in DATA_DATA of include/asm-generic/vmlinux.lds.h
 *	__start_kbl_sites = .; KEEP(*(kbl_sites)) __stop_kbl_sites = .;
 * Nothing here may be instrumented itself, nor what a recorder calls.
 */
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>

#include <linux/kbl_probe.h>

extern struct kbl_site __start_kbl_sites[], __stop_kbl_sites[];

static DEFINE_MUTEX(kbl_mutex);
static const struct kbl_probe_ops *kbl_ops;

static void *kbl_no_enter(struct kbl_site *site, unsigned long caller, const void *a,
			  const void *b, const void *c, const void *d)
{
	return NULL;
}
NOKPROBE_SYMBOL(kbl_no_enter);

static void kbl_no_leave(struct kbl_site *site, void *token, bool told, unsigned long value)
{
}
NOKPROBE_SYMBOL(kbl_no_leave);

DEFINE_STATIC_CALL(kbl_probe_enter, kbl_no_enter);
DEFINE_STATIC_CALL(kbl_probe_leave, kbl_no_leave);

struct kbl_frame notrace kbl_frame_open(struct kbl_site *site, unsigned long caller,
					const void *a, const void *b, const void *c, const void *d)
{
	struct kbl_frame frame = { .site = site };

	preempt_disable_notrace();
	frame.token = static_call(kbl_probe_enter)(site, caller, a, b, c, d);
	preempt_enable_notrace();
	return frame;
}
EXPORT_SYMBOL(kbl_frame_open);
NOKPROBE_SYMBOL(kbl_frame_open);

void notrace kbl_frame_close(struct kbl_frame frame, bool told, unsigned long value)
{
	preempt_disable_notrace();
	static_call(kbl_probe_leave)(frame.site, frame.token, told, value);
	preempt_enable_notrace();
}
EXPORT_SYMBOL(kbl_frame_close);
NOKPROBE_SYMBOL(kbl_frame_close);

/* Call a recorder from now on; its sites are enabled one by one.  One recorder at a time. */
int kbl_probe_attach(const struct kbl_probe_ops *ops)
{
	int error = -EBUSY;

	mutex_lock(&kbl_mutex);
	if (!kbl_ops) {
		static_call_update(kbl_probe_leave, ops->leave);
		static_call_update(kbl_probe_enter, ops->enter);
		kbl_ops = ops;
		error = 0;
	}
	mutex_unlock(&kbl_mutex);
	return error;
}
EXPORT_SYMBOL_GPL(kbl_probe_attach);

static struct kbl_site *kbl_site_of(unsigned int id)
{
	struct kbl_site *site;

	for (site = __start_kbl_sites; site < __stop_kbl_sites; site++)
		if (site->id == id)
			return site;
	return NULL;
}

/* Disable all sites; when this returns, no function of the recorder runs or will be called. */
void kbl_probe_detach(const struct kbl_probe_ops *ops)
{
	struct kbl_site *site;

	mutex_lock(&kbl_mutex);
	if (kbl_ops == ops) {
		for (site = __start_kbl_sites; site < __stop_kbl_sites; site++)
			static_branch_disable(&site->key);
		static_call_update(kbl_probe_enter, kbl_no_enter);
		static_call_update(kbl_probe_leave, kbl_no_leave);
		kbl_ops = NULL;
		synchronize_rcu();
	}
	mutex_unlock(&kbl_mutex);
}
EXPORT_SYMBOL_GPL(kbl_probe_detach);

/* Let a function tell of its calls, from the next one on; -ENOENT if the kernel has no such id. */
int kbl_site_enable(unsigned int id)
{
	struct kbl_site *site = kbl_site_of(id);

	if (!site)
		return -ENOENT;
	static_branch_enable(&site->key);
	return 0;
}
EXPORT_SYMBOL_GPL(kbl_site_enable);

void kbl_site_disable(unsigned int id)
{
	struct kbl_site *site = kbl_site_of(id);

	if (site)
		static_branch_disable(&site->key);
}
EXPORT_SYMBOL_GPL(kbl_site_disable);
