// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension ModifyRecordsWork {
    /// Where a file that is uploaded belongs.
    private struct SlotIndex {
        var item: Int
        var slot: Int
    }

    /// Uploads the files that the items' records need and puts the values into the
    /// operations; an item whose file cannot be uploaded gets that as its problem.
    ///
    /// - Parameter attempt: How often these items are sent: what was uploaded for an
    ///   earlier time is of no use.
    func uploadAssets(
        of items: [PlannedItem], in zoneID: ZoneID, attempt: Int, _ run: OperationRun
    ) async -> [PlannedItem] {
        var items = items
        var files: [AssetUploads.File] = []
        var slots: [SlotIndex] = []
        for index in items.indices {
            guard items[index].problem == nil, case .save(let record) = items[index].change
            else { continue }
            for (number, slot) in items[index].assets.enumerated() {
                switch slot.value {
                case .stored(let stored): items[index].fill(number, with: stored)
                case .file(let url):
                    slots.append(SlotIndex(item: index, slot: number))
                    files.append(
                        .init(
                            slot: slot, url: url, recordType: record.recordType,
                            attempt: attempt
                        )
                    )
                }
            }
        }
        guard !files.isEmpty else { return items }
        let results = await upload(files, of: items, at: slots, in: zoneID, run)
        for (index, result) in zip(slots, results) {
            switch result {
            case .success(let stored): items[index.item].fill(index.slot, with: stored)
            case .failure(let error):
                // The first reason stays.
                if items[index.item].problem == nil {
                    items[index.item].operation = .failure(error)
                }
            }
        }
        return items
    }

    private func upload(
        _ files: [AssetUploads.File], of items: [PlannedItem], at slots: [SlotIndex],
        in zoneID: ZoneID, _ run: OperationRun
    ) async -> [Result<CKAsset.StoredFile, CKError>] {
        let callbacks = callbacks
        let sizes = files.map { FileStamp(path: $0.url.path)?.size ?? 0 }
        let progress = TransferProgress(
            of: zip(slots, sizes).map { (owner: $0.item, size: $1) }
        ) { owner, value in
            guard case .save(let record) = items[owner].change else { return }
            run.callbacks.enqueue { callbacks.progress?(record, value) }
        }
        defer { progress.end() }
        let uploads = AssetUploads(database: database, zoneID: zoneID, options: run.options)
        return await uploads.upload(files) { progress.moved(file: $0, to: $1) }
    }

    /// The names of the records that an earlier process sent in a request; nil when it did
    /// not send it.
    ///
    /// Their files were uploaded then, and the answer may be there already.
    func namesSent(as name: String, _ options: RequestOptions) -> Set<String>? {
        guard let body = options.journal?.body(of: name) else { return nil }
        // What cannot be read was damaged, and is sent as new.
        let request = try? JSONReader.read(body) {
            try ModifyRecords.Request(from: &$0)
        }
        return request.map { Set($0.operations.compactMap(\.recordName)) }
    }

    /// The items to send once more because the server has lost their files: collected
    /// after the receipt was given, or named by a URL whose time was up.
    ///
    /// - Parameter isAllOrNothing: Whether one failure failed all; then all go again, if
    ///   nothing else was wrong.
    func itemsToRepeat(
        _ items: [PlannedItem], _ results: [RecordResult], isAllOrNothing: Bool
    ) -> [PlannedItem] {
        var repeated: [PlannedItem] = []
        var hasLost = false
        for (item, result) in zip(items, results) {
            guard case .failed(_, let error) = result else { continue }
            switch CKError.Code(rawValue: error.ckErrorCode) {
            case .assetNotAvailable:
                guard let again = item.uploadedAgain else {
                    if isAllOrNothing { return [] }
                    continue
                }
                hasLost = true
                repeated.append(again)
            case .batchRequestFailed where isAllOrNothing: repeated.append(item)
            default: if isAllOrNothing { return [] }
            }
        }
        return hasLost ? repeated : []
    }
}

extension ModifyRecordsWork.PlannedItem {
    /// The item as it went into a request of an earlier process, which named some.
    func asSentBefore(among names: Set<String>) -> Self {
        guard problem == nil, !names.contains(recordID.recordName) else { return self }
        var item = self
        item.operation = .failure(
            .local(
                .assetNotAvailable,
                "The file of record '\(recordID.recordName)' could not be uploaded "
                    + "before the program was ended; save it again."
            )
        )
        return item
    }

    /// Puts the value of an asset into the operation.
    fileprivate mutating func fill(_ number: Int, with stored: CKAsset.StoredFile) {
        assets[number].value = .stored(stored)
        operation = operation.map { [slot = assets[number]] operation in
            var operation = operation
            operation.fill(slot, with: stored)
            return operation
        }
    }

    /// The item with all its files to be uploaded; nil where there is none.
    fileprivate var uploadedAgain: Self? {
        var item = self
        let slots = assets.map(\.uploadedAgain)
        guard slots.contains(where: { $0 != nil }) else { return nil }
        item.assets = zip(slots, assets).map { $0 ?? $1 }
        return item
    }
}
