# SPDX-License-Identifier: Apache-2.0
# Part of ../npm-scripts.sh.
import os, socket
s = socket.create_server(("127.0.0.1", 0))
open("port.new", "w").write(str(s.getsockname()[1]))

os.rename("port.new", "port")
while True:
    s.accept()[0].close()
