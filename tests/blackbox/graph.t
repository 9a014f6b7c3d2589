#!/usr/bin/env bash
# `graph` shows what the steps of a routine wait for. The forms of it, and
# names that are no part of one: tests/unit/config/values/graph.transcript.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

cat >g.toml <<-'END'
	[routines.r]
	order = "needs"
	steps = [
	  { name = "list", type = "script", command = "nothere", cwd = "${UNSET}" },
	  { name = "use", type = "script", command = "cat", args = ["$steps.list.output"] },
	  { name = "tell", type = "script", command = "cat", after = "failure" },
	]
	[routines.circle]
	order = "needs"
	steps = [
	  { name = "a", type = "script", command = "cat", needs = ["b"] },
	  { name = "b", type = "script", command = "cat", needs = ["a"] },
	]
END

run_matins graph -c g.toml r
exit_is "graph: status 0, though a variable and a program lack" 0
out_is "text is the default" 'r: each step as soon as its needs have ended

list (script)
use (script)
    needs list
tell (script)
    after failure'
err_is "graph says nothing else" ""
run_matins graph -c g.toml r --format dot
out_like "dot" '^digraph \{$'
run_matins graph -c g.toml r --format=mermaid
out_like "mermaid" '^flowchart LR$'
run_matins graph -c g.toml r --json
json_is "data" routine r order needs steps '#3' \
	steps[1].waits[0].step list steps[1].waits[0].must_be_ok true \
	steps[2].after failure
is "nothing has run" "$(ls state)" ""

run_matins graph -c g.toml circle
exit_is "a circle: status 1" 1
err_like "a circle is named with its place" \
	'g\.toml:1[0-9]:.*steps wait for each other: a needs b, which needs a'
run_matins graph -c g.toml nothere
exit_is "no such routine: status 1" 1
for words in '' 'r x' 'r --format png' 'r --json --format dot'; do
	# shellcheck disable=SC2086
	run_matins graph -c g.toml $words
	exit_is "graph $words: status 64" 64
done
run_matins __complete graph -c g.toml r --format ''
out_is "the forms are completed" $'text\ndot\nmermaid'

done_testing
