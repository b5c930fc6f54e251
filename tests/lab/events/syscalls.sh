# SPDX-License-Identifier: MIT
# The system calls of a known program, beside one that waits before and after.
serve server udp server 8
begin syscalls "-all +syscall"
must /calls $out/calls
must client /traffic udp client 10.9.0.2 8
served
end
begin interrupts "-all +irq +softirq"
dd if=/dev/vda of=/dev/null bs=64k count=64 2> /dev/null
must client /bin/busybox ping -q -c 3 10.9.0.2
end
