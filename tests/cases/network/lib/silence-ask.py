# SPDX-License-Identifier: Apache-2.0
# Part of ../silence.sh.
import socket, threading
def ask(family, said):
    address = socket.getaddrinfo("web.example", 2080, family, socket.SOCK_STREAM)[0][4]
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(60)
        s.connect(address)
        s.sendall(b"?")
        try:
            said[family] = s.recv(10).decode()
        except OSError as e:
            said[family] = str(e)
families, said = (socket.AF_INET, socket.AF_INET6), {}
threads = [threading.Thread(target=ask, args=(f, said)) for f in families]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(*[said.get(f) for f in families])
