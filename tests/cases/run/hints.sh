#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command fails after it tried what cannot work inside: a sandbox of its own, a tracer. wardfs
# says why. The control is the same program under another name, and the same command when it
# succeeds.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
mkdir bin
for name in bwrap gdb strace other; do
	printf '#!/bin/sh\nexit "$1"\n' >bin/$name
	chmod 755 bin/$name
done
said() { # PROGRAM TEXT
	expect 1 "$WARDFS" run -- "bin/$1" 1
	has "$ERR" "$2"
	expect 0 "$WARDFS" run -- "bin/$1" 0
	hasnt "$ERR" "$2"
	expect 1 "$WARDFS" run -- bin/other 1
	hasnt "$ERR" "$2"
}
said bwrap "none can be made inside this one"
said gdb "ptrace(2) is closed inside"
said strace "ptrace(2) is closed inside"
