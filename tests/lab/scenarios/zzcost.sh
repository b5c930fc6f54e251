must /bin/insmod /kbltest.ko
test=/sys/kernel/debug/kbltest/loop
echo 1000 20 > $test; echo "COST bare $(cat $test)"
load
for f in '' 'udp' 'tcp' 'host 10.8.0.1 and udp and port 1111' 'host 10.8.0.9 or tcp or port 77' 'dev eth0 and udp'; do
	for n in outer middle inner; do echo "kbltest_$n skb@0 void module=kbltest" > $kbl/probes; done
	echo "$f" > $kbl/filter
	activate
	echo 1000 20 > $test; echo "COST '$f' $(cat $test)"
	echo deactivate > $kbl/control; echo clear > $kbl/control
done
fail done
