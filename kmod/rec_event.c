// SPDX-License-Identifier: MIT
/* Print events as text. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "rec_text.h"

#define REC_IFF_UP 0x1		/* linux/if.h */
#define REC_IFF_RUNNING 0x40

/* Print an offset from _stext as symbol+0xoffset. */
void rec_symbol_show(FILE *out, const struct rec_names *names, kbl_s32 offset)
{
	kbl_u64 addr = names->symbols->stext + offset;
	const struct rec_symbol *symbol = rec_symbol_at(names->symbols, addr);

	if (symbol && !*symbol->name)
		symbol = NULL;
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

/* Where a drop happened: the netfilter hook, if any, and the callers. */
static void rec_drop_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	const union rec_slot *first = rec_ext(slot, KBL_EXT_DROP);

	if (first && first->drop.hook) {
		fputs(" in netfilter", out);
		rec_hook_show(out, first->drop.hook);
	}
	for (int i = 1; i <= slot->event.ext; i++) {
		const struct kbl_ext_drop *drop = &slot[i].drop;

		for (int j = 0; drop->type == KBL_EXT_DROP && j < 6 && drop->stack[j]; j++) {
			fputs(" < ", out);
			rec_symbol_show(out, names, drop->stack[j]);
		}
	}
}

static void rec_free_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	const char *reason = rec_reason_name(names, (kbl_u32)slot->event.data);
	kbl_s32 location = slot->event.data >> 32;

	if (slot->event.event == KBL_EV_DROP && reason)
		fprintf(out, " %s", reason);
	else if (slot->event.event == KBL_EV_DROP)
		fprintf(out, " reason %u", (kbl_u32)slot->event.data);
	if (location) {
		fputs(" at ", out);
		rec_symbol_show(out, names, location);
	}
	rec_drop_show(out, names, slot);
}

/* The first 16 bytes of a struct sockaddr: all of an IPv4 one. */
static void rec_sockaddr_show(FILE *out, const void *first)
{
	kbl_u16 family, port;

	memcpy(&family, first, sizeof(family));
	memcpy(&port, (const char *)first + 2, sizeof(port));
	if (family == AF_INET) {
		fputs(" address ", out);
		rec_address_show(out, family, (const kbl_u8 *)first + 4);
		fprintf(out, ".%u", ntohs(port));
	} else if (family == AF_INET6) {
		fprintf(out, " port %u", ntohs(port));
	} else if (family) {
		fprintf(out, " family %u", family);
	}
}

static void rec_arguments_show(FILE *out, const char *name, const struct kbl_ext_syscall *call)
{
	const kbl_u64 *args = call->args;

	if (name && (!strcmp(name, "connect") || !strcmp(name, "bind")))
		rec_sockaddr_show(out, args);
	else if (name && !strncmp(name, "socket", 6))
		fprintf(out, " family %u type 0x%llx protocol %llu", call->family,
			(unsigned long long)args[0], (unsigned long long)args[1]);
	else if (args[0] || args[1])
		fprintf(out, " args 0x%llx 0x%llx", (unsigned long long)args[0],
			(unsigned long long)args[1]);
}

static void rec_syscall_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	const union rec_slot *ext = rec_ext(slot, KBL_EXT_SYSCALL);
	bool is_32bit = slot->event.data & KBL_SYSCALL_32BIT;
	kbl_u32 number = slot->event.data;
	const char *name;

	if (slot->event.event == KBL_EV_SYSCALL_EXIT) {
		fprintf(out, " = %lld", (long long)slot->event.data);
		return;
	}
	name = rec_syscall_word(names->machine, number, is_32bit);
	if (name)
		fprintf(out, " %s", name);
	else
		fprintf(out, " %u", number);
	if (is_32bit)
		fputs(" 32-bit", out);
	if (ext && ext->syscall.fd >= 0)
		fprintf(out, " fd %d", ext->syscall.fd);
	if (ext && ext->syscall.sk)
		fprintf(out, " sock 0x%llx", (unsigned long long)ext->syscall.sk);
	if (ext)
		rec_arguments_show(out, name, &ext->syscall);
}

