# SPDX-License-Identifier: Apache-2.0
# Part of ../allowlist.sh.
import json
records = [json.loads(line) for line in open(".json")]
execs = {r["pid"]: r.get("path", "") for r in records if r["kind"] == "exec"}
def asked_by(comm, kind, host, **more):
    found = [r for r in records if r["kind"] == kind and r.get("host") == host and r.get("comm") == comm
             and all(r.get(k) == v for k, v in more.items())]
    assert found, (comm, kind, host, [r for r in records if r["kind"] == kind and r.get("host") == host][:3])
    for r in found:
        assert comm in execs.get(r["pid"], ""), (r, execs.get(r["pid"]))
asked_by("curl", "connect", "web.example", port=80)
asked_by("wget", "connect", "web.example", port=80)
asked_by("curl", "connect", "six.example")
asked_by("curl", "dns", "web.example")
asked_by("python3", "deny", "private.example")
