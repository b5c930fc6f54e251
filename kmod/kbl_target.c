// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of functions to probe: NAME [0xADDR] [CARRIER...] [EVENT] [module=M]
 * [void|bool|int] [quiet], where CARRIER is KIND@WHERE.
 */
#include <linux/ctype.h>
#include <linux/glob.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kbl_hot.h"

static struct kbl_target *kbl_targets[KBL_MAX_PROBES];
static unsigned int kbl_nr_targets;
static char *kbl_backend_name = "auto";

module_param_named(backend, kbl_backend_name, charp, 0444);
MODULE_PARM_DESC(backend, "auto, source, fprobe or kretprobe");

static const struct kbl_backend *const kbl_backends[] = {
	&kbl_source_backend,
	&kbl_fprobe_backend,
	&kbl_kretprobe_backend,
};

static const char *const kbl_kinds[] = {
	[KBL_CARRY_SKB] = "skb",
	[KBL_CARRY_SKBP] = "skbp",
	[KBL_CARRY_LIST] = "list",
	[KBL_CARRY_QUEUE] = "queue",
	[KBL_CARRY_SOCK] = "sock",
};

static const char *const kbl_return_names[] = {
	[KBL_RETURNS_INT] = "int",
	[KBL_RETURNS_BOOL] = "bool",
	[KBL_RETURNS_VOID] = "void",
};

static const u64 kbl_return_masks[] = {
	[KBL_RETURNS_LONG] = U64_MAX,
	[KBL_RETURNS_INT] = U32_MAX,
	[KBL_RETURNS_BOOL] = U8_MAX,
	[KBL_RETURNS_VOID] = 0,
};

/* The index of @word, 0 = it is not there. */
static int kbl_word(const char *const *words, unsigned int nr, const char *word)
{
	unsigned int i;

	for (i = 1; i < nr; i++)
		if (!strcmp(words[i], word))
			return i;
	return 0;
}

static int kbl_parse_carrier(struct kbl_target *t, char *word)
{
	char *where = strchr(word, '@');
	u8 at = KBL_AT_RET;
	int kind;

	*where++ = 0;
	kind = kbl_word(kbl_kinds, ARRAY_SIZE(kbl_kinds), word);
	if (!kind || t->nr_carriers == KBL_MAX_CARRIERS)
		return -EINVAL;
	if (strcmp(where, "ret") && (kstrtou8(where, 10, &at) || at >= KBL_AT_RET))
		return -EINVAL;
	if (at == KBL_AT_RET) {
		/* No function returns a list, or a pointer to a pointer. */
		if (kind != KBL_CARRY_SKB && kind != KBL_CARRY_SOCK)
			return -EINVAL;
		t->ret_skb |= kind == KBL_CARRY_SKB;
		t->ret_sock |= kind == KBL_CARRY_SOCK;
		t->exit_event |= t->ret_sock;
	}
	t->carrier[t->nr_carriers++] = kind << 4 | at;
	return 0;
}

static int kbl_parse_word(struct kbl_target *t, char *word)
{
	int returns = kbl_word(kbl_return_names, ARRAY_SIZE(kbl_return_names), word);

	if (!strncmp(word, "0x", 2))
		return t->addr || kstrtoul(word, 16, &t->addr) ? -EINVAL : 0;
	if (strchr(word, '@'))
		return kbl_parse_carrier(t, word);
	if (!strncmp(word, "module=", 7))
		return strscpy(t->module, word + 7, sizeof(t->module)) > 0 ? 0 : -EINVAL;
	if (!strcmp(word, "quiet")) {
		t->quiet = true;
		return 0;
	}
	if (returns) {
		t->returns = returns;
		return 0;
	}
	if (t->event)
		return -EINVAL;
	t->event = kbl_life_number(word);
	return t->event ? 0 : -EINVAL;
}

/* One skb in a register and nothing else: the entry need not look further. */
static void kbl_target_plain(struct kbl_target *t)
{
	unsigned int i, n = 0, kind = 0;

	for (i = 0; i < t->nr_carriers; i++) {
		if ((t->carrier[i] & 15) == KBL_AT_RET)
			continue;
		kind = t->carrier[i] >> 4;
		if ((kind != KBL_CARRY_SKB && kind != KBL_CARRY_SOCK) ||
		    (t->carrier[i] & 15) >= KBL_REG_ARGS)
			n = 2;
		else if (!n++)
			t->plain = kbl_arg_offset(t->carrier[i] & 15);
	}
	t->one = n == 1 && kind == KBL_CARRY_SKB;
	t->sock = n == 1 && kind == KBL_CARRY_SOCK;
	t->none = n == 0;
	t->bare = !t->entry_event && !t->exit_event && !t->quiet && (t->none || t->sock);
}

