// SPDX-License-Identifier: Apache-2.0
/// Arithmetic on two operands, element by element; shapes equal, or broadcast from the right.
///
///   ShardedTensor y = x * gain + bias;      // x [b@data, d], gain and bias [d]{R:data}
///   ShardedTensor z = 0.5 * (a - b) / c;
///
/// Planned by sharding::plan_elementwise: operands that are whole where another is split are sliced
/// to match, unfinished sums pass where the algebra allows.
///
/// Collective: forward never; backward where a replicated operand meets a split one (its gradient
///             is all-reduced) or an operand was sliced to match (its gradient is all-gathered).
/// Cost:       those two; nothing where both operands are placed alike.
/// Errors:     kType, as sharding::plan_elementwise; the communicator's. Thrown as Exception.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// Linear in both: equal unreduced sets pass.
ShardedTensor add(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor sub(const ShardedTensor& a, const ShardedTensor& b);
/// One operand may be unreduced beside a reduced one.
ShardedTensor mul(const ShardedTensor& a, const ShardedTensor& b);
/// Of floats; a may be unreduced beside a reduced b.
ShardedTensor div(const ShardedTensor& a, const ShardedTensor& b);
/// Where both are equal, each gets half of the gradient.
ShardedTensor maximum(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor minimum(const ShardedTensor& a, const ShardedTensor& b);

/// With a number, which must be whole where the elements are. Scaling lets unfinished sums through.
ShardedTensor add(const ShardedTensor& a, double b);
ShardedTensor mul(const ShardedTensor& a, double b);
ShardedTensor div(const ShardedTensor& a, double b);
ShardedTensor div(double a, const ShardedTensor& b);

inline ShardedTensor operator+(const ShardedTensor& a, const ShardedTensor& b) {
  return add(a, b);
}
inline ShardedTensor operator+(const ShardedTensor& a, double b) {
  return add(a, b);
}
inline ShardedTensor operator+(double a, const ShardedTensor& b) {
  return add(b, a);
}
inline ShardedTensor operator-(const ShardedTensor& a) {
  return mul(a, -1);
}
inline ShardedTensor operator-(const ShardedTensor& a, const ShardedTensor& b) {
  return sub(a, b);
}
inline ShardedTensor operator-(const ShardedTensor& a, double b) {
  return add(a, -b);
}
inline ShardedTensor operator-(double a, const ShardedTensor& b) {
  return add(mul(b, -1), a);
}
inline ShardedTensor operator*(const ShardedTensor& a, const ShardedTensor& b) {
  return mul(a, b);
}
inline ShardedTensor operator*(const ShardedTensor& a, double b) {
  return mul(a, b);
}
inline ShardedTensor operator*(double a, const ShardedTensor& b) {
  return mul(b, a);
}
inline ShardedTensor operator/(const ShardedTensor& a, const ShardedTensor& b) {
  return div(a, b);
}
inline ShardedTensor operator/(const ShardedTensor& a, double b) {
  return div(a, b);
}
inline ShardedTensor operator/(double a, const ShardedTensor& b) {
  return div(a, b);
}

}  // namespace brigade::tensor
