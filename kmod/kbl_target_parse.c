// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse a line of the list of functions to probe: NAME [0xADDR] [CARRIER...] [EVENT] [module=M]
 * [void|bool|int] [quiet|inner], where CARRIER is KIND@WHERE.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kbl_record.h"

const char *const kbl_kinds[] = {
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

/* The index of @word, 0 = not found. */
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
	if (!strcmp(word, "inner")) {
		t->inner = true;
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

/* Find targets with one skb in a register and nothing else: their entry takes the fast path. */
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

/* Set the probe id, which is in its records and is the index in c->hits. */
void kbl_target_number(struct kbl_target *t, unsigned int id)
{
	t->id = id;
	t->head = KBL_HEAD(kind, KBL_CALL) | KBL_HEAD(func, id);
	if (!t->one || t->entry_event || t->exit_event || t->tap)
		t->head |= KBL_SLOW;
}

/* Returns NULL if the line is wrong; otherwise kfree() the result. */
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
	if (!t->name[0] || (t->inner && (t->nr_carriers || t->event || t->quiet)))
		goto bad;
	kbl_life_kind(t);
	kbl_target_plain(t);
	t->tap = t->one && !t->event && !t->quiet && kbl_tap_is(t->name);
	t->ret_mask = kbl_return_masks[t->returns];
	return t;
bad:
	kfree(t);
	return NULL;
}
