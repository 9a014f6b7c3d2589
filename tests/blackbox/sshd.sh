# An sshd of our own on loopback, for an ordinary user: $me, whose commands run
# by "${as[@]}". As root the test must run in a mount namespace of its own, with
# FAN_NS set, for that user needs a shell and a home. Commands have a PATH without
# /usr/local, where a matins may be installed.
#
#	throwaway_sshd || skip ...
#	"${as[@]}" ssh -F "$T/ssh/config" n1 true	(n1, n2, n3; gone answers not)
#	kill "$sshd_pid"
#
# shellcheck shell=bash
# shellcheck disable=SC2034

throwaway_sshd() {
	local port

	_copy_programs
	as=() me=$(id -un)
	type -P sshd >/dev/null && type -P ssh >/dev/null || return 1
	if [[ $(id -u) -eq 0 ]]; then
		me=daemon as=("${_setpriv[@]}")
		sed "s|^daemon:.*|daemon:x:$(id -u daemon):$(id -g daemon):d:$T/home:/bin/sh|" \
			/etc/passwd >passwd
		[[ ${FAN_NS:-} ]] && mount --bind passwd /etc/passwd 2>/dev/null || return 1
	fi
	mkdir -m 700 ssh
	port=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	ssh-keygen -q -t ed25519 -N '' -f ssh/host
	ssh-keygen -q -t ed25519 -N '' -f ssh/key
	cp ssh/key.pub ssh/authorized
	echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 ssh/host.pub)" >ssh/known
	cat >ssh/sshd_config <<-END
		ListenAddress 127.0.0.1
		Port $port
		HostKey $T/ssh/host
		AuthorizedKeysFile $T/ssh/authorized
		PidFile none
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		MaxStartups 50
		Subsystem sftp internal-sftp
		SetEnv PATH=/usr/bin:/bin
	END
	cat >ssh/config <<-END
		Host n1 n2 n3
			HostName 127.0.0.1
			Port $port
		Host gone
			HostName 127.0.0.1
			Port 1
		Host *
			User $me
			IdentityFile $T/ssh/key
			IdentitiesOnly yes
			UserKnownHostsFile $T/ssh/known
			ConnectTimeout 10
	END
	if ((${#as[@]})); then
		chown -R "$me": "$T"
		chown -R root: "$T/.bin"
	fi
	"${as[@]}" /usr/sbin/sshd -D -e -f "$T/ssh/sshd_config" 2>ssh/log &
	sshd_pid=$!
	wait_for 10 "${as[@]}" ssh -F "$T/ssh/config" -oBatchMode=yes n1 true && return 0
	diag "$(tail -n 3 ssh/log)"
	kill "$sshd_pid" 2>/dev/null
	return 1
}
