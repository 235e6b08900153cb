// SPDX-License-Identifier: Apache-2.0

/// Splits the text of a record into words (REC-8).
enum RecordTokens {
    /// Returns the words of all text fields, each once, in order of the field names.
    static func tokens(of values: [CKRecord.FieldKey: CKRecord.FieldValue]) -> [String] {
        var seen: Set<String> = []
        return values.sorted { $0.key < $1.key }
            .flatMap { texts(of: $0.value) }
            .flatMap { $0.split { !$0.isLetter && !$0.isNumber }.map(String.init) }
            .filter { seen.insert($0).inserted }
    }

    private static func texts(of value: CKRecord.FieldValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .list(let elements): elements.flatMap { texts(of: $0) }
        default: []
        }
    }
}
