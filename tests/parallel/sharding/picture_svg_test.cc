// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/sharding/picture.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string svg(const std::string& mesh, const std::string& text) {
  return visualize_svg({mesh_of(mesh), spec(text)}, type(text).global);
}

/// A small reader of XML: what is wrong with a document, "" if it is well-formed. Names of elements
/// go to `names`.
class XmlCheck {
 public:
  explicit XmlCheck(const std::string& text) : text_(text) {}

  std::string run(std::vector<std::string>& names) {
    while (at_ < text_.size() && error_.empty()) {
      text_[at_] == '<' ? tag(names) : character();
    }
    if (error_.empty() && !open_.empty()) {
      error_ = "not closed: " + open_.back();
    }
    return error_;
  }

 private:
  void character() {
    if (text_[at_] == '&') {
      entity();
    } else if (open_.empty() && std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
      error_ = concat("text outside of all elements at ", at_);
    } else {
      ++at_;
    }
  }

  void entity() {
    for (const std::string known : {"&amp;", "&lt;", "&gt;", "&quot;"}) {
      if (text_.compare(at_, known.size(), known) == 0) {
        at_ += known.size();
        return;
      }
    }
    error_ = concat("a bare & at ", at_);
  }

  std::string name() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  bool take(const std::string& token) {
    const bool there = text_.compare(at_, token.size(), token) == 0;
    at_ += there ? token.size() : 0;
    return there;
  }

  void tag(std::vector<std::string>& names) {
    if (take("</")) {
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed || !take(">")) {
        error_ = concat("</", closed, " closes nothing at ", at_);
      } else {
        open_.pop_back();
      }
      return;
    }
    ++at_;
    const std::string opened = name();
    if (opened.empty() || (open_.empty() && !names.empty())) {
      error_ = concat("no element, or a second root, at ", at_);
      return;
    }
    names.push_back(opened);
    while (error_.empty() && take(" ")) {
      attribute();
    }
    if (error_.empty() && !take("/>")) {
      open_.push_back(opened);
      error_ = take(">") ? "" : concat("expected > at ", at_);
    }
  }

  void attribute() {
    if (name().empty() || !take("=\"")) {
      error_ = concat("expected name=\" at ", at_);
      return;
    }
    while (error_.empty() && at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '<') {
        error_ = concat("a bare < at ", at_);
      } else if (text_[at_] == '&') {
        entity();
      } else {
        ++at_;
      }
    }
    error_ += error_.empty() && !take("\"") ? "expected the closing quote" : "";
  }

  const std::string& text_;
  size_t at_ = 0;
  std::vector<std::string> open_;
  std::string error_;
};

std::string fault(const std::string& text) {
  std::vector<std::string> names;
  return XmlCheck(text).run(names);
}

size_t count(const std::string& text, const std::string& element) {
  std::vector<std::string> names;
  EXPECT_EQ(XmlCheck(text).run(names), "");
  return static_cast<size_t>(std::count(names.begin(), names.end(), element));
}

TEST(PictureSvg, IsWellFormed) {
  for (const std::string text : {"",
                                 "8",
                                 "8@x",
                                 "3@(x,y,z)",
                                 "8@x,8@y",
                                 "8,8@(z,y){U:x}",
                                 "4@x,2,3@y",
                                 "0@x,4@y",
                                 "{Umin:x}"}) {
    EXPECT_EQ(fault(svg("x2,y3,z8", text)), "") << text;
  }
}

TEST(PictureSvg, IsReadByACheckThatFindsFaults) {
  EXPECT_NE(fault("<a>"), "");
  EXPECT_NE(fault("<a></b>"), "");
  EXPECT_NE(fault("<a b=c/>"), "");
  EXPECT_NE(fault("<a b=\"<\"/>"), "");
  EXPECT_NE(fault("<a>&</a>"), "");
  EXPECT_NE(fault("<a/><b/>"), "");
  EXPECT_NE(fault("<a/>text"), "");
  EXPECT_EQ(fault("<a b=\"&lt;\">text<c/></a>\n"), "");
}

TEST(PictureSvg, HasACellForEveryBox) {
  const std::string grid = svg("x2,y3", "8@x,9@y");
  EXPECT_EQ(count(grid, "rect"), 6U);
  EXPECT_EQ(count(grid, "g"), 6U);
  EXPECT_THAT(grid, HasSubstr("<title>0:4, 3:6: ranks 1</title>"));
  EXPECT_THAT(grid, HasSubstr(">0:4</text>"));
  EXPECT_EQ(count(svg("x2,y3", "8@x,9,2"), "rect"), 2U);
  EXPECT_EQ(count(svg("x2,y3", ""), "rect"), 1U);
}

TEST(PictureSvg, SaysInWordsWhatItShows) {
  const std::string picture = svg("x4,y2", "8,2@y");
  EXPECT_THAT(picture,
              HasSubstr("<title>Sharding (None, &quot;y&quot;) of a tensor of shape (8, 2) on the "
                        "mesh x=4 x y=2</title>"));
  EXPECT_THAT(picture, HasSubstr("<desc>2 boxes, each labelled with its ranges"));
  EXPECT_THAT(picture, HasSubstr("role=\"img\" aria-label="));
  EXPECT_THAT(svg("x2", "4{Umax:x}"),
              HasSubstr("each rank of a cell: terms of a max over x</desc>"));
}

TEST(PictureSvg, StandsAloneOnLightAndDarkGrounds) {
  const std::string picture = svg("x2,y2", "8@x,8@y");
  EXPECT_EQ(picture.find("<svg xmlns=\"http://www.w3.org/2000/svg\""), 0U);
  EXPECT_THAT(picture, HasSubstr("prefers-color-scheme:dark"));
  for (const std::string outside : {"href", "url(", "<script", "<image", "@import", " id="}) {
    EXPECT_THAT(picture, Not(HasSubstr(outside)));
  }
}

TEST(PictureSvg, DrawsCellsInProportion) {
  const std::string picture = svg("x2", "3@x");
  EXPECT_THAT(picture, HasSubstr("width=\"160\""));
  EXPECT_THAT(picture, HasSubstr("width=\"320\""));
}

TEST(PictureSvg, DrawsEqualShardingsAlike) {
  EXPECT_EQ(svg("x2,y3", "8@x,9@y"), svg("x2,y3", "8@x,9@y"));
}

}  // namespace
}  // namespace brigade::sharding
