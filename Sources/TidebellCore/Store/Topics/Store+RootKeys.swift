// SPDX-License-Identifier: Apache-2.0

/// What is under the root key: the store knows which, and never has the key.
package protocol RootKeyReading {
    /// What identifies the root key that a change was begun to, as long as that has not
    /// ended; nil where none is under way.
    func nextRootKeyID() throws -> String?

    /// Returns the keys of zones that are wrapped by this root key, in the order of the zones,
    /// after one of them or from the first on; at most `limit`.
    func zoneKeys(
        wrappedBy rootKeyID: String, after zone: ZoneKey?, limit: Int
    ) throws -> [WrappedZoneKey]

    /// Returns the files whose keys are wrapped by this root key, in the order of their
    /// contents, after one of them or from the first on; at most `limit`.
    func files(
        wrappedBy rootKeyID: String, after content: AssetContent?, limit: Int
    ) throws -> [StoredAsset]

    /// Returns kept answers, in the order they were kept, after one of them or from the first
    /// on; at most `limit`.
    func keptAnswers(after number: Int64?, limit: Int) throws -> [NumberedAnswer]
}

/// What is under one root key comes under another one (``ChangeRootKey``).
package protocol RootKeyWriting: RootKeyReading, FieldKeyWriting {
    /// Notes that a change to another root key is under way: until it ends, some keys are
    /// wrapped by that one and some by the one before.
    func beginRootKeyChange(to id: String) throws

    /// Replaces the wrapped keys of files.
    func putFileKeys(_ keys: [AssetContent: [UInt8]], wrappedBy rootKeyID: String) throws

    /// Replaces kept answers, by their numbers, with others of the same length.
    func replaceKeptAnswers(_ answers: [Int64: KeptAnswer]) throws

    /// Makes the root key that a change was begun to the one the store works with.
    func endRootKeyChange() throws
}

/// The key of a zone as it is stored.
package struct WrappedZoneKey: Sendable, Hashable {
    package var zone: ZoneKey
    package var key: WrappedKey

    /// Creates a value.
    package init(zone: ZoneKey, key: WrappedKey) {
        self.zone = zone
        self.key = key
    }
}

/// A kept answer with its position among all of them.
package struct NumberedAnswer: Sendable, Hashable {
    package var number: Int64
    package var write: WriteID
    package var answer: KeptAnswer

    /// Creates a value.
    package init(number: Int64, write: WriteID, answer: KeptAnswer) {
        self.number = number
        self.write = write
        self.answer = answer
    }
}
