# SPDX-License-Identifier: Apache-2.0
"""Looks for what steers a terminal in the files named: prints what it finds, and fails.

A file may not have another encoding than UTF-8, nor a character that is not seen (controls but for the
newline and the tab, C1, DEL, those that turn the direction of text), nor a line that begins with FORGED.
CSV has lines that end with a carriage return: --crlf permits it there.
"""
import sys
import unicodedata

args = sys.argv[1:]
crlf = "--crlf" in args
found = 0
for name in [a for a in args if a != "--crlf"]:
    data = open(name, "rb").read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        print(f"{name}: no UTF-8: {data[max(0, e.start - 30):e.end + 30]!r}")
        found += 1
        text = data.decode("latin-1")
    if crlf:
        text = text.replace("\r\n", "\n")
    for i, c in enumerate(text):
        if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            print(f"{name}: U+{ord(c):04X}: {text[max(0, i - 40):i + 20]!r}")
            found += 1
            break
    for line in text.split("\n"):
        if line.startswith("FORGED"):
            print(f"{name}: a line that nobody wrote: {line[:60]!r}")
            found += 1
            break
sys.exit(1 if found else 0)
