// ridge completion: the scripts that make a shell ask `ridge __complete`.
#include "app/cli/line/options.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/verbs.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr std::string_view kBash = R"sh(# bash completion of ridge: source <(ridge completion bash)
_ridge() {
  local word=${COMP_WORDS[COMP_CWORD]} IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  case ${COMPREPLY[0]} in
    @files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")) ;;
    @directories) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")) ;;
  esac
}
complete -F _ridge ridge
)sh";

constexpr std::string_view kZsh = R"sh(#compdef ridge
# zsh completion of ridge: ridge completion zsh > "${fpath[1]}/_ridge"
_ridge() {
  local -a offers
  offers=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $offers[1] in
    @files) _files ;;
    @directories) _files -/ ;;
    *) compadd -- $offers ;;
  esac
}
if [ "$funcstack[1]" = _ridge ]; then
  _ridge "$@"
else
  compdef _ridge ridge
fi
)sh";

}  // namespace

static Action declare_completion(Options& options) {
  auto words = std::make_shared<std::vector<std::string>>();
  options.words("bash|zsh", *words, "the shell", [](Session&, const std::vector<std::string>& before) {
    return before.empty() ? std::vector<std::string>{"bash", "zsh"} : std::vector<std::string>{};
  });
  return [words](Session& session) -> Result<int> {
    if (words->size() != 1) return Error{ErrorCode::bad_input, "", "name one shell: ridge completion bash"};
    const std::string& shell = words->front();
    if (shell != "bash" && shell != "zsh") {
      return Error{ErrorCode::bad_input, "", "there is no script for " + quoted(shell) + "; there are bash and zsh"};
    }
    session.print(shell == "bash" ? kBash : kZsh);
    return kFine;
  };
}

Verb completion_verb() {
  return {"completion", "print a completion script for a shell",
          "Completes commands, options, kinds, ids and keys. For bash: put `source <(ridge completion bash)` into "
          "~/.bashrc. "
          "For zsh: write the script into a file named _ridge in a directory of $fpath.",
          "ridge completion bash", declare_completion};
}

}  // namespace ridge::cli
