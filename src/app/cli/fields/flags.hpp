// The values that were given to the fields of one or more tables (ask/field.hpp), as text: declared as options, looked
// up, checked, and read into questions.
//
//   Flags flags({ask::deployment_fields(), ask::rl_fields()});
//   flags.declare(options, ask::kInfer | ask::kTrain);
//   if (const Status s = flags.read_into(query); !s) return s.error();           // what was given of it
//
// Values stay text until a question is made of them, so that a list ("--tp 2,4") can be taken apart first. The object
// must outlive the options that were declared with it. One thread at a time.
#pragma once

#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/line/options.hpp"
#include "ask/field.hpp"

namespace ridge::cli {

/// A count with or without suffix ("15T") as a flag gives it, `otherwise` if the text is empty. Refuses (bad_input, the
/// flag) what is no number or out of range.
[[nodiscard]] Result<double> read_count(std::string_view flag, const std::string& text, double otherwise, double low,
                                        double high);
/// The same for whole numbers.
[[nodiscard]] Result<int> read_whole(std::string_view flag, const std::string& text, int otherwise, int low, int high);
/// "a,b,c" → {"a", "b", "c"}; an inline model or spec is not taken apart. Refuses empty parts.
Result<std::vector<std::string>> split_list(std::string_view flag, std::string_view text);

class Flags {
 public:
  Flags(std::initializer_list<std::span<const ask::Field>> tables);

  /// Those that mean something for one of `verbs`; the others stay empty.
  void declare(Options& options, unsigned verbs);
  /// Those that mean something for these verbs and no others.
  void declare_alone(Options& options, unsigned verbs);
  /// Only these, for a verb that takes part of a plan.
  void declare_only(Options& options, std::initializer_list<std::string_view> names);
  /// Those whose names are not among `taken`, for a verb that has flags of its own.
  void declare_beside(Options& options, unsigned verbs, const std::vector<std::string_view>& taken);

  /// The value as given, empty if it was not, "true" for a switch that is on. The name must be one of them (assert).
  [[nodiscard]] const std::string& value(std::string_view flag) const;
  [[nodiscard]] bool given(std::string_view flag) const { return !value(flag).empty(); }
  [[nodiscard]] bool is_on(std::string_view flag) const { return given(flag); }
  /// As if it had been given so; empty = not at all.
  void set(std::string_view flag, std::string value);
  /// Sets what is not given; false if there is no such flag.
  bool fill(std::string_view flag, const std::string& value);

  [[nodiscard]] std::vector<std::string_view> names() const;
  [[nodiscard]] std::vector<std::string_view> given_names() const;
  /// Their keys: "device_power".
  [[nodiscard]] std::vector<std::string> given_keys() const;
  /// The field of the first flag that was given and means nothing for `verbs`, or null.
  [[nodiscard]] const ask::Field* given_beside(unsigned verbs) const;
  /// Refuses the first flag that was given, as one of `whose`.
  [[nodiscard]] Status none_given(std::string_view whose) const;
  /// Refuses a value that is none of its field, also one that fill() put there.
  [[nodiscard]] Status valid_all(Session& session) const;

  /// Reads all that was given into the fields of a question; others stay.
  template <class Q>
  [[nodiscard]] Status read_into(Q& query) const {
    for (const Flag& flag : flags_) {
      if (flag.said().empty() || !ask::is_of<Q>(*flag.field)) continue;
      const Status s = ask::read_into(*flag.field, flag.said(), query);
      if (!s) return Error{s.error().code, std::string(flag.name), s.error().message};
    }
    return {};
  }

  /// A whole number, `otherwise` if it was not given.
  [[nodiscard]] Result<int> whole(std::string_view flag, int otherwise, int low, int high) const;
  /// A count with or without suffix ("15T"), `otherwise` if it was not given.
  [[nodiscard]] Result<double> count(std::string_view flag, double otherwise, double low, double high) const;
  [[nodiscard]] Result<double> share(std::string_view flag, double otherwise) const;
  /// As its field reads it.
  [[nodiscard]] Result<double> number(std::string_view flag, double otherwise) const;

 protected:
  struct Flag {
    const ask::Field* field = nullptr;
    std::string_view name;
    std::string value = {};
    bool on = false;
    [[nodiscard]] const std::string& said() const;
  };
  [[nodiscard]] const Flag& find(std::string_view flag) const;
  std::deque<Flag> flags_;

 private:
  static void declare_one(Options& options, Flag& flag);
};

}  // namespace ridge::cli
