# SPDX-License-Identifier: Apache-2.0
import json
import math


def t(what, act):
    try:
        act()
        print(what, "works")
    except Exception:
        print(what, "refused")


class A:
    def __init__(self):
        self.x = 1


def load():
    import os
    return os


def load_from():
    from json import codecs
    return codecs


a = A()
a.x = a.x + 1
for i, (j, k) in enumerate([(1, 2)]):
    print(math.sqrt(16), [x * 2 for x in range(3)], json.dumps({"a": 1}), a.x, i, j, k)
t("os", load)
t("codecs", load_from)
t("attribute", lambda: json.codecs.open)
t("format", lambda: "{0}".format(a))
t("open", lambda: open("/etc/hostname"))
t("class", lambda: type(a))


def given(x, *more, **named):
    return [x, list(more), named]


print(given(*[1, 2, 3], **{"a": 4}))
print("done")
