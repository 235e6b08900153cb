// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

/// Files of records: uploaded, cut, late, and gone from the disk.
extension Simulation {
    /// Uploads a file for a record, and saves the record with it.
    func saveFile(
        _ content: String, of edit: Edit, in site: Site, by writer: Writer, _ fault: UploadFault?
    ) async throws {
        let isThere =
            site.zone == ZoneID.defaultName
            || model.zones[writer.user, default: []].contains(site.zone)
        guard isThere else { return }
        let bytes = Self.bytes(of: content)
        let uploadPath = try await askForUploadPath(edit, site, writer)
        if fault == .cut {
            let cut = await cloud.respond(
                to: WebRequest(
                    .post, uploadPath,
                    body: .stream { writer in
                        try await writer.write(Array(bytes.prefix(bytes.count / 2)))
                        throw BodyCutShort()
                    }
                )
            )
            if store.isDead { throw MortalStore.Died() }
            try demand(cut.status == 400, "an upload that was cut is answered \(cut.status)")
        }
        let uploadedAt = now
        let (status, answer) = try await exchange(.post, uploadPath, bytes)
        try demand(status == 200, "an upload is answered \(status)")
        // What was lost comes back with who has it still.
        lostContents.remove(content)
        if fault == .twice {
            let (status, _) = try await exchange(.post, uploadPath, bytes)
            try demand(status == 400, "an upload URL takes two files, the second with \(status)")
        }
        var edit = edit
        edit.file = content
        edit.receipt = try JSONReader.read(answer) {
            try UploadAssets.Receipt(from: &$0).singleFile
        }
        if fault == .late { edit.isFileGone = try await waitForLong(content, since: uploadedAt) }
        try await change(.modify(writer, site, [edit], isAtomic: false))
    }

    /// Lets so much time pass that an upload nobody saved goes; returns whether it did.
    private func waitForLong(_ content: String, since uploadedAt: Instant) async throws -> Bool {
        advance(by: Limits().assetGrace * 2)
        try await maintain()
        if store.isDead { throw MortalStore.Died() }
        // Behind the clock after restarts: see `RetentionClock`.
        let moment = try await base.write(.everything) { [now] transaction in
            try transaction.moveRetention(to: now, byAtMost: .zero)
        }
        return uploadedAt < moment.advanced(by: .zero - Limits().assetGrace)
            && !heldContents.contains(content)
    }

    /// Takes a file from the disk, as somebody might by mistake.
    func loseFile(_ number: Int) async throws {
        let files = try keptFiles()
        guard !files.isEmpty else { return }
        try FileManager.default.removeItem(at: files[number % files.count])
        let lost = try await checkFiles()
        try demand(
            lost.subtracting(lostContents).count <= 1,
            "one file was taken, and of \(lost) none can be had")
        lostContents.formUnion(lost)
    }

    /// Checks that every record's file can be had as it was saved, unless it is gone from the disk,
    /// and that the disk holds no file which nobody knows; returns what cannot be had.
    @discardableResult
    func checkFiles() async throws -> Set<String> {
        var lost: Set<String> = []
        for (home, records) in model.records {
            let site = Site(scope: home.owner == nil ? .public : .private, zone: home.zone)
            for (name, record) in records {
                guard let content = record.file else { continue }
                let found = try await file(of: name, in: site, Writer(user: home.owner ?? 0))
                if let found {
                    try demand(
                        found == Self.bytes(of: content), "\(name) has another file than \(content)"
                    )
                    try demand(!lost.contains(content), "\(content) is lost and there")
                } else {
                    lost.insert(content)
                }
            }
        }
        for case let maintenance as Maintenance in cloud.services {
            _ = try await maintenance.removeOrphanedFiles()
        }
        let names = Set(try keptFiles().map(\.lastPathComponent))
        let known = try await base.read { try $0.knownAssetFiles(among: names) }
        try demand(known == names, "the disk holds files that nobody knows")
        return lost
    }

    // MARK: -

    private var heldContents: Set<String> {
        Set(model.records.values.flatMap { $0.values.compactMap(\.file) })
    }

    static func bytes(of content: String) -> [UInt8] {
        Array(String(repeating: content, count: content.utf8.count * 200).utf8)
    }

    private func keptFiles() throws -> [URL] {
        let kept = data.appendingPathComponent("assets/kept")
        // There is none before the first file.
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: kept.path)) ?? []
        return try folders.sorted().flatMap { folder in
            let folder = kept.appendingPathComponent(folder)
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                .map { folder.appendingPathComponent($0) }
        }
    }

    private func askForUploadPath(_ edit: Edit, _ site: Site, _ writer: Writer) async throws
        -> String
    {
        let request = UploadAssets.Request(
            zoneID: ZoneID(zoneName: site.zone),
            tokens: [
                .init(
                    recordName: edit.name, recordType: Names.type(of: edit.name), fieldName: "file")
            ]
        )
        let body = try await post("\(site.scope)/assets/upload", as: writer, request.write)
        let slots = try JSONReader.read(body) { try UploadAssets.Response(from: &$0).tokens }
        guard let url = slots.first?.url else { throw Violation("no upload URL came for a file") }
        return Self.path(url)
    }

    /// The bytes of a record's file; nil where the disk does not have it.
    private func file(
        of name: String, in site: Site, _ writer: Writer
    ) async throws -> [UInt8]? {
        let request = LookupRecords.Request(
            zoneID: ZoneID(zoneName: site.zone), records: [.init(recordName: name)])
        let body = try await post("\(site.scope)/records/lookup", as: writer, request.write)
        let response = try JSONReader.read(body) { try ModifyRecords.Response(from: &$0) }
        guard case .record(let record)? = response.records.first,
            case .asset(let asset)? = try record.fields.decoded()["file"]?.value
        else { throw Violation("\(name) lost its file") }
        let path = Self.path(asset.downloadURL ?? "").replacingOccurrences(of: "${f}", with: "f")
        let (status, bytes) = try await exchange(.get, path)
        try demand([200, 404].contains(status), "the file of \(name) is answered \(status)")
        return status == 200 ? bytes : nil
    }

    func exchange(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8] = []
    ) async throws -> (status: Int, body: [UInt8]) {
        let response = await cloud.respond(method, path, body: body)
        let answer = try await response.body.collect()
        if store.isDead { throw MortalStore.Died() }
        return (response.status, answer)
    }

    static func path(_ url: String) -> String {
        url.range(of: "/assets/").map { String(url[$0.lowerBound...]) } ?? url
    }
}
