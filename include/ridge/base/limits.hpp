// The most of everything: one table, so that a refusal can name the limit and nobody has to guess what is too much.
//
//   if (wanted > limits::kThreads.most) return Error{ErrorCode::bad_input, "⟦threads⟧",
//   limits::beyond(limits::kThreads)};
//   // "at most 256 threads for one question"
//
// docs/limits.md is this table for people; a test holds the two together. Constants and pure functions; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace ridge::limits {

struct Limit {
  std::string_view what;  ///< "threads for one question"
  double most = 0;
  std::string_view unit;  ///< "", "s", "bytes"
  std::string_view why;
};

// Of one question, whoever asks.
inline constexpr Limit kThreads{"threads for one question", 256, "", "more are no faster, and the system refuses them"};
inline constexpr Limit kDraws{"draws of a Monte-Carlo", 1e7, "", "quantiles stand still long before, and each is kept"};
inline constexpr Limit kRequestTokens{"tokens of one request, in or out", 1e7, "",
                                      "no model reads or writes as many in one piece"};
inline constexpr Limit kRequests{"requests of one simulation", 1e9, "", "hours of work"};
inline constexpr Limit kEngines{"engines of one simulation", 1e5, "", "each has a queue and a cache of its own"};
inline constexpr Limit kFailedStarts{"failures of engines in a row without a request finished", 1e4, "",
                                     "engines that fail faster than they answer never will"};
inline constexpr Limit kPower{"watts of a site", 1e12, "W", "a third of the electricity of the world"};
inline constexpr Limit kPue{"as the PUE of a site", 10, "",
                            "a site that takes ten times what its computers do is none"};
inline constexpr Limit kSpike{"times the peak that power may rise to", 100, "", "no supply rides through it"};
inline constexpr Limit kOversubscription{"ports down for a port up", 1000, "", "no switch has as many"};
inline constexpr Limit kNumber{"as a number of anything", 1e30, "", "products of such numbers are still numbers"};
inline constexpr Limit kTimeLimit{"seconds of ⟦time_limit⟧", 30 * 86400.0, "s", "a month"};
// Of a file of results.
inline constexpr Limit kGroups{"groups of candidates in a file of results", 100'000, "", "a search has hundreds"};
// Of `ridge serve`.
inline constexpr Limit kServedSeconds{"seconds of one request to a server", 30, "s", "others wait"};
inline constexpr Limit kServedJobSeconds{"seconds of one job of a server", 300, "s", "others wait"};
inline constexpr Limit kServedRequests{"simulated requests of one question to a server", 2e6, "", "others wait"};
inline constexpr Limit kServedDraws{"draws of one question to a server", 1e6, "", "others wait"};
inline constexpr Limit kServedMemory{"bytes of memory of a server, of which questions may make use", 8e9, "bytes",
                                     "the machine has other work"};
inline constexpr Limit kBody{"bytes of the body of a request", 1 << 20, "bytes", "a question is some hundred"};
inline constexpr Limit kKeys{"keys in the address of a request", 200, "", "no command has as many flags"};
inline constexpr Limit kConnections{"connections to a server", 1024, "", "files that a process may open"};
inline constexpr Limit kConnectionsOfOne{"connections of one address", 256, "",
                                         "the longest idle one is closed for a new one"};
inline constexpr Limit kUnsentOfOne{"bytes of answers that one address asked for and has not taken", 64 << 20, "bytes",
                                    "memory; no answer is as long"};
inline constexpr Limit kUnsent{"bytes of answers that nobody has taken yet", 256 << 20, "bytes", "memory"};
inline constexpr Limit kWaiting{"questions of one client that wait", 32, "", "it can ask again"};
inline constexpr Limit kWaitingOfAll{"questions that wait", 512, "", "they could not be answered in time"};
inline constexpr Limit kJobsOfOne{"jobs of one client that wait or run", 8, "", "others have some too"};
inline constexpr Limit kJobs{"jobs that wait or run", 64, "", "they could not be answered in time"};
inline constexpr Limit kKeptSeconds{"seconds that the answer of a job is kept", 3600, "s", "long enough to fetch it"};
inline constexpr Limit kKeptAnswers{"answers of jobs that are kept", 1000, "", "memory; the oldest goes"};
inline constexpr Limit kSilence{"seconds after which a job that nobody asks about ends", 120, "s",
                                "whoever asked has left; \"keep\": true says otherwise"};

inline constexpr std::array kAll = {kThreads,
                                    kDraws,
                                    kRequestTokens,
                                    kRequests,
                                    kEngines,
                                    kFailedStarts,
                                    kPower,
                                    kPue,
                                    kSpike,
                                    kOversubscription,
                                    kNumber,
                                    kTimeLimit,
                                    kGroups,
                                    kServedSeconds,
                                    kServedJobSeconds,
                                    kServedRequests,
                                    kServedDraws,
                                    kServedMemory,
                                    kBody,
                                    kKeys,
                                    kConnections,
                                    kConnectionsOfOne,
                                    kUnsentOfOne,
                                    kUnsent,
                                    kWaiting,
                                    kWaitingOfAll,
                                    kJobsOfOne,
                                    kJobs,
                                    kKeptSeconds,
                                    kKeptAnswers,
                                    kSilence};

/// "at most 256 threads for one question": what a refusal says.
[[nodiscard]] std::string beyond(const Limit& limit);

}  // namespace ridge::limits
