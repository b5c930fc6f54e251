# SPDX-License-Identifier: MIT
pair
key=0x0123456789abcdef0123456789abcdef
for ns in client server; do
	for way in 1/2 2/1; do
		a=10.9.0.${way%/*} b=10.9.0.${way#*/}
		must $ip -n $ns xfrm state add src $a dst $b proto esp spi 0x10${way%/*} mode transport \
			auth 'hmac(sha256)' ${key}${key#0x} enc 'cbc(aes)' $key
		dir=in; [ $ns/${way%/*} = client/1 -o $ns/${way%/*} = server/2 ] && dir=out
		must $ip -n $ns xfrm policy add src $a dst $b dir $dir tmpl src $a dst $b proto esp mode transport
	done
done
sink server 7 echo=1
tap vc client vc
tap vs server vs
mix client 10.9.0.1 10.9.0.2
