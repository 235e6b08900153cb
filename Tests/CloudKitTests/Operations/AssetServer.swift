// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// A server for records with files, as far as requests and answers go: upload tokens are
/// used up, and answers to saves name the records that were sent.
final class AssetServer: Sendable {
    /// What a request is about.
    enum Part: Equatable { case uploadPaths, file, records, download }

    /// Replaces the answer to a request of a kind, counted from 1 among its kind.
    typealias Fault = @Sendable (Part, Int) async throws -> TransportResponse?

    /// A file of the content "one", as answers name it.
    static let one = #"{"fileChecksum":"AW/eFybKzVVL0VqB8uOz42F+yHw7","size":3"#

    private let counts = Locked<[String: Int]>([:])
    private let used = Locked<Set<String>>([])
    private let fault: Fault

    init(_ fault: @escaping Fault = { _, _ in nil }) {
        self.fault = fault
    }

    /// Returns a way to the server.
    func transport(downloads: ScriptedTransport.StreamScript? = nil) -> ScriptedTransport {
        ScriptedTransport(
            streams: downloads ?? { [self] _, _ in
                if let refusal = try await scripted(.download) {
                    return TransportStream(refusal: refusal)
                }
                return TransportStream(
                    chunks: AsyncThrowingStream { continuation in
                        continuation.yield(Array("one".utf8))
                        continuation.finish()
                    }
                )
            }
        ) { [self] sent, _ in try await answer(to: sent) }
    }

    private func scripted(_ part: Part) async throws -> TransportResponse? {
        let count = counts.withLock { counts in
            counts["\(part)", default: 0] += 1
            return counts["\(part)", default: 0]
        }
        return try await fault(part, count)
    }

    private func answer(to sent: ScriptedTransport.Sent) async throws -> TransportResponse {
        if sent.path.hasPrefix("/assets/1/upload/") {
            if let scripted = try await scripted(.file) { return scripted }
            guard used.withLock({ $0.insert(sent.path).inserted }) else {
                return .json(#"{"serverErrorCode":"BAD_REQUEST","reason":"used"}"#, status: 400)
            }
            return .json(#"{"singleFile":\#(Self.one),"receipt":"r\#(sent.path.suffix(1))"}}"#)
        }
        if sent.path.hasSuffix("assets/upload") {
            if let scripted = try await scripted(.uploadPaths) { return scripted }
            let count = sent.body.components(separatedBy: #""fieldName""#).count - 1
            let tokens = (0..<count).map { _ in
                let number = counts.withLock { counts in
                    counts["token", default: 0] += 1
                    return counts["token", default: 0]
                }
                return #"{"recordName":"n","fieldName":"f","url":"/assets/1/upload/\#(number)"}"#
            }
            return .json(#"{"tokens":[\#(tokens.joined(separator: ","))]}"#)
        }
        if let scripted = try await scripted(.records) { return scripted }
        let zone = sent.body.contains(#""zoneName":"Two""#) ? "Two" : "Notes"
        let fields =
            sent.path.hasSuffix("lookup")
            ? #"{"f":{"type":"ASSETID","value":\#(Self.one),"downloadURL":"/assets/1/download/x"}}}"#
            : "{}"
        let names = sent.body.components(separatedBy: #""recordName":""#).dropFirst()
            .compactMap { $0.split(separator: "\"").first }
        let records = names.map { Answer.record(String($0), fields: fields, zone: zone) }
        return .json(#"{"records":[\#(records.joined(separator: ","))]}"#)
    }
}

extension ScriptedTransport {
    /// The last part of each request's path, in order.
    var steps: [String] {
        sent.map { $0.path.split(separator: "/").suffix(2).joined(separator: "/") }
    }
}
