#!/usr/bin/env bash
# Sources the scripts of `ridge completion` as a shell does and asks them. Usage: completion_test.sh BUILD_DIRECTORY
set -euo pipefail
PATH="$(cd "$1" && pwd):$PATH"
export RIDGE_DATA
RIDGE_DATA="$(cd "$(dirname "$0")/../data" && pwd)"

failures=0
expect() { # WORDS... -- OFFERS: what bash offers for the last word
  local -a line=()
  while [ "$1" != -- ]; do line+=("$1"); shift; done
  shift
  local got
  got=$(bash --norc -c '
    source <(ridge completion bash)
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    "$(complete -p ridge | sed "s/.*-F \([^ ]*\).*/\1/")"
    echo "${COMPREPLY[*]}"' bash "${line[@]}")
  if [ "$got" != "$*" ]; then
    echo "for '${line[*]}' bash offers '$got' instead of '$*'"
    failures=$((failures + 1))
  fi
}

cd "$(dirname "$0")/.."
expect ridge sho -- show
expect ridge show devi -- devices
expect ridge show devices h200-s -- h200-sxm
expect ridge show dgx-h2 -- dgx-h200
expect ridge show --whe -- --where
expect ridge show devices --vendor NV -- NVIDIA
expect ridge show prices --device h200-s -- h200-sxm
expect ridge completion '' -- bash zsh
expect ridge --data tool -- tools
expect ridge --catalogue README -- README.md

if command -v zsh > /dev/null; then
  got=$(zsh -f -c '
    autoload -U compinit && compinit -D -u
    compadd() { shift; print -r -- "$@" }
    source <(ridge completion zsh)
    words=(ridge show devices h200-s); CURRENT=4
    _ridge')
  [ "$got" = "h200-sxm" ] || { echo "zsh offers '$got' instead of 'h200-sxm'"; failures=$((failures + 1)); }
fi
exit $((failures > 0))
