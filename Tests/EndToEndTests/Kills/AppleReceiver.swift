// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellTesting

/// Apple's push service in a kill test: all servers of the cloud send to it, and it keeps what reached each device.
final class AppleReceiver: Sendable {
    private struct State {
        /// What came for each device token.
        var received: [String: ReceivedPushes] = [:]
        /// How many pushes of the service's list were taken into it.
        var taken = 0
        var problems: [String] = []
    }

    /// The device tokens, by the client IDs of their devices.
    let devices: [String: String]
    private let apple: FakeAPNs
    private let keyFile: URL
    private let state = Mutex(State())

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - devices: How many devices it is to have.
    ///   - folder: Where the key file is put.
    init(devices: Int, folder: URL) async throws {
        self.devices = Dictionary(
            uniqueKeysWithValues: (1...devices).map { number in
                let digits = String(number, radix: 16)
                let zeros = String(repeating: "0", count: 64 - digits.count)
                return ("iphone-\(number)", zeros + digits)
            })
        apple = try await FakeAPNs.forHouseholds()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        keyFile = folder.appendingPathComponent("key.p8")
        try apple.keyFile.write(to: keyFile, atomically: true, encoding: .utf8)
    }

    /// The options of `tidebell serve` by which a server sends to it.
    var arguments: [String] { apple.arguments(keyFile: keyFile) }

    /// Closes all connections to it.
    func cut() { apple.dropConnections() }

    /// Every push that it took, the repeated ones and those of other subscriptions too.
    var pushes: Int { apple.received.count }

    /// The pushes of each device, by its client ID.
    var received: [String: ReceivedPushes] {
        let all = apple.received
        return state.withLock { state in
            for push in all[state.taken...] {
                let id = state.received[push.deviceToken, default: ReceivedPushes()]
                    .take(Data(push.payload))
                // The payload of another subscription has none.
                if let id, id != push.id {
                    state.problems.append("Apple got push \(id) as \(push.id ?? "one without ID")")
                }
            }
            state.taken = all.count
            return devices.mapValues { state.received[$0] ?? ReceivedPushes() }
        }
    }

    /// What is wrong with the pushes that ``received`` returned, as sentences.
    var problems: [String] {
        let refused = Set(apple.answers).subtracting(["200"]).sorted()
        return state.withLock(\.problems) + refused.map { "Apple refused a push: \($0)" }
    }
}

extension FakeAPNs {
    private static let topic = "org.tidebell.tests"

    /// A service with the app of a ``Household``.
    static func forHouseholds() async throws -> FakeAPNs {
        try await FakeAPNs(apps: [Household.container: topic])
    }

    /// The options of `tidebell serve` by which a server sends here; its key is in a file.
    func arguments(keyFile: URL) -> [String] {
        [
            "--apns-key-file", keyFile.path, "--apns-key-id", keyID, "--apns-team-id", teamID,
            "--apns-topic", "\(Household.container)=\(Self.topic)", "--apns-gateway", url,
            "--apns-trust-roots", certificateFile.path,
        ]
    }
}
