// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Prints a text and a line end at once: also who reads through a pipe sees it
/// when it happens.
func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

/// Prints a sentence about something that went wrong.
func complain(_ sentence: String) {
    FileHandle.standardError.write(Data((sentence + "\n").utf8))
}
