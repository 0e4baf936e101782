// SPDX-License-Identifier: Apache-2.0
/// The one door to Boost.Asio (1.74): nothing else includes it.
///
/// Rules: the forms that return an error_code, never those that throw; *_some calls only, because
/// the composed ones cut transfers to 64 KiB; one io_context per thread.
#pragma once

#include <utility>  // Asio 1.18 forgets it under C++20

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer does not know the fences around handlers; the scheduler's mutex orders them too.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

// Old-style and implicit conversions inside Boost are Boost's business.
#pragma GCC system_header

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace brigade::transport {

namespace asio = boost::asio;
using tcp = boost::asio::ip::tcp;
using SocketError = boost::system::error_code;

}  // namespace brigade::transport
