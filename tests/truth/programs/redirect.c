// SPDX-License-Identifier: MIT
/* redirect DEVICE TARGET [generic=1]: an XDP program sends on what DEVICE receives; until ended. */
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "zoo.h"

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int program(int target)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = target },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP, .insns = (uintptr_t)code, .insn_cnt = 4,
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

int main(int argc, char **argv)
{
	union bpf_attr attr = { .link_create.attach_type = BPF_XDP };

	if (argc < 3)
		return 2;
	attr.link_create.prog_fd = program(if_nametoindex(argv[2]));
	attr.link_create.target_ifindex = if_nametoindex(argv[1]);
	attr.link_create.flags = zoo_number(argv, "generic", 0) ? XDP_FLAGS_SKB_MODE :
								  XDP_FLAGS_DRV_MODE;
	if (bpf(BPF_LINK_CREATE, &attr) < 0)
		zoo_fail("XDP");
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
