# SPDX-License-Identifier: MIT
# Hostile writes to every control file, under traffic; then the module must still do its work.
# seed=, seconds=
pair
client /bin/busybox ping -q -A 10.9.0.2 > /dev/null & pinger=$!
load subbuf_kb=64 n_subbufs=4
files=/proc/net/kbl
for f in $kbl/*; do case $f in */cpu*) ;; *) [ -d $f ] || files="$files $f" ;; esac; done
/fuzz ${seed:-$(date +%s)} ${seconds:-20} $files > /tmp/out/fuzz.txt 2>&1 || {
	cat /tmp/out/fuzz.txt; fail "fuzz"; }
cat /tmp/out/fuzz.txt
echo deactivate > $kbl/control; echo clear > $kbl/control || fail "clear"
unload; load
start_recorder /tmp/out/fuzz.kbl -f /few.txt
must client /bin/busybox ping -q -c 3 10.9.0.2
stop_recorder
unload
kill $pinger; wait $pinger
part client server
