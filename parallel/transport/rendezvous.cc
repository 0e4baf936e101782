// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/rendezvous.h"

#include <optional>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "parallel/transport/asio.h"
#include "parallel/transport/greeting.h"
#include "parallel/transport/tcp_endpoint.h"

namespace brigade::transport {
namespace {

constexpr std::chrono::milliseconds kRedial{50};
/// What the host's verdict on a rank that never came may take to reach the others.
constexpr std::chrono::milliseconds kVerdict{1000};

/// One rank's side of the meeting. Everything runs on the calling thread, inside run_until().
class Meeting {
 public:
  explicit Meeting(const MeetOptions& options)
      : options_(options),
        deadline_(Clock::now() + options.timeout),
        io_(std::make_unique<asio::io_context>(1)),
        hall_(*io_, options.rank, options.size),
        sockets_(static_cast<size_t>(options.size)),
        addresses_(static_cast<size_t>(options.size)) {}

  Result<std::unique_ptr<Endpoint>> run() {
    if (Result<void> met = options_.rank == 0 ? host() : join(); !met) {
      return fail(met.error());
    }
    hall_.close();
    io_->poll();  // lets cancelled handlers end
    for (std::optional<tcp::socket>& socket : sockets_) {
      if (socket) {
        tune(*socket);
      }
    }
    io_->restart();
    return std::make_unique<TcpEndpoint>(std::move(io_), options_.rank, std::move(sockets_));
  }

 private:
  Result<tcp::endpoint> resolve();
  Result<void> host();
  Result<void> join();
  Result<void> dial_host(const tcp::endpoint& at);
  Result<void> exchange_addresses();
  Result<void> meet_peers();
  Result<tcp::socket> dial(const tcp::endpoint& at, TimePoint deadline, SocketError& error);
  Result<void> await_guests(int64_t first);

