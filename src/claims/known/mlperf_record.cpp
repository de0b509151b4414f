#include "claims/known/mlperf_record.hpp"

namespace ridge::claims {

const Record::Book* Record::book() const {
  std::call_once(once_, [&] {
    auto names = mlperf::load_names(data_directory_);
    if (!names) {
      problem_ = names.error().text();
      return;
    }
    auto results = mlperf::load_bundled(data_directory_, *names);
    if (!results) {
      problem_ = results.error().text();
      return;
    }
    book_ = Book{std::move(*names), std::move(*results)};
  });
  return book_ ? &*book_ : nullptr;
}

}  // namespace ridge::claims
