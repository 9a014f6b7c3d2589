#!/bin/sh
# Install the Debian packages named as arguments that are not there yet.
# As root directly, else with sudo; says what it does.
set -eu

missing=
for p in "$@"; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q 'install ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "missing Debian packages:$missing" >&2
		echo "install them as root: apt-get install$missing" >&2
		exit 1
	fi
	as_root=sudo
fi
echo "installing:$missing${as_root:+ (with sudo)}" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
