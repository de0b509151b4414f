#!/usr/bin/env bash
# The Debian package, unpacked elsewhere: the program in it answers from the catalogue in it. package_test.sh BUILD_DIR
set -euo pipefail
command -v dpkg-deb > /dev/null || exit 77
build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
(cd "$build" && cpack -G DEB -B "$place/package") > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
dpkg-deb -x "$place"/package/*.deb "$place/root"
dpkg-deb -f "$place"/package/*.deb Depends | grep -q libsqlite3 || { echo "the package names no libraries"; exit 1; }
dpkg-deb -f "$place"/package/*.deb Maintainer | grep -qx 'The Ridgeline project'
program=$place/root/usr/bin/ridge
echo 'made in the test' >> "$place/root/usr/share/ridgeline/devices/h200-sxm.toml"
if env -u RIDGE_DATA "$program" show devices > /dev/null 2> "$place/refused"; then
  echo "the program reads another catalogue than the package's"
  exit 1
fi
grep -q "$place/root/usr/share/ridgeline/devices/h200-sxm.toml" "$place/refused"
sed -i '$d' "$place/root/usr/share/ridgeline/devices/h200-sxm.toml"
env -u RIDGE_DATA "$program" --version | grep -E '^ridge [0-9.]+, catalogue of 20[0-9]{2}-[0-9]{2}$'
