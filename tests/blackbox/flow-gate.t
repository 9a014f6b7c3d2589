#!/usr/bin/env bash
# Values that servers and programs made are arguments: never a program, an
# option of one, a script, a package, or a file that is granted.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# says VALUE: a step "v" whose output it is
says() {
	plain v printf "args = [\"%s\", \"$1\"]"
}
refused="would decide what"

mkdir -p data deep/tools
echo hidden >data/secret.txt
echo 'echo "ran $*"' >data/evil.sh
echo 'import sys; print("ran", *sys.argv[1:])' >data/evil.py
chmod 755 data data/*

# ---- files ----

{
	says "$T/data/secret.txt"
	plain cat cat 'args = ["$steps.v.output"]'
	plain part cat "args = [\"$T/data/{{steps.v.state}}\", \"{{steps.v.output}}\"]"
	plain granted cat 'args = ["$steps.v.output"]' "sandbox = { read = [\"$T/data\"] }"
	plain own cat 'args = ["$input.f"]'
} >r.toml
run_matins run -c r.toml r -p "f=$T/data/secret.txt" --json
json_is "a file that a value names is not granted, and no line that would" \
	step_results[1].state failed step_results[1].output "" \
	step_results[1].advice[0].toml "" \
	step_results[2].state failed step_results[2].output ""
json_is "a file of a granted folder is read, as is one that -p names" \
	step_results[3].output hidden step_results[4].output hidden

# elements of a list that -p gives are the person's, too; those of a routine
# within are whose its inputs are
{
	plain l printf "args = ['[\"%s\"]', '$T/data/secret.txt']"
	plain own cat 'args = ["$item"]' 'foreach = "$input.f"'
	plain option echo 'args = ["$item", "{{index}}"]' 'foreach = "$input.o"'
	plain theirs cat 'args = ["$item"]' 'foreach = "$steps.l.json"'
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "routine"\nroutine = "in"\nparams.f = "%s"\n' \
		given '$steps.l.json' handed '$input.f'
	routine='in' plain each cat 'args = ["$item"]' 'foreach = "$input.f"'
} >r.toml
run_matins run -c r.toml r -p "f=[\"$T/data/secret.txt\"]" -p 'o=["-n"]' --json
json_is "a file that an element of -p names is read" step_results[1].output hidden \
	step_results[5].output "each: hidden"
json_is "an element of -p may be an option" step_results[2].output 0
json_is "a file that an element of a result names is not granted" \
	step_results[3].state failed step_results[3].output "" \
	step_results[4].state failed step_results[4].output ""

mkdir -p own/data own/more
echo hidden | tee own/data/a.txt >own/more/b.txt
{
	says "$T/own/data/a.txt"
	plain cat cat 'args = ["--", "$steps.v.output"]'
	plain part cat "args = [\"{{input.d}}/{{steps.v.state}}\"]"
	plain inside sh 'args = ["-c", "read -r x <$1", "sh", "$steps.v.output"]'
	plain input sh 'args = ["-c", "read -r x; cat $x"]' 'stdin = "{{steps.v.output}}"'
	plain own sh "args = [\"-c\", \"cat $T/own/more/b.txt\", \"sh\", \"\$steps.v.output\"]"
} >own/r.toml
run_matins run -c own/r.toml r -p "d=$T/own/data" --json
for i in 1 2 3 4; do
	json_is "step $i: a file of the project that a value names is not granted" \
		step_results[$i].state failed
	unlike "step $i: no line, and no trace" \
		"$(json_get step_results[$i].advice)" 'matins trace|sandbox'
done
like "a file that the person names has its line" \
	"$(json_get step_results[5].advice[0].toml)" "^sandbox.read = "

{
	says "jq"
	plain prog sh 'args = ["-c", "\"$1\" .", "sh", "$steps.v.output"]'
	plain input timeout 'args = ["5", "xargs", "jq"]' 'stdin = "{{steps.v.output}}"'
	plain host curl 'args = ["--", "http://{{steps.v.output}}.example/"]'
} >own/r.toml
run_matins run -c own/r.toml r
out_unlike "no line that starts what a value names, or reaches it" \
	'sandbox.(exec|net|preset|unix) ='

# ---- programs ----

{
	says "echo hidden"
	plain text sh 'args = ["-c", "{{steps.v.output}}"]'
	plain whole sh 'args = ["-c", "$steps.v.output"]'
	plain inside bash 'args = ["-c", "x={{steps.v.output}}; date"]'
	plain arg sh 'args = ["-c", "printf \"<%s>\" \"$1\"", "sh", "$steps.v.output"]'
	plain code "$PYTHON" 'args = ["-c", "{{steps.v.output}}"]'
	plain coded "$PYTHON" 'args = ["-c", "import sys; print(sys.argv[1])", "$steps.v.output"]'
	plain env env 'args = ["$steps.v.output"]'
	plain set env 'args = ["X={{steps.v.output}}", "printenv", "X"]'
	plain behind env 'args = ["X=1", "basename", "$steps.v.output"]' 'args_from_data = "allow"'
	plain time timeout 'args = ["5", "$steps.v.output"]'
	plain nested timeout 'args = ["5", "sh", "-c", "$steps.v.output"]'
	plain timed timeout 'args = ["5", "basename", "$steps.v.output"]' 'args_from_data = "allow"'
	plain find find 'args = [".", "-exec", "$steps.v.output", "{}", ";"]'
	plain found find 'args = ["/usr/bin/env", "-name", "$steps.v.output"]' 'args_from_data = "allow"'
	plain xargs xargs 'args = ["$steps.v.output"]'
} >r.toml
run_matins run -c r.toml r --json
for i in 1 2 3 5 7 8 10 11 13 15; do
	json_is "step $i: a value is no program and no code" \
		step_results[$i].state denied step_results[$i].reason policy
	like "step $i: said" "$(json_get step_results[$i].error)" "$refused"
done
for i in 4 6 9 12 14; do
	json_is "step $i: its twin is an argument" step_results[$i].state ok
done
json_is "an argument goes on as it came" step_results[4].output "<echo hidden>"

# a grant of programs is for those that the person names
{
	says rm
	plain time timeout 'args = ["5", "$steps.v.output"]' 'sandbox = { exec = ["rm"] }'
	plain env env 'args = ["$steps.v.output"]' 'sandbox = { exec = ["rm"], preset = ["none"] }'
} >r.toml
run_matins run -c r.toml r --json
json_is "a listed program is not chosen by a value" step_results[1].reason policy \
	step_results[2].reason policy

# ---- scripts, modules, options ----

{
	says "$T/data/evil.sh"
	plain script sh 'args = ["$steps.v.output"]' "sandbox = { read = [\"$T/data\"] }"
	plain dashes sh 'args = ["--", "$steps.v.output"]' "sandbox = { read = [\"$T/data\"] }"
	plain python "$PYTHON" "args = [\"$T/data/{{steps.v.output}}\"]"
	plain module "$PYTHON" 'args = ["-m", "$steps.v.output"]'
	plain attached "$PYTHON" 'args = ["-m{{steps.v.output}}"]'
	plain option "$PYTHON" 'args = ["-X", "{{steps.v.output}}", "-c", "pass"]'
	plain given "$PYTHON" "args = [\"$T/data/evil.py\", \"{{steps.v.output}}\"]"
	plain own sh 'args = ["$input.f", "{{steps.v.output}}"]'
	plain dir git 'args = ["-C", "$steps.v.output", "status"]'
	plain conf git 'args = ["-c", "alias.x={{steps.v.output}}", "x"]'
	plain sub git 'args = ["$steps.v.output"]'
	plain unknown git 'args = ["submodule", "foreach", "$steps.v.output"]'
} >r.toml
run_matins run -c r.toml r -p "f=$T/data/evil.sh" --json
for i in 1 2 3 4 5 6; do
	json_is "step $i: a value is no script, module or option" \
		step_results[$i].reason policy
done
json_is "a value behind the script is its own" \
	step_results[7].output "ran $T/data/evil.sh" \
	step_results[8].output "ran $T/data/evil.sh"
if [[ -x /usr/bin/git ]]; then
	for i in 9 10 11 12; do
		json_is "step $i: git takes no value for a folder, setting or command" \
			step_results[$i].reason policy
	done
else
	skip "git takes no value for a folder, setting or command" "git is not installed"
fi

{
	says -n
	plain only echo 'args = ["{{input.e}}{{steps.v.output}}"]'
	plain empty echo 'args = ["$input.e", "x{{steps.v.output}}"]'
} >r.toml
run_matins run -c r.toml r -p e= --json
json_is "behind an empty text a value still begins the argument" \
	step_results[1].reason reference step_results[2].output "x-n"

# ---- programs that start others, or whose arguments are commands ----

{
	says "X:=x"
	plain flock flock 'args = ["/dev/null", "{{steps.v.output}}"]'
	plain kill timeout 'args = ["-s", "KILL", "5", "sh", "-c", "{{steps.v.output}}"]'
	plain last env 'args = ["X=1", "basename", "$steps.v.output"]'
	plain sets env 'args = ["-u", "X", "sh", "-c", "{{steps.v.output}}"]'
	plain dashed timeout 'args = ["--", "5", "tar", "cf", "x", "$steps.v.output"]'
	plain make make 'args = ["--", "$steps.v.output"]'
	plain assigned make 'args = ["BY={{steps.v.output}}"]'
	plain awk awk 'args = ["--", "$steps.v.output"]'
	plain sed sed 'args = ["-e", "{{steps.v.output}}"]'
	plain find find 'args = ["--", "$steps.v.output"]'
	plain dd dd 'args = ["if=/dev/null", "$steps.v.output"]'
	plain test test 'args = ["--", "-{{steps.v.output}}"]'
	plain tar tar 'args = ["-I", "$steps.v.output", "-cf", "x"]'
	plain tarred tar 'args = ["--to-command={{steps.v.output}}"]'
	plain module perl 'args = ["-M{{steps.v.output}}", "-e", "1"]'
	plain input timeout 'args = ["5", "sh"]' 'stdin = "{{steps.v.output}}"'
	plain inter "$PYTHON" 'args = ["-i", "-c", "1"]' 'stdin = "{{steps.v.output}}"'
	plain xargs xargs 'stdin = "{{steps.v.output}}"'
	plain words test 'args = ["$steps.v.output", "=", "X:=x"]'
	plain reads sed 'args = ["s,x,y,"]' 'stdin = "{{steps.v.output}}"'
	plain behind perl 'args = ["-e", "print @ARGV", "--", "$steps.v.output"]'
	plain allowed timeout 'args = ["5", "basename", "$steps.v.output"]' 'args_from_data = "allow"'
	plain never timeout 'args = ["5", "$steps.v.output"]' 'args_from_data = "allow"'
	plain cluster tar 'args = ["-cI", "$steps.v.output", "-f", "x", "."]'
	plain old tar 'args = ["cIf", "cat", "x", "$steps.v.output"]'
	plain first tar 'args = ["{{steps.v.output}}", "x"]'
	for words in 'sed "-f", "-"' 'sed "-nf-"' 'awk "-f", "/dev/stdin"' 'make "-f", "-"' \
		'make "--file=/dev/fd/0"' 'make "-sf", "-"'; do
		plain "stdin-${n:=0}" "${words%% *}" "args = [${words#* }]" 'stdin = "{{steps.v.output}}"'
		((n++))
	done
	plain data sed 'args = ["-n", "p", "-"]' 'stdin = "{{steps.v.output}}"'
} >r.toml
run_matins run -c r.toml r --json
for i in {1..18} {23..32}; do
	json_is "step $i: a value is no command" step_results[$i].reason policy
done
for i in 19 20 21 22 33; do
	json_is "step $i: its twin is an argument, or read" step_results[$i].state ok
done

for v in 'echo INJ|' '>made' '| cat' '  <x' '+<x'; do
	{
		says "$v"
		plain n perl 'args = ["-ne", "print", "--", "$steps.v.output"]'
		plain e perl 'args = ["-e", "print while <>", "--", "{{steps.v.output}} "]'
	} >r.toml
	run_matins run -c r.toml r --json
	json_is "perl opens no value as a pipe or file: $v" \
		step_results[1].reason policy step_results[2].reason policy
done
{
	says "a|b>c"
	plain n perl 'args = ["-e", "print @ARGV", "--", "$steps.v.output"]'
	plain vi vim 'args = ["-es", "{{steps.v.output}}"]'
} >r.toml
run_matins run -c r.toml r --json
json_is "perl: its twin is an argument" step_results[1].output "a|b>c"
if command -v vim >/dev/null; then
	json_is "vim runs no value" step_results[2].reason policy
else
	skip "vim runs no value" "vim is not installed"
fi

{
	says --version
	plain value grep 'args = ["-e", "--", "$steps.v.output"]'
	plain long grep 'args = ["--regexp", "--", "$steps.v.output"]'
	plain flag grep 'args = ["-c", "--", "$steps.v.output", "/dev/null"]'
	plain attached grep 'args = ["-ex", "--", "$steps.v.output", "/dev/null"]'
} >r.toml
run_matins run -c r.toml r --json
for i in 1 2; do
	json_is "step $i: the value of an option ends no options" \
		step_results[$i].reason reference
done
json_is "but -- behind a flag does" step_results[3].output 0 \
	step_results[4].reason exit_status

# ---- packages ----

mkdir -p node_modules/pkg node_modules/.bin
printf '{"name":"pkg","version":"1.0.0","bin":{"pkg":"i.js"}}' >node_modules/pkg/package.json
printf '#!/usr/bin/env node\nconsole.log("ran", ...process.argv.slice(2))\n' >node_modules/pkg/i.js
ln -s ../pkg/i.js node_modules/.bin/pkg
chmod 755 node_modules/pkg/i.js
{
	says pkg
	plain npx npx 'args = ["$steps.v.output"]'
	plain from npx 'args = ["-p", "{{steps.v.output}}", "pkg"]'
	plain exec npm 'args = ["exec", "--", "$steps.v.output"]'
	plain uvx uvx 'args = ["$steps.v.output"]'
	plain pipx pipx 'args = ["run", "$steps.v.output"]'
	plain bunx bunx 'args = ["$steps.v.output"]'
	plain pnpm pnpm 'args = ["dlx", "$steps.v.output"]'
	plain own npx 'args = ["pkg", "$steps.v.output"]'
} >r.toml
run_matins run -c r.toml r --json
for i in 1 2 3 4 5 6 7; do
	json_is "step $i: a value is no package" step_results[$i].reason policy
	like "step $i: said" "$(json_get step_results[$i].error)" "$refused"
done
if [[ -n $NODE && $NODE == /usr/* ]]; then
	json_is "a value is an argument of a package" step_results[8].output "ran pkg"
else
	skip "a value is an argument of a package" "no node in /usr"
fi

# ---- told before anything runs ----

{
	plain mark touch "args = [\"$T/deep/mark\"]" "sandbox = { write = [\"$T/deep\"] }"
	plain text sh 'args = ["-c", "{{steps.mark.output}}"]'
} >r.toml
run_matins run -c r.toml r --dry-run --json
like "a dry run tells" "$(json_get step_results[1].error)" "$refused"

done_testing
