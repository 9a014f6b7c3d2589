"""
Runs a program on a terminal of its own and types one answer at each prompt.

    on_terminal.py ANSWER,ANSWER... PROGRAM ARGS...

A prompt is output that ends in "] ". Prints what the terminal showed; ends
with the status of the program. Answers that are left over are not typed. A
first one that begins with "^" is typed before the program starts. A control
character is typed without the end of a line; "!TERM" sends that signal to the
program instead.
"""
import os
import pty
import signal
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
        answer = answers.pop(0)
        if answer.startswith("!"):
            os.kill(pid, signal.Signals["SIG" + answer[1:]])
        else:
            is_key = len(answer) == 1 and answer < " "
            os.write(terminal, answer.encode() + (b"" if is_key else b"\n"))
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
