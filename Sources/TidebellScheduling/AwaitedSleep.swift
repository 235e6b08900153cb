// SPDX-License-Identifier: Apache-2.0

/// What a task sleeps for that somebody waits for, told to whoever holds the clock: in a test nothing
/// else moves it.
package enum AwaitedSleep {
    /// What is waited for, such as "to send records/modify again"; nil for what goes on beside the
    /// caller.
    @TaskLocal package static var purpose: String?

    /// The container to whose pushes the task connects again after its sleep, if it does; a test may
    /// wait for that.
    @TaskLocal package static var connection: String?

    /// The clock ended the sleep, as nobody would have.
    package struct Ended: Error, CustomStringConvertible {
        /// Why, as a sentence.
        package let description: String

        /// Creates the end of a sleep.
        package init(_ description: String) {
            self.description = description
        }
    }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps for something that somebody waits for.
    package func sleep(for duration: Duration, awaitedFor purpose: String) async throws {
        try await AwaitedSleep.$purpose.withValue(purpose) { try await sleep(for: duration) }
    }

    /// Sleeps before a device connects to the pushes of a container again.
    package func sleep(for duration: Duration, beforeConnectingTo container: String) async throws {
        try await AwaitedSleep.$connection.withValue(container) { try await sleep(for: duration) }
    }
}