/* Of its records, and of its place in c->hits. */
void kbl_target_number(struct kbl_target *t, unsigned int id)
{
	t->id = id;
	t->head = KBL_HEAD(kind, KBL_CALL) | KBL_HEAD(func, id);
	if (!t->one || t->entry_event || t->exit_event)
		t->head |= KBL_SLOW;
}

/* NULL: the line is not one; else kfree() it. */
struct kbl_target *kbl_target_parse(char *line)
{
	struct kbl_target *t = kzalloc(sizeof(*t), GFP_KERNEL);
	char *word;

	if (!t)
		return NULL;
	t->enabled = true;
	while ((word = strsep(&line, " \t\r"))) {
		if (!*word)
			continue;
		if (!t->name[0]) {
			if (isdigit(*word) || strpbrk(word, "@=") ||
			    strscpy(t->name, word, sizeof(t->name)) <= 0)
				goto bad;
		} else if (kbl_parse_word(t, word)) {
			goto bad;
		}
	}
	if (!t->name[0])
		goto bad;
	kbl_life_kind(t);
	kbl_target_plain(t);
	t->ret_mask = kbl_return_masks[t->returns];
	return t;
bad:
	kfree(t);
	return NULL;
}

/* Where the kernel puts a probe on that name; it is not armed.  Else why it puts none. */
static int kbl_resolve(const char *name, unsigned long *addr)
{
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	int err = register_kprobe(&kp);

	if (err)
		return err;
	*addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

/* The place of a target that was given by its name alone. */
static int kbl_target_find(struct kbl_target *t)
{
	int err = kbl_resolve(t->name, &t->addr);

	if (err)
		t->addr = kbl_source_address(t->name);
	return t->addr ? 0 : err;
}

/* One line, without its end. */
int kbl_target_add(char *line)
{
	struct kbl_target *t;

	if (kbl_nr_targets == KBL_MAX_PROBES)
		return -ENOSPC;
	t = kbl_target_parse(line);
	if (!t)
		return -EINVAL;
	if (!t->addr)
		t->error = kbl_target_find(t);
	kbl_target_number(t, kbl_nr_targets);
	kbl_targets[kbl_nr_targets++] = t;
	return 0;
}

struct kbl_target *kbl_target_by_id(unsigned int id)
{
	return id < kbl_nr_targets ? kbl_targets[id] : NULL;
}

void kbl_targets_free(void)
{
	while (kbl_nr_targets)
		kfree(kbl_targets[--kbl_nr_targets]);
	kbl_fprobe_forget();
}

static bool kbl_backend_wanted(const struct kbl_backend *backend)
{
	return backend->arm && (!strcmp(kbl_backend_name, "auto") ||
				!strcmp(kbl_backend_name, backend->name));
}

/* The one that arms what it can; NULL: none of that name in this kernel. */
const struct kbl_backend *kbl_backend_chosen(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		if (kbl_backend_wanted(kbl_backends[i]))
			return kbl_backends[i];
	return NULL;
}

/*
 * Those which want an arm now; the caller frees the array.  -EBUSY: another target
 * tells of that function's calls.
 */
static struct kbl_target **kbl_targets_wanting(unsigned int *nr)
{
	struct kbl_target **some = kvcalloc(kbl_nr_targets + 1, sizeof(*some), GFP_KERNEL);
	unsigned int i;

	*nr = 0;
	for (i = 0; some && i < kbl_nr_targets; i++) {
		struct kbl_target *t = kbl_targets[i];

		if (!t->enabled || t->mechanism || !t->addr || t->error == -EBUSY)
			continue;
		t->error = 0;
		some[(*nr)++] = t;
	}
	return some;
}

static void kbl_arm_by(const struct kbl_backend *backend)
{
	struct kbl_target **some;
	unsigned int nr;

	if (!kbl_backend_wanted(backend))
		return;
	some = kbl_targets_wanting(&nr);
	if (some && nr)
		backend->arm(some, nr);
	kvfree(some);
}

/* Returns how many are armed. */
int kbl_targets_arm(void)
{
	unsigned int i;

	for (i = 0; i < kbl_nr_targets; i++)
		if (kbl_targets[i]->error == -EBUSY)
			kbl_targets[i]->error = 0;
	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		kbl_arm_by(kbl_backends[i]);
	return kbl_targets_armed();
}

void kbl_targets_disarm(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		if (kbl_backends[i]->disarm)
			kbl_backends[i]->disarm(kbl_targets, kbl_nr_targets);
}

unsigned int kbl_targets_armed(void)
{
	unsigned int i, armed = 0;

	for (i = 0; i < kbl_nr_targets; i++)
		armed += kbl_targets[i]->mechanism && kbl_targets[i]->enabled;
	return armed;
}

/* By the source if it can, the others as kretprobes. */
static void kbl_arm_alone(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i, rest = 0;

	for (i = 0; i < nr; i++)
		targets[i]->error = 0;
	if (nr && kbl_backend_wanted(&kbl_source_backend))
		kbl_source_backend.arm(targets, nr);
	for (i = 0; i < nr; i++)
		if (!targets[i]->mechanism && targets[i]->error != -EBUSY)
			targets[rest++] = targets[i];
	if (rest && strcmp(kbl_backend_name, kbl_source_backend.name))
		kbl_kretprobe_backend.arm(targets, rest);
}

static void kbl_disarm_alone(struct kbl_target **targets, unsigned int nr)
{
	if (nr && kbl_source_backend.disarm)
		kbl_source_backend.disarm(targets, nr);
	if (nr)
		kbl_kretprobe_backend.disarm(targets, nr);
}

/*
 * Also while recording: what one fprobe has armed together is only ignored, or
 * heeded again; what it has not comes or goes alone.
 */
int kbl_targets_enable(const char *glob, bool enable)
{
	struct kbl_target **some = kvcalloc(kbl_nr_targets + 1, sizeof(*some), GFP_KERNEL);
	unsigned int i, nr = 0, found = 0;

	if (!some)
		return -ENOMEM;
	for (i = 0; i < kbl_nr_targets; i++) {
		struct kbl_target *t = kbl_targets[i];

		if (!glob_match(glob, t->name))
			continue;
		found++;
		WRITE_ONCE(t->enabled, enable);
		/* Pairs with kbl_map_search(). */
		smp_mb();
		if (!enable)
			WRITE_ONCE(t->ip, 0);
		if (t->addr && enable == !t->mechanism)
			some[nr++] = t;
	}
	if (kbl_active && enable)
		kbl_arm_alone(some, nr);
	else if (kbl_active)
		kbl_disarm_alone(some, nr);
	kvfree(some);
	return found ? 0 : -ENOENT;
}

static const struct kbl_backend *kbl_backend_of(u8 mechanism)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		if (mechanism && kbl_backends[i]->mechanism == mechanism)
			return kbl_backends[i];
	return NULL;
}

