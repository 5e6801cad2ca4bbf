# SPDX-License-Identifier: Apache-2.0
# Part of ../epoll.sh: watches of epoll(7) until there are so many, or no more.
import os, select, sys

want, n = int(sys.argv[1]), 0
fds = [fd for _ in range(300) for fd in os.pipe()]
polls = []
try:
    while n < want:
        polls.append(select.epoll())
        for fd in fds:
            polls[-1].register(fd, select.EPOLLIN)
            n += 1
        if n % 6000 == 0:
            print(n, flush=True)
except OSError as e:
    print(e, file=sys.stderr)
print(n, flush=True)
