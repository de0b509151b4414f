// Amounts of memory that several kinds of claims need.
#pragma once

#include <string>

#include "claims/known/kind.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

/// Bytes of one weight as claims count them: whole bits, without the scales that real formats add.
[[nodiscard]] double nominal_bytes(Format format);

/// Parameters of the model named by 'model', or the count given by 'parameters'.
struct Size {
  double parameters = 0;
  std::string shown;
  const Model* model = nullptr;
};
Result<Size> size_of(Inputs& inputs);

/// What its checkpoint comes in, as published: 16 bits unless the catalogue says otherwise.
[[nodiscard]] Format released_format(const Model& model);

/// Adds the reading that a gibibyte (1.0737 gigabytes) was written as "GB": what tools print is often the former.
void add_binary(Recomputed& result);

/// The model a piece of text is about: its name, or "70B" in a document that has named one of that family; nullptr if
/// there is none.
[[nodiscard]] const Name* model_in(const Tokens& tokens, const Collector& out);
/// "a 70B model", "a 30B INT8 checkpoint": a count of parameters that stands for a model; nullptr if there is none.
[[nodiscard]] const Token* parameters_in(const Tokens& tokens);
/// The first number format named, or empty.
[[nodiscard]] std::string format_in(const Tokens& tokens);
/// "4K", "128K context", "1M": a length of context as text for an input, or empty.
[[nodiscard]] std::string context_in(const Tokens& tokens);
/// The number that follows "batch": "batch 1", "batch=1", "batch size of 64"; 0 if there is none.
[[nodiscard]] double batch_in(const Tokens& tokens);
/// A row of a table about training, not inference.
[[nodiscard]] bool is_training_table(const Passage& row);

}  // namespace ridge::claims
