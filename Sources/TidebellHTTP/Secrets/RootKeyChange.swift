// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// Takes what is under one root key to under another one.
package struct RootKeyChange: KeyRewrapping {
    private let old: RootKey
    private let new: RootKey

    /// Creates a change from one root key to another.
    package init(from old: RootKey, to new: RootKey) {
        self.old = old
        self.new = new
    }

    package var oldID: String { old.rootKeyID }
    package var newID: String { new.rootKeyID }

    package func rewrapped(_ key: WrappedKey, of zone: ZoneKey) throws -> WrappedKey? {
        guard let opened = old.unwrapped(key, of: zone) else { return nil }
        return try new.wrapped(opened, of: zone)
    }

    package func rewrapped(_ key: [UInt8], ofFile name: String) throws -> [UInt8]? {
        // It is damaged, or another root key's.
        guard let opened = try? old.fileKey(key, of: name) else { return nil }
        return try new.wrapped(opened, ofFile: name)
    }

    package func resealed(_ answer: KeptAnswer, to write: WriteID) throws -> KeptAnswer? {
        guard RootKey.isSealed(answer: answer.body),
            let body = try? old.opened(answer: answer.body, to: write)
        else { return nil }
        return KeptAnswer(
            fingerprint: KeptAnswer.noFingerprint, body: try new.sealed(answer: body, to: write))
    }
}
