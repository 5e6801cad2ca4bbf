#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs inside a virtual machine, once it has booted: does what /src/job says, sends its output to
# the second serial port, and powers off. vm.py puts it there, on the second disk.
set -eu
exec >/dev/ttyS1 2>&1 </dev/null
stty -F /dev/ttyS1 raw -echo || :
echo "vm: booted $(uname -r)"
status=0
cd /src
sh ./job || status=$?
echo "vm: done $status"
sync
systemctl poweroff --force
