#!/usr/bin/env bash
# Brings what containers and nodes need from Debian, where this is root on Debian; elsewhere the tests say what is missing.
#
#   packages.sh PACKAGE...
set -euo pipefail
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then exit 0; fi
lacking=()
for package in "$@"; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || lacking+=("$package")
done
((${#lacking[@]})) || exit 0
echo "Installing ${lacking[*]}"
(apt-get -q update && apt-get -q -y install --no-install-recommends "${lacking[@]}") >/dev/null
