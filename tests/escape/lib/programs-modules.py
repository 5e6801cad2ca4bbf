# SPDX-License-Identifier: Apache-2.0
# Part of ../programs.sh.
import multiprocessing, threading, socket, tempfile, os, ssl, subprocess
t = threading.Thread(target=print); t.start(); t.join()
a, b = socket.socketpair()
assert subprocess.check_output(["id", "-un"]).strip() == b"agent"
multiprocessing.get_context("fork").Process(target=print).start()
assert len(socket.if_nameindex()) == 1
assert ssl.OPENSSL_VERSION and tempfile.gettempdir() == "/tmp"
os.memfd_create("x")
