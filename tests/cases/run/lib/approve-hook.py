# SPDX-License-Identifier: Apache-2.0
# Part of ../approve-hook.sh: a program that answers a question, or something else.
import json
import sys

question = json.load(sys.stdin)
answer = {"question": question["question"], "digest": question["digest"], "answer": "once"}
changes = {"once": {}, "no": {"answer": "no"}, "other-question": {"question": "aaaaaa"},
           "other-digest": {"digest": "0" * 64}, "no-digest": {"digest": None},
           "more": {"answer": "everything"}}
answer.update(changes[sys.argv[1]])
json.dump({k: v for k, v in answer.items() if v is not None}, sys.stdout)