static void rec_neigh_show(FILE *out, const struct kbl_ext_neigh *neigh)
{
	const char *state = rec_nud_word(neigh->nud_state);
	const kbl_u8 *mac = neigh->lladdr;

	fputc(' ', out);
	rec_address_show(out, neigh->family, neigh->addr);
	fprintf(out, " at %02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
	if (state)
		fprintf(out, " %s", state);
	else
		fprintf(out, " state 0x%02x", neigh->nud_state);
}

static void rec_route_show(FILE *out, const struct kbl_ext_route *route)
{
	const char *table = rec_table_word(route->table);

	fputc(' ', out);
	rec_address_show(out, route->family, route->addr);
	if (table)
		fprintf(out, "/%u table %s", route->prefix_len, table);
	else
		fprintf(out, "/%u table %u", route->prefix_len, route->table);
}

/* The gateway of a route, or an address of a device. */
static void rec_addr_show(FILE *out, const struct kbl_ext_addr *addr, bool gateway)
{
	fputs(gateway ? " via " : " ", out);
	rec_address_show(out, addr->family, addr->addr);
	if (!gateway)
		fprintf(out, "/%u", addr->prefix_len);
}

static void rec_link_show(FILE *out, const char *name, const struct kbl_ext_addr *addr)
{
	if (name)
		fprintf(out, " %s", name);
	if (addr)
		fprintf(out, " %s%s", addr->flags & REC_IFF_UP ? "up" : "down",
			addr->flags & REC_IFF_RUNNING ? " running" : "");
}

/* Neighbours, addresses, routes, links. */
static void rec_change_show(FILE *out, const struct rec_names *names, const union rec_slot *slot)
{
	const union rec_slot *neigh = rec_ext(slot, KBL_EXT_NEIGH);
	const union rec_slot *route = rec_ext(slot, KBL_EXT_ROUTE);
	const union rec_slot *addr = rec_ext(slot, KBL_EXT_ADDR);
	char name[REC_NAME];
	bool named = rec_name(slot, name, sizeof(name));
	kbl_u32 ifindex = neigh ? neigh->neigh.ifindex : route ? route->route.ifindex :
			  addr ? addr->addr.ifindex : 0;
	const char *device = rec_device_name(names, slot->event.data >> 32, ifindex);

	if (slot->event.event <= KBL_EV_MODULE && slot->event.event >= KBL_EV_NEIGH)
		fputs((kbl_u32)slot->event.data == KBL_CHANGE_GONE ? " gone" : " set", out);
	if (slot->event.event == KBL_EV_LINK) {
		rec_link_show(out, named ? name : NULL, addr ? &addr->addr : NULL);
		return;
	}
	if (neigh)
		rec_neigh_show(out, &neigh->neigh);
	if (route)
		rec_route_show(out, &route->route);
	if (addr && addr->addr.family)
		rec_addr_show(out, &addr->addr, route);
	if (device)
		fprintf(out, " dev %s", device);
	else if (ifindex)
		fprintf(out, " dev %u", ifindex);
	if (named)
		fprintf(out, " %s", name);
}

/* The time that a clock_set event set. */
static void rec_clock_show(FILE *out, const struct kbl_event_slot *event)
{
	kbl_u64 real = event->data + event->ts;
	time_t seconds = real / 1000000000;
	struct tm parts;
	char text[32];

	if (!localtime_r(&seconds, &parts) || !strftime(text, sizeof(text), "%F %T", &parts))
		return;
	fprintf(out, " to %s.%09llu", text, (unsigned long long)(real % 1000000000));
}

static void rec_nf_hook_show(FILE *out, kbl_u32 data)
{
	int verdict = (int)(data >> 16) - 1;
	const char *word = rec_verdict_word(verdict);

	rec_hook_show(out, data & 0xffff);
	if (word)
		fprintf(out, ": %s", word);
	else
		fprintf(out, ": verdict %d", verdict);
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
	case KBL_EV_ALLOC:
	case KBL_EV_COPY_TO_USER:
		fprintf(out, " %llu bytes", data);
		break;
	case KBL_EV_SOCK_ENQUEUE:
		fprintf(out, " of sock 0x%llx", data);
		break;
	case KBL_EV_XMIT:	/* netdev_tx_t; negative: an error of the queueing discipline */
		fprintf(out, " = %d", (int)data);
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
		rec_syscall_show(out, names, slot);
		break;
	case KBL_EV_IRQ_ENTRY:	/* rec_interrupt_show() */
	case KBL_EV_IRQ_EXIT:
	case KBL_EV_SOFTIRQ_ENTRY:
	case KBL_EV_SOFTIRQ_EXIT:
		break;
	case KBL_EV_QDISC_ENQUEUE:
	case KBL_EV_QDISC_DEQUEUE:	/* the handle as tc(8) writes it */
		fprintf(out, " %x:%x ifindex %u", (kbl_u32)data >> 16, (kbl_u32)data & 0xffff,
			(kbl_u32)(data >> 32));
		break;
	case KBL_EV_CLOCK_SET:
		rec_clock_show(out, &slot->event);
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
			fprintf(out, ", %u more not recorded", (kbl_u32)(data >> 32));
		break;
	case KBL_EV_NF_HOOK:
		rec_nf_hook_show(out, data);
		break;
	case KBL_EV_TASK:
		fprintf(out, " tgid %llu", data);
		break;
	case KBL_EV_SCHED_SWITCH:
	case KBL_EV_WAKE:
	case KBL_EV_LOCK_WAIT:
	case KBL_EV_LOCK_GOT:
	case KBL_EV_PAGE_FAULT:
		rec_machine_show(out, names, slot);
		break;
	case KBL_EV_QUEUE_LENGTH:
	case KBL_EV_SOCK_LENGTH:
		rec_length_show(out, names, slot);
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
