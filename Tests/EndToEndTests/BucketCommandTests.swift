// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import PostgresTestServer
import S3TestServer
import TestSupport
import Testing
import TidebellProcesses

/// Nodes with their files in a bucket, as an operator runs them.
@Suite("Nodes with a bucket", .hangs)
struct BucketCommandTests {
    private let nodes: [TidebellProgram]
    private let bucket: S3TestBucket

    init() throws {
        bucket = try S3TestServer.shared.get().makeBucket()
        let environment = bucket.server.owner.environment.merging([
            "TIDEBELL_STORE": try PostgresTestServer.shared.get().address(),
            "TIDEBELL_ASSET_STORE": "s3://\(bucket.name)/cloud",
            "TIDEBELL_ROOT_KEY": String(repeating: "7", count: 64),
        ]) { $1 }
        nodes = try (0..<2).map { _ in
            var program = try Built.tidebell()
            program.environment = environment
            return program
        }
    }

    @Test(
        "What a device saves by one node another device gets from another; a node that is not told of the bucket does not start"
    )
    func files() async throws {
        defer { for node in nodes { try? FileManager.default.removeItem(at: node.dataFolder) } }
        let endpoint = ["--s3-endpoint", bucket.server.address]
        let a = try await nodes[0].serve(arguments: ["--node-name=a"] + endpoint)
        let b = try await nodes[1].serve(arguments: ["--node-name=b"] + endpoint)
        let home = try await Household(program: nodes[0], user: "anna")
        let file = nodes[0].dataFolder.appendingPathComponent("file")
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try content.write(to: file)
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        record["f"] = CKAsset(fileURL: file)
        try await home.database().1.save(record)
        let phone = nodes[0].dataFolder.appendingPathComponent("phone")
        let read = try await home.at(nodes[1]).database(in: phone).1.record(for: record.recordID)
        let copy = try #require((read["f"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: copy) == content)
        #expect(try bucket.keys().count { $0.hasPrefix("cloud/kept/") } == 1)
        for server in [a, b] {
            server.signal(SIGTERM)
            #expect(await server.waitUntilExit() == 0)
        }
        var node = nodes[0]
        node.environment["TIDEBELL_ASSET_STORE"] = ""
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await node.run(["serve", "--node-name=a"])
        }
        #expect(
            error.description.contains("give --asset-store s3://\(bucket.name)/cloud."), "\(error)"
        )
    }
}
