// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellScheduling
import TidebellWire

/// Devices that show a code and wait for somebody to enter it. Kept in memory: a device that asks a server
/// which was started anew begins again.
final class DeviceSignIns: Sendable {
    /// How long a code is good.
    static let lifetime = Duration.seconds(600)
    /// How many wait at most; of one container; of one address.
    static let (most, mostOfContainer, mostOfAddress) = (1000, 200, 20)
    /// How long a device waits from one question to the next.
    static let interval = 3
    /// The most bytes of a device's name.
    static let mostNameBytes = 100
    /// The letters of codes: no vowels, so that they make no words, and none that is taken for another.
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    private static let length = 8

    /// One that waits.
    struct Pending: Sendable {
        var userCode: String
        var container: ContainerKey
        /// How users of the API token sign in that it showed.
        var signIn: AppSignIn
        var deviceName: String?
        /// The network it asked from; nil where that is not known, as behind a proxy that does not name it.
        var network: String?
        /// Whose share it takes.
        fileprivate var address: String?
        fileprivate var expiresAt: Duration
        /// Who entered its code.
        fileprivate var user: KnownUser?
    }

    /// What became of one.
    enum Outcome: Sendable {
        case pending
        case entered(by: KnownUser)
    }

    private let state = Mutex<[[UInt8]: Pending]>([:])
    private let elapsed: @Sendable () -> Duration

    /// Creates an empty list.
    init(elapsed: @escaping @Sendable () -> Duration) {
        self.elapsed = elapsed
    }

    /// Notes a device by the hash of its code, and returns the code that it shows; fails with
    /// `TRY_AGAIN_LATER` where too many wait.
    func begin(
        _ hash: [UInt8], named name: String?, in container: ContainerKey,
        _ signIn: AppSignIn = AppSignIn(), from address: CountedAddress, by randomness: Randomness
    ) throws -> String {
        let now = elapsed()
        return try state.withLock { state in
            state = state.filter { $0.value.expiresAt > now }
            let alike = address.sharing.map { address in
                state.values.count { $0.address == address }
            }
            let beside = state.values.count { $0.container == container }
            guard state.count < Self.most, beside < Self.mostOfContainer,
                alike ?? 0 < Self.mostOfAddress
            else {
                throw WireError(
                    .tryAgainLater, "many devices wait for somebody to enter their code already",
                    retryAfter: 60)
            }
            var code = Self.makeCode(from: randomness)
            while state.values.contains(where: { $0.userCode == code }) {
                code = Self.makeCode(from: randomness)
            }
            state[hash] = Pending(
                userCode: code, container: container, signIn: signIn, deviceName: name,
                network: address.distinguishing, address: address.sharing,
                expiresAt: now + Self.lifetime)
            return code
        }
    }

    /// Returns the device that shows a code and waits for it to be entered; nil for none.
    func pending(_ userCode: String) -> Pending? {
        let now = elapsed()
        return state.withLock { state in
            state.values.first {
                $0.userCode == userCode && $0.expiresAt > now && $0.user == nil
            }
        }
    }

    /// Notes who entered a code; false where nobody waits for that any more.
    func enter(_ userCode: String, by user: KnownUser) -> Bool {
        let now = elapsed()
        return state.withLock { state in
            let found = state.first {
                $0.value.userCode == userCode && $0.value.expiresAt > now && $0.value.user == nil
            }
            guard let found else { return false }
            state[found.key]?.user = user
            return true
        }
    }

    /// Returns what became of a device, which is forgotten once its code was entered; nil for one that is
    /// not known, or not in this container.
    func outcome(of hash: [UInt8], in container: ContainerKey) -> Outcome? {
        let now = elapsed()
        return state.withLock { state in
            guard let pending = state[hash], pending.expiresAt > now,
                pending.container == container
            else { return nil }
            guard let user = pending.user else { return .pending }
            state[hash] = nil
            return .entered(by: user)
        }
    }

    /// A code as somebody typed it, as it is kept: nil where it cannot be one.
    static func canonical(_ text: String) -> String? {
        guard text.utf8.count <= 4 * length else { return nil }
        let found = text.uppercased().filter { letters.contains($0) }
        guard found.count == length else { return nil }
        return "\(found.prefix(length / 2))-\(found.suffix(length / 2))"
    }

    private static func makeCode(from randomness: Randomness) -> String {
        var code: [Character] = []
        while code.count < length {
            // Bytes that would make the first letters come more often are thrown away.
            for byte in randomness.makeBytes(2 * length) where code.count < length {
                let number = Int(byte)
                guard number < 256 / letters.count * letters.count else { continue }
                code.append(letters[number % letters.count])
            }
        }
        return "\(String(code.prefix(length / 2)))-\(String(code.suffix(length / 2)))"
    }
}
