// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

extension WebResponse {
    /// What is compressed: text of which there may be much. Pages for people are not, since a secret and
    /// what a visitor typed stand in the same page, whose compressed length would tell about the
    /// secret; files are what their owners made them.
    private static let compressible = ["application/json", "text/javascript", "text/plain"]

    /// Compresses the body where the client reads that and it is worth it.
    mutating func compress(for request: WebRequest) async {
        guard case .bytes(let bytes) = body, status == 200,
            (Gzip.fewestBytes...Gzip.mostBytes).contains(bytes.count),
            let type = headers[.contentType]?.prefix(while: { $0 != ";" }),
            Self.compressible.contains(where: { type.isSameName(as: $0) })
        else { return }
        headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        guard request.acceptsGzip, let compressed = await Self.compressed(bytes) else { return }
        body = .bytes(compressed)
        headers[.contentEncoding] = "gzip"
        // The same content in other bytes (RFC 9110, 8.8.3.3).
        if let tag = headers[.eTag], !tag.hasPrefix("W/") { headers[.eTag] = "W/" + tag }
    }

    /// Bytes of an answer that are compressed where it was made.
    private static let mostCompressedInPlace = 64 * 1024

    /// Compresses a long answer on a thread for which no connections wait (``LoopExecutor``).
    private static func compressed(_ bytes: [UInt8]) async -> [UInt8]? {
        guard bytes.count > mostCompressedInPlace else { return Gzip.compressed(bytes) }
        return await withTaskExecutorPreference(globalConcurrentExecutor) {
            Gzip.compressed(bytes)
        }
    }
}

extension WebRequest {
    /// Whether the client reads gzip (RFC 9110, 12.5.3).
    var acceptsGzip: Bool {
        var weight: Double?
        for header in headers[values: .acceptEncoding] {
            for coding in header.split(separator: ",") {
                let parts = coding.split(separator: ";").map { $0.trimmed }
                guard let name = parts.first else { continue }
                let isNamed = name.isSameName(as: "gzip") || name.isSameName(as: "x-gzip")
                guard isNamed || (name == "*" && weight == nil) else { continue }
                let text = parts.dropFirst().first { $0.hasPrefix("q=") || $0.hasPrefix("Q=") }
                weight = text.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
                if isNamed { return weight != 0 }
            }
        }
        return weight ?? 0 > 0
    }

    /// Whether its body is compressed; fails with ``UnknownContentCoding`` for what is not read.
    func isCompressed() throws -> Bool {
        let codings = headers[values: .contentEncoding].flatMap { $0.split(separator: ",") }
            .map(\.trimmed).filter { !$0.isEmpty && !$0.isSameName(as: "identity") }
        guard let coding = codings.first else { return false }
        guard codings.count == 1, coding.isSameName(as: "gzip") || coding.isSameName(as: "x-gzip")
        else { throw UnknownContentCoding(coding: codings.joined(separator: ", ")) }
        return true
    }
}

extension Substring {
    /// Without the spaces around it.
    fileprivate var trimmed: Substring {
        var text = self.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
