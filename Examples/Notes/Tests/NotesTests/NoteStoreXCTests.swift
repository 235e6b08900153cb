// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
    import CloudKit
    import Notes
    import TidebellTesting
    import XCTest

    final class NoteStoreXCTests: XCTestCase {
        func testANoteReachesTheOtherDevice() async throws {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            let laptop = try await cloud.device(user: "anna")
            let onPhone = await phone.run { NoteStore() }
            let onLaptop = await laptop.run { NoteStore() }
            try await onPhone.start()
            try await onLaptop.start()
            try await onPhone.save("milk", as: "shopping")
            try await onLaptop.fetchChanges()
            let notes = await onLaptop.notes
            XCTAssertEqual(notes, ["shopping": "milk"])
        }
    }
#endif
