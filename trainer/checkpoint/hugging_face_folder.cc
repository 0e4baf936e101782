// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_folder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/folder_entry.h"
#include "trainer/checkpoint/hugging_face_index.h"
#include "trainer/checkpoint/hugging_face_names.h"
#include "trainer/checkpoint/name_list.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleName = "model.safetensors";

template <class... T>
tl::unexpected<Error> refuse(const T&... parts) {
  return fail(ErrorCode::kData, concat(parts...));
}

/// Also true of a link that leads nowhere: what is there is looked at by who opens it.
bool has_entry(const std::string& folder, const char* name) {
  std::error_code error;
  return fs::symlink_status(fs::path(folder) / name, error).type() != fs::file_type::not_found;
}

/// What stands in place of safetensors files, as a hint.
std::string hint_for(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension();
    if (extension == ".bin" || extension == ".pt" || extension == ".pth" || extension == ".ckpt") {
      return concat("; ",
                    entry.path().filename().string(),
                    " is a pickle, which can run code when it is read: load it with transformers "
                    "and save_pretrained() it as safetensors");
    }
  }
  return "";
}

std::vector<std::string> names_without(const std::map<std::string, size_t>& left,
                                       const std::map<std::string, size_t>& right) {
  std::vector<std::string> names;
  for (const auto& entry : left) {
    if (right.find(entry.first) == right.end()) {
      names.push_back(entry.first);
    }
  }
  return names;
}

}  // namespace

bool is_hugging_face_folder(const std::string& folder) {
  return has_entry(folder, kHuggingFaceConfigName);
}

Result<std::unique_ptr<HuggingFaceFolder>> HuggingFaceFolder::open(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorCode::kIo,
                concat(folder,
                       fs::exists(folder, error) ? " is no folder" : " does not exist",
                       "; expected one with ",
                       kHuggingFaceConfigName,
                       " and ",
                       kSingleName));
  }
  // make_unique cannot see the constructor.
  std::unique_ptr<HuggingFaceFolder> source(new HuggingFaceFolder(folder));
  Result<void> done = source->open_config();
  done = done ? source->open_files() : done;
  done = done ? source->leave_out_tied_head() : done;
  if (!done) {
    return fail(std::move(done.error()));
  }
  return source;
}

Result<void> HuggingFaceFolder::open_config() {
  const Result<std::string> text = read_text_file(folder_, kHuggingFaceConfigName);
  if (!text) {
    return fail(text.error());
  }
  auto config = parse_hugging_face_config(*text, concat(folder_, '/', kHuggingFaceConfigName));
  if (!config) {
    return fail(std::move(config.error()));
  }
  config_ = *std::move(config);
  return {};
}

Result<void> HuggingFaceFolder::open_files() {
  const bool single = has_entry(folder_, kSingleName);
  const bool index = has_entry(folder_, kIndexName);
  if (single && index) {
    return refuse(folder_,
                  ": both ",
                  kSingleName,
                  " and ",
                  kIndexName,
                  " are there, and one is left from another save; remove it");
  }
  if (index) {
    return open_shards();
  }
  if (!single) {
    return fail(ErrorCode::kIo,
                concat(folder_,
                       ": neither ",
                       kSingleName,
                       " nor ",
                       kIndexName,
                       " is there",
                       hint_for(folder_)));
  }
  const Result<size_t> file = open_file(kSingleName);
  return file ? take(*file) : fail(file.error());
}

Result<void> HuggingFaceFolder::open_shards() {
  const Result<std::string> text = read_text_file(folder_, kIndexName);
  if (!text) {
    return fail(text.error());
  }
  const auto index = parse_hugging_face_index(*text, concat(folder_, '/', kIndexName));
  if (!index) {
    return fail(index.error());
  }
  std::map<std::string, size_t> file_at;
  std::map<std::string, size_t> file_of;
  for (const auto& [tensor, name] : *index) {
    const auto found = file_at.find(name);
    const Result<size_t> file = found != file_at.end() ? found->second : open_file(name);
    if (!file) {
      return fail(file.error());
    }
    file_at.emplace(name, *file);
    file_of.emplace(tensor, *file);
  }
  Result<void> done = check_shards(file_of);
  for (size_t file = 0; done && file < files_.size(); ++file) {
    done = take(file);
  }
  return done;
}

Result<size_t> HuggingFaceFolder::open_file(const std::string& name) {
  const Result<std::string> path = path_in_folder(folder_, name);
  if (!path) {
    return fail(path.error());
  }
  auto file = SafetensorsFile::open(*path);
  if (!file) {
    return fail(std::move(file.error()));
  }
  bytes_read_ += file->header().buffer_begin;
  files_.push_back(*std::move(file));
  return files_.size() - 1;
}

