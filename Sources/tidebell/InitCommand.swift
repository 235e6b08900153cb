// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore

/// `tidebell init`.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a Swift package with a library that uses CloudKit, tests, and a workflow.",
        discussion: """
            The package is for the sync code of an app. On Apple's systems the library uses Apple's framework. On \
            Linux it uses Tidebell, and the tests run it with a whole cloud in the test process.
            """
    )

    @Argument(help: "The name of the package, its library and its folder.") var name: String

    @Option(
        name: .customLong("tidebell"),
        help: ArgumentHelp(
            "The URL of Tidebell's repository, or the folder of a clone.",
            valueName: "url or folder"
        )
    )
    var source: String

    func validate() throws {
        guard name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*/) != nil else {
            throw ValidationError(
                "The name must be valid for a Swift module: a letter, then letters, digits and _.")
        }
        guard !PackageTemplate.takenNames.contains(name), !name.hasPrefix("Tidebell") else {
            throw ValidationError("The package uses a module named '\(name)'; choose another name.")
        }
    }

    func run() throws {
        let folder = URL(fileURLWithPath: name, isDirectory: true)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw OperatorError("\(name) exists already; choose another name.")
        }
        let template = PackageTemplate(name: name, source: try PackageTemplate.Source(source))
        for (path, text) in template.files {
            let file = folder.appendingPathComponent(path)
            do {
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: file, options: .withoutOverwriting)
            } catch {
                throw OperatorError("\(file.path) cannot be written: \(error.localizedDescription)")
            }
        }
        printLine(
            """
            Made the package \(name):

            \(template.files.map { "   \(name)/\($0.path)" }.joined(separator: "\n"))

            Run its tests. The first build takes some minutes, and needs libsqlite3-dev and zlib1g-dev:

               cd \(name) && swift test
            """
        )
    }
}
