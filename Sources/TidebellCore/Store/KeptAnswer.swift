// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What names one write of one device, however often it is sent.
package struct WriteID: Sendable, Hashable {
    package var user: UserID
    /// The device; empty where it is not known.
    package var clientID: String
    /// What the device calls the write.
    package var requestID: String

    /// Creates an ID.
    package init(user: UserID, clientID: String, requestID: String) {
        self.user = user
        self.clientID = clientID
        self.requestID = requestID
    }
}

/// The answer to a write, kept in case it was lost on its way to the device.
package struct KeptAnswer: Sendable, Hashable {
    /// What distinguishes the request from another one under the same ID; ``noFingerprint`` where
    /// that is not known any more.
    package var fingerprint: [UInt8]
    /// The body of the answer.
    package var body: [UInt8]

    /// Creates an answer.
    package init(fingerprint: [UInt8], body: [UInt8]) {
        self.fingerprint = fingerprint
        self.body = body
    }

    /// Of an answer that was kept under another root key (``ChangeRootKey``): fingerprints are
    /// made with it, of what is not kept.
    package static let noFingerprint: [UInt8] = []

    /// The bytes it counts for: the body and about what a row costs besides, so that
    /// a bound of bytes is one of rows too.
    package var size: Int { body.count + Self.rowSize }

    /// Bytes of a row and its index entry without the body.
    package static let rowSize = 256
}
