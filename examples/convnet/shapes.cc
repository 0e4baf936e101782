// SPDX-License-Identifier: Apache-2.0
#include "shapes.h"

#include <cmath>

#include <ATen/ATen.h>

namespace shapes {
namespace {

/// Numbers in [0, 1) out of an image's index, one after another (splitmix64).
class Dice {
 public:
  explicit Dice(int64_t index) : state_(static_cast<uint64_t>(index) * 0x2545f4914f6cdd1dULL) {}

  float roll() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<float>((bits ^ (bits >> 31)) >> 40) * 0x1p-24F;
  }

 private:
  uint64_t state_;
};

/// Whether the shape of `label` with radius `radius` covers the point (x, y), seen from its centre.
bool covers(int64_t label, float x, float y, float radius) {
  const float far = std::max(std::abs(x), std::abs(y));
  const float near = std::min(std::abs(x), std::abs(y));
  switch (label) {
    case 0: return x * x + y * y <= radius * radius;
    case 1: return far <= radius && far > radius - 1.5F;
    case 2: return far <= radius && near < 1.0F;
    default: return far <= radius && std::fmod(y + kSide, 4.0F) < 2.0F;
  }
}

void draw_one(int64_t label, Dice& dice, float* pixels) {
  constexpr float kNoise = 0.8F;
  const float middle = static_cast<float>(kSide) / 2;
  const float centre_x = middle + 4 * (dice.roll() - 0.5F);
  const float centre_y = middle + 4 * (dice.roll() - 0.5F);
  const float radius = 4 + 2 * dice.roll();
  for (int64_t row = 0; row < kSide; ++row) {
    for (int64_t column = 0; column < kSide; ++column) {
      const float x = static_cast<float>(column) - centre_x;
      const float y = static_cast<float>(row) - centre_y;
      const float ink = covers(label, x, y, radius) ? 1.0F : 0.0F;
      pixels[row * kSide + column] = ink + kNoise * (dice.roll() - 0.5F);
    }
  }
}

}  // namespace

Batch draw(const at::Tensor& indices) {
  const int64_t count = indices.size(0);
  Batch batch{at::empty({count, 1, kSide, kSide}), at::empty({count}, at::kLong)};
  const at::Tensor listed = indices.contiguous();
  for (int64_t i = 0; i < count; ++i) {
    Dice dice(listed.const_data_ptr<int64_t>()[i]);
    const auto label = static_cast<int64_t>(dice.roll() * static_cast<float>(kClasses));
    batch.labels.mutable_data_ptr<int64_t>()[i] = label;
    draw_one(label, dice, batch.images.mutable_data_ptr<float>() + i * kSide * kSide);
  }
  return batch;
}

}  // namespace shapes
