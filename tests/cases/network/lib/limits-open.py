# SPDX-License-Identifier: Apache-2.0
# Part of ../limits.sh.
import socket, subprocess, sys, time
s = socket.create_connection(("echo.example", 3000))
s.recv(100)
subprocess.Popen(["setsid", "sleep", sys.argv[1]])
open("here", "w").close()
# Whatever becomes of the connection, it is not this that ends the session.
time.sleep(600)
