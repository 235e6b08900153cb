// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

extension ModifyRecordsWork {
    /// Uploads the files that the items' records need and puts the values into the
    /// operations; an item whose file cannot be uploaded gets that as its problem.
    func uploadAssets(
        of items: [PlannedItem], in zoneID: ZoneID, _ run: OperationRun
    ) async -> [PlannedItem] {
        var items = items
        var files: [AssetUploads.File] = []
        var owners: [Int] = []
        for index in items.indices {
            guard items[index].problem == nil, case .save(let record, _) = items[index].item
            else { continue }
            for slot in items[index].assets {
                switch slot.value {
                case .stored(let stored): items[index].fill(slot, with: stored)
                case .file(let url):
                    owners.append(index)
                    files.append(.init(slot: slot, url: url, recordType: record.recordType))
                }
            }
        }
        guard !files.isEmpty else { return items }
        let progress = UploadProgress(files, owners: owners, of: items, telling: callbacks, run)
        let uploads = AssetUploads(database: database, zoneID: zoneID, options: run.options)
        let results = await uploads.upload(files) { progress.moved(file: $0, by: $1) }
        for (place, result) in results.enumerated() {
            switch result {
            case .success(let stored): items[owners[place]].fill(files[place].slot, with: stored)
            case .failure(let error):
                if items[owners[place]].problem == nil {
                    items[owners[place]].operation = .failure(error)
                }
            }
        }
        return items
    }
}

extension ModifyRecordsWork.PlannedItem {
    fileprivate mutating func fill(_ slot: AssetSlot, with stored: CKAsset.StoredFile) {
        operation = operation.map { operation in
            var operation = operation
            operation.fill(slot, with: stored)
            return operation
        }
    }
}

/// Tells the app how far the files of each record are.
private struct UploadProgress: Sendable {
    /// The least share of a record's bytes that is news.
    private static let step = 0.05
    /// The share that is told at most before the record is saved.
    private static let most = 0.99

    private struct Share: Sendable {
        var moved = 0.0
        var total = 0.0
        var told = 0.0
    }

    private let shares: Locked<[Int: Share]>
    private let owners: [Int]
    private let items: [ModifyRecordsWork.PlannedItem]
    private let callbacks: ModifyRecordsWork.Callbacks
    private let run: OperationRun

    init(
        _ files: [AssetUploads.File], owners: [Int], of items: [ModifyRecordsWork.PlannedItem],
        telling callbacks: ModifyRecordsWork.Callbacks, _ run: OperationRun
    ) {
        var shares: [Int: Share] = [:]
        for (file, owner) in zip(files, owners) {
            shares[owner, default: Share()].total += Double(
                FileStamp(path: file.url.path)?.size ?? 0
            )
        }
        self.shares = Locked(shares)
        self.owners = owners
        self.items = items
        self.callbacks = callbacks
        self.run = run
    }

    /// Notes that bytes of a file were read.
    func moved(file: Int, by count: Int) {
        guard let progress = callbacks.progress,
            case .save(let record, _) = items[owners[file]].item
        else { return }
        let news: Double? = shares.withLock { shares in
            guard var share = shares[owners[file]], share.total > 0 else { return nil }
            share.moved += Double(count)
            let value = min(Self.most, share.moved / share.total)
            let isNews = value - share.told >= Self.step
            if isNews { share.told = value }
            shares[owners[file]] = share
            return isNews ? value : nil
        }
        guard let news else { return }
        run.callbacks.enqueue { progress(record, news) }
    }
}
