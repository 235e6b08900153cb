// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The files that one request names: what their receipts and URLs stand for.
struct RecordAssets {
    private let call: Call
    private let database: DatabaseKey
    private let zoneName: String
    /// The kept files among them.
    private let known: [AssetContent: StoredAsset]

    init(
        of operations: [ModifyRecords.Operation], for call: Call, in access: ZoneAccess,
        _ reader: some AssetReading
    ) throws {
        self.call = call
        database = access.database.key
        zoneName = access.zoneID.zoneName
        var contents: Set<AssetContent> = []
        for operation in operations {
            for field in operation.fields.values.values {
                for asset in field?.value.assets ?? [] {
                    if let content = call.proof(of: asset)?.content { contents.insert(content) }
                }
            }
        }
        known = contents.isEmpty ? [:] : try reader.assets(contents)
    }

    /// Returns the changes with every asset as it is stored; what cannot be proven
    /// to be the caller's to save fails.
    func settle(
        _ changes: [String: Field?], ofRecord name: String, over previous: StoredRecord?
    ) throws -> [String: Field?] {
        var settled = changes
        for (key, field) in changes {
            guard let field, !field.value.assets.isEmpty else { continue }
            let kept = try previous.flatMap { try $0.fields.decoded()[key] }?.value.assets ?? []
            settled[key] = .some(
                Field(
                    try field.value.mapAssets { asset in
                        try settle(asset, key: key, ofRecord: name, kept: kept)
                    },
                    isEncrypted: field.isEncrypted
                )
            )
        }
        return settled
    }

    private func settle(
        _ asset: WireAsset, key: String, ofRecord name: String, kept: [WireAsset]
    ) throws -> WireAsset {
        // What an answer carried may come back unchanged.
        if asset.receipt == nil,
            let same = kept.first(where: {
                $0.fileChecksum == asset.fileChecksum && $0.size == asset.size
            })
        {
            return same
        }
        func refusal(_ why: String, ckCode: Int? = nil) -> WireError {
            .badRequest(
                "could not decode asset object: \(why) (field '\(key)' of record "
                    + "'\(WireError.shortened(name))')",
                ckCode: ckCode
            )
        }
        guard let proof = call.proof(of: asset) else {
            throw refusal(
                "it has neither a receipt of an upload nor a valid downloadURL",
                ckCode: asset.isOutdated ? CKErrorCode.assetNotAvailable : nil
            )
        }
        if let field = proof.field, !isMeant(field, key: key, ofRecord: name) {
            throw refusal("its receipt is for another field")
        }
        guard let stored = known[proof.content] else {
            throw refusal(
                "the uploaded file was not saved in time; upload it again",
                ckCode: CKErrorCode.assetNotAvailable
            )
        }
        guard stored.checksum == asset.fileChecksum, stored.size == asset.size else {
            throw refusal("its fileChecksum or size is not that of the uploaded file")
        }
        return WireAsset(
            fileChecksum: stored.checksum, size: stored.size, content: stored.content.rawValue
        )
    }

    private func isMeant(_ field: AssetField, key: String, ofRecord name: String) -> Bool {
        field.database == database && field.zoneName == zoneName
            && field.recordName ?? name == name && field.fieldName ?? key == key
    }
}

extension WireAsset {
    /// Whether an asset that proves nothing has been the server's answer before: a
    /// client that has its file may upload it again.
    fileprivate var isOutdated: Bool { receipt == nil && downloadURL != nil }
}

extension Call {
    /// What an asset of a request proves: which content, and for which field; nil
    /// where it proves nothing.
    fileprivate func proof(
        of asset: WireAsset
    ) -> (content: AssetContent, field: AssetField?)? {
        if let text = asset.receipt {
            return assetSeals.receipt(text).map { ($0.content, $0.field) }
        }
        // Who may read the file may store it again.
        guard let url = asset.downloadURL, let link = assetSeals.link(url: url),
            link.expiresAt > now
        else { return nil }
        return (link.content, nil)
    }

    /// Returns a stored asset as answers carry it: with where to fetch its file.
    func linked(_ asset: WireAsset, in database: DatabaseAccess) -> WireAsset {
        guard let content = asset.content.map(AssetContent.init(rawValue:)) else { return asset }
        var linked = answered(asset, content, in: database)
        linked.downloadURL = assetSeals.url(
            of: AssetLink(
                content: content, expiresAt: now.advanced(by: limits.assetLinkLifetime),
                user: user?.id
            )
        )
        return linked
    }

    /// Returns a stored asset as answers carry it, without a way to its bytes.
    func answered(
        _ asset: WireAsset, _ content: AssetContent, in database: DatabaseAccess
    ) -> WireAsset {
        var answered = WireAsset(fileChecksum: asset.fileChecksum, size: asset.size)
        answered.addKeys(of: content, in: database.scope, by: assetSeals)
        return answered
    }
}

extension WireAsset {
    /// Adds what answers of some databases have beside the checksum.
    package mutating func addKeys(
        of content: AssetContent, in scope: DatabaseScope, by seals: some AssetSeals
    ) {
        guard scope.wrapsAssets else { return }
        (wrappingKey, referenceChecksum) = seals.keys(of: content)
    }
}

extension StoredRecord {
    /// Returns which files the store holds for this version, which lives and is intact.
    package func files() throws -> Set<AssetContent> {
        guard fields.holdAssets else { return [] }
        return try fields.decoded().values.flatMap(\.value.assets).contents
    }

    /// Whether the store may hold files of this version.
    var mayHoldAssets: Bool { isDamaged || fields.holdAssets }
}

extension RecordFields {
    /// Whether there is an asset among the fields, or a list of assets.
    ///
    /// Fields are written with their types, and the quotation marks of a text are escaped: only
    /// the type of a field stands there so. Most records have none and are not parsed for that.
    var holdAssets: Bool { Self.assetTag.isFound(in: json) }

    private static let assetTag = BytePattern("\"type\":\"\(FieldType.asset.rawValue)")
}

extension [WireAsset] {
    /// The files that are kept for them.
    var contents: Set<AssetContent> {
        Set(compactMap { $0.content.map(AssetContent.init(rawValue:)) })
    }
}

extension FieldValue {
    /// The assets in the value.
    var assets: [WireAsset] {
        switch self {
        case .asset(let asset): [asset]
        case .list(.assetList, let elements): elements.flatMap(\.assets)
        default: []
        }
    }

    /// Returns the value with its assets replaced.
    func mapAssets<Failure: Error>(
        _ transform: (WireAsset) throws(Failure) -> WireAsset
    ) throws(Failure) -> FieldValue {
        switch self {
        case .asset(let asset): return .asset(try transform(asset))
        case .list(.assetList, let elements):
            var mapped: [FieldValue] = []
            for element in elements { mapped.append(try element.mapAssets(transform)) }
            return .list(.assetList, mapped)
        default: return self
        }
    }
}
