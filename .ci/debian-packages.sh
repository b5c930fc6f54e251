#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: .ci/debian-packages.sh [-n] LIST-OR-PACKAGE...
# Install the Debian packages which are named, or listed in the files named, and missing.
# Without root, or with -n: print the line that does it, and fail.  Nothing is done if none is missing.
set -eu

install=$([ "$(id -u)" = 0 ] && echo yes || echo no)
[ "${1-}" != -n ] || { install=no; shift; }
want=$(for arg; do if [ -f "$arg" ]; then sed 's/#.*//' "$arg"; else echo "$arg"; fi; done | xargs)
[ -n "$want" ] || exit 0
if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian: please see that the like of these is installed: $want" >&2
    exit 0
fi

missing=
for package in $want; do
    status=$(dpkg-query -W -f='${db:Status-Status} ' "$package" 2>/dev/null) || status=
    case $status in *" "installed\ *|installed\ *) ;; *) missing="$missing $package" ;; esac
done
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
if [ $install = yes ]; then
    echo "Debian packages to install:$missing"
    log=$(mktemp)
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive $line; } </dev/null >"$log" 2>&1 || {
        cat "$log" >&2
        rm -f "$log"
        exit 1
    }
    rm -f "$log"
# Later releases renamed some of them and provide the old names: then nothing would be installed.
elif plan=$(LC_ALL=C apt-get install -s --no-install-recommends $missing 2>/dev/null) &&
    ! echo "$plan" | grep -q '^Inst '; then
    exit 0
else
    printf 'Debian packages are missing.  Please run as root:\n\n    %s\n\n' "$line" >&2
    exit 1
fi
