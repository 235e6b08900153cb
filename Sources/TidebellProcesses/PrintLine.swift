// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Prints a line at once, also into a pipe.
package func printLine(_ text: String = "") {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
