// Cells of a KeyTable in the order of their last use: the oldest makes room. Cells carry a `stamp`, 0 for those that do
// not wait here.
//
//   log.append(table, *cell);              // used now
//   cell->stamp = 0;                       // does not wait any more
//   Cell* oldest = log.take_oldest(table); // nullptr if nobody waits; it waits no more
//
// Every use is written behind the one before, and a use whose stamp is not its cell's any more counts for nothing:
// memory is read and written in a row, where a list would jump from cell to cell. Uses that count for nothing are swept
// out once they are the greater part. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ridge::serve {

class UseLog {
 public:
  template <class Table, class Cell>
  void append(Table& table, Cell& cell) {
    if (cell.stamp != 0 && cell.stamp == last_) return;
    cell.stamp = 0;
    if (uses_.size() >= sweep_at_) sweep(table);
    if (++last_ == 0) ++last_;  // four billion uses later: nobody has waited that long
    cell.stamp = last_;
    uses_.push_back({cell.key, last_});
  }

  template <class Table>
  [[nodiscard]] auto take_oldest(Table& table) -> decltype(table.find(0)) {
    while (first_ < uses_.size()) {
      const Use use = uses_[first_++];
      if (first_ + kAhead < uses_.size()) table.expect(uses_[first_ + kAhead].key);
      auto* cell = table.find(use.key);
      if (cell == nullptr || cell->stamp != use.stamp) continue;
      cell->stamp = 0;
      return cell;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kAhead = 8;
  static constexpr std::size_t kFewUses = 256;
  struct Use {
    std::uint64_t key;
    std::uint32_t stamp;
  };

  template <class Table>
  void sweep(Table& table) {
    std::size_t kept = 0;
    for (std::size_t i = first_; i < uses_.size(); ++i) {
      if (i + kAhead < uses_.size()) table.expect(uses_[i + kAhead].key);
      const auto* cell = table.find(uses_[i].key);
      if (cell != nullptr && cell->stamp == uses_[i].stamp) uses_[kept++] = uses_[i];
    }
    uses_.resize(kept);
    first_ = 0;
    sweep_at_ = std::max(kFewUses, 2 * kept);
  }

  std::vector<Use> uses_;
  std::size_t first_ = 0;  // before it everybody was taken
  std::size_t sweep_at_ = kFewUses;
  std::uint32_t last_ = 0;
};

}  // namespace ridge::serve
