// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// The demo is the product's promise; this is the proof that it is kept.
@Suite(.hangs) struct DemoTests {
    @Test("The demo shows the main job with a real server and real devices, to its end")
    func theDemoReachesItsEnd() async throws {
        let demo = try ChildProcess(Built.program("feed-demo"), [], mergesErrors: true)
        var output: [String] = []
        for await line in demo.lines { output.append(line) }
        let status = await demo.waitUntilExit()
        let text = output.joined(separator: "\n")
        #expect(status == 0, Comment(rawValue: text))
        #expect(text.contains("exactly what B has"), Comment(rawValue: text))
        #expect(text.contains("for the 7 B made: none twice, none missed"), Comment(rawValue: text))
        #expect(text.contains("✗ feed-changes"), Comment(rawValue: text))
    }
}

/// The programs of this build.
enum Built {
    /// Returns a program that stands beside the test bundle.
    static func program(_ name: String) -> URL {
        // NB: under `swift test` the running program is Apple's test helper or the
        // bundle itself, so the bundle's path in the arguments is the surer guide.
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") }
        let folder =
            bundle.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
            ?? ChildProcess.buildFolder
        return folder.appendingPathComponent(name)
    }

    /// Returns a `tidebell` with a fresh data folder and a free port.
    static func tidebell() throws -> TidebellProgram {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-test-\(UUID())")
        return TidebellProgram(
            executable: program("tidebell"), dataFolder: folder, port: try LoopbackPort.free()
        )
    }
}
