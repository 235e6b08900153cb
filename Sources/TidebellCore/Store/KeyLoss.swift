// SPDX-License-Identifier: Apache-2.0

/// What goes for good when a root key is given up.
package struct KeyLoss: Sendable, Hashable, CustomStringConvertible {
    /// Zones with encrypted fields: they go as a whole.
    package var zones: Int
    /// All records of those zones, also those without encrypted fields.
    package var records: Int
    /// Files that nobody can open any more, and those that only these records hold.
    package var files: Int

    /// Creates a value; nothing by default.
    package init(zones: Int = 0, records: Int = 0, files: Int = 0) {
        self.zones = zones
        self.records = records
        self.files = files
    }

    /// What goes, as the object of a sentence.
    package var description: String {
        let records = "\(records) record\(records == 1 ? "" : "s")"
        return "\(zones) zone\(zones == 1 ? "" : "s") with all fields of \(records), encrypted "
            + "or not, and \(files) file\(files == 1 ? "" : "s")"
    }

    /// Whether nothing goes.
    package var isEmpty: Bool { self == KeyLoss() }
}
