// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A database of a container.
open class CKDatabase: NSObject, @unchecked Sendable {
    /// The databases of a container.
    public enum Scope: Int, Sendable {
        /// The database everyone can read.
        case `public` = 1
        /// The database of the signed-in user alone.
        case `private` = 2
        /// What other users shared with the signed-in user.
        case shared = 3
    }
}
