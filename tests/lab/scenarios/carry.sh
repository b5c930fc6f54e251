# SPDX-License-Identifier: MIT
# Packets carried in every way, an skb without linear headers; a call that outlives the module.
must /bin/insmod /kbltest.ko
test=/sys/kernel/debug/kbltest
cat > /carry.txt <<LIST
kbltest_frag skb@0 module=kbltest int
kbltest_merged skb@0 module=kbltest
kbltest_skbp skbp@0 module=kbltest
kbltest_list list@0 module=kbltest
kbltest_queue queue@1 module=kbltest
kbltest_sock sock@0 module=kbltest
kbltest_sock_ret sock@ret module=kbltest
kbltest_ret skb@ret module=kbltest
kbltest_ninth skb@8 module=kbltest
kbltest_four skb@0 skbp@1 list@2 queue@3 module=kbltest
kbltest_sleep skb@0 module=kbltest
LIST
load subbuf_kb=64 n_subbufs=4
start_recorder /tmp/out/carry.kbl -f /carry.txt
echo 1 > $test/carry || fail "kbltest: carry"
for i in 1 2 3; do echo 1 > $test/sleep & done
sleep 0.5
stop_recorder
# Three sleep in probed functions; nothing may wait for them.
before=$(cut -d . -f 1 /proc/uptime)
unload
[ $(($(cut -d . -f 1 /proc/uptime) - before)) -lt 10 ] || fail "unload waited for sleepers"
load subbuf_kb=64 n_subbufs=4
only_calls
echo "kbltest_sleep skb@0 module=kbltest" > $kbl/probes || fail "probes"
activate
echo 1 > $test/wake
wait
echo deactivate > $kbl/control || fail "deactivate"
cat $kbl/stats > /tmp/out/woken.stats
unload
must /bin/rmmod kbltest
