// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Says once that operations wait for a server that does not answer: they do so in silence, for days
/// where their quality of service is utility or background, and so does every operation after a typo
/// in the server's address.
final class WaitNotice: Sendable {
    private let hasSaid = Locked(false)
    private let say: @Sendable (String) -> Void

    /// Creates the notice, which is given to `say`, without a line end.
    init(_ say: @escaping @Sendable (String) -> Void) {
        self.say = say
    }

    /// Writes to standard error, unless the environment asks for quiet.
    static func standardError(_ variables: [String: String]) -> WaitNotice {
        let isQuiet = variables[DeviceConfiguration.Variable.quiet]?.isEmpty == false
        return WaitNotice { text in
            guard !isQuiet else { return }
            FileHandle.standardError.write(Data((text + "\n").utf8))
        }
    }

    /// Says that a call waits, the first time.
    func isWaiting(_ endpoint: String, server: URL?, after failure: RequestFailure) {
        guard failure.cause == .notReached || failure.cause == .connectionLost else { return }
        let isFirst = hasSaid.withLock { hasSaid in
            defer { hasSaid = true }
            return !hasSaid
        }
        guard isFirst else { return }
        let address = server.map { "\($0.absoluteString)" } ?? "the server"
        say(
            "CloudKit: \(address) does not answer: \(failure.error.localizedDescription) An operation "
                + "(\(endpoint)) waits for the network and is tried again, since its quality of service is "
                + "utility or background, or it is long-lived. \(DeviceConfiguration.Variable.quiet)=1 "
                + "silences this."
        )
    }
}
