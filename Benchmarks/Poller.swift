// SPDX-License-Identifier: Apache-2.0
import CEpoll
import Foundation
import TidebellProcesses

/// Waits for many connections at once (`epoll`), so that a thread has all of them and pays only for those
/// that something came on.
final class Poller {
    /// Connections that are handed over at a time.
    private static let mostAtOnce = 1024

    private let descriptor: Int32
    private var events = [epoll_event](repeating: epoll_event(), count: mostAtOnce)

    init() throws {
        descriptor = epoll_create1(0)
        guard descriptor >= 0 else { throw ProcessFailure(description: "no epoll: \(errno)") }
    }

    deinit { close(descriptor) }

    /// Waits for a connection too, under a number.
    func add(_ connection: Int32, as number: Int) throws {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = UInt64(number)
        guard epoll_ctl(descriptor, EPOLL_CTL_ADD, connection, &event) == 0 else {
            throw ProcessFailure(description: "epoll took no connection: \(errno)")
        }
    }

    /// Waits until something came; returns the numbers of the connections that have it, and none when the
    /// time was over before.
    func wait(atMost milliseconds: Int) -> [Int] {
        var count: Int32
        repeat {
            count = epoll_wait(descriptor, &events, Int32(Self.mostAtOnce), Int32(milliseconds))
        } while count < 0 && errno == EINTR
        return count <= 0 ? [] : events[..<Int(count)].map { Int($0.data.u64) }
    }
}
