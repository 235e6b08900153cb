// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TidebellSQL

extension FieldChecksum {
    /// Lets SQL make the checksums of fields that are readable; NULL for others.
    static func define(in database: Database) {
        database.add(
            function: DatabaseFunction(functionName, argumentCount: 1, pure: true) { values in
                guard let data = Data.fromDatabaseValue(values[0]) else { return nil }
                let bytes = [UInt8](data)
                return isReadable(bytes) ? of(bytes) : nil
            }
        )
    }
}
