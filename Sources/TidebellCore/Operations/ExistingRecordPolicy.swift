// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The answer to saving a new record whose ID exists (SAVE-8); raw values are those
/// of the command line.
package enum ExistingRecordPolicy: String, Sendable, Hashable, CaseIterable {
    /// `serverRecordChanged`, as several apps report it of CloudKit.
    case standard
    /// `serverRejectedRequest`, as others do. Web clients see no difference.
    case strict

    /// The error code where it is another than the web code.
    var ckErrorCode: Int? {
        switch self {
        case .standard: nil
        case .strict: CKErrorCode.serverRejectedRequest
        }
    }
}
