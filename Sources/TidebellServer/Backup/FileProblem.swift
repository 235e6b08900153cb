// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellSQLite

/// What is wrong with a kept file.
struct FileProblem {
    var file: StoreFindings.StoredFile
    /// In words that follow the file's name.
    var text: String

    /// Returns the problems with the records that hold the files, as the store at `url`
    /// has them.
    static func atRecords(_ problems: [FileProblem], ofStoreAt url: URL) -> [StoreProblem] {
        guard !problems.isEmpty else { return [] }
        let named = problems.prefix(StoreCheck.mostProblems).map(\.file.content)
        // Where the store cannot list them, that is a finding of its own.
        let holders = try? StoreCheck.holders(of: named, at: url.path)
        return problems.map { problem in
            let text = "the file \(DataFolder.keptFile(problem.file.name)) \(problem.text)"
            return holders?[problem.file.content]?.problem(text) ?? StoreProblem(text)
        }
    }
}
