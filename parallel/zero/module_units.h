// SPDX-License-Identifier: Apache-2.0
/// ModuleUnits: the units of a module of one's own, gathered and freed around their forward and
/// backward, their gradients reduced as the backward passes go. Internal to the module.
///
/// A C++ module has no forward hooks, so a unit's forward is entered by name (unit_scope.h), and
/// its backward is found out:
///
///   forward   enter():  the unit is made whole, the gather of the one that came after it last
///                       time is posted, leave(): it is freed
///   backward  a hook on each tensor that left the unit: before_backward() makes it whole again
///             a hook on each parameter: on_gradient(). When all of the unit have arrived, no node
///             that reads its weights is left, so it is freed, and its gradients are reduced
///
/// Which collective comes when must not depend on what arrives (a parameter may have a gradient on
/// some ranks alone), so units are reduced in one fixed order: a unit that is ready waits for
/// those before it, and finish() posts what is left. The order is the reverse of the parameters' in
/// the first step, then that in which units became ready on the first rank.
///
/// At stages 0 and 1 nothing is freed and everything is reduced by finish().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/collective/communicator.h"
#include "parallel/zero/module_rows.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::zero {

/// What followed each unit the last time.
class Successors {
 public:
  explicit Successors(size_t units) : next_(units) {}

  /// `unit` comes now, after the one before it. Returns what came after `unit` last time.
  std::optional<size_t> visit(size_t unit);
  /// The run of units ends here: the last one has no successor.
  void end();

 private:
  std::vector<std::optional<size_t>> next_;
  std::optional<size_t> last_;
};

class ModuleUnits {
 public:
  /// Borrows `set` and `rows`. `passes`: backward passes per step. Collective at stage 3.
  ModuleUnits(ParameterSet& set, const ModuleRows& rows, int64_t passes);

  /// Fills the set from the module's parameters and puts its memory under them. Collective.
  void move_in();

  void enter(size_t unit);
  void leave(size_t unit);
  void before_backward(size_t unit);
  /// Throws kUsage for a pass too many.
  void on_gradient(size_t row);

  /// Makes all units whole, and frees those that no forward or backward uses. Collective.
  void unshard();
  void reshard();

  /// Index of the first parameter that no longer lies in the set's memory, or that no backward pass
  /// reached; -1: none. Called before finish().
  int64_t first_moved() const;
  int64_t first_missing() const;

  /// Reduces what is left. Collective. Errors: the communicator's, thrown.
  void finish();
  /// After the first step: takes the first rank's order. Collective over `world`.
  void agree_on_order(collective::Communicator& world);
  /// Drops all gradients, frees all units, begins anew. After finish(): what is under way would
  /// end the world.
  void end_step();
  /// Waits for gathers that nobody used, so that they may be forgotten.
  void settle() noexcept;

  bool reduces_in_backward() const { return set_.options().stage >= 2; }

 private:
  struct State {
    std::vector<size_t> rows = {};  ///< of the unit
    int64_t gradients = 0;          ///< passes whose gradients have all arrived
    int64_t reduced = 0;            ///< passes whose reduction was posted
    int64_t uses = 0;               ///< forwards that are inside
    bool is_whole = false;          ///< or on its way
  };

  void make_whole(size_t unit);
  void prefetch(std::optional<size_t> unit);
  void free(size_t unit);
  /// Posts the reductions whose turn it is; `all`: also of units that are not ready.
  void reduce_in_order(bool all);
  void reduce(size_t unit);
  void hand_over(size_t row);
  bool wants_gradient(size_t row) const;

  ParameterSet& set_;
  const ModuleRows& rows_;
  int64_t passes_;
  std::vector<at::Tensor> leaves_;  // the set's, by row
  std::vector<size_t> unit_of_;     // by row
  std::vector<int64_t> arrived_;    // passes, by row
  std::vector<State> units_;
  std::vector<size_t> order_;  // of reductions
  std::vector<size_t> ready_;  // units as they became ready in the first step
  bool is_first_step_ = true;
  int64_t turn_ = 0;  // reductions posted in this step
  Successors forward_;
  Successors backward_;
};

}  // namespace brigade::zero
