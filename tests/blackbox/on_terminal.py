"""
Runs a program on a terminal of its own and types one answer at each prompt.

    on_terminal.py ANSWER,ANSWER... PROGRAM ARGS...

A prompt is output that ends in "] ". Prints what the terminal showed; ends
with the status of the program. Answers that are left over are not typed. A
first one that begins with "^" is typed before the program starts.
"""
import os
import pty
import sys

answers = sys.argv[1].split(",")
go, may_go = os.pipe()
pid, terminal = pty.fork()
if pid == 0:
    os.read(go, 1)
    os.execv(sys.argv[2], sys.argv[2:])
if answers[0].startswith("^"):
    os.write(terminal, answers.pop(0)[1:].encode() + b"\n")
os.write(may_go, b".")
shown = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if shown.endswith(b"] ") and answers:
        os.write(terminal, answers.pop(0).encode() + b"\n")
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
