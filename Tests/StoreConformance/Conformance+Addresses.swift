// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let addresses: [Check] = [
        Check("SHARE-22: addresses are of one account, and find its users where verified") {
            store in
            try await store.write(.everything) { transaction throws in
                let (anna, ben) = try (transaction.makeUser("anna"), transaction.makeUser("ben"))
                let mail = StoredAddress(
                    address: .emailAddress("anna@example.org"), account: anna.account,
                    isVerified: true)
                let phone = StoredAddress(
                    address: .phoneNumber("+491701234567"), account: anna.account,
                    isVerified: false)
                try transaction.putAddress(mail)
                try transaction.putAddress(phone)
                #expect(try transaction.addresses(of: anna.account) == [mail, phone])
                #expect(try transaction.addresses(of: ben.account) == [])
                let wanted: Set<UserLookup> = [
                    mail.address, phone.address, .emailAddress("ben@example.org"),
                    .phoneNumber("anna@example.org"), .userRecordName(anna.recordName),
                ]
                #expect(Set(try transaction.addresses(among: wanted)) == [mail, phone])
                #expect(
                    try transaction.users(withAddresses: wanted, in: anna.container)
                        == [mail.address: anna])
                let elsewhere = ContainerKey(
                    container: anna.container.container, environment: .production)
                #expect(try transaction.users(withAddresses: wanted, in: elsewhere) == [:])
                #expect(try transaction.addresses(among: []) == [])
                var moved = phone
                (moved.account, moved.isVerified) = (ben.account, true)
                try transaction.putAddress(moved)
                #expect(try transaction.addresses(of: anna.account) == [mail])
                #expect(
                    try transaction.users(withAddresses: wanted, in: anna.container)
                        == [mail.address: anna, phone.address: ben])
                try transaction.removeAddress(phone.address)
                #expect(try transaction.addresses(of: ben.account) == [])
                try transaction.removeAccount(anna.account, at: .noon)
                #expect(try transaction.addresses(among: wanted) == [])
            }
        }
    ]
}
