// SPDX-License-Identifier: Apache-2.0
package import Logging
import Synchronization

/// A log that keeps what is logged at its level and above, oldest first.
package final class TestLog: Sendable {
    /// One thing that was logged.
    package struct Entry: Sendable, Hashable {
        package var level: Logger.Level
        package var message: String
        package var metadata: [String: String]
    }

    private let level: Logger.Level
    private let state = Mutex<[Entry]>([])

    /// Creates a log.
    package init(level: Logger.Level = .notice) { self.level = level }

    /// The logger that writes here.
    package var logger: Logger {
        Logger(label: "test") { [self] _ in Handler(log: self, logLevel: level) }
    }

    /// What was logged.
    package var entries: [Entry] { state.withLock(\.self) }

    /// The level and message of each entry: "warning: the disk is full".
    package var lines: [String] { entries.map { "\($0.level): \($0.message)" } }

    /// The message and metadata of each entry: `request failed ["path=/", "status=500"]`.
    package var detailedLines: [String] {
        entries.map { entry in
            let metadata = entry.metadata.sorted { $0.key < $1.key }
            return "\(entry.message) \(metadata.map { "\($0.key)=\($0.value)" })"
        }
    }

    private struct Handler: LogHandler {
        let log: TestLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let entry = Entry(
                level: event.level, message: "\(event.message)",
                metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
            log.state.withLock { $0.append(entry) }
        }
    }
}
