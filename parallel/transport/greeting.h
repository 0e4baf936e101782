// SPDX-License-Identifier: Apache-2.0
/// Greetings: the frames before a connection belongs to a rank, and the hall in which strangers
/// wait until they have said who they are.
///
/// Everything runs on the thread that calls run_until().
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/transport/asio.h"
#include "parallel/transport/endpoint.h"
#include "parallel/transport/frame.h"

namespace brigade::transport {

/// An IP address (IPv4 as mapped into IPv6) and a port, as they travel.
struct Address {
  static constexpr size_t kBytes = 18;

  std::array<uint8_t, 16> ip = {};
  uint16_t port = 0;
};

Address address_of(const tcp::endpoint& endpoint);
tcp::endpoint endpoint_of(const Address& address);

struct Greeting {
  Frame frame;
  std::vector<std::byte> payload;
};

std::vector<std::byte> encode_addresses(const std::vector<Address>& addresses);
Result<std::vector<Address>> decode_addresses(const Greeting& greeting, int64_t size);

/// Blocking writes of small frames into an empty socket; errors show at the next read.
void write_frame(tcp::socket& socket, Frame frame, const std::vector<std::byte>& payload);
void write_hello(tcp::socket& socket, int64_t rank, int64_t size, const Address& listening);
void write_refusal(tcp::socket& socket, ErrorCode code, int64_t origin, const std::string& text);

/// Runs handlers until `done()`; false if the deadline came first.
bool run_until(asio::io_context& io, TimePoint deadline, const std::function<bool()>& done);

/// No delay, and a congestion control that does not pace: BBR halves loopback.
void tune(tcp::socket& socket);

/// Reads one frame. Must outlive its handlers: run them out after cancel().
class Reader {
 public:
  explicit Reader(tcp::socket& socket) : socket_(socket) {}

  void start(std::function<void(Result<Greeting>)> done);
  void cancel();

 private:
  void on_header(const SocketError& error);
  void on_payload(const SocketError& error);

  tcp::socket& socket_;
  std::array<std::byte, kHeaderBytes> header_ = {};
  Greeting greeting_;
  std::function<void(Result<Greeting>)> done_;
};

/// A rank that has come, and where it listens.
struct Guest {
  tcp::socket socket;
  Address address;
};

/// Listens, and lets in whoever says a proper hello; the rest is refused and dropped.
class Hall {
 public:
  Hall(asio::io_context& io, int64_t rank, int64_t size);

  Result<void> listen(const tcp::endpoint& at);
  tcp::endpoint local() const;

  bool has(int64_t rank) const { return guests_[static_cast<size_t>(rank)].has_value(); }
  Guest take(int64_t rank);
  /// Tells all guests why there will be no world.
  void refuse_all(const Error& error);
  /// Drops strangers and stops listening; run the handlers out afterwards.
  void close();

 private:
  struct Stranger {
    explicit Stranger(tcp::socket accepted)
        : socket(std::move(accepted)), reader(socket), patience(socket.get_executor()) {}

    tcp::socket socket;
    Reader reader;
    asio::steady_timer patience;
  };
  using Strangers = std::list<std::shared_ptr<Stranger>>;  // shared with their pending handlers

  void accept();
  void receive(tcp::socket socket);
  void judge(Stranger& stranger, const Result<Greeting>& greeting);
  std::string objection(const Greeting& hello) const;

  asio::io_context& io_;
  const int64_t rank_;
  const int64_t size_;
  tcp::acceptor acceptor_;
  Strangers strangers_;
  std::vector<std::optional<Guest>> guests_;
};

}  // namespace brigade::transport
