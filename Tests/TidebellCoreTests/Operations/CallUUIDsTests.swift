// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellWire

@Suite("UUIDs of a call")
struct CallUUIDsTests {
    @Test("A call has as many UUIDs as a request may need, and always the same ones")
    func distinct() throws {
        let first = try #require(UUID(uuidString: "6F9619FF-8B86-4011-B42D-FFFFFFFFFFFE"))
        let uuids = CallUUIDs(after: first)
        let made = (0..<1000).map { uuids[$0] }
        #expect(Set(made).count == made.count)
        #expect(made == (0..<1000).map { CallUUIDs(after: first)[$0] })
        #expect(made[0].uuidString == "6F9619FF-8B86-4011-B42D-FFFFFFFFFFFF")
        #expect(made[1].uuidString == "6F9619FF-8B86-4011-B42D-000000000000")
        #expect(made[259].uuidString == "6F9619FF-8B86-4011-B42D-000000000102")
    }
}
