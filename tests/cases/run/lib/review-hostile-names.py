# SPDX-License-Identifier: Apache-2.0
"""Part of ../review-hostile.sh: files whose names a terminal or a browser would obey."""
import os

for i, n in enumerate(["\x1b[2Jesc", "new\nline", "<script>alert(1)</script>", "a|b`c", "\u202eltr",
                       "\x9bcsi", "&lt;b&gt;", "\"onload=x", "tab\t", "![x](http://e/)"]):
    os.makedirs(os.path.dirname(n) or ".", exist_ok=True)
    open(os.fsencode(n) if i % 2 else n, "w").write(str(i))
open(b"\xff\xfebytes", "w").write("x")
