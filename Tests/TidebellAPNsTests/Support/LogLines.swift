// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// A log that keeps its messages.
final class LogLines: LogHandler, Sendable {
    private let entries = Mutex<[String]>([])

    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    var logLevel: Logger.Level {
        get { .notice }
        set { _ = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }

    /// The messages, oldest first.
    var lines: [String] { entries.withLock { $0 } }

    func log(event: LogEvent) {
        entries.withLock { $0.append("\(event.message)") }
    }
}
