#!/usr/bin/env bash
# Completion in zsh and fish, where they are installed; bash: help.t.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

mkdir bin
ln -s "$BIN" bin/matins
PATH=$T/bin:$PATH
cat >matins.toml <<-'END'
	[[routines.morning.steps]]
	name = "one"
	type = "script"
	command = "date"
	[[routines.morning.steps]]
	name = "two"
	type = "script"
	command = "date"
	[routines.evening]
	steps = []
	params = { mode = { enum = ["full", "short"] }, days = { description = "how many" } }
	[servers.db]
	command = "matins"
	args = ["brief"]
	[servers.web]
	url = "https://mcp.example.com/"
END
run_matins tools -s db
printf '[routines.noon]\nsteps = []\n' >other.toml
for shell in zsh fish; do
	run_matins completion "$shell"
	cp "$out" "completion.$shell"
done

# ---- values of options ----

run_matins __complete exec --net ''
out_is "hosts: the words" 'none
loopback
all'
run_matins __complete exec --unix ''
out_is "sockets: the words, and files" 'none
private
:files'

# ---- fish ----

# fish_offers NAME WANT LINE: all that it offers, sorted
# shellcheck disable=SC2016
fish_offers() {
	is "fish offers what fits: $1" "$(fish --no-config -c \
		'source completion.fish; complete -C $argv[1]' -- "$3" 2>&1 |
		cut -f1 | sort | paste -sd' ')" "$2"
}

if type -P fish >/dev/null; then
	ok "fish: the script is one" fish -n completion.fish
	fish_offers "commands" "step steps" 'matins ste'
	fish_offers "routines" "evening morning" 'matins step '
	fish_offers "steps" "one two" 'matins step morning '
	fish_offers "no steps of an unknown routine" "" 'matins step night '
	fish_offers "nothing behind a step" "" 'matins step morning one '
	fish_offers "the value of an option is no routine" "two" \
		'matins trace --read /tmp morning t'
	fish_offers "another configuration" "noon" \
		'matins run -c other.toml '
	fish_offers "steps of --only" "one,one one,two" \
		'matins run morning --only one,'
	fish_offers "another configuration behind =" "noon" \
		'matins run --config=other.toml '
	fish_offers "servers" "db web" 'matins call tool --server '
	fish_offers "remote servers of auth" "web" 'matins auth login '
	fish_offers "tools that were listed before" \
		"deadlines host repos todo" 'matins call -s db '
	fish_offers "of --server=" "host" 'matins call --server=db h'
	fish_offers "none of another" "" 'matins call -s web '
	fish_offers "words of an option" "full golden" 'matins run --view '
	fish_offers "parameters" "days= mode=" 'matins run evening -p '
	fish_offers "values of a parameter" "mode=full" \
		'matins run evening -p mode=f'
	fish_offers "what golden does" "accept check diff list prune record reject review" \
		'matins golden '
	fish_offers "then routines" "evening morning" 'matins golden check '
	fish_offers "programs behind --" "mkfifo" 'matins exec -- mkfif'
else
	skip "fish offers what fits" "it is not installed"
fi

# ---- zsh ----

# It completes at a terminal only. Each line is completed until the word that
# is waited for is on the screen, or never comes.
cat >zsh.py <<'END'
import os, pty, select, sys, time

child, fd = pty.fork()
if child == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("zsh", ["zsh", "-f", "-i"])

def wait_for(word):
    seen, end = "", time.monotonic() + 30
    while word not in seen and time.monotonic() < end:
        if select.select([fd], [], [], 0.2)[0]:
            seen += os.read(fd, 65536).decode(errors="replace")
    return seen

os.write(fd, b"PS1='>' RPS1=; autoload -Uz compinit; compinit -u -D;"
         b" source ./completion.zsh 2>/dev/null; compdef _matins matins;"
         b" bindkey '^I' list-choices; echo DO''NE\n")
wait_for("DONE")
for line, word in zip(sys.argv[1::2], sys.argv[2::2]):
    os.write(fd, line.encode())
    wait_for(line)
    os.write(fd, b"\t")
    print(line, "=>", word if word in wait_for(word) else "nothing")
    os.write(fd, b"\x15")
os.close(fd)
os.waitpid(child, 0)
END

if type -P zsh >/dev/null; then
	ok "zsh: the script is one" zsh -n completion.zsh
	zsh=('matins step ' 'evening  morning'
		'matins step morning ' 'one  two'
		'matins trace --read /tmp morning ' 'one  two'
		'matins run morning --only one,' 'one  two'
		'matins run -c other.toml ' 'noon'
		'matins run --config=other.toml ' 'noon'
		'matins call tool --server ' 'db   web'
		'matins auth login ' 'web'
		'matins call -s db ' 'deadlines  host'
		'matins call --server=db r' 'repos'
		'matins run evening -p ' 'days=  -- how many'
		'matins run evening -p mode=' 'full   short'
		'matins golden ' 'accept  check'
		'matins golden check ' 'evening  morning'
		'matins exec -- mkfif' 'mkfifo')
	is "zsh: what it offers" "$("$PYTHON" zsh.py "${zsh[@]}" 2>&1)" \
		"$(printf '%s => %s\n' "${zsh[@]}")"
else
	skip "zsh offers what fits" "it is not installed"
fi

done_testing
