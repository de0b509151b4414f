// One run of the program: what all verbs share. The only place that knows the environment, the terminal and where the
// data is.
//
//   Result<const Catalogue*> catalogue = session.catalogue();   // read on first use
//   if (session.form() == Form::json) session.print(json.text());
#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/session/file_access.hpp"
#include "app/cli/session/progress.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/patience.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/catalogue/engine.hpp"
#include "ridge/catalogue/what_if.hpp"
#include "ridge/facility/facility.hpp"
#include "ridge/report/report.hpp"

namespace ridge {
struct EconomicsData;
}
namespace ridge::measure {
struct Profile;
}
namespace ridge::search {
class Policy;
}

namespace ridge::cli {

inline constexpr int kFine = 0;
inline constexpr int kBadInput = 1;     ///< unparsable, or a name that does not exist
inline constexpr int kRefused = 2;      ///< a plan that is refused or infeasible
inline constexpr int kCheckFailed = 3;  ///< a constraint or check did not hold
[[nodiscard]] int exit_code(ErrorCode code);

struct GlobalOptions {
  std::string data = {};
  std::vector<std::string> overlays = {};
  std::vector<std::string> price_lists = {};
  std::vector<std::string> calibrations = {};  ///< overlays that `ridge calibrate --cases` wrote
  std::vector<std::string> settings = {};      ///< what-ifs: "device.hbm_bandwidth=8TB/s"
  std::string plan = {};                       ///< the file that the line's flags were completed from
  std::string as_of = {};
  std::string software_as_of = {};     ///< instead of as_of, of engines and their kernels
  std::string prices_as_of = {};       ///< instead of as_of, of prices
  std::string time_limit = {};         ///< "30s": after it long work ends
  std::string memory_limit = {};       ///< "4GB": beyond it long work ends
  std::vector<std::string> line = {};  ///< the words as they were given
  bool json = false;
  bool csv = false;
  bool markdown = false;
  bool no_colour = false;
};

enum class Form { terminal, json, csv, markdown };

/// What the program finds around it; tests put in their own.
struct Surroundings {
  std::string program;                       ///< path of the running program, or empty
  std::optional<std::string> data_variable;  ///< $RIDGE_DATA
  int width = 0;                             ///< of the terminal, 0 if the output is none
  bool colour = false;                       ///< the terminal shows colour and the user does not mind
  Voice program_voice = Voice::json;         ///< how a program that asks is told of fields
};
[[nodiscard]] Surroundings look_around();

/// --data, $RIDGE_DATA, ../share/ridgeline beside the program, the source tree it was built in: the first that is given
/// or exists. Refuses (not_found) if none does, naming all four.
Result<std::string> find_data_directory(const std::string& option, const Surroundings& surroundings);

/// What the sessions of one process may share: read once, never changed, safe for all threads.
struct SharedData {
  std::shared_ptr<const Catalogue> catalogue;
  std::shared_ptr<const Engines> engines;
  std::shared_ptr<const Calibration> calibration;
  std::shared_ptr<const EconomicsData> economics;  ///< with sources of the catalogue
  std::shared_ptr<const FacilityData> facility;
  std::shared_ptr<const search::Policy> policy;
};

/// Bytes of memory that the process has. Looks at most every 50 ms.
[[nodiscard]] double memory_in_use();

/// Asks long work to end with what it has: when somebody raises it or has left, time or memory is up, or enough is
/// simulated. The work says how far it is.
struct StopSign {
  std::atomic<bool> raised = false;
  mutable std::atomic<double> done_share = 0;  ///< in [0, 1]
  const std::atomic<bool>* left = nullptr;     ///< true once whoever asked has gone
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  double most_requests = std::numeric_limits<double>::infinity();  ///< of one simulation
  double most_memory = std::numeric_limits<double>::infinity();    ///< of the process
  /// Why, or empty: "its time is over". Once it says so it stays so.
  [[nodiscard]] std::string_view why() const;
  mutable std::atomic<const char*> said = nullptr;  ///< what why() said
};

/// Whether whoever asks is at home on this machine and may name its files: C, Python and people may, HTTP may not.
enum class Files { allowed, refused };

class Session {
 public:
  Session(GlobalOptions options, Surroundings surroundings);
  /// A session for a program: its output goes to `into` instead of standard output, it takes from `shared` what the
  /// options leave as it is, and ends long work early once `stop` is set. All three outlive it.
  Session(GlobalOptions options, Surroundings surroundings, const SharedData& shared, std::string& into,
          const StopSign& stop, Files files);
  Session(Session&&) noexcept;
  ~Session();

