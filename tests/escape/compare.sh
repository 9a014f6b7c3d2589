#!/usr/bin/env bash
# The probes and the ordinary programs in this gate, in it with features of the
# kernel hidden, and in other sandboxes at their defaults; ends in a table.
#
#   KEEP=1   keep the folder with the single results, and say where it is
#
# Nothing is judged here: that is done by tests/blackbox/gate-probes*.t and
# gate-ordinary-*.t. The status is 0 when all walks came to their end.
set -u
cd "${BASH_SOURCE[0]%/*}/../.." || exit 1
TOP=$PWD
BIN=$(realpath "${BIN:-build/matins}")
HELPERS=$(realpath "${HELPERS:-build/release/tests/helpers}")
NODE=$(command -v node || true)
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
table=$TOP/tests/escape

S=
for parent in "$TOP/build" /srv /opt; do
	[[ -w $parent ]] && setpriv --reuid=daemon --regid=daemon \
		--clear-groups test -x "$parent" 2>/dev/null &&
		S=$(mktemp -d "$parent/escape.XXXXXX") && break
done
[[ -n $S ]] || S=$(mktemp -d "$TOP/build/escape.XXXXXX")
# where sandbox-runtime lets programs put temporary files, if it is there
own_tmp=
mkdir /tmp/claude 2>/dev/null && chmod 1777 /tmp/claude && own_tmp=/tmp/claude
trap '[[ -n ${KEEP-} ]] || { chmod -R u+rwX "$S"; rm -rf "$S"; }
	[[ -z $own_tmp ]] || rm -rf "$own_tmp"' EXIT
chmod 755 "$S"
mkdir "$S/helpers" "$S/root" "$S/user" "$S/results"
cp -R "$table" "$S/code"
cp "$HELPERS"/{probe,escape,syscall,hide} build/ordinary/ordinary-* "$S/helpers/"
cp "$BIN" "$S/matins"
cp -R build/srt "$S/srt"
cp "$HELPERS/escape" "$S/suid"
chmod -R a+rX "$S"
# Who has a shell to log in with, which firejail starts programs by, else daemon.
ordinary=$(awk -F: '$3 >= 1000 && $7 ~ "/(ba|da|z)?sh$" { print $1; exit }' \
	/etc/passwd)
ordinary=${ordinary:-daemon}
users=(user)
if [[ $(id -u) -eq 0 ]]; then
	users=(root user)
	chmod 4755 "$S/suid"
	chown "$ordinary" "$S/user"
fi

# walk USER NAME WHAT ARGS...: into results/NAME.WHAT.USER
walk() {
	local user=$1 name=$2 what=$3 prefix=()

	shift 3
	[[ $user == user && $(id -u) -eq 0 ]] && prefix=(setpriv
		"--reuid=$ordinary" "--regid=$(id -g "$ordinary")" --clear-groups)
	timeout -k 5 550 "${prefix[@]}" /usr/bin/python3 \
		"$S/code/escape.py" "$what" --table "$S/code/$what.tsv" \
		--helpers "$S/helpers" --code "$S/code/ordinary" \
		--bin "$S/matins" --suid "$S/suid" --scratch "$S/$user" \
		--srt "$S/srt/node_modules/.bin/srt" --node "$NODE" \
		--user "$([[ $user == root ]] && echo root || echo "$ordinary")" \
		--seconds 20 --cache "$S/$user/cache" "$@" >"$S/results/$name.$what.$user" \
		2>"$S/results/$name.$what.$user.err" </dev/null || {
		echo "the $what of $name as $user did not come to their end" >&2
		head -n 5 "$S/results/$name.$what.$user.err" >&2
		touch "$S/failed"
	}
}

all_as() {
	local user=$1 level

	walk "$user" none probes --under none
	walk "$user" off probes --under matins --extra "--isolate off"
	for level in namespaces landlock landlock-abi=1 landlock-abi=4 \
		listener idmap seccomp; do
		walk "$user" "$level" probes --under matins \
			--wrap "$S/helpers/hide $level --"
	done
	for level in matins bwrap firejail srt; do
		walk "$user" "$level" probes --under "$level"
		walk "$user" "$level" ordinary --under "$level"
	done
}

for user in "${users[@]}"; do
	all_as "$user" &
done
wait

echo "kernel $(uname -r)"
echo "ours   $("$BIN" --version | head -n 1): matins exec OPTIONS -- PROGRAM"
echo "bwrap  $(bwrap --version): --ro-bind / / --dev /dev --proc /proc" \
	"--tmpfs /tmp --unshare-all, --bind for what may be written," \
	"--share-net for a network"
echo "fjail  $(firejail --version | head -n 1): firejail -- PROGRAM"
echo "srt    sandbox-runtime $(sed -n 's/.*"version": "\(.*\)".*/\1/p' \
	build/srt/node_modules/@anthropic-ai/sandbox-runtime/package.json):" \
	"allowWrite for what may be written, no domains"
/usr/bin/python3 "$table/table.py" "$S/results" "$table/probes.tsv" "${users[@]}"
[[ -z ${KEEP-} ]] || echo "kept: $S"
[[ ! -e $S/failed ]]
