#!/usr/bin/env bash
# matins schedule with a real user manager of systemd: started here, in
# namespaces and a control group of its own, once for root and once for an
# ordinary user.
skip() {
	echo "1..0 # SKIP $*"
	exit 0
}
case ${SYSTEMD_STAGE:-} in
"") # a control group, that namespaces make the root of all that is seen
	manager=
	for manager in /usr/lib/systemd/systemd /lib/systemd/systemd ""; do
		[[ ! -x $manager ]] || break
	done
	[[ -n $manager ]] || skip "systemd is not installed"
	[[ $(id -u) -eq 0 ]] || skip "only root can give a manager a control group"
	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=$top$(sed -n 's/^0:://p' /proc/self/cgroup)/matins-test-$$
	[[ -n $top ]] && mkdir "$group" 2>/dev/null ||
		skip "no control group can be made here"
	bin=
	trap 'find "$group" -depth -type d -exec rmdir {} \; ; rm -rf "$bin"' EXIT
	bin=$(mktemp -d)
	chmod 755 "$bin"
	cp "${BIN:-${BASH_SOURCE%/*}/../../build/matins}" "$bin/matins"
	export SYSTEMD_STAGE=mounts MANAGER=$manager BIN=$bin/matins
	# the shell that waits stays outside
	within() {
		sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$group" \
			unshare --cgroup --mount --pid --fork --kill-child \
			--mount-proc "$@"
	}
	why=$(within true 2>&1) || skip "no namespaces can be made here: $why"
	within bash "$0"
	exit
	;;
mounts)
	mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs none /run ||
		skip "nothing can be mounted here"
	# the machine's own user units are none of ours
	[[ ! -d /etc/systemd/user ]] || mount -t tmpfs none /etc/systemd/user
	mkdir -p /run/systemd/system
	mkdir -m 755 /run/user
	mkdir -m 700 /run/user/0 /run/user/65534
	chown -R 65534:65534 /run/user/65534
	export SYSTEMD_STAGE=test
	;;
esac
. "${BASH_SOURCE%/*}/lib.sh"
XDG_RUNTIME_DIR=/run/user/$(id -u)
export XDG_RUNTIME_DIR
unset MATINS_ALLOW DBUS_SESSION_BUS_ADDRESS

begin_manager() {
	"$MANAGER" --user --unit=timers.target --log-target=console \
		>>manager.log 2>&1 &
	manager=$!
	wait_for 30 systemctl --user is-active --quiet timers.target
}
end_manager() {
	systemctl --user exit
	wait "$manager"
}
begin_manager || skip_all "systemd says: $(tail -n 1 manager.log)"

cat >m.toml <<'END'
[[routines.r.steps]]
name = "s"
type = "script"
command = "date"
[[routines.bad.steps]]
name = "s"
type = "script"
command = "false"
END
ledger=$XDG_STATE_HOME/matins/ledger.jsonl
units=$XDG_CONFIG_HOME/systemd/user
# Schedule ROUTINE with OPTIONS some seconds ahead, and wait until its run N has
# ended. A machine that was too busy to have the timer by then gets more time.
comes() {
	local routine=$1 n=$2 delay

	shift 2
	for delay in 2 10 40; do
		at=$(env -u TZ date -d "+$delay seconds" "+%F %T")
		at=${at%:00}
		run_matins schedule add "$routine" -c m.toml --at "$at" "$@"
		if ((status == 0)) && [[ -n $(systemctl --user show \
			-P NextElapseUSecRealtime -P LastTriggerUSec \
			"$(unit_of "$routine" | sed 's/service$/timer/')") ]]; then
			wait_for 90 ended "$routine" "$n"
			return
		fi
		"$BIN" schedule remove "$routine" -c m.toml 2>/dev/null
	done
	return 1
}
ended() { [[ $(grep -c "\"finished\".*\"routine\":\"$1\"" "$ledger") -eq $2 ]]; }
unit_of() { basename "$units/matins-$1-"*.service; }
state_of() { systemctl --user show -P "$2" "$(unit_of "$1")"; }

# ---- a time that comes ----

