// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Prints a text and a line end at once: a reader of a pipe sees it, too,
/// when it happens.
///
/// A command whose result cannot be written has failed, so it ends there.
///
/// - Parameter fallback: What is added to the error then: what was done all the same, and
///   how to see or undo it.
func printLine(_ text: String, orElse fallback: String? = nil) {
    guard !write(text, to: .standardOutput) else { return }
    let reason = "Error: The output could not be written: \(String(cString: strerror(errno)))."
    printError([reason, fallback].compactMap(\.self).joined(separator: " "))
    exit(EXIT_FAILURE)
}

/// Prints what a command has done. Where it cannot be written the error has the text, since it
/// is done all the same.
func printDone(_ text: String) {
    printLine(text, orElse: "This was done: \(text)")
}

/// Prints a text that is no result: the command goes on where it cannot be written.
func announce(_ text: String) {
    _ = write(text, to: .standardOutput)
}

/// Prints a sentence about something that went wrong.
func printError(_ sentence: String) {
    // There is no other output for the failure of this one.
    _ = write(sentence, to: .standardError)
}

/// Writes a text and a line end; false where that failed.
///
/// NB: `FileHandle.write(_:)` ends the process when the other side is gone or the disk is
/// full.
private func write(_ text: String, to file: FileHandle) -> Bool {
    do {
        try file.write(contentsOf: Data((text + "\n").utf8))
        return true
    } catch {
        return false
    }
}
