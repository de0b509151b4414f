// What a cache of prompts knows of each part, by a 64-bit key: every part of every prompt is looked up in it.
//
//   struct Cell { std::uint64_t key; std::uint32_t blocks; };     // no blocks: nobody is here
//   KeyTable<Cell> table;
//   table.insert({key, 17});                     // the key is not there yet
//   Cell* cell = table.find(key);                // nullptr if it is not there
//   table.erase(*cell);
//
// Open addressing in one array, at most half full; what follows an erased key moves up, so that nothing is ever left
// behind. Large tables wait for memory, so whoever is about to look up several keys says so first (expect). Keys need
// not be mixed. Cells move when others come and go. One thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace ridge::serve {

/// Memory from the beginning of a line of it on: four cells of 16 bytes are one line.
template <class T>
struct MemoryLines {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  static T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  static void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  bool operator==(const MemoryLines&) const = default;
};

template <class Cell>
class KeyTable {
 public:
  [[nodiscard]] const Cell* find(std::uint64_t key) const {
    if (cells_.empty()) return nullptr;
    for (std::size_t i = home(key);; i = (i + 1) & mask()) {
      if (cells_[i].blocks == 0) return nullptr;
      if (cells_[i].key == key) return &cells_[i];
    }
  }
  [[nodiscard]] Cell* find(std::uint64_t key) { return const_cast<Cell*>(std::as_const(*this).find(key)); }
  /// The key will be looked up soon.
  void expect(std::uint64_t key) const {
    if (!cells_.empty()) __builtin_prefetch(&cells_[home(key)]);
  }
  Cell& insert(const Cell& cell) {
    if (2 * (size_ + 1) > cells_.size()) grow();
    ++size_;
    return put(cell);
  }
  void erase(const Cell& cell) {
    auto gap = static_cast<std::size_t>(&cell - cells_.data());
    // Whoever stands behind the gap and would be looked for at it or before it moves up.
    for (std::size_t i = (gap + 1) & mask(); cells_[i].blocks != 0; i = (i + 1) & mask()) {
      if (((i - home(cells_[i].key)) & mask()) < ((i - gap) & mask())) continue;
      cells_[gap] = cells_[i];
      gap = i;
    }
    cells_[gap] = Cell{};
    --size_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kInARow = 4;

  using Cells = std::vector<Cell, MemoryLines<Cell>>;

  [[nodiscard]] std::size_t mask() const { return cells_.size() - 1; }
  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    const std::uint64_t row = ((key / kInARow) * 0x9e3779b97f4a7c15ULL) >> shift_;
    return static_cast<std::size_t>(row * kInARow + key % kInARow);
  }
  Cell& put(const Cell& cell) {
    std::size_t i = home(cell.key);
    while (cells_[i].blocks != 0) i = (i + 1) & mask();
    return cells_[i] = cell;
  }
  void grow() {
    Cells old = std::exchange(cells_, Cells(cells_.empty() ? kFirst : 2 * cells_.size()));
    shift_ = 64 - std::countr_zero(cells_.size() / kInARow);
    for (const Cell& cell : old) {
      if (cell.blocks != 0) put(cell);
    }
  }

  Cells cells_;
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace ridge::serve
