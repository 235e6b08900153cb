// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization
import TidebellCore
import TidebellWire

/// Logs what is let through and Apple refuses, each once, however often it comes.
package final class LeniencyReports: Sendable {
    /// The most that are named.
    static let capacity = 1000

    private struct Subject: Hashable {
        var container: ContainerKey
        var scope: DatabaseScope
        var item: String
        var warning: String
    }

    private let reported = Mutex<Set<Subject>>([])

    /// Creates reports; nothing was logged yet.
    package init() {}

    /// Logs a warning unless it was.
    func report(
        _ item: String, _ warning: String, in container: ContainerKey, _ scope: DatabaseScope,
        to logger: Logger
    ) {
        let subject = Subject(container: container, scope: scope, item: item, warning: warning)
        let isNew = reported.withLock { $0.count < Self.capacity && $0.insert(subject).inserted }
        guard isNew else { return }
        // No warning of the server's: it does what was asked.
        logger.notice(
            "\(WireError.shortened(item, to: 300)): \(warning)",
            metadata: [
                "container": "\(container.container)",
                "environment": "\(container.environment.rawValue)", "database": "\(scope.rawValue)",
            ]
        )
    }
}
