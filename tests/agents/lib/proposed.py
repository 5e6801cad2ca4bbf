# SPDX-License-Identifier: Apache-2.0
# Part of agents.sh: of each question, its name and the pattern of its directory.
import json
import os
import sys

for q in json.load(sys.stdin):
    print(q["question"], os.path.dirname(q["path"]) + "/**")
