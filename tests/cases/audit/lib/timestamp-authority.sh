#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Part of ../timestamp.sh. DIR: makes a time stamp authority there: ca.pem, and commands that get a
# request on stdin: ask answers it; the others do not, each in its own way.
set -eu
mkdir -p "$1"
cd "$1"
cat >tsa.cnf <<END
[req]
distinguished_name = name
[name]
[tsa]
default_tsa = here
[here]
serial = $1/serial
crypto_device = builtin
signer_cert = $1/tsa.pem
signer_key = $1/tsa.key
certs = $1/ca.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
[stamping]
extendedKeyUsage = critical,timeStamping
[refusing]
default_tsa = strict
[strict]
END
echo 01 >serial
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=ca -config tsa.cnf 2>/dev/null
openssl req -new -newkey rsa:2048 -nodes -keyout tsa.key -out tsa.csr -subj /CN=tsa -config tsa.cnf 2>/dev/null
openssl x509 -req -in tsa.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -out tsa.pem \
	-extfile tsa.cnf -extensions stamping 2>/dev/null
# An authority that takes SHA-512 alone.
sed 's/^digests = .*/digests = sha512/' tsa.cnf >refuses.cnf

# program NAME: the text of stdin
program() {
	{ printf '#!/bin/sh\nset -eu\ncd "%s"\n' "$PWD" && cat; } >"$1"
	chmod 755 "$1"
}
program ask <<'END'
echo $# >arguments
cat >query
openssl ts -reply -config tsa.cnf -queryfile query -out reply 2>/dev/null
cp -n reply first
cat reply
END
program refuses <<'END'
cat >query
openssl ts -reply -config refuses.cnf -queryfile query -out refusal 2>/dev/null || :
cat refusal
END
program replays <<'END'
cat first
END
program garbage <<'END'
cat >query
cat query
END
program silent <<'END'
cat >query
END
program fails <<'END'
exit 3
END
program floods <<'END'
exec cat /dev/zero
END
program cut <<'END'
./ask | head -c 500
END
program more <<'END'
./ask
echo
END
