// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let signIns: [Check] = [
        Check("A device's sign-in is found by both its codes, entered once, and taken once") {
            store in
            let device = StoredDeviceSignIn.desk
            let user = StoredDeviceSignIn.Entered(
                account: AccountID(rawValue: 7), name: "Ben", proof: [1, 0, 2], isByProvider: true)
            try await store.write(.store) { transaction throws in
                #expect(try transaction.putDeviceSignIn(device))
                #expect(try transaction.deviceSignIn(hash: device.hash) == device)
                #expect(try transaction.deviceSignIn(userCode: device.userCode) == device)
                #expect(try transaction.deviceSignIn(hash: [1]) == nil)
                #expect(try transaction.deviceSignIn(userCode: "BBBB-BBBC") == nil)
                func enter(_ code: String, at now: Instant) throws -> Bool {
                    try transaction.enterDeviceSignIn(userCode: code, by: user, at: now)
                }
                #expect(try !enter("BBBB-BBBC", at: .noon))
                #expect(try !enter(device.userCode, at: device.expiresAt))
                #expect(try enter(device.userCode, at: .noon))
                #expect(try !enter(device.userCode, at: .noon))
                #expect(try transaction.takeDeviceSignIn(hash: [1]) == nil)
            }
            var entered = device
            entered.entered = user
            #expect(try await store.read { try $0.deviceSignIn(hash: device.hash) } == entered)
            async let one = store.write(.store) { try $0.takeDeviceSignIn(hash: device.hash) }
            async let other = store.write(.store) { try $0.takeDeviceSignIn(hash: device.hash) }
            #expect(try await [one, other].compactMap(\.self) == [entered])
        },
        Check("What is not known of a device and of who entered its code stays unknown") { store in
            var device = StoredDeviceSignIn(
                hash: [1], userCode: "BBBB-BBBB", container: .notes, expiresAt: .noon)
            device.entered = StoredDeviceSignIn.Entered(
                account: AccountID(rawValue: 7), name: "ben", proof: nil, isByProvider: false)
            try await store.write(.store) { [device] transaction throws in
                #expect(try transaction.putDeviceSignIn(device))
                #expect(try transaction.takeDeviceSignIn(hash: [1]) == device)
            }
        },
        Check("No two devices show one code") { store in
            try await store.write(.store) { transaction throws in
                var device = StoredDeviceSignIn.desk
                #expect(try transaction.putDeviceSignIn(device))
                device.hash = [9]
                #expect(try !transaction.putDeviceSignIn(device))
                #expect(try transaction.deviceSignIn(hash: [9]) == nil)
                device.userCode = "BBBB-BBBC"
                #expect(try transaction.putDeviceSignIn(device))
            }
        },
        Check(
            "Sign-ins of devices are counted, in all, of a container, of an address, until they expire"
        ) {
            store in
            try await store.write(.store) { transaction throws in
                let places: [(ContainerKey, String?)] = [
                    (.notes, "a"), (.notes, "b"), (.released, "a"), (.chess, nil),
                ]
                for (number, (container, address)) in places.enumerated() {
                    let device = StoredDeviceSignIn(
                        hash: [UInt8(number)], userCode: "\(number)", container: container,
                        address: address,
                        expiresAt: .noon.advanced(by: .seconds(Int64(number))))
                    #expect(try transaction.putDeviceSignIn(device))
                }
                func counts(_ address: String?, after seconds: Int64) throws -> DeviceSignInCounts {
                    try transaction.deviceSignInCounts(
                        in: .notes, of: address, at: .noon.advanced(by: .seconds(seconds)))
                }
                #expect(
                    try counts("a", after: -1) == .init(all: 4, inContainer: 2, ofAddress: 2))
                #expect(
                    try counts(nil, after: -1) == .init(all: 4, inContainer: 2, ofAddress: 0))
                #expect(try counts("a", after: 0) == .init(all: 3, inContainer: 1, ofAddress: 1))
                let moment = Instant.noon.advanced(by: .seconds(1))
                #expect(try transaction.removeDeviceSignIns(expiredBy: moment, limit: 1) == 1)
                #expect(try transaction.deviceSignIn(hash: [0]) == nil)
                #expect(try transaction.removeDeviceSignIns(expiredBy: moment, limit: 9) == 1)
                #expect(try transaction.removeDeviceSignIns(expiredBy: moment, limit: 9) == 0)
                #expect(try transaction.deviceSignIn(hash: [2]) != nil)
            }
        },
        Check("The sign-in of a device goes with the account that entered its code") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                var device = StoredDeviceSignIn.desk
                #expect(try transaction.putDeviceSignIn(device))
                (device.hash, device.userCode) = ([9], "BBBB-BBBC")
                device.entered = StoredDeviceSignIn.Entered(
                    account: anna, name: "anna", proof: nil, isByProvider: false)
                #expect(try transaction.putDeviceSignIn(device))
                try transaction.removeAccount(anna, at: .noon)
                #expect(try transaction.deviceSignIn(hash: [9]) == nil)
                #expect(try transaction.deviceSignIn(hash: StoredDeviceSignIn.desk.hash) != nil)
            }
        },
        Check("A finished sign-in by a provider is noted once, until it need not be known") {
            store in
            func note(_ hash: UInt8, for seconds: Int64) async throws -> Bool {
                try await store.write(.store) {
                    try $0.noteFinishedVisit(
                        [hash], until: .noon.advanced(by: .seconds(seconds)), keeping: 2)
                }
            }
            async let one = note(1, for: 1)
            async let other = note(1, for: 1)
            #expect(try await [one, other].filter(\.self).count == 1)
            #expect(try await note(2, for: 2))
            #expect(try await !note(1, for: 1))
            // One too many: the one that ends first is forgotten.
            #expect(try await note(3, for: 3))
            #expect(try await !note(2, for: 2))
            #expect(try await !note(3, for: 3))
            try await store.write(.store) { transaction throws in
                func remove(by seconds: Int64, limit: Int) throws -> Int {
                    try transaction.removeFinishedVisits(
                        endedBy: .noon.advanced(by: .seconds(seconds)), limit: limit)
                }
                #expect(try remove(by: 1, limit: 9) == 0)
                #expect(try remove(by: 3, limit: 1) == 1)
                #expect(try remove(by: 3, limit: 9) == 1)
            }
            #expect(try await note(2, for: 2))
        },
    ]
}

extension StoredDeviceSignIn {
    /// A device of which all is known.
    fileprivate static let desk = StoredDeviceSignIn(
        hash: [3, 0, 4], userCode: "BBBB-BBBB", container: .notes, methods: [.password, .provider],
        deviceName: "desk", network: "192.0.2.1", address: "192.0.2.1",
        expiresAt: .noon.advanced(by: .seconds(600)))
}
