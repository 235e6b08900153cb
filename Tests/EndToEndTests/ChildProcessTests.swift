// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What tests, the demo and the benchmarks start programs with.
@Suite(.hangs) struct ChildProcessTests {
    @Test(
        "a child's lines end with its output, also where no line end follows the last one",
        arguments: [
            ("a\\nb", ["a", "b"]), ("a\\nb\\n", ["a", "b"]), ("a", ["a"]), ("\\n", [""]), ("", []),
        ])
    func lastLine(output: String, lines: [String]) async throws {
        let child = try ChildProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", "printf '\(output)'"])
        var found: [String] = []
        for await line in child.lines { found.append(line) }
        #expect(found == lines)
        #expect(await child.waitUntilExit() == 0)
    }
}
