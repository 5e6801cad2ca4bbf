# SPDX-License-Identifier: Apache-2.0
# Certificates for the cases of exports over TLS: sourced. certificates makes in ./pki: ca and other
# (two authorities), server (localhost and 127.0.0.1), elsewhere (another name), expired, client,
# stranger (a client of other's); each NAME.pem with NAME.key.
# shellcheck shell=sh
set -eu
. "$WARD_SRC/tests/lib.sh"

new_key() {
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "pki/$1.key" 2>>pki/log
	chmod 600 "pki/$1.key"
}

# authority NAME
authority() {
	new_key "$1"
	openssl req -x509 -new -key "pki/$1.key" -subj "/CN=$1" -days 2 -out "pki/$1.pem" 2>>pki/log
}

# certificate NAME AUTHORITY DAYS USAGE NAMES
certificate() {
	new_key "$1"
	printf 'subjectAltName=%s\nextendedKeyUsage=%s\nkeyUsage=digitalSignature\n' "$5" "$4" >pki/extensions
	openssl req -new -key "pki/$1.key" -subj "/CN=$1" -out pki/request 2>>pki/log
	openssl x509 -req -in pki/request -CA "pki/$2.pem" -CAkey "pki/$2.key" -CAcreateserial -days "$3" \
		-extfile pki/extensions -out "pki/$1.pem" 2>>pki/log
}

certificates() {
	mkdir pki
	chmod 755 "$WARD_TMP"
	authority ca
	authority other
	certificate server ca 2 serverAuth DNS:localhost,IP:127.0.0.1
	certificate elsewhere ca 2 serverAuth DNS:elsewhere.example
	certificate expired ca -1 serverAuth DNS:localhost,IP:127.0.0.1
	certificate client ca 2 clientAuth DNS:client
	certificate stranger other 2 clientAuth DNS:client
}
