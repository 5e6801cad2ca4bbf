# SPDX-License-Identifier: Apache-2.0
"""Joins the wrapped lines of the vector in docs/approvals.md, from stdin to stdout."""
import sys

text = "".join(line.rstrip("\n") for line in sys.stdin)
text = text.replace("wardfs-answer 1", "wardfs-answer 1\n").replace("signature wardfs/", "\nsignature wardfs/")
print(text)
