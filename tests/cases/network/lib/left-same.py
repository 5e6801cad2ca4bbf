# SPDX-License-Identifier: Apache-2.0
# Part of ../left.sh.
"""The rows of one session are those of all, and have what was done."""
import json


def load(name):
    return json.load(open(name, encoding="utf-8"))


one, every, some, none = map(load, ("one", "all", "some", "none"))
assert [r for r in every if r["session"] == "second"] == one, (one, every)
assert {r["session"] for r in every} == {"first", "second"}, every
assert some and some == [r for r in every if r["host"] == "web.example"], some
assert none == [], none
went, = [r for r in one if r["decision"] == "allowed"]
assert (went["host"], went["port"], went["comm"], went["times"]) == ("web.example", 80, "python3", 2), went
assert went["sent"] > 40 and went["received"] > 40 and went["first"] < went["last"], went
refused = {r["host"] or r["addr"]: r for r in one if r["decision"] == "refused"}
assert set(refused) == {"other.example", "192.0.2.7"}, refused
assert all(r["sent"] is None and r["rule"] for r in refused.values()), refused
assert refused["other.example"]["action"] == "resolve", refused
