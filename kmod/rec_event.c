// SPDX-License-Identifier: MIT
/* Events as text. */
#include <string.h>

#include "rec_text.h"

/* An offset from _stext as symbol+0xoffset. */
void rec_symbol_show(FILE *out, const struct rec_names *names, kbl_s32 offset)
{
	kbl_u64 addr = names->symbols->stext + offset;
	const struct rec_symbol *symbol = rec_symbol_at(names->symbols, addr);

	if (symbol)
		fprintf(out, "%s+0x%llx", symbol->name, (unsigned long long)(addr - symbol->addr));
	else
		fprintf(out, "0x%llx", (unsigned long long)addr);
	if (symbol && *symbol->module)
		fprintf(out, " [%s]", symbol->module);
}

/* The EXT slot of that type, or NULL. */
static const union rec_slot *rec_ext(const union rec_slot *slot, unsigned int type)
{
	for (int i = 1; i <= slot->event.ext; i++)
		if (slot[i].skb.type == type)
			return &slot[i];
	return NULL;
}

static void rec_free_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	const char *reason = rec_reason_name(names, (kbl_u32)slot->event.data);
	kbl_s32 location = slot->event.data >> 32;

	if (reason)
		fprintf(out, " %s", reason);
	else
		fprintf(out, " reason %u", (kbl_u32)slot->event.data);
	if (location) {
		fputs(" at ", out);
		rec_symbol_show(out, names, location);
	}
	for (int i = 1; i <= slot->event.ext; i++) {
		const struct kbl_ext_drop *drop = &slot[i].drop;

		for (int j = 0; drop->type == KBL_EXT_DROP && j < 6 && drop->stack[j]; j++) {
			fputs(" < ", out);
			rec_symbol_show(out, names, drop->stack[j]);
		}
		if (drop->type == KBL_EXT_DROP && drop->hook)
			fprintf(out, " in netfilter hook %u of family %u", drop->hook & 0xff,
				drop->hook >> 8 & 0x7f);
	}
}

static void rec_syscall_show(FILE *out, const union rec_slot *slot)
{
	const union rec_slot *ext = rec_ext(slot, KBL_EXT_SYSCALL);

	if (slot->event.event == KBL_EV_SYSCALL_EXIT) {
		fprintf(out, " = %lld", (long long)slot->event.data);
		return;
	}
	fprintf(out, " %llu", (unsigned long long)slot->event.data);
	if (ext && ext->syscall.fd >= 0)
		fprintf(out, " fd %d", ext->syscall.fd);
	if (ext && ext->syscall.sk)
		fprintf(out, " sock 0x%llx", (unsigned long long)ext->syscall.sk);
}

/* Neighbours, addresses, routes, links. */
static void rec_change_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	const union rec_slot *neigh = rec_ext(slot, KBL_EXT_NEIGH);
	const union rec_slot *route = rec_ext(slot, KBL_EXT_ROUTE);
	const union rec_slot *addr = rec_ext(slot, KBL_EXT_ADDR);
	const kbl_u8 *mac = neigh ? neigh->neigh.lladdr : NULL;
	kbl_u32 ifindex = neigh ? neigh->neigh.ifindex : route ? route->route.ifindex :
			  addr ? addr->addr.ifindex : 0;
	const char *device = rec_device_name(names, slot->event.data >> 32, ifindex);

	if (slot->event.event <= KBL_EV_MODULE && slot->event.event >= KBL_EV_NEIGH)
		fputs((kbl_u32)slot->event.data == KBL_CHANGE_GONE ? " gone" : " set", out);
	fputc(' ', out);
	if (neigh) {
		rec_address_show(out, neigh->neigh.family, neigh->neigh.addr);
		fprintf(out, " at %02x:%02x:%02x:%02x:%02x:%02x state 0x%02x", mac[0], mac[1],
			mac[2], mac[3], mac[4], mac[5], neigh->neigh.nud_state);
	}
	if (route) {
		rec_address_show(out, route->route.family, route->route.addr);
		fprintf(out, "/%u table %u", route->route.prefix_len, route->route.table);
	}
	if (addr && addr->addr.family) {
		fputs(route ? " via " : "", out);
		rec_address_show(out, addr->addr.family, addr->addr.addr);
		if (!route)
			fprintf(out, "/%u", addr->addr.prefix_len);
	}
	if (device)
		fprintf(out, " dev %s", device);
	else if (ifindex)
		fprintf(out, " dev %u", ifindex);
	if (rec_ext(slot, KBL_EXT_COMM))
		fprintf(out, " %.15s", rec_ext(slot, KBL_EXT_COMM)->comm.comm);
}

static void rec_data_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	unsigned long long data = slot->event.data;

	switch (slot->event.event) {
	case KBL_EV_CLONE:
	case KBL_EV_COPY:
	case KBL_EV_SEGMENT:
	case KBL_EV_GRO_MERGE:
	case KBL_EV_COALESCE:
	case KBL_EV_MORPH:
		fprintf(out, " %s skb 0x%llx", slot->event.event <= KBL_EV_SEGMENT ? "->" : "with",
			data);
		break;
	case KBL_EV_CONSUME:
	case KBL_EV_DROP:
		rec_free_show(out, names, slot);
		break;
	case KBL_EV_FOOTPRINT:
		fputs(": ", out);
		rec_packet_show(out, names, slot + 1, slot->event.ext);
		break;
	case KBL_EV_SYSCALL_ENTRY:
	case KBL_EV_SYSCALL_EXIT:
		rec_syscall_show(out, slot);
		break;
	case KBL_EV_NAPI_POLL:
		fprintf(out, " work %u of %u", (kbl_u32)data, (kbl_u32)(data >> 32));
		rec_change_show(out, names, slot);
		break;
	case KBL_EV_NEIGH:
	case KBL_EV_ADDR:
	case KBL_EV_ROUTE:
	case KBL_EV_LINK:
	case KBL_EV_MODULE:
		rec_change_show(out, names, slot);
		break;
	case KBL_EV_CARRY:
		fprintf(out, " number %u", (kbl_u32)data);
		if (data >> 32)
			fprintf(out, ", %u more not told", (kbl_u32)(data >> 32));
		break;
	case KBL_EV_NF_HOOK:
		fprintf(out, " hook %u family %u verdict %d", (kbl_u32)data & 0xff,
			(kbl_u32)data >> 8 & 0xff, (int)((kbl_u32)data >> 16) - 1);
		break;
	case KBL_EV_TASK:
		fprintf(out, " tgid %llu", data);
		break;
	default:
		if (data)
			fprintf(out, " %llu", data);
		if (rec_ext(slot, KBL_EXT_COMM))
			fprintf(out, " %.15s", rec_ext(slot, KBL_EXT_COMM)->comm.comm);
	}
}

/* "* clone skb 0x... -> skb 0x..." */
void rec_event_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	fprintf(out, "* %s", rec_event_name(slot->event.event));
	if (slot->event.skb)
		fprintf(out, " skb 0x%llx", (unsigned long long)slot->event.skb);
	rec_data_show(out, names, slot);
}
