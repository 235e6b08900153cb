// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellServer

/// Tokens from files or the standard input, which no other process can read; arguments all
/// can.
struct TokenFileOptions: ParsableArguments {
    /// The most bytes of a file that holds a token.
    private static let fileLength = 4096
    /// What stands for the standard input.
    private static let standardInput = "-"

    /// The warning about a token on the command line.
    static let warning =
        "A token on the command line can be read by every process of this machine; use "
        + "--token-file and --api-token-file, or $TIDEBELL_API_TOKEN."

    @Option(
        help: ArgumentHelp(
            "A file with a web token of the user; - is the standard input.", valueName: "file"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with the container's API token; - is the standard input.", valueName: "file"
        ),
        completion: .file()
    )
    var apiTokenFile: String?

    /// How many of them are the standard input.
    var inputs: Int { [tokenFile, apiTokenFile].count { $0 == Self.standardInput } }

    /// The web token; nil where no file is named.
    func token() throws -> String? { try tokenFile.map(Self.read) }

    /// The API token; nil likewise.
    func apiToken() throws -> String? { try apiTokenFile.map(Self.read) }

    private static func read(_ path: String) throws -> String {
        // The first line: files end with a line feed, and some have notes below.
        let line = path == standardInput ? try inputLine() : try firstLine(of: path)
        let token = line?.trimmingCharacters(in: .whitespaces) ?? ""
        guard !token.isEmpty, token.utf8.count <= fileLength else {
            let name = path == standardInput ? "the standard input" : "'\(path)'"
            throw OperatorError("There is no token in \(name).")
        }
        return token
    }

    /// The first line of the standard input; a person at a terminal is asked for it.
    private static func inputLine() throws -> String? {
        isatty(STDIN_FILENO) == 1 ? try PasswordOption.ask("Token: ") : readLine()
    }

    private static func firstLine(of path: String) throws -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw OperatorError("The file '\(path)' cannot be read.")
        }
        let data = try file.read(upToCount: fileLength) ?? Data()
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first
            .map(String.init)
    }
}
