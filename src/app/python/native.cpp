// The C interface in Python's hands: texts, and NumPy arrays without copies. What is nice to use is in __init__.py.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

#include "app/c/ridge.h"

namespace py = pybind11;

namespace {

/// A text of the C interface, freed.
std::string take(char* text) {
  const std::unique_ptr<char, decltype(&ridge_free)> owned(text, &ridge_free);
  return text == nullptr ? std::string() : std::string(text);
}

/// Only __init__.py sees it: the JSON error, which it turns into ValueError or Refused.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Session {
 public:
  explicit Session(const std::string& data_directory) {
    char* error = nullptr;
    const py::gil_scoped_release unlocked;
    session_.reset(ridge_open(data_directory.c_str(), &error));
    if (!session_) throw Failure(take(error));
    ridge_speak_python(session_.get());
  }

  std::pair<int, std::string> call(const std::string& verb, const std::string& flags) const {
    const py::gil_scoped_release unlocked;
    int code = 0;
    std::string text = take(ridge_call(session_.get(), verb.c_str(), flags.c_str(), &code));
    return {code, std::move(text)};
  }

  /// One array per output. Inputs are one-dimensional, of equal length, int32, int64 or float64.
  std::vector<py::array_t<double>> evaluate(const std::string& kind, const std::string& flags,
                                            const std::vector<std::pair<std::string, py::array>>& inputs,
                                            const std::vector<std::string>& outputs, unsigned threads) const {
    std::vector<const char*> input_names;
    std::vector<ridge_array> arrays;
    const py::ssize_t points = inputs.empty() ? 1 : inputs.front().second.size();
    for (const auto& [name, array] : inputs) {
      if (array.ndim() != 1 || array.size() != points || (array.flags() & py::array::c_style) == 0) {
        throw Failure(R"({"error": {"where": ")" + name + R"(", "message": "is not one contiguous column"}})");
      }
      const bool wide = array.dtype().is(py::dtype::of<double>());
      const bool whole = array.dtype().is(py::dtype::of<std::int64_t>());
      if (!wide && !whole && !array.dtype().is(py::dtype::of<std::int32_t>())) {
        throw Failure(R"({"error": {"where": ")" + name + R"(", "message": "is not int32, int64 or float64"}})");
      }
      input_names.push_back(name.c_str());
      arrays.push_back({wide ? RIDGE_DOUBLE : whole ? RIDGE_INT64 : RIDGE_INT32, array.data()});
    }
    std::vector<const char*> output_names;
    std::vector<py::array_t<double>> results;
    std::vector<double*> columns;
    for (const std::string& name : outputs) {
      output_names.push_back(name.c_str());
      results.emplace_back(points);
      columns.push_back(results.back().mutable_data());
    }
    const py::gil_scoped_release unlocked;
    char* error = nullptr;
    const std::unique_ptr<ridge_batch, decltype(&ridge_batch_close)> batch(
        ridge_batch_open(session_.get(), kind.c_str(), flags.c_str(), input_names.data(), input_names.size(),
                         output_names.data(), output_names.size(), &error),
        &ridge_batch_close);
    if (!batch) throw Failure(take(error));
    if (ridge_batch_evaluate(batch.get(), static_cast<std::size_t>(points), arrays.data(), arrays.size(),
                             columns.data(), columns.size(), threads, &error) != 0) {
      throw Failure(take(error));
    }
    return results;
  }

 private:
  std::unique_ptr<ridge_session, decltype(&ridge_close)> session_{nullptr, &ridge_close};
};

}  // namespace

PYBIND11_MODULE(_native, m) {
  m.doc() = "The C interface of Ridgeline; use the package ridgeline instead.";
  py::register_exception<Failure>(m, "Failure");
  py::class_<Session>(m, "Session")
      .def(py::init<const std::string&>(), py::arg("data_directory"))
      .def("call", &Session::call, py::arg("verb"), py::arg("flags"))
      .def("evaluate", &Session::evaluate, py::arg("kind"), py::arg("flags"), py::arg("inputs"), py::arg("outputs"),
           py::arg("threads"));
  m.def("version", &ridge_version);
  m.def(
      "batch_names", [](const std::string& kind) { return take(ridge_batch_names(kind.c_str())); }, py::arg("kind"));
  m.def("reason_name", &ridge_reason_name, py::arg("reason"));
}
