# SPDX-License-Identifier: Apache-2.0
# Part of ../looks.sh: each name is looked at by three processes, each time three times, at once.
import errno, os
HIDDEN = ["hid", "there.hid", "absent.hid", "open/there.hid", "open/absent.hid"]
for _ in range(3):
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
        continue
    for _ in range(3):
        for name in HIDDEN + ["absent", "den/s"]:
            try:
                os.close(os.open(name, os.O_RDONLY))
                os._exit(1)
            except OSError as e:
                if e.errno != (errno.EACCES if name == "den/s" else errno.ENOENT):
                    os._exit(2)
    os._exit(0)
