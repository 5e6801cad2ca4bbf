# SPDX-License-Identifier: Apache-2.0
# Part of ../report-picture.sh.
import json, re, struct, sys, zlib

name, scheme, only = sys.argv[1:]
def look_at_picture():
    data = open(name + ".png", "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    assert depth == 8 and colour in (2, 6), (depth, colour)
    n = {2: 3, 6: 4}[colour]
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * n)
    for y in range(height):  # PNG, 9.2: filters
        kind, line = raw[y * (width * n + 1)], bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
        for x in range(len(line) if kind else 0):
            a, b, c = line[x - n] if x >= n else 0, before[x], before[x - n] if x >= n else 0
            if kind == 4:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                more = a if pa <= pb and pa <= pc else b if pb <= pc else c
            else:
                more = {1: a, 2: b, 3: (a + b) // 2}[kind]
            line[x] = (line[x] + more) & 255
        rows.append(bytes(line))
        before = line
    pixels = [row[x:x + 3] for row in rows for x in range(0, width * n, n)]
    colours = {}
    for p in pixels:
        colours[p] = colours.get(p, 0) + 1
    ground = max(colours, key=colours.get)
    drawn = len(pixels) - colours[ground]
    if len(colours) < 16 or drawn < len(pixels) // 200:
        print(f"{name}: nothing is drawn: {len(colours)} colours, {drawn} of {len(pixels)} pixels")
    light = sum(ground) > 384
    if light != (scheme == "1"):
        print(f"{name}: the ground is {ground.hex()}")
    # Letters and bars are told from the ground.
    if max(abs(sum(c) - sum(ground)) for c, k in colours.items() if k > 20) < 200:
        print(f"{name}: hardly anything can be read")


if not only:
    look_at_picture()
found = re.search(r'data-measured="([^"]*)"', open(name + ".dom", encoding="utf-8").read())
if not found:
    print(f"{name}: the page was not measured")
else:
    m = json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    if m["dark"] == (scheme == "1"):
        print(f"{name}: the browser was not asked for that scheme")
    if m["over"] or m["scroll"] > m["client"]:
        print(f"{name}: reaches beyond the page ({m['scroll']} of {m['client']}): {m['over']}")
    if m["elements"] < 40:
        print(f"{name}: {m['elements']} elements")
