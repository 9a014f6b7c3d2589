#!/usr/bin/env bash
# The routines that come with matins, with the servers that they name: as they
# are shipped, and where something fails or is refused.
# shellcheck disable=SC2016,SC2154
. "${BASH_SOURCE%/*}/lib.sh"

modules=$TOP/build/npm/node_modules
shipped=$TOP/routines
[[ -d $shipped ]] || skip_all "the source is not here"

# A repository with a commit and the routines, and another one.
place() {
	W=$T/$who
	mkdir -p "$W/p/routines/out" "$W/other" "$W/home"
	cp "$shipped"/*.toml "$W/p/routines/"
	for repo in p other; do
		git -C "$W/$repo" init -q
		git -C "$W/$repo" add .
		git -C "$W/$repo" -c user.name=Ann -c user.email=ann@example.org \
			commit -q --allow-empty -m "first of $repo"
	done
	export HOME=$W/home XDG_STATE_HOME=$W/home/state
	cd "$W/p" || exit 1
}

# routine ARGS...: run it as the user whose turn it is
routine() {
	run_program /dev/null "${as[@]}" "$PROGRAM" run "$@"
}

# on_terminal ANSWER ARGS...: run it where a person is
on_terminal() {
	local answer=$1

	shift
	run_program /dev/null env -u CI "${as[@]}" "$PYTHON" \
		"$TOP/tests/blackbox/on_terminal.py" "$answer" "$PROGRAM" run "$@"
}

digest() {
	routine -c routines/digest.toml digest -p "repos=[\"..\",\"$W/other\"]" --json
	exit_is "$who: digest: status 0" 0
	json_is "$who: digest: the loop has each repository" \
		step_results[0].output $'..: first of p (Ann)\n'"$W/other: first of other (Ann)" \
		step_results[1].data.items '#2' step_results[2].reason condition
	routine -c routines/digest.toml digest -p repos='["../../other"]' --json
	json_is "$who: digest: a folder may be relative" \
		step_results[0].output '../../other: first of other (Ann)'
	routine -c routines/digest.toml digest -p since=2090-01-01 --json
	json_is "$who: digest: a quiet week is said" \
		step_results[2].output 'nothing since 2090-01-01'
	routine -c routines/digest.toml digest -p "repos=[\"..\",\"$W/gone\"]" --json
	exit_is "$who: digest: a repository that is gone: status 2" 2
	json_is "$who: digest: the others are there" step_results[0].reason items \
		step_results[0].error '~^1 of 2 failed; first: \[1\]' \
		step_results[0].output '..: first of p (Ann)' \
		step_results[2].reason needs
	routine -c routines/digest.toml digest -p repos=..
	exit_is "$who: digest: a text is no list" 64
}

watch() {
	sed 's/maximum = 90/maximum = 100/' routines/watch.toml >routines/wide.toml
	routine -c routines/wide.toml watch --json
	exit_is "$who: watch: room on the disk: status 0" 0
	json_is "$who: watch: no notice" step_results[1].reason condition
	not_ok "$who: watch: and no file" test -e routines/out/notices.txt
	sed 's/maximum = 90/maximum = -1/' routines/watch.toml >routines/tight.toml
	routine -c routines/tight.toml watch --json
	exit_is "$who: watch: a full disk: status 2" 2
	json_is "$who: watch: what was found stays in the report" \
		step_results[0].reason expect \
		step_results[0].data.structuredContent.disks present \
		step_results[1].state ok
	file_like "$who: watch: the notice says it" routines/out/notices.txt \
		'^20.* expect .*used_percent: is [0-9]+, must be at most -1$'
	routine -c routines/tight.toml watch -p notices=../x
	exit_is "$who: watch: a notice goes nowhere else" 64
}

approval() {
	local notes=routines/out/notes.md

	routine -c routines/approval.toml approval --json
	exit_is "$who: approval: nobody to ask: status 0" 0
	json_is "$who: approval: nothing is done" step_results[1].reason approval \
		step_results[2].reason needs
	on_terminal n -c routines/approval.toml approval
	exit_is "$who: approval: a no: status 0" 0
	out_like "$who: approval: the question shows the text" '^  \| - first of p \(Ann\)$'
	not_ok "$who: approval: nothing is written" test -e $notes
	if [[ ! -d $modules/@modelcontextprotocol/server-filesystem ]]; then
		skip "$who: approval: a yes" "the servers are not installed: make check"
		return
	fi
	on_terminal y -c routines/approval.toml approval
	exit_is "$who: approval: a yes: status 0" 0
	file_has "$who: approval: it is written" $notes '- first of p (Ann)'
	routine -c routines/approval.toml approval --approve go -p file=../x.md
	exit_is "$who: approval: a file elsewhere is refused before" 64
	((${#as[@]})) && return
	routine -c routines/approval.toml approval --approve go -p file=more.md
	ok "$who: approval: a yes beforehand" test -s routines/out/more.md
}

chart() {
	local picture=routines/out/load.png

	if [[ ! -d $modules/mcp-echarts ]]; then
		skip "$who: chart" "the server is not installed: make check"
		return
	fi
	routine -c routines/chart.toml chart -p title=Busy --json
	exit_is "$who: chart: status 0" 0
	json_is "$who: chart: the file is told" step_results[1].run.saved '#1'
	is "$who: chart: it is a picture" "$(head -c 4 $picture | od -An -tx1)" ' 89 50 4e 47'
	cp $picture old.png
	sed 's/load\.five/load.six/' routines/chart.toml >routines/wrong.toml
	routine -c routines/wrong.toml chart --json
	exit_is "$who: chart: a number that is not there: status 2" 2
	json_is "$who: chart: what there is, is said" step_results[1].reason reference \
		step_results[1].error '~load has no "six"; it has: one, five, fifteen$'
	file_is "$who: chart: the old picture stays" $picture old.png
	routine -c routines/chart.toml chart -p "title=$(printf '%090d' 0)"
	exit_is "$who: chart: a title that is too long" 64
}

nightly() {
	local summary=routines/out/nightly.md

	if [[ ! -d $modules/@modelcontextprotocol/server-filesystem ]]; then
		skip "$who: nightly" "the servers are not installed: make check"
		return
	fi
	sed -i 's/wait = "1s"/wait = "1ms"/' routines/nightly.toml
	routine -c routines/nightly.toml nightly --json
	exit_is "$who: nightly: status 0" 0
	file_has "$who: nightly: the summary" $summary '- latest: first of p'
	file_like "$who: nightly: has what a tool said" $summary '^memory [0-9]'
	routine -c routines/nightly.toml nightly -p remote=gone --json
	exit_is "$who: nightly: a remote that is gone: status 2" 2
	json_is "$who: nightly: it was tried three times" \
		step_results[1].run.attempts '#3' step_results[0].state ok \
		step_results[4].state ok
	file_like "$who: nightly: the summary says it" $summary '^- remote: failed the program'
	((${#as[@]})) && return
	routine -c routines/nightly.toml nightly -p "repo=$W/gone" --json
	json_is "$who: nightly: what needs a failure is skipped" \
		step_results[2].reason needs step_results[4].state ok
	file_like "$who: nightly: and empty in the summary" $summary '^- latest: $'
}

# What npm would have installed, where it looks from each of the folders.
[[ ! -d $modules ]] || cp -R "$modules" "$T/"
_copy_programs
for who in root user; do
	PROGRAM=$T/.bin/matins as=()
	[[ $who == user || $(id -u) -eq 0 ]] || continue
	place
	if [[ $who == user && $(id -u) -eq 0 ]]; then
		chown -R daemon: "$W"
		as=("${_setpriv[@]}")
	fi
	digest
	watch
	approval
	chart
	nightly
done

# What the first page and each head promise is one command, and an editor that
# has the schema finds no mistake either.
run_matins schema
cp "$out" schema.json
has_schema='import json, sys, tomllib, jsonschema
jsonschema.validate(tomllib.load(open(sys.argv[2], "rb")), json.load(open(sys.argv[1])))'
for file in "$shipped"/*.toml; do
	name=${file##*/}
	name=${name%.toml}
	run_matins check "$file"
	out_like "$name: has no mistake" 'ok, 1 routine'
	command="matins run -c routines/$name.toml $name"
	file_like "$name: its head has the command" "$file" "^#	$command( |\$)"
	if "$PYTHON" -c 'import jsonschema, tomllib' 2>/dev/null; then
		ok "$name: is as the schema says" "$PYTHON" -c "$has_schema" schema.json "$file"
	else
		skip "$name: is as the schema says" "no python3-jsonschema"
	fi
	file_has "$name: the page has it" "$shipped/README.md" "\`$command\`"
done

done_testing
