// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// What a server in a test logged as a warning or worse, oldest first.
final class ServerTrouble: Sendable {
    private let state = Mutex<[String]>([])

    /// The level, the message and what it is about.
    var lines: [String] { state.withLock(\.self) }

    /// A logger that keeps trouble here and prints errors to standard error.
    func logger() -> Logger {
        Logger(label: "tidebell") { label in
            var printed = StreamLogHandler.standardError(label: label)
            printed.logLevel = .error
            return MultiplexLogHandler([printed, Handler(trouble: self)])
        }
    }

    private struct Handler: LogHandler {
        let trouble: ServerTrouble
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let about = (event.metadata ?? [:]).sorted { $0.key < $1.key }
                .map { " \($0.key)=\($0.value)" }.joined()
            trouble.state.withLock { $0.append("\(event.level): \(event.message)\(about)") }
        }
    }
}
