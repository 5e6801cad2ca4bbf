# SPDX-License-Identifier: Apache-2.0
"""What is typed by `wardfs attach` into a session whose changes are staged is staged."""
from user_terminal import WARDFS, Terminal

one = Terminal(30, 90)
two = Terminal(40, 100)
one.send(f"{WARDFS} run --review -e 'PS1=in> ' --session typed -- sh -i\n")
one.wait(r"in> $")
two.send(f"{WARDFS} attach typed\n")
two.wait(r"in> ")
two.send("echo ty''ped >>changed; cat changed\n")
two.wait(r"typed\r")
one.wait(r"typed\r")
two.send("exit\n")
one.wait(r"READY> $")
