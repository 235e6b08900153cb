// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellServer

/// Where a command takes a password from: the terminal, without showing it, or its
/// input. Never an argument, which every process of the machine could read.
struct PasswordOption: ParsableArguments {
    /// The longest line that is read.
    private static let lineLength = 4096

    @Flag(help: "Read the password from the standard input instead of asking for it.")
    var passwordStdin = false

    /// Reads a password.
    func read() throws -> String {
        if passwordStdin { return try Self.line() }
        return try Self.ask("Password: ")
    }

    /// Reads a password that is new, twice where a person types it.
    func readNew() throws -> String {
        if passwordStdin { return try Self.line() }
        let password = try Self.ask("New password: ")
        try PasswordRule.check(password)
        guard try Self.ask("The same again: ") == password else {
            throw OperatorError("The two passwords differ; nothing was changed.")
        }
        return password
    }

    private static func line() throws -> String {
        guard let line = readLine(), line.utf8.count <= lineLength else {
            throw OperatorError("The standard input has no password: pass it as one line.")
        }
        return line
    }

    /// Asks at the terminal for a secret, which is not shown while it is typed.
    static func ask(_ prompt: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else {
            throw OperatorError(
                "There is no terminal to ask for the password; use --password-stdin."
            )
        }
        FileHandle.standardError.write(Data(prompt.utf8))
        var shown = termios()
        tcgetattr(STDIN_FILENO, &shown)
        let restoration = EndingSignals.restore(shown)
        defer { restoration.cancel() }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return try line()
    }
}
