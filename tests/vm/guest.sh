#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs inside a virtual machine, once it has booted: unpacks the second disk into /src, does what
# /src/job says, sends its output to the second serial port, and powers off. vm.py puts it there.
set -eu
exec >/dev/ttyS1 2>&1 </dev/null
stty -F /dev/ttyS1 raw -echo || :
echo "vm: booted $(uname -r)"
mkdir -p /src
status=125
if tar -xf /dev/vdb -C /src; then
	cd /src
	status=0
	sh ./job || status=$?
fi
echo "vm: done $status"
sync
systemctl poweroff --force
