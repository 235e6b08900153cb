// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellWire

/// The files of notes.
extension Simulation {
    /// Uploads the files of notes.
    func withFiles(_ action: SharingAction) async throws -> SharingAction {
        guard case .put(let edits, let zone, let writer) = action else { return action }
        var allowed: [NoteEdit] = []
        sharing.receipts = [:]
        for var edit in edits {
            if let content = edit.file {
                let receipt = try await upload(content, of: edit, in: zone, writer)
                sharing.receipts[edit.name] = receipt
                if receipt == nil { edit.file = nil }
            }
            allowed.append(edit)
        }
        return .put(allowed, zone, by: writer)
    }

    /// Returns the receipt for a file; nil where its writer may not write.
    private func upload(
        _ content: String, of edit: NoteEdit, in zone: SharedZone, _ writer: Writer
    ) async throws -> WireAsset? {
        let request = UploadAssets.Request(
            zoneID: zoneID(zone),
            tokens: [
                .init(
                    recordName: edit.name, recordType: Names.type(of: edit.name), fieldName: "file")
            ]
        )
        let scope = zone.scope(for: writer.user)
        let body = try await post("\(scope)/assets/upload", as: writer, request.write)
        let slots = try? JSONReader.read(body) { try UploadAssets.Response(from: &$0).tokens }
        let mayWrite =
            sharing.model.has(zone, writer.user) && sharing.model.isWriter(writer.user, in: zone)
        try demand(
            (slots != nil) == mayWrite,
            "\(writer) \(slots == nil ? "gets no" : "gets an") upload URL in \(zone)")
        guard let url = slots?.first?.url else { return nil }
        let (status, answer) = try await exchange(
            .post, Self.path(url), Self.bytes(of: content))
        try demand(status == 200, "an upload is answered \(status)")
        let asset = try JSONReader.read(answer) { try UploadAssets.Receipt(from: &$0).singleFile }
        sharing.contents[asset.fileChecksum] = content
        return asset
    }
}