  [[nodiscard]] const GlobalOptions& options() const { return options_; }
  /// The day whose software runs, or empty: the newest.
  [[nodiscard]] const std::string& software_date() const {
    return options_.software_as_of.empty() ? options_.as_of : options_.software_as_of;
  }
  /// The day whose prices are paid, or empty: the newest.
  [[nodiscard]] const std::string& price_date() const {
    return options_.prices_as_of.empty() ? options_.as_of : options_.prices_as_of;
  }
  [[nodiscard]] Form form() const;
  /// Path of the running program, or empty.
  [[nodiscard]] const std::string& program() const { return surroundings_.program; }
  [[nodiscard]] TerminalStyle style() const;
  /// Where the bundled data is.
  Result<std::string> data_directory() const { return find_data_directory(options_.data, surroundings_); }
  /// What --set is about, by id; to be said before the first catalogue().
  void about(WhatIfSubjects subjects) { subjects_ = std::move(subjects); }
  /// From now on the device that the profile was measured on is as measured, in catalogue() and calibration(); other
  /// devices stay as they are. Returns its id. Refuses what read_measurement(), device_like() and read_file() refuse,
  /// and a second profile of the same architecture.
  Result<std::string> use_profile(const std::string& path);
  /// Files of the profiles in use.
  [[nodiscard]] std::vector<std::string> profiles() const;
  /// One sentence per profile in use, for lists of assumptions.
  [[nodiscard]] std::vector<std::string> measured() const;
  /// The catalogue with the user's overlays and what-ifs; lives as long as the session.
  Result<const Catalogue*> catalogue();
  /// The same without what-ifs, for looking up names before about() is said.
  Result<const Catalogue*> names();
  Result<const Engines*> engines();
  /// The calibration with the user's overlays.
  Result<const Calibration*> calibration();
  /// What sites are built of (data/facility); lives as long as the session.
  Result<const FacilityData*> facility();
  /// What things cost and how often they fail (data/economics), likewise.
  Result<const EconomicsData*> economics();
  /// Countries and vendors (data/policy), likewise.
  Result<const search::Policy*> policy();

  /// Everything read, for sessions to come. What a data directory of the user's own does not hold, or holds
  /// unreadable, is left to the session that needs it.
  Result<SharedData> share();
  /// Whether a program asks: nobody watches a terminal, and signals are not this session's.
  [[nodiscard]] bool is_called() const { return into_ != nullptr; }
  [[nodiscard]] bool may_name_files() const { return files_.is_free(); }
  /// The only way by which verbs read and write files that somebody named.
  [[nodiscard]] const FileAccess& files() const { return files_; }
  /// From here on the first Ctrl-C only makes stopped() true. Nothing if a program asks.
  void catch_interrupts() const;
  /// A bar for long work, where somebody is there to see it.
  [[nodiscard]] Progress progress(std::string what) const {
    return Progress(std::move(what), is_called() ? nullptr : stderr, told());
  }
  /// Who hears how far long work is, or null.
  [[nodiscard]] std::atomic<double>* told() const { return stop_ != nullptr ? &stop_->done_share : nullptr; }
  /// Whether long work should end with what it has: --time-limit or --memory-limit is reached, Ctrl-C, or the client
  /// has gone. Any thread.
  [[nodiscard]] bool stopped() const { return !why_stopped().empty(); }
  /// For loops of the library. The session outlives it.
  [[nodiscard]] Patience patience() const {
    return Patience([this] { return stopped(); });
  }
  /// Refuses (refused) once stopped(): what was cut short is no answer. For after long work.
  [[nodiscard]] Status in_time() const;

  /// Requests after which a simulation ends with what it has.
  [[nodiscard]] double most_requests() const {
    return stop_ != nullptr ? stop_->most_requests : std::numeric_limits<double>::infinity();
  }

  /// How whoever asks is told of fields.
  [[nodiscard]] Voice voice() const { return is_called() ? surroundings_.program_voice : Voice::flags; }
  /// To standard output.
  void print(std::string_view text) const;
  /// A page in the form for people that was asked for (terminal or Markdown).
  void print(const Document& document) const;
  /// A line on standard error.
  void warn(std::string_view text) const;

 private:
  GlobalOptions options_;
  Surroundings surroundings_;
  struct Measured {
    std::string path;
    std::string id;  ///< of the device
    std::unique_ptr<measure::Profile> profile;
    OverlayText overlay;
  };

  WhatIfSubjects subjects_;
  std::vector<Measured> measured_;
  SharedData data_;
  std::shared_ptr<const Catalogue> names_;  ///< where it is not the catalogue itself
  [[nodiscard]] std::string_view why_stopped() const;
  void forget_catalogue();  ///< and what was read with it
  std::string* into_ = nullptr;
  std::unique_ptr<StopSign> own_;  ///< the limits of the options
  FileAccess files_;
  const StopSign* stop_ = nullptr;
};

}  // namespace ridge::cli
