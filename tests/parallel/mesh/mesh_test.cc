// SPDX-License-Identifier: Apache-2.0
#include "parallel/mesh/mesh.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Mesh make(std::vector<Axis> axes) {
  return value_or_throw(Mesh::create(std::move(axes)));
}

std::string error_of(std::vector<Axis> axes) {
  const Result<Mesh> mesh = Mesh::create(std::move(axes));
  EXPECT_FALSE(mesh.has_value());
  return mesh ? "" : std::string(to_string(mesh.error().code)) + ": " + mesh.error().text;
}

// Every mesh of up to three axes and at most `most` ranks, axes of size 1 included.
void for_each_mesh(int64_t most, const std::function<void(const Mesh&)>& visit) {
  visit(Mesh());
  for (int64_t a = 1; a <= most; ++a) {
    visit(make({{"a", a}}));
    for (int64_t b = 1; a * b <= most; ++b) {
      visit(make({{"a", a}, {"b", b}}));
      for (int64_t c = 1; a * b * c <= most; ++c) {
        visit(make({{"a", a}, {"b", b}, {"c", c}}));
      }
    }
  }
}

// Every ordered choice of the mesh's axes.
std::vector<AxisNames> ordered_subsets(const Mesh& mesh) {
  std::vector<AxisNames> all = {{}};
  for (size_t next = 0; next < all.size(); ++next) {
    for (const Axis& axis : mesh.axes()) {
      AxisNames longer = all[next];
      if (std::find(longer.begin(), longer.end(), axis.name) == longer.end()) {
        longer.push_back(axis.name);
        all.push_back(longer);
      }
    }
  }
  return all;
}

TEST(Mesh, NumbersRanksRowMajorWithTheLastAxisFastest) {
  const Mesh mesh = make({{"data", 2}, {"tp", 4}});
  EXPECT_EQ(mesh.size(), 8);
  EXPECT_THAT(mesh.coordinates(5), ElementsAre(1, 1));
  EXPECT_EQ(mesh.coordinate(6, "tp"), 2);
  EXPECT_EQ(mesh.position("tp"), 1);
  EXPECT_EQ(mesh.axis_size("data"), 2);
}

TEST(Mesh, HasOneRankWithoutAxes) {
  EXPECT_EQ(Mesh().size(), 1);
  EXPECT_THAT(Mesh().group(0, {}), ElementsAre(0));
  EXPECT_EQ(Mesh().to_string(), "(no axes)");
}

TEST(Mesh, TurnsCoordinatesBackIntoRanksOnEveryMesh) {
  for_each_mesh(24, [](const Mesh& mesh) {
    std::vector<int64_t> last;
    for (int64_t rank = 0; rank < mesh.size(); ++rank) {
      const std::vector<int64_t> coordinates = mesh.coordinates(rank);
      ASSERT_EQ(mesh.rank_at(coordinates), rank) << mesh.to_string();
      ASSERT_TRUE(rank == 0 || last < coordinates) << mesh.to_string();
      last = coordinates;
    }
  });
}

TEST(Mesh, PartitionsTheRanksIntoGroupsAlongAnyOrderedAxes) {
  for_each_mesh(24, [](const Mesh& mesh) {
    for (const AxisNames& names : ordered_subsets(mesh)) {
      std::set<std::vector<int64_t>> groups;
      for (int64_t rank = 0; rank < mesh.size(); ++rank) {
        const std::vector<int64_t> group = mesh.group(rank, names);
        const auto index = static_cast<size_t>(mesh.flattened_index(rank, names));
        ASSERT_EQ(static_cast<int64_t>(group.size()), mesh.axes_size(names));
        ASSERT_EQ(group[index], rank) << mesh.to_string();
        groups.insert(group);
      }
      std::set<int64_t> covered;
      for (const auto& group : groups) {
        covered.insert(group.begin(), group.end());
      }
      ASSERT_EQ(static_cast<int64_t>(covered.size()), mesh.size());
      ASSERT_EQ(static_cast<int64_t>(groups.size()) * mesh.axes_size(names), mesh.size());
    }
  });
}

TEST(Mesh, ListsAGroupInTheOrderOfTheNamedAxes) {
  const Mesh mesh = make({{"x", 2}, {"y", 2}, {"z", 2}});
  EXPECT_THAT(mesh.group(1, AxisNames{"x", "y"}), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(mesh.group(1, AxisNames{"y", "x"}), ElementsAre(1, 5, 3, 7));
  EXPECT_EQ(mesh.flattened_index(3, AxisNames{"y", "x"}), 2);
}

TEST(Mesh, KeepsAxesOfSizeOne) {
  const Mesh mesh = make({{"pp", 1}, {"dp", 2}});
  EXPECT_TRUE(mesh.has_axis("pp"));
  EXPECT_EQ(mesh.to_string(), "pp=1 x dp=2");
  EXPECT_THAT(mesh.group(1, AxisNames{"pp"}), ElementsAre(1));
  EXPECT_NE(mesh, make({{"dp", 2}}));
}

TEST(Mesh, TakesSubMeshesInItsOwnOrder) {
  const Mesh mesh = make({{"pp", 2}, {"dp", 3}, {"tp", 4}});
  EXPECT_EQ(mesh.sub_mesh(AxisNames{"tp", "dp"}), make({{"dp", 3}, {"tp", 4}}));
  EXPECT_THAT(mesh.in_mesh_order({"tp", "pp"}), ElementsAre("pp", "tp"));
}

TEST(Mesh, RefusesAxesThatMakeNoMesh) {
  EXPECT_EQ(error_of({{"x", 2}, {"", 2}}), "Usage: axis 1 of a mesh has no name: x=2 x =2");
  EXPECT_EQ(error_of({{"x", 2}, {"x", 3}}), "Usage: axis \"x\" is in a mesh twice: x=2 x x=3");
  EXPECT_EQ(error_of({{"x", 0}}),
            "Usage: axis \"x\" of a mesh has size 0, expected at least 1: x=0");
  EXPECT_THAT(error_of({{"a b", 2}}), HasSubstr("letters, digits and _"));
  EXPECT_THAT(error_of({{"2d", 2}}), HasSubstr("axis 0 is \"2d\""));
  EXPECT_THAT(error_of({{"x", 1LL << 20}, {"y", 1LL << 20}}),
              HasSubstr("at most 2,147,483,647 ranks"));
}

TEST(Mesh, ChecksThatAskedAxesAndRanksExist) {
  const Mesh mesh = make({{"x", 2}});
  EXPECT_THROW(mesh.axis_size("y"), CheckFailure);
  EXPECT_THROW(mesh.coordinates(2), CheckFailure);
  EXPECT_THROW(mesh.group(0, AxisNames{"x", "x"}), CheckFailure);
}

}  // namespace
}  // namespace brigade::mesh
