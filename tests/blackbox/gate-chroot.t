#!/usr/bin/env bash
# In a folder that is nobody's mount point, as debootstrap and containers make
# them: the view is built all the same.
. "${BASH_SOURCE%/*}/lib.sh"

[[ $(id -u) -eq 0 ]] || skip_all "chroot needs root"
unshare -m true 2>/dev/null || skip_all "no mount namespace to build it in"

root=$T/root
mkdir -p "$root"/{usr,proc,dev,etc,root,tmp,var/tmp,srv/out,opt/test}
for link in bin sbin lib lib64; do
	if [[ -L /$link ]]; then
		ln -s "usr/$link" "$root/$link"
	else
		mkdir -p "$root/$link"
	fi
done
chmod 1777 "$root/tmp" "$root/var/tmp"
cp "$BIN" "$root/opt/test/matins"
cp "$HELPERS/probe" "$root/opt/test/probe"

cat >"$T/inside" <<'END'
cd "$1" || exit 1
dev=$2
shift 2
for dir in usr etc; do
	mount --bind "/$dir" "$dir"
done
for dir in bin sbin lib lib64; do
	[[ -L $dir ]] || mount --bind "/$dir" "$dir"
done
[[ $dev == no-proc ]] || mount -t proc proc proc
if [[ $dev == mounted ]]; then
	mount --bind /dev dev
else
	cp -a /dev/{null,zero,full,random,urandom} dev/
fi
HOME=/root exec chroot . /opt/test/matins exec "$@"
END

# inside DEV OPTIONS... -- PROGRAM...
inside() {
	run_program /dev/null unshare -m bash "$T/inside" "$root" "$@"
}

for dev in plain mounted; do
	inside "$dev" --require pidns -- /opt/test/probe processes
	out_like "an own /proc ($dev /dev)" '^blocked: no other process'
	inside "$dev" -- /opt/test/probe write @/etc/x
	out_like "the system is read-only ($dev /dev)" '^blocked'
	inside "$dev" --write /srv/out -- /opt/test/probe write @/srv/out/x
	out_like "a grant is not ($dev /dev)" '^ok'
	inside "$dev" --write /srv/out -- /opt/test/probe write @/srv/x
	out_like "beside it is ($dev /dev)" '^blocked'
	inside "$dev" -- /opt/test/probe write @/dev/null
	out_like "/dev/null works ($dev /dev)" '^ok'
	inside "$dev" -- /opt/test/probe write @/tmp/x
	out_like "/tmp is private ($dev /dev)" '^ok'
	not_ok "the real /tmp is not written ($dev /dev)" test -e "$root/tmp/x"
done
inside no-proc -- /opt/test/probe nothing
exit_is "without /proc nothing starts" 125
err_like "without /proc: what to do" 'mount -t proc'
done_testing
