// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore

/// `tidebell init`.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a package: a library that uses CloudKit, its tests, a workflow for them.",
        discussion: """
            For an app's code that syncs. On Apple's systems the library uses Apple's framework; on Linux it uses \
            Tidebell, and the tests run it against a whole cloud in the test process.
            """
    )

    @Argument(help: "The package's name, which is its library's and its folder's.") var name: String

    @Option(
        name: .customLong("tidebell"),
        help: ArgumentHelp(
            "Where the package of Tidebell is: the URL of its repository, or its folder.",
            valueName: "url or folder"
        )
    )
    var source: String

    func validate() throws {
        guard name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*/) != nil else {
            throw ValidationError("The name is a module's: a letter, then letters, digits and _.")
        }
        guard !PackageTemplate.takenNames.contains(name), !name.hasPrefix("Tidebell") else {
            throw ValidationError("'\(name)' is the name of a module that the package uses.")
        }
    }

    func run() throws {
        let folder = URL(fileURLWithPath: name, isDirectory: true)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw OperatorError("There is a \(name) here already; choose another name.")
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

            Run its tests, of which the first build takes some minutes (it needs libsqlite3-dev and zlib1g-dev):

               cd \(name) && swift test
            """
        )
    }
}
