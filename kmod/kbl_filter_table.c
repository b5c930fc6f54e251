// SPDX-License-Identifier: GPL-2.0-only
/*
 * The accepted packets, by the address of their skb.  A bucket is a cache line, and there is no
 * lock.  Only a holder of an skb adds or removes the skb's address, so an entry stays in its
 * place until it is removed.  If two holders add the same skb, there are two entries, and both
 * are removed together.
 */
#include "kbl_filter.h"

static inline u32 kbl_table_hash(u64 key)
{
	/* The golden ratio, as in linux/hash.h. */
	return (key * 0x61c8864680b583ebull) >> (64 - KBL_FILTER_BITS);
}

bool kbl_table_has(const struct kbl_filter_table *table, u64 key)
{
	const struct kbl_filter_bucket *bucket = &table->bucket[kbl_table_hash(key)];
	u32 i;

	for (i = 0; i < KBL_FILTER_WAYS; i++)
		if (READ_ONCE(bucket->key[i]) == key)
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_table_has);

/*
 * An address did not fit into this bucket.  So even if an address is not found in it, the packet
 * may have been accepted.
 */
bool kbl_table_full(const struct kbl_filter_table *table, u64 key)
{
	return READ_ONCE(table->bucket[kbl_table_hash(key)].overflow);
}
NOKPROBE_SYMBOL(kbl_table_full);

/* Returns false if there is no room. */
bool kbl_table_add(struct kbl_filter_table *table, u64 key)
{
	struct kbl_filter_bucket *bucket = &table->bucket[kbl_table_hash(key)];
	u32 i;

	if (kbl_table_has(table, key))
		return true;
	for (i = 0; i < KBL_FILTER_WAYS; i++)
		if (!READ_ONCE(bucket->key[i]) && !cmpxchg(&bucket->key[i], 0, key))
			return true;
	WRITE_ONCE(bucket->overflow, 1);
	return false;
}
NOKPROBE_SYMBOL(kbl_table_add);

void kbl_table_forget(struct kbl_filter_table *table, u64 key)
{
	struct kbl_filter_bucket *bucket = &table->bucket[kbl_table_hash(key)];
	u32 i;

	for (i = 0; i < KBL_FILTER_WAYS; i++)
		if (READ_ONCE(bucket->key[i]) == key)
			WRITE_ONCE(bucket->key[i], 0);
}
NOKPROBE_SYMBOL(kbl_table_forget);