Result<void> HuggingFaceFolder::check_shards(const std::map<std::string, size_t>& file_of) const {
  std::map<std::string, size_t> held;
  for (size_t file = 0; file < files_.size(); ++file) {
    for (const auto& entry : files_[file].header().tensors) {
      const auto [other, is_new] = held.emplace(entry.first, file);
      if (!is_new) {
        return refuse(folder_,
                      ": tensor ",
                      entry.first,
                      " is in two shards, ",
                      files_[other->second].path(),
                      " and ",
                      files_[file].path());
      }
    }
  }
  for (const auto& [tensor, file] : file_of) {
    const auto found = held.find(tensor);
    if (found == held.end() || found->second != file) {
      return refuse(folder_,
                    ": tensor ",
                    tensor,
                    " is not in ",
                    files_[file].path(),
                    ", where ",
                    kIndexName,
                    " says it is",
                    found == held.end() ? "" : ", but in " + files_[found->second].path());
    }
  }
  const std::vector<std::string> unknown = names_without(held, file_of);
  if (!unknown.empty()) {
    return refuse(
        folder_, ": tensors in the shards that ", kIndexName, " lacks: ", name_list(unknown));
  }
  return {};
}

Result<void> HuggingFaceFolder::take(size_t file) {
  for (const auto& [name, info] : files_[file].header().tensors) {
    if (Result<void> taken = take(file, name, info); !taken) {
      return taken;
    }
  }
  return {};
}

Result<void> HuggingFaceFolder::take(size_t file, const std::string& name, const TensorInfo& info) {
  const std::string& path = files_[file].path();
  if (is_metas_name(name)) {
    return refuse(path,
                  ": tensor ",
                  name,
                  " is called as Meta's own files of Llama do, whose rotary pairs lie interleaved; "
                  "expected transformers' names (model.layers.0.self_attn.q_proj.weight): convert "
                  "them with the script for Llama that transformers brings");
  }
  const std::optional<std::string> ours = name_from_hugging_face(config_.model.name, name);
  if (!ours) {
    return {};
  }
  sharding::Shape shape;
  for (const uint64_t size : info.shape) {
    if (size > INT64_MAX) {
      return refuse(path, ": tensor ", name, ": a dim of ", size, " is too large");
    }
    shape.push_back(static_cast<int64_t>(size));
  }
  shape = shape_from_hugging_face(*ours, shape);
  const bool is_new = tensors_.emplace(*ours, SourceTensor{info.type, shape}).second;
  if (!is_new) {
    return refuse(path, ": tensor ", *ours, " is there twice, with and without its prefix");
  }
  places_[*ours] = {file, name, {shape.begin(), shape.end()}};
  return {};
}

Result<void> HuggingFaceFolder::leave_out_tied_head() {
  const bool is_gpt2 = config_.model.name == "gpt2";
  const auto head = places_.find("lm_head.weight");
  const auto table = places_.find(is_gpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight");
  if (!config_.model.tie_embeddings || head == places_.end() || table == places_.end()) {
    return {};
  }
  const TensorView left = view_of(head->second);
  const TensorView right = view_of(table->second);
  const bool same = left.type == right.type && std::ranges::equal(left.shape, right.shape) &&
                    std::memcmp(left.bytes.data(), right.bytes.data(), left.bytes.size()) == 0;
  bytes_read_ += left.bytes.size() + right.bytes.size();
  files_[head->second.file].forget(left);
  files_[table->second.file].forget(right);
  if (!same) {
    return refuse(folder_,
                  ": lm_head.weight differs from ",
                  table->first,
                  ", though tie_word_embeddings says that they are one; set it to false in ",
                  kHuggingFaceConfigName,
                  " to have a head of its own");
  }
  tensors_.erase(tensors_.find(head->first));
  places_.erase(head);
  return {};
}

TensorView HuggingFaceFolder::view_of(const Place& place) const {
  TensorView view = value_or_throw(files_[place.file].tensor(place.name));
  view.shape = place.shape;
  return view;
}

Result<void> HuggingFaceFolder::read(std::string_view name,
                                     const sharding::Box& box,
                                     std::span<std::byte> out) {
  const auto found = places_.find(name);
  BRIGADE_CHECK(found != places_.end(), name);
  const SafetensorsFile& file = files_[found->second.file];
  const TensorView view = view_of(found->second);
  Result<void> done = file.read_box(view, box, out);
  file.forget(view);
  bytes_read_ += out.size();
  return done;
}

}  // namespace brigade::checkpoint
