// SPDX-License-Identifier: Apache-2.0
// The one error type of the project.
//
// Result<T> holds a value or an Error. An Error has a code (which decides the exit status), a
// message and the context added on the way up, outermost first when printed. Both must be used.
//
//   Result<Config> load(const std::string& path) {
//     HOLTER_TRY(auto text, read_file(path));       // returns early with the error
//     auto config = parse(text);
//     if (!config) return config.error().within("reading " + path);
//     return config;
//   }
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace holter::base {

enum class Code {
  kInvalid,      // the caller or the input is wrong
  kNotFound,     // it does not exist
  kPermission,   // it exists and may not be read
  kUnavailable,  // a needed server or resource is not there
  kLimit,        // a bound was reached (size, depth, count)
  kInternal,     // a defect of ours
};

class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Adds what was being done; returns the error, ready to be returned.
  tl::unexpected<Error> within(std::string what) && {
    context_.push_back(std::move(what));
    return tl::unexpected<Error>(std::move(*this));
  }
  tl::unexpected<Error> within(std::string what) const& { return Error(*this).within(std::move(what)); }

  // "outer: inner: message".
  std::string to_string() const {
    std::string out;
    for (auto it = context_.rbegin(); it != context_.rend(); ++it) out += *it + ": ";
    return out + message_;
  }

 private:
  Code code_;
  std::string message_;
  std::vector<std::string> context_;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}

}  // namespace holter::base

#define HOLTER_CONCAT_INNER(a, b) a##b
#define HOLTER_CONCAT(a, b) HOLTER_CONCAT_INNER(a, b)
#define HOLTER_TRY_INNER(name, declaration, expression)                             \
  auto name = (expression);                                                         \
  if (!name) return tl::unexpected<::holter::base::Error>(std::move(name).error()); \
  declaration = std::move(name).value()
// HOLTER_TRY(auto x, expression): binds the value, or returns the error from the enclosing function.
#define HOLTER_TRY(declaration, expression) \
  HOLTER_TRY_INNER(HOLTER_CONCAT(holter_try_, __LINE__), declaration, expression)
