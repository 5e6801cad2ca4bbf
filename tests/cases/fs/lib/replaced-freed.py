# SPDX-License-Identifier: Apache-2.0
# Part of ../replaced.sh.
import os, time
for _ in range(600):
    v = os.statvfs(".")
    if v.f_files - v.f_ffree <= 3: break
    time.sleep(0.1)
assert v.f_files == 1000 and v.f_files - v.f_ffree == 3, v
