// SPDX-License-Identifier: Apache-2.0

/// Changes the root key of a store that nobody serves, step by step: each step is a
/// transaction of a bounded size, and a change that was stopped goes on where it was.
package enum ChangeRootKey {
    /// How far a change has come: what the next step goes on from.
    package struct Progress: Sendable, Hashable {
        /// What is gone through, one after the other.
        enum Stage: Sendable, Hashable {
            case zones(after: ZoneKey?)
            case files(after: AssetContent?)
            case answers(after: Int64?)
            case ended
        }

        var stage = Stage.zones(after: nil)
        /// How many keys of zones were wrapped anew.
        package internal(set) var zones = 0
        /// How many keys of files were wrapped anew.
        package internal(set) var files = 0
        /// How many kept answers were encrypted anew.
        package internal(set) var answers = 0
        /// How many of all of these could not be opened, and are as they were.
        package internal(set) var unopened = 0

        /// Creates the beginning.
        package init() {}

        /// Whether the store works with the new key.
        package var hasEnded: Bool { stage == .ended }
    }

    /// Takes the next step: at most `limit` keys or answers.
    ///
    /// What the old key does not open stays as it is, but counts as the new one's: it could not
    /// be read before either, and must not keep the server from starting.
    package static func step(
        after progress: Progress, with keys: some KeyRewrapping, limit: Int,
        in transaction: some RootKeyWriting
    ) throws -> Progress {
        var progress = progress
        switch progress.stage {
        case .zones(let last):
            if last == nil { try transaction.beginRootKeyChange(to: keys.newID) }
            let found = try transaction.zoneKeys(
                wrappedBy: keys.oldID, after: last, limit: limit)
            for wrapped in found {
                let key = try keys.rewrapped(wrapped.key, of: wrapped.zone)
                progress.count(key != nil, in: \.zones)
                try transaction.putFieldKey(
                    key ?? wrapped.key, wrappedBy: keys.newID, of: wrapped.zone)
            }
            progress.stage =
                found.count < limit ? .files(after: nil) : .zones(after: found.last?.zone)
        case .files(let last):
            let found = try transaction.files(wrappedBy: keys.oldID, after: last, limit: limit)
            var wrapped: [AssetContent: [UInt8]] = [:]
            for file in found {
                guard let old = file.key else { continue }
                let key = try keys.rewrapped(old, ofFile: file.file)
                progress.count(key != nil, in: \.files)
                wrapped[file.content] = key ?? old
            }
            try transaction.putFileKeys(wrapped, wrappedBy: keys.newID)
            progress.stage =
                found.count < limit ? .answers(after: nil) : .files(after: found.last?.content)
        case .answers(let last):
            let found = try transaction.keptAnswers(after: last, limit: limit)
            var answers: [Int64: KeptAnswer] = [:]
            for kept in found {
                // One that the new key opens was done before a stop; others go within a day.
                guard let answer = try keys.resealed(kept.answer, to: kept.write) else { continue }
                answers[kept.number] = answer
            }
            progress.answers += answers.count
            try transaction.replaceKeptAnswers(answers)
            progress.stage = .answers(after: found.last?.number)
            if found.count < limit {
                try transaction.endRootKeyChange()
                progress.stage = .ended
            }
        case .ended: break
        }
        return progress
    }
}

extension ChangeRootKey.Progress {
    fileprivate mutating func count(_ isOpened: Bool, in kind: WritableKeyPath<Self, Int>) {
        self[keyPath: isOpened ? kind : \.unopened] += 1
    }
}