static u64 kbl_target_missed(const struct kbl_target *t)
{
	const struct kbl_backend *backend = kbl_backend_of(t->mechanism);

	return t->missed + (backend ? backend->missed(t) : 0);
}

u64 kbl_targets_missed(void)
{
	u64 missed = kbl_fprobe_missed();
	unsigned int i;

	for (i = 0; i < kbl_nr_targets; i++)
		missed += kbl_target_missed(kbl_targets[i]);
	return missed;
}

static void kbl_target_show(struct seq_file *m, const struct kbl_target *t)
{
	const struct kbl_backend *backend = kbl_backend_of(t->was);
	unsigned int i;
	u64 hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += per_cpu(kbl_cpu, cpu)->hits[t->id];
	seq_printf(m, "%u 0x%lx %d %d %llu %llu %s ", t->id, t->addr,
		   t->mechanism && t->enabled, t->error, hits, kbl_target_missed(t),
		   backend ? backend->name : "-");
	for (i = 0; i < t->nr_carriers; i++) {
		seq_printf(m, "%s%s@", i ? "," : "", kbl_kinds[t->carrier[i] >> 4]);
		if ((t->carrier[i] & 15) == KBL_AT_RET)
			seq_puts(m, "ret");
		else
			seq_printf(m, "%u", t->carrier[i] & 15);
	}
	seq_printf(m, "%s %s %s\n", t->nr_carriers ? "" : "-", t->name, t->module);
}

void kbl_targets_show(struct seq_file *m)
{
	unsigned int i;

	if (kbl_fprobe_backend.arm)
		seq_printf(m, "# missed by fprobe, of all functions together: %llu\n",
			   kbl_fprobe_missed());
	seq_puts(m, "# id addr armed error hits missed mechanism carriers name module\n");
	for (i = 0; i < kbl_nr_targets; i++)
		kbl_target_show(m, kbl_targets[i]);
}
