# SPDX-License-Identifier: Apache-2.0
# What `wardfs audit verify --json` says, as the second verifier prints it: NAME STATE RECORDS
# FIRST_BAD.
import json, sys
for r in json.load(sys.stdin):
    print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)
