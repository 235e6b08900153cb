// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("Articles")
struct ArticlesTests {
    private static let project = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The files of a folder, as paths inside the project.
    private static func files(in folder: String, withSuffix suffixes: [String]) throws -> [String] {
        let path = project.appendingPathComponent(folder).path
        return try FileManager.default.subpathsOfDirectory(atPath: path)
            .filter { file in
                suffixes.contains { file.hasSuffix($0) } && !file.contains(".build/")
            }
            .map { "\(folder)/\($0)" }.sorted()
    }

    /// The lines of a file without their indentation.
    private static func lines(of path: String) throws -> [String] {
        try String(contentsOf: project.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The fenced listings of a page that are Swift or YAML.
    private static func listings(of page: String) throws -> [String] {
        var listings: [String] = []
        var open: [String]?
        for line in try lines(of: page) {
            if line == "```swift" || line == "```yaml" {
                open = []
            } else if line == "```", let listing = open {
                listings.append(listing.joined(separator: "\n"))
                open = nil
            } else {
                open?.append(line)
            }
        }
        return listings
    }

    @Test("every listing of the documentation stands in the example that is built and tested")
    func listingsAreTested() throws {
        let example = try Self.files(in: "Examples/Notes", withSuffix: [".swift", ".yml"])
            .map { try "\n" + Self.lines(of: $0).joined(separator: "\n") + "\n" }
        let pages = try Self.files(in: "Sources", withSuffix: [".md"])
            .filter { $0.contains(".docc/") }
        var count = 0
        for page in pages {
            for listing in try Self.listings(of: page) {
                count += 1
                #expect(example.contains { $0.contains("\n\(listing)\n") }, "\(page):\n\(listing)")
            }
        }
        #expect(pages.count >= 4 && count >= 15)
    }
}
