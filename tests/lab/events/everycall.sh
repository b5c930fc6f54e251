# SPDX-License-Identifier: MIT
# All system calls.  The kernel's own histograms of its tracepoints count them, too.
traced=/sys/kernel/debug/tracing/events/raw_syscalls
enter="hist:keys=common_pid,id:size=8192" exit="hist:keys=common_pid,id,ret:size=8192"
count() {
	echo "$enter" > $traced/sys_enter/trigger || fail "histogram"
	echo "$exit" > $traced/sys_exit/trigger || fail "histogram"
}
counted() {
	cat $traced/sys_enter/hist > $out/enter; cat $traced/sys_exit/hist > $out/exit
	echo "!$enter" > $traced/sys_enter/trigger || fail "histogram"
	echo "!$exit" > $traced/sys_exit/trigger || fail "histogram"
}
count
begin everycall "-all +syscalls"
must /everycall $out/calls
end
counted
# Both groups: a call on a socket has its arguments, and no call is recorded twice.
count
begin bothcalls "-all +syscall +syscalls"
must /calls $out/calls
end
counted
# The filter chooses among calls on sockets only: those that it refuses are recorded as any other.
count
begin filteredcalls "-all +syscall +syscalls"
echo "host 192.0.2.77" > $kbl/filter || fail "filter"
must /calls $out/calls
end
counted
# A call that lasts while its group is switched off has an end.
begin switchedcalls "-all +syscalls"
sleep 1 & echo $! > $out/sleeper
sleep 0.3
echo "-syscalls +syscall" > $kbl/events || fail "events"
wait $!
end
# The thread that calls exec takes its process's id meanwhile.
begin execcalls "-all +syscalls"
must /everycall $out/threads exec
end
# The same by kblrecord.
count
out=/tmp/out/recordedcalls; mkdir $out
load subbuf_kb=1024 n_subbufs=8
start_recorder $out/calls.kbl -f /freers.txt --no-life -e syscalls
must /everycall $out/calls
stop_recorder
unload
counted
