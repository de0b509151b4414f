#!/usr/bin/env bash
# What tools/install_deps.sh would install on other systems, by package lists made up here. Usage: install_deps_test.sh ROOT
set -euo pipefail
root=$(cd "$1" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/bin" "$place/bare" "$place/project/build"
cd "$place/project"
# Stand-ins: `absent` has the packages that no list offers, `installed` what is there, `calls` what apt-get was asked.
cat > "$place/bin/dpkg-query" <<S
#!/bin/bash
grep -qx -- "\${@: -1}" $place/installed && echo installed
S
cat > "$place/bin/apt-cache" <<S
#!/bin/bash
! grep -qx -- "\$2" $place/absent
S
cat > "$place/bin/apt-get" <<S
#!/bin/bash
echo "\$*" >> $place/calls
if [ "\$1" = install ]; then printf '%s\n' "\${@:2}" >> $place/installed; fi
S
cat > "$place/bin/sudo" <<'S'
#!/bin/bash
exec "$@"
S
chmod +x "$place"/bin/*
for tool in bash cat grep; do ln -s "$(command -v $tool)" "$place/bare/"; done

fail() { echo "FAILED: $1"; exit 1; }
system() { printf '%s\n' "$@" > "$place/absent"; : > "$place/installed"; : > "$place/calls"; rm -f build/*; }
deps() { PATH="$place/bin:$PATH" bash "$root/tools/install_deps.sh" "$@"; }

system chromium  # Ubuntu 24.04
deps > out || fail "Ubuntu 24.04: $(cat out)"
grep -q 'No package here offers Chromium' out || fail "what is not there is not said"
deps > out
if [ -s out ] || [ "$(wc -l < "$place/calls")" -ne 2 ]; then fail "the second time it asks again"; fi

system clang-14 libclang-rt-14-dev libclang-common-14-dev clang-format-14 clang-tidy-14  # Debian 13
deps > out || fail "Debian 13: $(cat out)"
grep -qx clang-19 "$place/installed" || fail "clang 19 is not taken where there is no 14"

system chromium libtomlplusplus-dev  # Ubuntu 22.04
if deps > out; then fail "toml++ is missing, and that is not said"; fi
grep -q 'toml++ 3' out || fail "the library is not named"
touch build/deps-by-hand
deps > out
if [ -s out ]; then fail "it asks though everything was installed by hand"; fi

system
deps program > /dev/null
if grep -qE 'chromium|slurm|gtest' "$place/installed"; then fail "the program alone wants packages of the tests"; fi

system
deps package > /dev/null
grep -qx dpkg-dev "$place/installed" || fail "nothing writes the names of libraries into the package"
if grep -qE 'chromium|slurm|gtest' "$place/installed"; then fail "the Debian package wants packages of the tests"; fi

system
if PATH="$place/bare" bash "$root/tools/install_deps.sh" program > out; then fail "without apt-get it goes on"; fi
grep -q libmicrohttpd out || fail "without apt-get it names no libraries"
echo "four systems and one without apt-get"
