// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// Keeps the messages of a logger.
final class Logbook: Sendable {
    struct Entry: Hashable {
        var level: Logger.Level
        var message: String
    }

    /// What the messages are about, as far as they name a database, in their order.
    var databases: [String] { named.withLock(\.self) }
    private let named = Mutex<[String]>([])
    private let state = Mutex<[Entry]>([])

    /// What was logged at `notice` and above.
    var entries: [Entry] { state.withLock { $0.filter { $0.level >= .notice } } }

    var logger: Logger { Logger(label: "test") { _ in Handler(book: self) } }

    private struct Handler: LogHandler {
        var book: Logbook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if let database = event.metadata?["database"] {
                book.named.withLock { $0.append("\(database)") }
            }
            book.state.withLock {
                $0.append(Entry(level: event.level, message: event.message.description))
            }
        }
    }
}
