// SPDX-License-Identifier: Apache-2.0

/// An operation of the service, as client and server know it: where it is, who may call
/// it, what is asked and what is answered.
///
/// The rule of an endpoint is in `TidebellCore`, what answers it in `TidebellHTTP`, both
/// as extensions of the same type. ``WireProtocol/endpoints`` lists all of them.
package protocol WireEndpoint: SendableMetatype {
    /// What is asked; ``EmptyBody`` where the path is all.
    associatedtype Request: Sendable
    /// What is answered.
    associatedtype Response: Sendable
    /// Where it is, who may call it, and what a call does.
    static var route: WireRoute { get }
}

/// A request or an answer that is one JSON document.
package protocol WireBody: Sendable {
    /// Reads the document; what is missing or of another type fails with ``JSONError``.
    init(from reader: inout JSONReader) throws
    /// Writes the document.
    func write(to writer: inout JSONWriter)
    /// The number of items in it; nil for a document that is no list of them. Where request
    /// and answer have one, the answer has an item for each of the request's, in their order.
    var itemCount: Int? { get }
    /// The zone that the records of a request are in; nil for a request about none.
    var recordZone: ZoneID? { get }
}

extension WireBody {
    package var itemCount: Int? { nil }
    package var recordZone: ZoneID? { nil }
}

/// A document without members, `{}`; a request's may also be absent (web-services 1.2).
package struct EmptyBody: WireBody, Hashable {
    /// Creates the document.
    package init() {}

    /// Reads any object.
    package init(from reader: inout JSONReader) throws {
        try reader.readObject { reader, _ in try reader.skipValue() }
    }

    /// Writes an object without members.
    package func write(to writer: inout JSONWriter) {
        writer.object { _ in }
    }
}

/// The bytes of a file, as the body of a request or an answer; they are streamed, so no
/// value has them.
package enum FileBody: Sendable {}

/// JSON that only its sender knows the members of; it is written where it is made.
package enum OtherJSON: Sendable {}
