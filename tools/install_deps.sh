#!/usr/bin/env bash
# Installs the Debian packages the build and the tests need, if any is missing. Needs root or sudo only then.
set -euo pipefail
packages=(
  g++ cmake ninja-build ccache git python3 clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14
  libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libfmt-dev libsqlite3-dev libtbb-dev
  libgtest-dev libbenchmark-dev libmicrohttpd-dev libcurl4-openssl-dev coinor-libcbc-dev chromium wrk
  openmpi-bin libopenmpi-dev slurm-wlm munge shellcheck python3-yaml
  pybind11-dev python3-dev python3-numpy python3-pandas python3-nbclient python3-ipykernel mypy dpkg-dev
)
# Some machines have node and npm from elsewhere, and the two packages would quarrel with those.
command -v npm > /dev/null || packages+=(nodejs npm)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null | grep -q '^installed$' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "Installing ${#missing[@]} Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" > build/apt.log 2>&1 || { cat build/apt.log; exit 1; }
