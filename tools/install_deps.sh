#!/usr/bin/env bash
# Installs the packages that are missing: of the program alone, of its Debian package, or of everything (tests, lint,
# Python, pictures).
#
#   tools/install_deps.sh program      what `make run` needs
#   tools/install_deps.sh package      what `make package` needs
#   tools/install_deps.sh              everything: what `make test` needs
#   tools/install_deps.sh --list all   prints the packages this system would get, installs nothing
#
# Knows Debian 12 and 13, Ubuntu 22.04 and 24.04, and what is like them: where names differ, the first that the package
# lists have is taken. On other systems it says which libraries are needed. It asks nothing; sudo may ask for a password, once.
set -euo pipefail

# One need a line: what it is | names of packages, the first that exists is taken | what to do where there is none.
program_needs='
C++20 compiler (g++ 12 or clang 14, or newer)|g++|
CMake 3.22|cmake|
Ninja|ninja-build|
ccache|ccache|
git|git|
Python 3|python3|
CLI11 2|libcli11-dev|
nlohmann/json 3|nlohmann-json3-dev|
toml++ 3|libtomlplusplus-dev|Ubuntu 22.04 has none: install toml++ 3 from its sources
fmt 8|libfmt-dev|
SQLite 3|libsqlite3-dev|
GNU libmicrohttpd|libmicrohttpd-dev|
libcurl|libcurl4-openssl-dev libcurl4-gnutls-dev|
COIN-OR CBC|coinor-libcbc-dev|
MPI (optional)|libopenmpi-dev|
mpirun (optional)|openmpi-bin|'
package_needs='
dpkg-dev|dpkg-dev|'
other_needs='
clang|clang-14 clang-19 clang|
sanitizers and fuzzing of clang|libclang-rt-14-dev libclang-common-14-dev libclang-rt-19-dev|
clang-format 14|clang-format-14 clang-format-19 clang-format|
clang-tidy 14|clang-tidy-14 clang-tidy-19 clang-tidy|
GoogleTest|libgtest-dev|
Google Benchmark|libbenchmark-dev|
Chromium (pictures, optional)|chromium|
wrk (optional)|wrk|
Slurm (optional)|slurm-wlm|
MUNGE (optional)|munge|
nginx (optional)|nginx|
ShellCheck|shellcheck|
PyYAML|python3-yaml|
pybind11|pybind11-dev|
headers of Python|python3-dev|
NumPy|python3-numpy|
pandas|python3-pandas|
nbclient (optional)|python3-nbclient|
ipykernel (optional)|python3-ipykernel|
mypy|mypy|'
# Some machines have node and npm from elsewhere, and the two packages would quarrel with those.
if ! command -v npm > /dev/null; then
  program_needs+='
Node.js (the page, optional)|nodejs|
npm (the page, optional)|npm|'
fi

by_hand="Install what is missing by hand, then \`touch build/deps-by-hand\`, so that nobody asks again."
only_list=
if [ "${1:-}" = --list ]; then only_list=yes; shift; fi
needs=$program_needs
case "${1:-all}" in
  program) ;;
  package) needs+=$package_needs ;;
  *) needs+=$package_needs$other_needs ;;
esac

if ! command -v apt-get > /dev/null; then
  [ -z "$only_list" ] && [ -e build/deps-by-hand ] && exit 0
  echo "This system has no apt-get. Ridgeline needs these, with their headers:"
  while IFS='|' read -r what _ _; do [ -z "$what" ] || echo "  $what"; done <<< "$needs"
  [ -z "$only_list" ] || exit 0
  echo "$by_hand"
  exit 1
fi

installed() { dpkg-query -W -f='${db:Status-Status}' "$1" 2> /dev/null | grep -q '^installed$'; }
offered() { apt-cache show "$1" > /dev/null 2>&1; }

# Fills `wanted` with one package of each need that has none installed, `nowhere` with needs that no package meets, of which
# those that nothing can be built without are in `lacking`.
choose() {
  wanted=() nowhere=() lacking=()
  while IFS='|' read -r what names otherwise; do
    [ -n "$what" ] || continue
    local found=
    if [ -z "$only_list" ]; then
      for name in $names; do if installed "$name"; then found=installed; break; fi; done
    fi
    [ "$found" = installed ] && continue
    for name in $names; do if offered "$name"; then found=$name; break; fi; done
    if [ -n "$found" ]; then
      wanted+=("$found")
    else
      nowhere+=("$what (${names// / or })${otherwise:+: $otherwise}")
      case "$what" in *optional*) ;; *) [ -e build/deps-by-hand ] || lacking+=("$what") ;; esac
    fi
  done <<< "$needs"
}

choose
if [ -n "$only_list" ]; then
  printf '%s\n' "${wanted[@]}" "${nowhere[@]/#/no package: }"
  exit 0
fi
[ ${#wanted[@]} -eq 0 ] && [ ${#lacking[@]} -eq 0 ] && exit 0
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
mkdir -p build
$sudo apt-get update -qq
choose  # the lists may have been empty before
if [ ${#wanted[@]} -gt 0 ]; then
  echo "Installing ${#wanted[@]} packages: ${wanted[*]}"
  $sudo apt-get install -y -qq --no-install-recommends "${wanted[@]}" > build/apt.log 2>&1 || { cat build/apt.log; exit 1; }
fi
for need in "${nowhere[@]}"; do echo "No package here offers $need"; done
[ ${#lacking[@]} -eq 0 ] && exit 0
echo "$by_hand"
exit 1
