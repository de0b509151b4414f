// Places of a vector in the order of their last use: the oldest makes room. Nodes carry their neighbours, `older` and
// `newer`.
//
//   recency.append(nodes, at);   // used now
//   recency.unlink(nodes, recency.oldest);
//
// Constant time, no allocation. One thread.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge::serve {

struct Recency {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t oldest = kNone;
  std::uint32_t newest = kNone;

  template <class Node>
  void unlink(std::vector<Node>& nodes, std::uint32_t at) {
    Node& node = nodes[at];
    (node.older == kNone ? oldest : nodes[node.older].newer) = node.newer;
    (node.newer == kNone ? newest : nodes[node.newer].older) = node.older;
    node.older = node.newer = kNone;
  }

  template <class Node>
  void append(std::vector<Node>& nodes, std::uint32_t at) {
    nodes[at].older = newest;
    (newest == kNone ? oldest : nodes[newest].newer) = at;
    newest = at;
  }
};

}  // namespace ridge::serve
