// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellWire

/// Takes a file out of a form (`multipart/form-data`, RFC 7578) while it comes: the content of its first part.
///
/// CloudKit's upload URLs take forms as well as bare files; OpenCloudKit sends them.
struct FormFile: BodyWriter {
    /// The most bytes before the file.
    static let mostHeadBytes = 8 * 1024
    /// The most characters of a boundary (RFC 2046, 5.1.1).
    private static let longestBoundary = 70

    private enum Phase {
        case head
        case file
        case rest
    }

    /// What the file is written to.
    private(set) var file: any BodyWriter
    /// What ends a part.
    private let delimiter: [UInt8]
    private var phase = Phase.head
    /// What came and may be part of the head, or of the delimiter. A form begins as if a line had ended.
    private var waiting = Array("\r\n".utf8)

    /// Creates one; nil where the body is no form.
    init?(of request: WebRequest, into file: any BodyWriter) throws {
        let type = request.headers[.contentType] ?? ""
        guard type.prefix(while: { $0 != ";" }).isSameName(as: "multipart/form-data") else {
            return nil
        }
        let parameters = type.split(separator: ";").dropFirst().map { part in
            part.drop { $0 == " " }
        }
        let name = "boundary="
        let boundary =
            parameters.first { $0.prefix(name.count).isSameName(as: name) }
            .map { $0.dropFirst(name.count).filter { $0 != "\"" } } ?? ""
        guard (1...Self.longestBoundary).contains(boundary.utf8.count) else {
            throw WireError.badRequest("the Content-Type of a form has a boundary")
        }
        self.file = file
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Takes a piece of the form.
    mutating func write(_ bytes: [UInt8]) async throws {
        guard phase != .rest else { return }
        waiting.append(contentsOf: bytes)
        if phase == .head { try readHead() }
        if phase == .file { try await readFile() }
    }

    /// Fails unless the file came to its end.
    func finish() throws {
        guard phase == .rest else {
            throw WireError.badRequest("the form with the file is not whole")
        }
    }

    private mutating func readHead() throws {
        let blankLine = Array("\r\n\r\n".utf8)
        guard let start = position(of: delimiter, from: 0),
            let end = position(of: blankLine, from: start + delimiter.count)
        else {
            guard waiting.count <= Self.mostHeadBytes else {
                throw WireError.badRequest("the form with the file has no part")
            }
            return
        }
        waiting.removeFirst(end + blankLine.count)
        phase = .file
    }

    private mutating func readFile() async throws {
        if let end = position(of: delimiter, from: 0) {
            try await file.write(Array(waiting[..<end]))
            waiting = []
            phase = .rest
        } else if waiting.count >= delimiter.count {
            let count = waiting.count - delimiter.count + 1
            try await file.write(Array(waiting[..<count]))
            waiting.removeFirst(count)
        }
    }

    private func position(of pattern: [UInt8], from start: Int) -> Int? {
        guard waiting.count - start >= pattern.count else { return nil }
        return (start...(waiting.count - pattern.count)).first { index in
            // Nearly every byte is another one than the first.
            waiting[index] == pattern[0]
                && waiting[index..<(index + pattern.count)].elementsEqual(pattern)
        }
    }
}