"$BIN" run -c m.toml r --json >plain.json
ok "a time that comes starts its run" comes r 2 -- --json -o "$T/timer.json"
err_like "by the manager that runs" "next ${at/ /T} \(systemd\)"
run_matins schedule list --json
json_is "the list says so" schedules[0].with systemd schedules[0].at "$at"
wait_for 30 eval '[[ $(state_of r ActiveState) == inactive ]]'
is "and the service is content" "$(state_of r Result)" success
run_matins history r -c m.toml --json
json_is "the ledger has it, for that time" runs '#2' runs[0].slot "${at/ /T}"
enforced() { grep -o '"enforced":[^]]*' "$1" | sort -u; }
is "the keys of the unit take nothing from the gate" \
	"$(enforced timer.json)" "$(enforced plain.json)"
for key in NoNewPrivileges=yes LockPersonality=yes RestrictRealtime=yes \
	SystemCallArchitectures=native UMask=0077; do
	is "$key" "$(state_of r "${key%=*}")" "${key#*=}"
done
is "systemd complains of nothing" "$(grep -c "matins-.*\(Unknown\|Failed to parse\|Invalid\)" manager.log)" 0
is "a second start of the service" "$(systemctl --user start "$(unit_of r)" 2>&1)" ""
run_matins history r -c m.toml --json
json_is "runs nothing" runs '#2'
run_matins doctor r -c m.toml --json
out_like "the doctor finds the timer" '"schedule","name":"r","level":"(ok|warning)"'
systemctl --user stop "$(unit_of r | sed 's/service$/timer/')"
run_matins doctor r -c m.toml --json
out_like "and misses one that was stopped" '"schedule","name":"r","level":"fail.*is not active'
run_matins schedule remove r -c m.toml
exit_is "it is taken away" 0
is "and nothing is left of it" "$(find "$units" -name 'matins-*')" ""
is "nor in the manager" "$(systemctl --user list-units --all --no-legend 'matins-*')" ""

# ---- a failure ----

cat >"$units/tell.service" <<END
[Service]
Type=oneshot
ExecStart=/usr/bin/touch $T/told
END
ok "a run that fails comes, too" comes bad 1 --on-failure tell.service
ok "and starts the unit for that" wait_for 30 test -e told
wait_for 30 eval '[[ $(state_of bad ActiveState) == failed ]]'
is "and its service has failed, with the status of the run" \
	"$(state_of bad ExecMainStatus)" 2
run_matins schedule remove bad -c m.toml
is "and goes as any other" "$(find "$units" -name 'matins-*')" ""

# ---- a week off ----

run_matins schedule add r -c m.toml --at daily --catch-up
is "a time before it was added is not caught up" "$(grep -c '"started".*"routine":"r"' "$ledger")" 2
end_manager
touch -d "8 days ago" "$HOME"/.local/share/systemd/timers/stamp-matins-r-*.timer
sed -i "s/\"added_ns\":[0-9]*/\"added_ns\":$(date -d "8 days ago" +%s)000000000/" \
	"$XDG_STATE_HOME"/matins/schedules/*
ok "the manager comes back" begin_manager
ok "and catches up" wait_for 30 ended r 3
wait_for 30 eval '[[ $(state_of r ActiveState) == inactive ]]'
run_matins history r -c m.toml --json
json_is "once, for the last time" runs '#3' \
	runs[0].slot "$(env -u TZ date +%F)T00:00"
end_manager
begin_manager
wait_for 30 eval '[[ -n $(state_of r LoadState) ]]'
run_matins history r -c m.toml --json
json_is "and not again" runs '#3'
systemctl --user stop "$(unit_of r | sed 's/service$/timer/')"

# ---- a manager that is gone ----

end_manager
run_matins schedule remove r -c m.toml
exit_is "without the manager it is taken away, too" 0
is "with all that was made" "$(find "$units" -name 'matins-*')" ""

# ---- an ordinary user ----

if [[ $(id -u) -eq 0 ]] && command -v setpriv >/dev/null; then
	chown -R 65534:65534 /sys/fs/cgroup
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
		bash "$TOP/tests/blackbox/schedule-systemd.t" >ordinary 2>&1
	ok "an ordinary user's manager does the same" \
		grep -qE '^1\.\.([1-9][0-9]*|0 # SKIP.*)$' ordinary
	is "with each check" "$(grep -E '^not ok|Bail' ordinary)" ""
	diag "$(grep -E '^1\.\.|^#' ordinary)"
fi

done_testing
