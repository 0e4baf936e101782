// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/greeting.h"

#include <algorithm>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::transport {
namespace {

constexpr std::chrono::milliseconds kPatience{5'000};  // for a stranger's hello
constexpr uint64_t kMaxGreeting = uint64_t{1} << 20;

}  // namespace

Address address_of(const tcp::endpoint& endpoint) {
  const asio::ip::address ip = endpoint.address();
  const asio::ip::address_v6 wide =
      ip.is_v6() ? ip.to_v6() : asio::ip::make_address_v6(asio::ip::v4_mapped, ip.to_v4());
  Address address;
  const asio::ip::address_v6::bytes_type bytes = wide.to_bytes();
  std::copy(bytes.begin(), bytes.end(), address.ip.begin());
  address.port = endpoint.port();
  return address;
}

tcp::endpoint endpoint_of(const Address& address) {
  asio::ip::address_v6::bytes_type bytes = {};
  std::copy(address.ip.begin(), address.ip.end(), bytes.begin());
  const asio::ip::address_v6 wide(bytes);
  if (wide.is_v4_mapped()) {
    return {asio::ip::make_address_v4(asio::ip::v4_mapped, wide), address.port};
  }
  return {wide, address.port};
}

std::vector<std::byte> encode_addresses(const std::vector<Address>& addresses) {
  std::vector<std::byte> bytes;
  for (const Address& address : addresses) {
    for (const uint8_t byte : address.ip) {
      bytes.push_back(std::byte{byte});
    }
    bytes.push_back(static_cast<std::byte>(address.port & 0xffU));
    bytes.push_back(static_cast<std::byte>(address.port >> 8));
  }
  return bytes;
}

Result<std::vector<Address>> decode_addresses(const Greeting& greeting, int64_t size) {
  const std::vector<std::byte>& bytes = greeting.payload;
  if (greeting.frame.type != FrameType::kAddresses ||
      bytes.size() != static_cast<size_t>(size) * Address::kBytes) {
    return fail(ErrorCode::kData,
                concat("expected the addresses of ", size, " ranks, found ", bytes.size(), " B"));
  }
  std::vector<Address> addresses(static_cast<size_t>(size));
  size_t at = 0;
  for (Address& address : addresses) {
    for (uint8_t& byte : address.ip) {
      byte = std::to_integer<uint8_t>(bytes[at++]);
    }
    const unsigned low = std::to_integer<unsigned>(bytes[at++]);
    const unsigned high = std::to_integer<unsigned>(bytes[at++]);
    address.port = static_cast<uint16_t>(low | (high << 8));
  }
  return addresses;
}

void write_frame(tcp::socket& socket, Frame frame, const std::vector<std::byte>& payload) {
  frame.length = payload.size();
  const std::array<std::byte, kHeaderBytes> header = encode(frame);
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(header.data(), header.size()),
                                                     asio::buffer(payload.data(), payload.size())};
  SocketError ignored;
  asio::write(socket, buffers, ignored);
}

void write_hello(tcp::socket& socket, int64_t rank, int64_t size, const Address& listening) {
  Frame frame;
  frame.type = FrameType::kHello;
  frame.fingerprint.root = static_cast<int32_t>(rank);
  frame.fingerprint.bytes = static_cast<uint64_t>(size);
  write_frame(socket, frame, encode_addresses({listening}));
}

void write_refusal(tcp::socket& socket, ErrorCode code, int64_t origin, const std::string& text) {
  Frame frame;
  frame.type = FrameType::kRefusal;
  frame.fingerprint.operation = static_cast<uint8_t>(code);
  frame.fingerprint.root = static_cast<int32_t>(origin);
  write_frame(socket, frame, text_payload(frame.type, text));
}

bool run_until(asio::io_context& io, TimePoint deadline, const std::function<bool()>& done) {
  while (!done()) {
    if (Clock::now() >= deadline) {
      return false;
    }
    io.restart();
    if (io.run_one_until(deadline) == 0 && !done()) {
      // Nothing is pending: only time can pass.
      asio::steady_timer timer(io, deadline);
      SocketError ignored;
      timer.wait(ignored);
    }
  }
  return true;
}

void tune(tcp::socket& socket) {
  SocketError ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  for (const std::string name : {"cubic", "reno"}) {
    if (setsockopt(socket.native_handle(),
                   IPPROTO_TCP,
                   TCP_CONGESTION,
                   name.data(),
                   static_cast<socklen_t>(name.size())) == 0) {
      return;
    }
  }
}

void Reader::start(std::function<void(Result<Greeting>)> done) {
  done_ = std::move(done);
  asio::async_read(socket_,
                   asio::buffer(header_.data(), header_.size()),
                   [this](const SocketError& error, size_t) { on_header(error); });
}

void Reader::cancel() {
  SocketError ignored;
  socket_.close(ignored);
}

