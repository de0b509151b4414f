// The columns of a fleet found by the ranks of an MPI job: each service and job goes to one of them.
//
//   Result<fleet::Problem> problem = rate_on_ranks(*ranks, estate, knowledge, economics, patience);
//
// Every rank calls it. Rank 0 gets what fleet::rate_options() gives, to the last bit; the others nothing of use.
#pragma once

#include "ridge/fleet/fleet.hpp"
#include "search/run.hpp"

namespace ridge::cli {

Result<fleet::Problem> rate_on_ranks(const search::Ranks& ranks, const fleet::Estate& estate,
                                     const Knowledge& knowledge, const EconomicsData* economics,
                                     const Patience& patience);

/// What a rank sends of one piece, and the way back. Refuses (bad_input) what write_rated() did not write.
[[nodiscard]] std::string write_rated(int piece, const fleet::Rated& rated);
Status read_rated(std::string_view bytes, std::vector<fleet::Rated>& into);

}  // namespace ridge::cli
