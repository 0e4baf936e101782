// SPDX-License-Identifier: Apache-2.0
/// Tensors of counted numbers, cut in a grid over ranks, for tests that write and read them.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/commit.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/shard_writer.h"

namespace brigade::checkpoint {

/// The elements of a box of a tensor whose elements are numbered row by row. One or two dims.
inline std::vector<float> numbers_of(const sharding::Shape& shape, const sharding::Box& box) {
  std::vector<float> values;
  if (shape.empty()) {
    return {42.0F};
  }
  const int64_t columns = shape.size() == 1 ? 1 : shape[1];
  const sharding::Interval all = {0, 1};
  const sharding::Interval across = shape.size() == 1 ? all : box.dims[1];
  for (int64_t i = box.dims[0].begin; i < box.dims[0].end; ++i) {
    for (int64_t j = across.begin; j < across.end; ++j) {
      values.push_back(static_cast<float>(i * columns + j));
    }
  }
  return values;
}

inline sharding::Box whole_box(const sharding::Shape& shape) {
  sharding::Box box;
  for (const int64_t size : shape) {
    box.dims.push_back({0, size});
  }
  return box;
}

/// The boxes of rows x columns ranks, those without an element left out.
inline std::vector<sharding::Box> grid_of(const sharding::Shape& shape,
                                          int64_t rows,
                                          int64_t columns) {
  if (shape.empty()) {
    return {sharding::Box()};
  }
  std::vector<sharding::Box> boxes;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < (shape.size() == 1 ? 1 : columns); ++j) {
      sharding::Box box = {{sharding::interval(shape[0], i, rows)}};
      if (shape.size() > 1) {
        box.dims.push_back(sharding::interval(shape[1], j, columns));
      }
      if (box.element_count() > 0) {
        boxes.push_back(box);
      }
    }
  }
  return boxes;
}

/// A published checkpoint of tensor "t" of such numbers: FOLDER/step-STEP, a file per box.
inline std::string write_grid(const std::string& folder,
                              int64_t step,
                              const sharding::Shape& shape,
                              int64_t rows,
                              int64_t columns) {
  value_or_throw(make_folder(folder));
  value_or_throw(make_staging(folder, step));
  std::vector<std::string> records;
  for (const sharding::Box& box : grid_of(shape, rows, columns)) {
    const std::vector<float> values = numbers_of(shape, box);
    const std::vector<StateBox> boxes = {
        {"t", ElementType::kF32, shape, box, std::as_bytes(std::span(values))}};
    const auto rank = static_cast<int64_t>(records.size());
    records.push_back(to_json(
        value_or_throw(write_shard(staging_path(folder, step), shard_name(rank), rank, boxes))));
  }
  Manifest head;
  head.run = "00000000000000aa";
  head.counters.step = step;
  value_or_throw(commit(folder, head, records, 0));
  return step_path(folder, step);
}

}  // namespace brigade::checkpoint
