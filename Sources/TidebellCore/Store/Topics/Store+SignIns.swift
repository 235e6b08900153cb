// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Sign-ins that are under way: each request of one may go to another server.
package protocol SignInReading {
    /// Returns the sign-in of the device whose code has this hash, also one that has expired.
    func deviceSignIn(hash: [UInt8]) throws -> StoredDeviceSignIn?

    /// Returns the sign-in of the device that shows this code, also one that has expired.
    func deviceSignIn(userCode: String) throws -> StoredDeviceSignIn?

    /// How many sign-ins of devices have not expired, whether their code was entered or not.
    func deviceSignInCounts(
        in container: ContainerKey, of address: String?, at now: Instant
    ) throws -> DeviceSignInCounts
}

/// Sign-ins begin, go on, and are finished once, whoever asks at the same moment.
package protocol SignInWriting: SignInReading {
    /// Stores the sign-in of a device; false, and nothing is stored, where another one shows its code.
    func putDeviceSignIn(_ device: StoredDeviceSignIn) throws -> Bool

    /// Notes who entered a code; false where nobody waits for that any more.
    func enterDeviceSignIn(
        userCode: String, by user: StoredDeviceSignIn.Entered, at now: Instant
    ) throws -> Bool

    /// Removes the sign-in of a device and returns it; nil for whoever comes second.
    func takeDeviceSignIn(hash: [UInt8]) throws -> StoredDeviceSignIn?

    /// Removes sign-ins of devices that expired by `moment`, at most `limit`; returns how many went.
    func removeDeviceSignIns(expiredBy moment: Instant, limit: Int) throws -> Int

    /// Notes that a sign-in by a provider was finished, by the hash of its state; false where it was
    /// before.
    ///
    /// - Parameters:
    ///   - end: When that need not be known any more.
    ///   - most: How many are remembered; beyond them those that end first are forgotten.
    func noteFinishedVisit(_ hash: [UInt8], until end: Instant, keeping most: Int) throws -> Bool

    /// Forgets finished sign-ins by a provider that need not be known by `moment`, at most `limit`;
    /// returns how many went.
    func removeFinishedVisits(endedBy moment: Instant, limit: Int) throws -> Int
}
