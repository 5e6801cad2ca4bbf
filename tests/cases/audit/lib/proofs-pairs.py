# SPDX-License-Identifier: Apache-2.0
# Part of ../proofs.sh.
import json
pairs = [json.loads(line) for line in open("pairs")]
assert [p["record"] for p in pairs] == [json.loads(line) for line in open("want")] and len(pairs) > 2
assert "".join(p["proof"] for p in pairs) == open("shown").read()
def put(name, pairs):
    open(name, "w").write("".join(json.dumps(p, ensure_ascii=False) + "\n" for p in pairs))
# By another program, in another form: the same.
put("same", [dict(reversed(p.items())) for p in pairs])
first, second = pairs[0], pairs[1]
put("badrecord", [{**first, "record": {**first["record"], "pid": first["record"]["pid"] + 1}}])
put("badmember", [{**first, "record": {**first["record"], "more": 1}}])
put("badother", [{**first, "proof": second["proof"]}])
put("badboth", [{**first, "proof": first["proof"] + second["proof"]}])
put("badreal", [{**first, "record": {**first["record"], "v": 1.0}}])
put("badtrue", [{**first, "record": {**first["record"], "v": True}}])
put("badmore", [{**first, "note": "x"}])
put("badback", [second, first])
put("badpath", [{**first, "proof": first["proof"].replace("index ", "index 1", 1)}])
open("badcut", "w").write(open("pairs").read()[:-2])
