// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Devices that show a code and wait for somebody to enter it. They stand in the store, so that the device and
/// whoever enters its code may come to different servers.
package enum DeviceSignIns {
    /// How long a code is good.
    package static let lifetime = Duration.seconds(600)
    /// How many wait at most; of one container; of one address.
    package static let (most, mostOfContainer, mostOfAddress) = (1000, 200, 20)
    /// How long a device waits from one question to the next, in seconds.
    package static let interval = 3
    /// The most bytes of a device's name.
    package static let mostNameBytes = 100
    /// How many random bytes codes are made of: enough for several, since the first may be another device's.
    package static let drawnBytes = 64
    /// The letters of codes: no vowels, so that they make no words, and none that is taken for another.
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    private static let length = 8

    /// What became of one.
    package enum Outcome: Sendable, Hashable {
        case pending
        case entered(by: StoredDeviceSignIn.Entered)
    }

    /// Fails with `TRY_AGAIN_LATER` where too many wait for another one to wait beside them.
    package static func checkRoom(
        for device: StoredDeviceSignIn, at now: Instant, in reader: some SignInReading
    ) throws {
        let counts = try reader.deviceSignInCounts(
            in: device.container, of: device.address, at: now)
        guard counts.all < most, counts.inContainer < mostOfContainer,
            counts.ofAddress < mostOfAddress
        else {
            throw WireError(
                .tryAgainLater, "many devices wait for somebody to enter their code already",
                retryAfter: 60)
        }
    }

    /// Notes a device, and returns the code that it shows: the first of `codes` that no other one does.
    package static func begin(
        _ device: StoredDeviceSignIn, showingOneOf codes: [String], at now: Instant,
        in transaction: some SignInWriting
    ) throws -> String {
        _ = try transaction.removeDeviceSignIns(expiredBy: now, limit: most)
        try checkRoom(for: device, at: now, in: transaction)
        for code in codes {
            var device = device
            device.userCode = code
            if try transaction.putDeviceSignIn(device) { return code }
        }
        throw WireError(.tryAgainLater, "no code is free at this moment", retryAfter: 1)
    }

    /// Returns the device that shows a code and waits for it to be entered; nil for none.
    package static func pending(
        _ userCode: String, at now: Instant, in reader: some SignInReading
    ) throws -> StoredDeviceSignIn? {
        guard let device = try reader.deviceSignIn(userCode: userCode), device.expiresAt > now,
            device.entered == nil
        else { return nil }
        return device
    }

    /// Returns what became of a device; nil for one that is not known, or not in this container.
    package static func outcome(
        of hash: [UInt8], in container: ContainerKey, at now: Instant,
        in reader: some SignInReading
    ) throws -> Outcome? {
        guard let device = try reader.deviceSignIn(hash: hash), device.expiresAt > now,
            device.container == container
        else { return nil }
        return device.entered.map { .entered(by: $0) } ?? .pending
    }

    /// A code as somebody typed it, as it is kept: nil where it cannot be one.
    package static func canonical(_ text: String) -> String? {
        guard text.utf8.count <= 4 * length else { return nil }
        let found = text.uppercased().filter { letters.contains($0) }
        guard found.count == length else { return nil }
        return "\(found.prefix(length / 2))-\(found.suffix(length / 2))"
    }

    /// Returns the codes that random bytes make, in order.
    package static func codes(drawn bytes: [UInt8]) -> [String] {
        // Bytes that would make the first letters come more often are thrown away.
        let usable = bytes.map(Int.init).filter { $0 < 256 / letters.count * letters.count }
        return stride(from: 0, through: usable.count - length, by: length).map { start in
            let code = usable[start..<start + length].map { letters[$0 % letters.count] }
            return "\(String(code.prefix(length / 2)))-\(String(code.suffix(length / 2)))"
        }
    }
}
