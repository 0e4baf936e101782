// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/scanner.h"

#include <cctype>
#include <charconv>

#include "parallel/base/text.h"

namespace brigade::sharding {
namespace {

std::string_view label_of(Reduction kind) {
  switch (kind) {
    case Reduction::kSum: return "U";
    case Reduction::kMax: return "Umax";
    case Reduction::kMin: return "Umin";
  }
  return "U";
}

std::optional<Reduction> unreduced_kind_of(std::string_view label) {
  for (const Reduction kind : {Reduction::kSum, Reduction::kMax, Reduction::kMin}) {
    if (label_of(kind) == label) {
      return kind;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const AxisSets& sets) {
  std::vector<std::string> texts;
  if (!sets.unreduced.empty()) {
    texts.push_back(concat(label_of(sets.kind), ':', join(sets.unreduced, ",")));
  }
  if (!sets.reduced.empty()) {
    texts.push_back(concat("R:", join(sets.reduced, ",")));
  }
  return texts.empty() ? "" : concat('{', join(texts), '}');
}

void Scanner::skip_blanks() {
  while (at_ < text_.size() && text_[at_] == ' ') {
    ++at_;
  }
}

bool Scanner::take(char c) {
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != c) {
    return false;
  }
  ++at_;
  return true;
}

bool Scanner::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

std::string Scanner::word() {
  skip_blanks();
  const size_t begin = at_;
  while (at_ < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
    ++at_;
  }
  return std::string(text_.substr(begin, at_ - begin));
}

std::optional<int64_t> Scanner::number() {
  skip_blanks();
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error != std::errc() || value < 0) {
    return std::nullopt;
  }
  at_ += static_cast<size_t>(end - begin);
  return value;
}

Result<void> Scanner::one_set(AxisNames& into) {
  do {
    const size_t before = at_;
    std::string axis = word();
    if (axis.empty()) {
      return expected("the name of an axis");
    }
    if (take(':')) {  // "R:" of the other set
      at_ = before;
      return {};
    }
    into.push_back(std::move(axis));
  } while (take(','));
  return {};
}

Result<AxisSets> Scanner::axis_sets() {
  AxisSets sets;
  if (!take('{')) {
    return sets;
  }
  while (!take('}')) {
    const size_t before = at_;
    const std::string kind = word();
    const std::optional<Reduction> joined = unreduced_kind_of(kind);
    if ((!joined && kind != "R") || !take(':')) {
      at_ = before;
      return expected("U:, Umax:, Umin: (unreduced), R: (reduced) or }");
    }
    if (joined && !sets.unreduced.empty() && *joined != sets.kind) {
      at_ = before;
      return expected(concat("terms of one kind (", to_string(sets.kind), ")"));
    }
    sets.kind = joined.value_or(sets.kind);
    if (Result<void> read = one_set(joined ? sets.unreduced : sets.reduced); !read) {
      return fail(read.error());
    }
  }
  return sets;
}

tl::unexpected<Error> Scanner::expected(std::string_view what) {
  skip_blanks();
  const std::string found = at_ == text_.size() ? "the end" : concat('\'', text_[at_], '\'');
  return fail(
      ErrorCode::kUsage,
      concat("expected ", what, ", found ", found, " at position ", at_ + 1, " of ", text_));
}

}  // namespace brigade::sharding
