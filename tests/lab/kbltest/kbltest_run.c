// SPDX-License-Identifier: GPL-2.0-only
/* Calls kbltest_call() an exact number of times in a chosen context on a chosen CPU. */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#include "kbltest.h"

#define KBLTEST_BURST 64	/* calls of one interrupt */
#define KBLTEST_PERIOD_NS 50000

/* One write to debugfs/kbltest/call. */
struct kbltest_job {
	struct sk_buff *skb;
	unsigned long left;
	unsigned int burst;	/* calls each time the context comes */
	unsigned int cpu;
	struct hrtimer timer;
	struct irq_work work;
	struct tasklet_struct tasklet;
	struct completion done;
};

static void kbltest_burst(struct kbltest_job *job)
{
	unsigned long n = min_t(unsigned long, job->left, job->burst);

	job->left -= n;
	while (n--)
		kbltest_call(job->skb, n);
}

static long kbltest_task(void *data)
{
	struct kbltest_job *job = data;

	while (job->left) {
		kbltest_burst(job);
		cond_resched();
	}
	return 0;
}

static enum hrtimer_restart kbltest_on_timer(struct hrtimer *timer)
{
	struct kbltest_job *job = container_of(timer, struct kbltest_job, timer);

	kbltest_burst(job);
	if (!job->left) {
		complete(&job->done);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(KBLTEST_PERIOD_NS));
	return HRTIMER_RESTART;
}

static long kbltest_hrtimer(void *data)
{
	struct kbltest_job *job = data;

	job->burst = 1;		/* so that they interrupt others at many places */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(&job->timer, kbltest_on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&job->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	job->timer.function = kbltest_on_timer;
#endif
	hrtimer_start(&job->timer, ns_to_ktime(KBLTEST_PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
	wait_for_completion(&job->done);
	hrtimer_cancel(&job->timer);
	return 0;
}

static void kbltest_on_irq_work(struct irq_work *work)
{
	kbltest_burst(container_of(work, struct kbltest_job, work));
}

static long kbltest_irq_work(void *data)
{
	struct kbltest_job *job = data;

	init_irq_work(&job->work, kbltest_on_irq_work);
	job->work.node.u_flags = IRQ_WORK_HARD_IRQ;
	while (job->left) {
		irq_work_queue(&job->work);
		irq_work_sync(&job->work);
		cond_resched();
	}
	return 0;
}

static void kbltest_on_tasklet(struct tasklet_struct *tasklet)
{
	kbltest_burst(container_of(tasklet, struct kbltest_job, tasklet));
}

static long kbltest_softirq(void *data)
{
	struct kbltest_job *job = data;

	tasklet_setup(&job->tasklet, kbltest_on_tasklet);
	while (job->left) {
		tasklet_schedule(&job->tasklet);
		tasklet_unlock_wait(&job->tasklet);
		cond_resched();
	}
	tasklet_kill(&job->tasklet);
	return 0;
}

static void kbltest_on_ipi(void *data)
{
	kbltest_burst(data);
}

static long kbltest_ipi(void *data)
{
	struct kbltest_job *job = data;

	while (job->left) {
		int err = smp_call_function_single(job->cpu, kbltest_on_ipi, job, 1);

		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

static long kbltest_dispatch(struct kbltest_job *job, const char *context, unsigned int cpu)
{
	if (!strcmp(context, "task"))
		return work_on_cpu(cpu, kbltest_task, job);
	if (!strcmp(context, "softirq"))
		return work_on_cpu(cpu, kbltest_softirq, job);
	if (!strcmp(context, "hrtimer"))
		return work_on_cpu(cpu, kbltest_hrtimer, job);
	if (!strcmp(context, "irq_work"))
		return work_on_cpu(cpu, kbltest_irq_work, job);
	if (!strcmp(context, "ipi")) {
		cpu = cpumask_any_but(cpu_online_mask, cpu);
		return cpu < nr_cpu_ids ? work_on_cpu(cpu, kbltest_ipi, job) : -ENODEV;
	}
	return -EINVAL;
}

ssize_t kbltest_run(const char *context, unsigned int cpu, unsigned long count)
{
	struct kbltest_job *job;
	ssize_t err = -ENOMEM;

	if (!cpu_online(cpu))
		return -EINVAL;
	job = kzalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		return -ENOMEM;
	init_completion(&job->done);
	job->left = count;
	job->cpu = cpu;
	job->burst = KBLTEST_BURST;
	job->skb = kbltest_skb(2);
	if (job->skb)
		err = kbltest_dispatch(job, context, cpu);
	kfree_skb(job->skb);
	kfree(job);
	return err;
}