void Reader::on_header(const SocketError& error) {
  if (error) {
    done_(fail(ErrorCode::kPeerLost, error.message()));
    return;
  }
  Result<Frame> frame = decode(header_);
  if (!frame) {
    done_(fail(frame.error()));
    return;
  }
  const bool greets = frame->type == FrameType::kHello || frame->type == FrameType::kAddresses ||
                      frame->type == FrameType::kRefusal;
  if (!greets || frame->length > kMaxGreeting) {
    done_(fail(ErrorCode::kData, "expected a greeting, found another frame"));
    return;
  }
  greeting_.frame = *frame;
  greeting_.payload.resize(frame->length);
  asio::async_read(socket_,
                   asio::buffer(greeting_.payload.data(), greeting_.payload.size()),
                   [this](const SocketError& outcome, size_t) { on_payload(outcome); });
}

void Reader::on_payload(const SocketError& error) {
  if (error) {
    done_(fail(ErrorCode::kPeerLost, error.message()));
    return;
  }
  done_(std::move(greeting_));
}

Hall::Hall(asio::io_context& io, int64_t rank, int64_t size)
    : io_(io), rank_(rank), size_(size), acceptor_(io), guests_(static_cast<size_t>(size)) {}

Result<void> Hall::listen(const tcp::endpoint& at) {
  SocketError error;
  acceptor_.open(at.protocol(), error);
  if (!error) {
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error) {
    acceptor_.bind(at, error);
  }
  if (!error) {
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
  }
  if (error == asio::error::address_in_use) {
    return fail(ErrorCode::kIo,
                concat("port ",
                       at.port(),
                       " of ",
                       at.address().to_string(),
                       " is in use: choose another master port, or stop what listens there"
                       " (ss -ltnp shows it)"));
  }
  if (error) {
    return fail(ErrorCode::kIo,
                concat("cannot listen on ",
                       at.address().to_string(),
                       ':',
                       at.port(),
                       ": ",
                       error.message(),
                       "; the master address must be one of rank 0's own"));
  }
  accept();
  return {};
}

tcp::endpoint Hall::local() const {
  SocketError ignored;
  return acceptor_.local_endpoint(ignored);
}

void Hall::accept() {
  acceptor_.async_accept([this](const SocketError& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) {
      return;
    }
    if (!error) {
      receive(std::move(socket));
    }
    accept();
  });
}

void Hall::receive(tcp::socket socket) {
  if (strangers_.size() >= static_cast<size_t>(4 * size_ + 16)) {
    return;  // closes it: more strangers than any world of ours brings
  }
  auto stranger = std::make_shared<Stranger>(std::move(socket));
  strangers_.push_back(stranger);
  stranger->patience.expires_after(kPatience);
  stranger->patience.async_wait([stranger](const SocketError& error) {
    if (!error) {
      stranger->reader.cancel();
    }
  });
  stranger->reader.start([this, stranger](const Result<Greeting>& greeting) {
    judge(*stranger, greeting);
    strangers_.remove(stranger);
  });
}

std::string Hall::objection(const Greeting& hello) const {
  const int64_t rank = hello.frame.fingerprint.root;
  const uint64_t size = hello.frame.fingerprint.bytes;
  if (hello.frame.type != FrameType::kHello || hello.payload.size() != Address::kBytes) {
    return "expected a hello";
  }
  if (size != static_cast<uint64_t>(size_)) {
    return concat("rank ",
                  rank,
                  " was started for a world of ",
                  size,
                  ", rank ",
                  rank_,
                  " for one of ",
                  size_);
  }
  if (rank <= rank_ || rank >= size_) {
    return concat("rank ", rank, " is not one that rank ", rank_, " waits for");
  }
  return has(rank) ? concat("rank ", rank, " is there already: two processes claim it")
                   : std::string();
}

void Hall::judge(Stranger& stranger, const Result<Greeting>& greeting) {
  stranger.patience.cancel();
  if (!greeting) {
    return;
  }
  const std::string text = objection(*greeting);
  const int64_t rank = greeting->frame.fingerprint.root;
  if (!text.empty()) {
    write_refusal(stranger.socket, ErrorCode::kUsage, rank, text);
    return;
  }
  Greeting list = *greeting;
  list.frame.type = FrameType::kAddresses;
  const Result<std::vector<Address>> address = decode_addresses(list, 1);
  guests_[static_cast<size_t>(rank)] = Guest{std::move(stranger.socket), (*address)[0]};
}

Guest Hall::take(int64_t rank) {
  std::optional<Guest>& guest = guests_[static_cast<size_t>(rank)];
  Guest taken = std::move(*guest);
  guest.reset();
  return taken;
}

void Hall::refuse_all(const Error& error) {
  for (std::optional<Guest>& guest : guests_) {
    if (guest) {
      write_refusal(guest->socket, error.code, error.origin_rank, error.text);
    }
  }
}

void Hall::close() {
  SocketError ignored;
  acceptor_.close(ignored);
  for (const std::shared_ptr<Stranger>& stranger : strangers_) {
    stranger->reader.cancel();
    stranger->patience.cancel();
  }
}

}  // namespace brigade::transport
