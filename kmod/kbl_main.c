// SPDX-License-Identifier: GPL-2.0-only
/*
 * kbl - records the calls of functions that handle an sk_buff.
 *
 * debugfs/kbl/ has the control files (kbl_control.c) and one relay file for each CPU
 * (kbl_relay.c).  While the module is loaded but inactive, no probe is armed.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "kbl_arch.h"
#include "kbl_internal.h"

#define KBL_SUBBUF_KB 4U
#define KBL_MAX_SUBBUF_KB (1U << 20)

static unsigned int subbuf_kb = 512;
module_param(subbuf_kb, uint, 0444);
MODULE_PARM_DESC(subbuf_kb, "KiB of one sub-buffer, a multiple of 4");

static unsigned int n_subbufs = 8;
module_param(n_subbufs, uint, 0444);
MODULE_PARM_DESC(n_subbufs, "sub-buffers per CPU");

unsigned int kbl_maxactive = 256;
module_param_named(maxactive, kbl_maxactive, uint, 0444);
MODULE_PARM_DESC(maxactive, "calls of one function that can be open at once");

bool kbl_floor;
module_param_named(floor, kbl_floor, bool, 0444);
MODULE_PARM_DESC(floor, "arm handlers that return at once and record nothing, for measurements");

static struct dentry *kbl_dir;

static int __init kbl_init(void)
{
	int err = -ENOMEM;

	if (!kbl_backend_chosen()) {
		pr_err("kbl: parameter backend: this kernel has no such back end\n");
		return -EINVAL;
	}
	/* kblrecord pads sub-buffers to blocks where they are, and a batch must fit into one. */
	if (!subbuf_kb || subbuf_kb % KBL_SUBBUF_KB || subbuf_kb > KBL_MAX_SUBBUF_KB) {
		pr_err("kbl: parameter subbuf_kb: not a multiple of %u up to %u\n", KBL_SUBBUF_KB,
		       KBL_MAX_SUBBUF_KB);
		return -EINVAL;
	}
	kbl_kernel_low = kbl_arch_kernel_low();
	if (kbl_calls_init())
		goto free_cpus;
	kbl_dir = debugfs_create_dir("kbl", NULL);
	if (IS_ERR(kbl_dir)) {
		err = PTR_ERR(kbl_dir);
		goto free_cpus;
	}
	err = kbl_relay_open(kbl_dir, kbl_cpu_file(), subbuf_kb * 1024, n_subbufs);
	if (err)
		goto remove_dir;
	err = kbl_dev_init();
	if (err)
		goto close_relay;
	kbl_relay_start();
	kbl_batch_start();
	kbl_cycles_start();
	err = kbl_control_init(kbl_dir);
	if (err)
		goto dev_exit;
	/* Values that cannot be measured stay 0; recording works without them. */
	mutex_lock(&kbl_lock);
	if (!kbl_floor)
		kbl_calibrate();
	mutex_unlock(&kbl_lock);
	return 0;

dev_exit:
	kbl_dev_exit();
close_relay:
	kbl_relay_close();
remove_dir:
	debugfs_remove(kbl_dir);
free_cpus:
	kbl_calls_exit();
	return err;
}

static void __exit kbl_exit(void)
{
	kbl_control_shut();
	kbl_deactivate();
	kbl_dev_exit();
	kbl_relay_close();
	debugfs_remove(kbl_dir);
	kbl_filter_set("");
	kbl_counter_set("off");
	kbl_targets_free();
	kbl_calls_exit();
}

module_init(kbl_init);
module_exit(kbl_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Records the functions that handle an sk_buff");
