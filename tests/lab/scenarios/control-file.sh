# SPDX-License-Identifier: MIT
# The drop experiment's session with its file in /proc, as text; and the list of probes.
said=/tmp/out/control-file.txt
# typed COMMAND: what a user would see, with the exit code if it is not 0
typed() {
	echo "# $1" >> $said
	sh -c "$1" >> $said 2>&1 || echo "(exit code $?)" >> $said
}
pair
load
grep -v '^#' /experiment-6.txt > /tmp/experiment
cat /tmp/experiment > $kbl/probes || fail "the experiment's probes were refused"
stext=$(grep -m 1 ' _stext$' /proc/kallsyms | cut -d ' ' -f 1)
echo "stext 0x$stext" > $kbl/control || fail "stext"
file=/proc/net/kbl
typed "cat $file"
typed "echo activate > $file"
typed "cat $file"
typed "/bin/ip netns exec client ping -q -c 1 10.9.0.2 > /dev/null"
typed "cat $file"
for word in Activate start "activate now" ""; do typed "echo '$word' > $file"; done
typed "cat $file"
typed "echo activate > $file"
typed "echo deactivate > $file"
typed "cat $file"
typed "echo off > $file"
typed "/bin/ip netns exec client ping -q -c 1 10.9.0.2 > /dev/null"
typed "cat $file"
echo clear > $kbl/control || fail "clear"
must /kblrecord -l --no-life -f /experiment-6.txt > /tmp/out/listing.txt
must /kblrecord -l -f /probes.txt > /tmp/out/listing-all.txt
unload
part client server
