// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellTesting

@Suite("What a device has for itself")
struct OwnDeviceTests {
    @Test("two devices have other defaults, and a new device none of an earlier one's")
    func defaults() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let laptop = try await cloud.device(user: "ben")
        phone.defaults.set(true, forKey: "didSubscribe")
        phone.defaults.set(Data([1, 2]), forKey: "token")
        #expect(phone.defaults.bool(forKey: "didSubscribe"))
        #expect(phone.defaults.data(forKey: "token") == Data([1, 2]))
        #expect(!laptop.defaults.bool(forKey: "didSubscribe"))
        #expect(!UserDefaults.standard.bool(forKey: "didSubscribe"))
        #expect(phone.defaults.synchronize())
        let next = try await TestCloud().device(user: "anna")
        #expect(!next.defaults.bool(forKey: "didSubscribe"))
    }

    @Test("a device's home is a folder of its own, which goes with the cloud and its devices")
    func home() async throws {
        func use() async throws -> String {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            let laptop = try await cloud.device(user: "anna")
            #expect(phone.home != laptop.home)
            try Data("x".utf8).write(to: phone.home.appendingPathComponent("cache"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: phone.home.path) == ["cache"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: laptop.home.path) == [])
            return phone.home.path
        }
        let home = try await use()
        await eventually { !FileManager.default.fileExists(atPath: home) }
    }
}
