// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Logging
import S3TestServer
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

@testable import TidebellPostgres

/// Nodes with a data folder each, which share a database and a bucket.
@Suite("Nodes that share files in a bucket", .hangs)
struct SharedFilesTests {
    private static let rootKey = String(repeating: "7", count: 64)

    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-shared-\(UUID().uuidString)")

    private func node(
        _ name: String, _ address: String, _ bucket: S3TestBucket
    ) async throws -> TidebellServer {
        var configuration = ServerConfiguration(
            dataFolder: folder.appendingPathComponent(name))
        configuration.stores = try PostgresFactory(address, as: NodeName(name), readers: 2)
        configuration.nodeName = name
        configuration.rootKey = .text(Self.rootKey)
        configuration.logLevel = .critical
        let service = try BucketPlace.Service(endpoint: bucket.server.address, region: nil)
        configuration.assets = .bucket(
            try BucketPlace("s3://\(bucket.name)/cloud", at: service),
            try AWSCredentialsSource(environment: bucket.server.owner.environment))
        return try await TidebellServer(configuration)
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, _ body: String = "",
        to node: TidebellServer
    ) async throws -> String {
        let answer = await node.cloud.respond(method, target, body: Array(body.utf8))
        let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
        try #require(answer.status == 200, "\(target): \(text)")
        return text
    }

    /// The path of an upload or download URL.
    private func path(of url: String) throws -> String {
        String(url[try #require(url.range(of: "/assets/")).lowerBound...])
    }

    @Test(
        "ASSET-1: what one node took another one sends, and no node takes for orphaned what another one has just noted"
    )
    func shared() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let bucket = try S3TestServer.shared.get().makeBucket()
        let address = try PostgresEngine.addressOfNewDatabase()
        let a = try await node("a", address, bucket)
        let first = try #require(try await a.cloud.accounts.prepareFirstRun())
        let b = try await node("b", address, bucket)
        func call(_ path: String, _ body: String, on node: TidebellServer) async throws -> String {
            let tokens = "ckAPIToken=\(first.apiToken)&ckWebAuthToken=\(first.webToken)"
            return try await send(
                .post,
                "/database/1/iCloud.org.example.notes/development/private/\(path)?\(tokens)", body,
                to: node)
        }
        let awaited = try await call(
            "assets/upload",
            #"{"tokens":[{"recordName":"r","recordType":"Note","fieldName":"f"}]}"#, on: a)
        let upload = try JSONReader.read(Array(awaited.utf8)) {
            try UploadAssets.Response(from: &$0)
        }
        let text = String(repeating: "0123456789", count: 20_000)
        let target = try path(of: #require(upload.tokens.first?.url))
        let receipt = try await send(.post, target, text, to: a)
        let asset = try JSONReader.read(Array(receipt.utf8)) {
            try UploadAssets.Receipt(from: &$0).singleFile
        }
        let value = String(decoding: JSONWriter.write { asset.write(to: &$0) }, as: UTF8.self)
        _ = try await call(
            "records/modify",
            """
            {"operations":[{"operationType":"forceUpdate","record":{"recordName":"r",\
            "recordType":"Note","fields":{"f":{"value":\(value),"type":"ASSET"}}}}]}
            """, on: a)
        for case let maintenance as Maintenance in b.cloud.services {
            #expect(try await maintenance.removeOrphanedFiles() == 0)
        }
        let found = try await call("records/lookup", #"{"records":[{"recordName":"r"}]}"#, on: b)
        let records = try JSONReader.read(Array(found.utf8)) {
            try LookupRecords.Response(from: &$0).records
        }
        guard case .record(let record)? = records.first,
            case .asset(let read)? = try record.fields.decoded()["f"]?.value
        else {
            Issue.record("\(found)")
            return
        }
        let link = (read.downloadURL ?? "").replacingOccurrences(of: "${f}", with: "f")
        #expect(try await send(.get, try path(of: link), to: b) == text)
        let kept = try bucket.keys().filter { $0.hasPrefix("cloud/kept/") }
        #expect(kept.count == 1)
        // It is encrypted before it leaves the node.
        #expect(!String(decoding: try bucket.get(kept[0]), as: UTF8.self).contains("0123456789"))
        try await a.cloud.store.close()
        try await b.cloud.store.close()
    }
}
