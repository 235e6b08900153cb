// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TidebellCore
import TidebellWire

/// The fields of a form as browsers send it (`application/x-www-form-urlencoded`).
struct PageForm: Sendable {
    /// The most bytes of a form: a user name and a password as long as they may be, each byte as
    /// three.
    static let mostBytes = 16 * 1024
    /// The most fields of one.
    private static let mostFields = 16

    private var values: [String: String] = [:]

    /// Reads a form; fails for what is none.
    init(_ body: [UInt8], of request: WebRequest) throws {
        let type = request.headers[.contentType]?.prefix { $0 != ";" } ?? ""
        guard type.isSameName(as: "application/x-www-form-urlencoded") else {
            throw WireError.badRequest("a page takes the forms it has, and nothing else")
        }
        let pairs = String(decoding: body, as: UTF8.self).split(separator: "&")
        guard pairs.count <= Self.mostFields else {
            throw WireError.badRequest("a form has at most \(Self.mostFields) fields")
        }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { $0.replacing("+", with: " ").removingPercentEncoding }
            guard let name = decoded[0], let value = decoded.count > 1 ? decoded[1] : "" else {
                throw WireError.badRequest("a field of the form is not properly percent-encoded")
            }
            values[name] = value
        }
    }

    /// The value of a field; empty without one.
    subscript(name: String) -> String { values[name] ?? "" }
}
