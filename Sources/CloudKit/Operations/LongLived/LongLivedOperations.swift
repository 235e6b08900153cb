// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The long-lived operations of a container, in the device's state folder (OP-9).
struct LongLivedOperations: Sendable {
    /// The most operations of a container that are kept at a time.
    static let maximumCount = 200
    /// How long an operation is kept whose callbacks the app never receives, from the
    /// last answer on (LIMIT-13).
    static let retention: TimeInterval = 24 * 3600
    /// How long an operation is kept that never gets all answers: the longest time for
    /// a resource (LIMIT-14).
    static let longestRun = CKOperationConfiguration.Values.defaultResourceTimeout

    private let folder: URL
    private let container: ContainerConnection

    /// Finds the operations of a container; nil on a device without a state folder,
    /// which keeps nothing beyond the process.
    init?(of container: ContainerConnection) throws(CKError) {
        let (configuration, identifier) = try container.configured()
        guard let state = configuration.stateFolder else { return nil }
        self.container = container
        folder =
            state
            .appendingPathComponent("operations", isDirectory: true)
            .appendingPathComponent(
                "\(identifier)-\(configuration.environment)", isDirectory: true
            )
    }

    /// Returns the IDs of the operations that are not finished; removes those whose time
    /// is over.
    func ids() -> [CKOperation.ID] {
        let now = container.session.date()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            guard let id = Self.operationID(of: name) else { return nil }
            let path = folder.appendingPathComponent(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let changed = attributes?[.modificationDate] as? Date else { return nil }
            let isAnswered = name.hasSuffix(JournalFile.answeredSuffix)
            let lifetime = isAnswered ? Self.retention : Self.longestRun
            guard now.timeIntervalSince(changed) < lifetime else {
                unlink(path)
                return nil
            }
            return id
        }
    }

    /// Keeps an operation; nil when it cannot be kept, or too many are.
    func create(_ draft: LongLivedDraft) -> RequestJournal? {
        guard ids().count < Self.maximumCount else { return nil }
        let url = folder.appendingPathComponent(draft.operationID + JournalFile.runningSuffix)
        guard
            let file = JournalFile(
                at: url, first: draft.bytes, date: container.session.date
            )
        else { return nil }
        let journal = RequestJournal(file, of: draft.owner)
        container.session.journals.withLock { journals in
            journals = journals.filter { $0.value.journal != nil }
            journals[draft.operationID] = WeakJournal(journal: journal)
        }
        return journal
    }

    /// Returns an operation with its journal; nil when it is finished or unknown.
    func load(
        _ id: CKOperation.ID
    ) -> (operation: LongLivedOperation, journal: RequestJournal)? {
        guard ids().contains(id) else { return nil }
        let suffixes = [JournalFile.runningSuffix, JournalFile.answeredSuffix]
        for suffix in suffixes {
            let url = folder.appendingPathComponent(id + suffix)
            let frames = JournalFile.frames(of: url)
            guard let first = frames.first,
                let operation = try? ArchiveBlob.value(LongLivedOperation.self, from: first)
            else { continue }
            return (operation, journal(of: operation, at: url, frames))
        }
        return nil
    }

    /// The journal this process works with already, or one made of the file.
    private func journal(
        of operation: LongLivedOperation, at url: URL, _ frames: [[UInt8]]
    ) -> RequestJournal {
        container.session.journals.withLock { journals in
            if let known = journals[operation.operationID]?.journal { return known }
            let journal = RequestJournal(
                JournalFile(at: url, date: container.session.date), of: operation.owner,
                frames: frames.dropFirst()
            )
            journals[operation.operationID] = WeakJournal(journal: journal)
            return journal
        }
    }

    /// The ID a file's name stands for; nil for files that are something else.
    private static func operationID(of name: String) -> CKOperation.ID? {
        for suffix in [JournalFile.runningSuffix, JournalFile.answeredSuffix]
        where name.hasSuffix(suffix) {
            let id = String(name.dropLast(suffix.count))
            return UUID(uuidString: id) == nil ? nil : id
        }
        return nil
    }
}

/// A journal that somebody in this process works with.
struct WeakJournal: Sendable {
    weak var journal: RequestJournal?
}
