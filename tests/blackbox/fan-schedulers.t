#!/usr/bin/env bash
# Texts for other schedulers in the manual: read by their own parsers, and by
# their schemas where these can be had. No scheduler runs here.
. "${BASH_SOURCE%/*}/lib.sh"

modules=$TOP/build/npm
[[ $NODE ]] || skip_all "no node here"
[[ -d $modules/node_modules/kubernetes-models ]] ||
	skip_all "no schemas of Kubernetes in build/npm"
type -P mandoc >/dev/null || skip_all "no mandoc here"
mandoc -T ascii "$TOP/core/cli/matins.1" | sed 's/.\x08//g' >page

# text FIRST: the literal text that begins with this line, as a reader copies it
text() {
	awk -v first="$1" '
		!n && (i = index($0, first)) && substr($0, 1, i - 1) ~ /^ *$/ { n = i }
		n && /^$/ { exit }
		n { print substr($0, n) }' page
}

# parses KIND FILE, with what it is printed to $out
parses() {
	run_program "$2" "$NODE" "$TOP/tests/blackbox/schedulers.mjs" "$modules" "$1"
}

# refuses KIND FILE SED PATTERN
refuses() {
	sed "$3" "$2" >changed
	ok "$1: the text has that part" eval '! cmp -s changed "$2"'
	parses "$1" changed
	exit_is "$1: \"$3\" is refused" 1
	err_like "$1: and that is said" "$4"
}

text 'apiVersion: batch/v1' >job.yaml
parses k8s job.yaml
exit_is "Kubernetes: the Job of the manual is one by its schema" 0
json_is "Kubernetes: as many completions as shards are indexed" \
	spec.completionMode Indexed spec.completions 40
json_is "Kubernetes: status 75 begins the shard again" \
	spec.podFailurePolicy.rules[0].action Count \
	spec.podFailurePolicy.rules[0].onExitCodes.values[0] 75
json_is "Kubernetes: such a policy wants pods that are not restarted" \
	spec.template.spec.restartPolicy Never
refuses k8s job.yaml 's/completionMode: Indexed/completionMode: Counted/' completionMode
refuses k8s job.yaml 's/backoffLimitPerIndex/backoffLimitPerShard/' \
	'job.spec.backoffLimitPerShard: there is no such field'
refuses k8s job.yaml 's/operator: In,//' operator

text 'job "hello" {' >job.hcl
parses nomad job.hcl
exit_is "Nomad: the job of the manual is HCL" 0
json_is "Nomad: a batch of as many tasks as shards" \
	job.hello[0].type batch job.hello[0].group.shards[0].count 40
json_is "Nomad: each has the number of its shard" \
	job.hello[0].group.shards[0].task.shard[0].config[0].args[4] \
	"\${NOMAD_ALLOC_INDEX}"
refuses nomad job.hcl 's/count = 40/count =/' 'Invalid expression'
done_testing
