// Places of a vector by a 64-bit key: the table behind the caches of prompts, which look up every part of every prompt.
//
//   KeyIndex index;
//   index.insert(key, 17);                       // the key is not there yet
//   std::uint32_t at = index.find(key);          // KeyIndex::kNone if it is not there
//   index.erase(key);
//
// Open addressing in one array, at most two thirds full; what follows an erased key moves up, so that nothing is ever
// left behind. Keys need not be mixed. One thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ridge::serve {

class KeyIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    if (cells_.empty()) return kNone;
    for (std::size_t i = home(key);; i = (i + 1) & mask()) {
      if (cells_[i].place == kNone || cells_[i].key == key) return cells_[i].place;
    }
  }
  void insert(std::uint64_t key, std::uint32_t place) {
    if (3 * (size_ + 1) > 2 * cells_.size()) grow();
    put({key, place});
    ++size_;
  }
  void erase(std::uint64_t key) {
    std::size_t gap = home(key);
    while (cells_[gap].key != key || cells_[gap].place == kNone) gap = (gap + 1) & mask();
    // Whoever stands behind the gap and would be looked for at it or before it moves up.
    for (std::size_t i = (gap + 1) & mask(); cells_[i].place != kNone; i = (i + 1) & mask()) {
      if (((i - home(cells_[i].key)) & mask()) < ((i - gap) & mask())) continue;
      cells_[gap] = cells_[i];
      gap = i;
    }
    cells_[gap] = Cell{};
    --size_;
  }

 private:
  static constexpr std::size_t kFirst = 64;
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t place = kNone;
  };

  [[nodiscard]] std::size_t mask() const { return cells_.size() - 1; }
  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_);
  }
  void put(Cell cell) {
    std::size_t i = home(cell.key);
    while (cells_[i].place != kNone) i = (i + 1) & mask();
    cells_[i] = cell;
  }
  void grow() {
    std::vector<Cell> old = std::exchange(cells_, std::vector<Cell>(cells_.empty() ? kFirst : 2 * cells_.size()));
    shift_ = 64 - std::countr_zero(cells_.size());
    for (const Cell& cell : old) {
      if (cell.place != kNone) put(cell);
    }
  }

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace ridge::serve
