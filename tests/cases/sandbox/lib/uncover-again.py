# SPDX-License-Identifier: Apache-2.0
# Part of ../uncover.sh.
import os
for i in range(500):
    os.chmod("/workspace/a", 0)
    os.stat("/workspace/a/inner")
    os.chmod("/workspace/a", 0o755)
    assert os.listdir("/workspace/a/inner") == [], i
