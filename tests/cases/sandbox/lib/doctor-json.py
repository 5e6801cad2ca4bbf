# SPDX-License-Identifier: Apache-2.0
# Part of ../doctor.sh.
import json
report = json.load(open("out", encoding="utf-8"))
assert report["ok"] is True
names = {check["name"]: check for check in report["checks"]}
assert names["/dev/fuse"]["required"] is True and names["/dev/fuse"]["status"] == "ok"
assert names["landlock"]["required"] is False
