// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

extension TestAPI {
    /// The path to which the file of a field goes.
    func uploadPath(
        _ field: String, of record: String, scope: String = "private", isExtended: Bool = false
    ) async throws -> String {
        let answer = try await post(
            "\(scope)/assets/upload",
            #"{"tokens":[{"recordName":"\#(record)","recordType":"Note","fieldName":"\#(field)"}]}"#,
            headers: isExtended ? ["X-Tidebell-Extensions": "1"] : [:]
        )
        let response = try JSONReader.read(Array(answer.text.utf8)) {
            try UploadAssets.Response(from: &$0)
        }
        let token = try #require(response.tokens.first)
        return Self.path(token.url)
    }

    /// Uploads a file for a field.
    func upload(
        _ bytes: [UInt8], to field: String, of record: String, scope: String = "private"
    ) async throws -> WireAsset {
        let path = try await uploadPath(field, of: record, scope: scope)
        let answer = try await send("POST", path, String(decoding: bytes, as: UTF8.self))
        return try JSONReader.read(Array(answer.text.utf8)) {
            try UploadAssets.Receipt(from: &$0).singleFile
        }
    }

    /// Saves an asset in a field of a record of the default zone.
    func save(
        _ asset: WireAsset, as field: String, of record: String, headers: [String: String] = [:]
    ) async throws -> Answer {
        let value = String(decoding: JSONWriter.write { asset.write(to: &$0) }, as: UTF8.self)
        return try await post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"forceUpdate","record":{"recordName":"\(record)",\
            "recordType":"Note","fields":{"\(field)":{"value":\(value),"type":"ASSET"}}}}]}
            """,
            headers: headers
        )
    }

    /// The asset of a record as an answer carries it.
    func asset(_ field: String, of record: String) async throws -> WireAsset {
        let answer = try await post(
            "private/records/lookup", #"{"records":[{"recordName":"\#(record)"}]}"#
        )
        let records = try JSONReader.read(Array(answer.text.utf8)) {
            try LookupRecords.Response(from: &$0).records
        }
        guard case .record(let found)? = records.first,
            case .asset(let asset)? = try found.fields.decoded()[field]?.value
        else { throw Missing(what: answer.text) }
        return asset
    }

    /// Fetches the file of an asset.
    func download(
        _ asset: WireAsset, method: String = "GET", headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send(
            method,
            Self.path(asset.downloadURL ?? "").replacingOccurrences(of: "${f}", with: "a.png"),
            headers: headers
        )
    }

    /// Removes what nobody needs any more, as the server does every hour.
    func collect() async {
        for case let maintenance as Maintenance in cloud.services { await maintenance.round() }
    }

    /// The files that are kept, by name.
    func keptFiles() throws -> [String] {
        try files(in: "kept").flatMap { try files(in: "kept/\($0)") }.sorted()
    }

    /// The names in a part of the folder of files.
    func files(in part: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: folder.appendingPathComponent("assets/\(part)").path
        )
    }

    private static func path(_ url: String) -> String {
        guard let start = url.range(of: "/assets/") else { return url }
        return String(url[start.lowerBound...])
    }

    private struct Missing: Error { let what: String }
}
