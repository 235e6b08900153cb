// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Runs the body of each of so many clients, which are counted from 0, on a thread of its own; returns when
/// all have ended, and fails where one of them failed.
func runClients(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    for client in 0..<count {
        group.enter()
        Thread.detachNewThread {
            defer { group.leave() }
            do {
                try body(client)
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
}
