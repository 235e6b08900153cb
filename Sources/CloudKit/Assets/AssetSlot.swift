// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Where a record that is to be saved holds an asset, and what the save sends for it.
struct AssetSlot: Sendable {
    /// What is sent as the value.
    enum Value: Sendable {
        /// What the server has already: nothing is uploaded.
        case stored(CKAsset.StoredFile)
        /// What is in this file now.
        case file(URL)
    }

    let asset: CKAsset
    let field: CKAsset.Field
    /// The index in a list; nil for a value that is no list.
    let index: Int?
    var value: Value

    /// Decides what a save sends for an asset, by what is known without a server.
    ///
    /// Fails with `assetFileNotFound` for an asset that has neither a file nor a content
    /// the server knows, and with `assetNotAvailable` for one that is to be imported.
    init(_ asset: CKAsset, field: CKAsset.Field, index: Int?) throws(CKError) {
        self.asset = asset
        self.field = field
        self.index = index
        let state = asset.snapshot
        let present = state.fileURL.flatMap { FileStamp(path: $0.path) }
        switch (state.stored, state.fileURL) {
        case (let stored?, nil): value = .stored(stored)
        case (let stored?, _?) where present == nil && (state.field ?? field) == field:
            // The staging area was purged; the server has the content (ASSET-3).
            value = .stored(stored)
        case (let stored?, _?) where state.field == field && present == state.stamp:
            value = .stored(stored)
        case (_, let url?): value = .file(url)
        case (nil, nil) where state.isImported:
            throw .local(
                .assetNotAvailable,
                "The asset of \(field.name) was to be copied from an exported asset, whose ID is good "
                    + "only on the Apple device that made it. Save a file: CKAsset(fileURL:).")
        case (nil, nil):
            throw .local(
                .assetFileNotFound, "The asset of \(field.name) has no file."
            )
        }
    }
}

extension AssetSlot {
    /// The slot with its file to be uploaded, whatever the server had; nil where there
    /// is no file.
    var uploadedAgain: AssetSlot? {
        guard let url = asset.fileURL, FileStamp(path: url.path) != nil else { return nil }
        var slot = self
        slot.value = .file(url)
        return slot
    }
}

extension CKAsset.Field {
    /// The field as reasons of errors name it.
    var name: String { "field '\(key)' of record '\(recordID.recordName)'" }
}

extension CKRecord.Field {
    /// The assets of the field's value, with what a save sends for each.
    func assetSlots(
        of recordID: CKRecord.ID, in database: DatabaseConnection
    ) throws(CKError) -> [AssetSlot] {
        let field = CKAsset.Field(
            container: database.container.identifier, scope: database.scope,
            recordID: recordID, key: key
        )
        switch value {
        case .asset(let asset): return [try AssetSlot(asset, field: field, index: nil)]
        case .list(let elements):
            var slots: [AssetSlot] = []
            for (index, element) in elements.enumerated() {
                guard case .asset(let asset) = element else { break }
                slots.append(try AssetSlot(asset, field: field, index: index))
            }
            return slots
        default: return []
        }
    }
}

extension WireAsset {
    /// The value of a save for what the server has.
    init(_ stored: CKAsset.StoredFile) {
        self.init(
            fileChecksum: stored.fileChecksum, size: stored.size, receipt: stored.receipt,
            downloadURL: stored.downloadURL, wrappingKey: stored.wrappingKey,
            referenceChecksum: stored.referenceChecksum
        )
    }

    /// Stands in a request until the file is uploaded.
    static let pending = WireAsset(fileChecksum: "pending", size: 0)
}

extension CKAsset.StoredFile {
    /// Takes an answer's description of a file.
    init(_ wire: WireAsset) {
        self.init(
            fileChecksum: wire.fileChecksum, size: wire.size,
            referenceChecksum: wire.referenceChecksum, wrappingKey: wire.wrappingKey,
            receipt: wire.receipt, downloadURL: wire.downloadURL
        )
    }
}

extension ModifyRecords.Operation {
    /// Puts the value of an asset into the slot that waits for it.
    mutating func fill(_ slot: AssetSlot, with stored: CKAsset.StoredFile) {
        guard case .some(.some(var field)) = fields.values[slot.field.key] else { return }
        let value = TidebellWire.FieldValue.asset(WireAsset(stored))
        if let index = slot.index {
            guard case .list(let type, var elements) = field.value, index < elements.count
            else { return }
            elements[index] = value
            field.value = .list(type, elements)
        } else {
            field.value = value
        }
        fields.values[slot.field.key] = .some(field)
    }
}
