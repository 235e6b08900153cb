// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOHTTP1
import TidebellCore

/// What is done before files are put into a bucket: it is tried, and marked as one cloud's.
extension BucketClient {
    /// The largest file that one request writes.
    static let mostFileBytes: Int64 = 5 << 30
    /// Bytes of the mark.
    private static let mostMarkBytes = 1024
    private static let markName = "tidebell-cloud"

    /// Tries what is needed of the bucket: writes, reads, lists and removes an object. Then marks the prefix as this
    /// cloud's, unless it is another one's: of files that a store does not know nothing is left after a day.
    ///
    /// What an operator can put right fails with ``OperatorError``.
    func prepare(for identity: UInt64, asNode node: String?) async throws {
        do {
            try await probe(place.key("probe-\(node ?? "server")"))
            try await mark(String(identity, radix: 16))
        } catch let failure as BucketFailure {
            throw OperatorError(
                "The bucket \(place) cannot hold the files of records: \(failure). "
                    + (failure.advice.map { "\($0) " } ?? "")
                    + "The credentials are from \(credentials).")
        }
    }

    private func probe(_ key: String) async throws {
        let bytes = Array(AWSSignature.text(of: time.now()).utf8)
        try await put(.bytes(bytes), at: key)
        let read = try await contents(of: key, upTo: Self.mostMarkBytes)
        guard read == bytes else {
            throw failure(
                of: Call(method: .GET, key: key), .strange("it is not what was just written"))
        }
        _ = try await page(place.key("kept/"), limit: 1)
        try await remove(key)
    }

    private func mark(_ identity: String) async throws {
        let key = place.key(Self.markName)
        if try await contents(of: key, upTo: Self.mostMarkBytes) == nil {
            let bytes = Array(identity.utf8)
            do {
                try await put(.bytes(bytes), at: key, onlyIfAbsent: true)
            } catch let failure as BucketFailure {
                switch failure.cause {
                // Another one was faster: whose it is now is looked at below.
                case .refused(409...412, _, _): break
                // The service knows of no conditions.
                case .refused(400, _, _), .refused(501, _, _):
                    try await put(.bytes(bytes), at: key)
                default: throw failure
                }
            }
        }
        let owner = try await contents(of: key, upTo: Self.mostMarkBytes)
        guard owner == Array(identity.utf8) else {
            throw OperatorError(
                "\(place) has the files of another cloud, as the object \(key) there says. Give each cloud a prefix "
                    + "of its own (--asset-store s3://BUCKET/PREFIX). If the other cloud is gone for good, and its "
                    + "files are this cloud's, remove that object.")
        }
    }
}
