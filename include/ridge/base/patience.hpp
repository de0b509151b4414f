// How long whoever asks will wait. Long loops look at it and end with what they have; who called them says so.
//
//   const Patience patience([&] { return clock::now() >= deadline || gone; });
//   for (int i = 0; i < draws && !patience.over(); ++i) draw(i);
//   if (patience.over()) return Error{ErrorCode::refused, "⟦time_limit⟧", "..."};
//
// A value; cheap to copy. The function behind it is called from any thread, often, and must not throw; once it has
// said that time is over it keeps to it.
#pragma once

#include <functional>
#include <utility>

namespace ridge {

class Patience {
 public:
  /// Without end.
  Patience() = default;
  explicit Patience(std::function<bool()> over) : over_(std::move(over)) {}

  [[nodiscard]] bool over() const { return over_ && over_(); }

 private:
  std::function<bool()> over_;
};

}  // namespace ridge