  const MeetOptions options_;
  TimePoint deadline_;
  std::unique_ptr<asio::io_context> io_;
  Hall hall_;
  std::vector<std::optional<tcp::socket>> sockets_;
  std::vector<Address> addresses_;
};

Result<tcp::endpoint> Meeting::resolve() {
  SocketError error;
  tcp::resolver resolver(*io_);
  const auto found = resolver.resolve(options_.address, std::to_string(options_.port), error);
  if (error || found.empty()) {
    return fail(
        ErrorCode::kIo,
        concat(
            "the master address \"", options_.address, "\" cannot be resolved: ", error.message()));
  }
  return found.begin()->endpoint();
}

Result<void> Meeting::await_guests(int64_t first) {
  const auto missing = [&] {
    std::vector<int64_t> ranks;
    for (int64_t rank = first; rank < options_.size; ++rank) {
      if (!hall_.has(rank)) {
        ranks.push_back(rank);
      }
    }
    return ranks;
  };
  run_until(*io_, deadline_, [&] { return missing().empty(); });
  const std::vector<int64_t> absent = missing();
  if (absent.empty()) {
    for (int64_t rank = first; rank < options_.size; ++rank) {
      Guest guest = hall_.take(rank);
      addresses_[static_cast<size_t>(rank)] = guest.address;
      sockets_[static_cast<size_t>(rank)] = std::move(guest.socket);
    }
    return {};
  }
  Error error{ErrorCode::kTimeout,
              concat("rank ",
                     brigade::join(absent, ", rank "),
                     " never came to ",
                     options_.address,
                     ':',
                     options_.port,
                     " within ",
                     options_.timeout.count(),
                     " ms"),
              static_cast<int>(absent.front())};
  hall_.refuse_all(error);
  return fail(std::move(error));
}

Result<void> Meeting::host() {
  const Result<tcp::endpoint> at = resolve();
  if (!at) {
    return fail(at.error());
  }
  if (Result<void> listening = hall_.listen(*at); !listening) {
    return listening;
  }
  if (Result<void> all = await_guests(1); !all) {
    return all;
  }
  const std::vector<std::byte> list = encode_addresses(addresses_);
  for (std::optional<tcp::socket>& socket : sockets_) {
    Frame frame;
    frame.type = FrameType::kAddresses;
    if (socket) {
      write_frame(*socket, frame, list);  // a rank that died meanwhile shows on its connection
    }
  }
  return {};
}

Result<tcp::socket> Meeting::dial(const tcp::endpoint& at, TimePoint deadline, SocketError& error) {
  tcp::socket socket(*io_);
  bool done = false;
  socket.async_connect(at, [&](const SocketError& outcome) {
    error = outcome;
    done = true;
  });
  if (!run_until(*io_, deadline, [&] { return done; })) {
    SocketError ignored;
    socket.close(ignored);
    run_until(*io_, Clock::now() + kRedial, [&] { return done; });
    error = asio::error::timed_out;
  }
  if (error) {
    return fail(ErrorCode::kIo, error.message());
  }
  return socket;
}

Result<void> Meeting::dial_host(const tcp::endpoint& at) {
  for (;;) {
    SocketError error;
    Result<tcp::socket> socket = dial(at, deadline_, error);
    if (socket) {
      sockets_[0] = std::move(*socket);
      return {};
    }
    if (Clock::now() + kRedial >= deadline_) {
      return fail(Error{ErrorCode::kTimeout,
                        concat("rank 0 did not answer at ",
                               options_.address,
                               ':',
                               options_.port,
                               " within ",
                               options_.timeout.count(),
                               " ms (",
                               error.message(),
                               ")"),
                        0});
    }
    run_until(*io_, Clock::now() + kRedial, [] { return false; });
  }
}

Result<void> Meeting::exchange_addresses() {
  tcp::socket& to_host = *sockets_[0];
  SocketError error;
  const tcp::endpoint local = to_host.local_endpoint(error);
  if (Result<void> listening = hall_.listen({local.address(), 0}); !listening) {
    return listening;
  }
  write_hello(to_host, options_.rank, options_.size, address_of(hall_.local()));
  std::optional<Result<Greeting>> answer;
  Reader reader(to_host);
  reader.start([&](Result<Greeting> greeting) { answer = std::move(greeting); });
  if (!run_until(*io_, deadline_, [&] { return answer.has_value(); })) {
    reader.cancel();
    run_until(*io_, Clock::now() + kRedial, [&] { return answer.has_value(); });
    return fail(Error{ErrorCode::kTimeout,
                      concat("rank 0 did not send the addresses of all ranks within ",
                             options_.timeout.count(),
                             " ms"),
                      0});
  }
  if (!*answer) {
    return fail(Error{
        ErrorCode::kPeerLost, concat("rank 0 left the rendezvous: ", answer->error().text), 0});
  }
  const Greeting& greeting = **answer;
  if (greeting.frame.type == FrameType::kRefusal) {
    const uint8_t code = greeting.frame.fingerprint.operation;
    return fail(Error{
        code == static_cast<uint8_t>(ErrorCode::kTimeout) ? ErrorCode::kTimeout : ErrorCode::kUsage,
        payload_text(greeting.payload),
        greeting.frame.fingerprint.root});
  }
  Result<std::vector<Address>> list = decode_addresses(greeting, options_.size);
  if (!list) {
    return fail(list.error());
  }
  addresses_ = std::move(*list);
  return {};
}

Result<void> Meeting::meet_peers() {
  for (int64_t rank = 1; rank < options_.rank; ++rank) {
    SocketError error;
    const tcp::endpoint at = endpoint_of(addresses_[static_cast<size_t>(rank)]);
    Result<tcp::socket> socket = dial(at, deadline_, error);
    if (!socket) {
      return fail(Error{ErrorCode::kPeerLost,
                        concat("rank ",
                               rank,
                               " does not answer at ",
                               at.address().to_string(),
                               ':',
                               at.port(),
                               ": ",
                               socket.error().text),
                        static_cast<int>(rank)});
    }
    write_hello(*socket, options_.rank, options_.size, {});
    sockets_[static_cast<size_t>(rank)] = std::move(*socket);
  }
  return await_guests(options_.rank + 1);
}

Result<void> Meeting::join() {
  const Result<tcp::endpoint> at = resolve();
  if (!at) {
    return fail(at.error());
  }
  if (Result<void> dialled = dial_host(*at); !dialled) {
    return dialled;
  }
  // The host listens, so its own time ends before this. Only the host knows who never came; a rank
  // that began earlier must not give up, and blame the host, before it has said so.
  deadline_ = Clock::now() + options_.timeout + kVerdict;
  if (Result<void> exchanged = exchange_addresses(); !exchanged) {
    return exchanged;
  }
  return meet_peers();
}

}  // namespace

Result<std::unique_ptr<Endpoint>> meet(const MeetOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return fail(ErrorCode::kUsage,
                concat("rank ", options.rank, " is not within a world of ", options.size));
  }
  if (options.size == 1) {
    return std::make_unique<TcpEndpoint>(
        std::make_unique<asio::io_context>(1), 0, std::vector<std::optional<tcp::socket>>(1));
  }
  return Meeting(options).run();
}

}  // namespace brigade::transport
