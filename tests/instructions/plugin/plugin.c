// SPDX-License-Identifier: MIT
/*
 * A plugin of QEMU's emulator that counts the guest's instructions: of the kernel and of the probes
 * in it.  See docs/instructions.md.
 *
 *   -plugin instructions.so,out=PREFIX
 *
 * Until the guest says that counting begins, only programs' code is looked at, when it is translated:
 * so the guest boots at its usual speed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"
#include "messages.h"
#include "qemu_api.h"

QEMU_EXPORT int qemu_plugin_version = QEMU_API_VERSION;

static qemu_plugin_id_t plugin;
static char prefix[4096];
static unsigned int nr_files;

static void translate_idle(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
static void translate_counting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void count_from_here(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_counting);
}

static void count_no_more(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_idle);
}

static void begin(void)
{
	const struct range *function;

	tables_clear();
	touches_clear();
	for (unsigned int i = 0; (function = symbols_accesses_at(i)); i++)
		touch_choose(function->begin);
	exceptions_clear();
	marks_clear();
	flow_clear();
	qemu_plugin_reset(plugin, count_from_here);
}

static void end(void)
{
	char path[sizeof(prefix) + 16];

	flow_end();
	snprintf(path, sizeof(path), "%s.%u", prefix, ++nr_files);
	if (output_write(path)) {
		fprintf(stderr, "instructions: cannot write %s\n", path);
		exit(1);
	}
	qemu_plugin_reset(plugin, count_no_more);
}

/* @data: the message's number in the high half, the low half of its address in the other */
static void take_message(unsigned int cpu, void *data)
{
	unsigned int message = (uintptr_t)data >> 32;
	uint64_t addr = (uintptr_t)data | 0xffffffff00000000ull;

	if (message == MESSAGE_CLEAR)
		symbols_clear();
	else if (message == MESSAGE_BEGIN)
		begin();
	else if (message == MESSAGE_END)
		end();
	else
		symbols_message(message, addr);
}

/* The displacement of a nop, or 0. */
static uint32_t nop_value(const struct qemu_plugin_insn *insn)
{
	uint32_t words[2];

	if (qemu_plugin_insn_size(insn) != sizeof(words))
		return 0;
	memcpy(words, qemu_plugin_insn_data(insn), sizeof(words));
	return words[0] == MESSAGE_NOP ? words[1] : 0;
}

static void find_message(struct qemu_plugin_tb *tb)
{
	uint32_t number;
	uint64_t data;

	if (qemu_plugin_tb_vaddr(tb) >> 63 || qemu_plugin_tb_n_insns(tb) < 2)
		return;
	number = nop_value(qemu_plugin_tb_get_insn(tb, 0)) - MESSAGE;
	if (number > MESSAGE_END)
		return;
	data = nop_value(qemu_plugin_tb_get_insn(tb, 1)) | (uint64_t)number << 32;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, take_message, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)data);
}

static void translate_idle(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	find_message(tb);
}

static void run_block(unsigned int cpu, void *data)
{
	flow_block(data);
}

/*
 * QEMU before 8.0 does not always end this callback with the instruction for which it was
 * registered: a later instruction that saves the state of the FPU may call it, too.
 */
static void take_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
	const struct range *function = data;
	struct qemu_plugin_hwaddr *at;

	if (flow_side() != SIDE_KERNEL || !flow_is_in(function))
		return;
	at = qemu_plugin_get_hwaddr(info, addr);
	access_add(function->begin, addr, at ? qemu_plugin_hwaddr_phys_addr(at) : 0,
		   qemu_plugin_mem_is_store(info));
	touch_add(function->begin, addr, qemu_plugin_mem_is_store(info));
}

static enum block_end end_of(const struct qemu_plugin_insn *insn)
{
	const uint8_t *byte = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);

	if (byte[0] == 0xc3 || (size > 1 && byte[0] == 0xf3 && byte[1] == 0xc3))
		return END_RET;
	return size == 2 && byte[0] == 0x48 && byte[1] == 0xcf ? END_IRET : END_OTHER;
}

/* A function's call of its probe: it replaces a nop, so what it stores is not the function's. */
static bool calls_probe(const struct qemu_plugin_insn *insn)
{
	const uint8_t *byte = qemu_plugin_insn_data(insn);
	int32_t far;

	if (qemu_plugin_insn_size(insn) != 1 + sizeof(far) || byte[0] != 0xe8)
		return false;
	memcpy(&far, byte + 1, sizeof(far));
	return symbols_probe(qemu_plugin_insn_vaddr(insn) + 1 + sizeof(far) + far);
}

static void count_instructions(struct qemu_plugin_tb *tb, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct range *function = symbols_accesses(qemu_plugin_insn_vaddr(insn));

		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &flow_all, 1);
		if (function && !calls_probe(insn))
			qemu_plugin_register_vcpu_mem_cb(insn, take_access, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW,
							 (void *)function);
	}
}

static void translate_counting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *tail = qemu_plugin_tb_get_insn(tb, nr - 1);
	uint64_t after = qemu_plugin_insn_vaddr(tail) + qemu_plugin_insn_size(tail);
	struct block *b = block_get(qemu_plugin_tb_vaddr(tb), after, nr, end_of(tail));

	symbols_classify(b);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, run_block, QEMU_PLUGIN_CB_NO_REGS, b);
	find_message(tb);
	count_instructions(tb, nr);
}

/* @argv: out=PREFIX, the beginning of the files' names */
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				    char **argv)
{
	if (argc != 1 || strncmp(argv[0], "out=", 4) || strlen(argv[0]) >= sizeof(prefix) ||
	    !info->system_emulation || info->system.max_vcpus != 1) {
		fprintf(stderr, "instructions: takes out=PREFIX, and a guest with one CPU\n");
		return -1;
	}
	strcpy(prefix, argv[0] + 4);
	plugin = id;
	count_no_more(id);
	return 0;
}
