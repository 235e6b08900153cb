// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What the built program consists of.
@Suite struct LinkTests {
    @Test("The command line is linked without the client's module")
    func client() throws {
        let program = try Data(
            contentsOf: try Built.tidebell().executable, options: .alwaysMapped)
        // Modules by the names of types in them, as the compiler writes those.
        let modules = ["TidebellServer", "TidebellDevice", "CloudKit"]
        let linked = modules.filter { module in
            program.range(of: Data("$s\(module.utf8.count)\(module)".utf8)) != nil
        }
        #expect(linked == ["TidebellServer", "TidebellDevice"])
    }
}
