// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

extension StoreConformance {
    static let keptAnswers: [Check] = [
        Check("A kept answer is found by user, device and request; it is no one else's") { store in
            try await store.write(.everything) { transaction throws in
                let answer = KeptAnswer(fingerprint: [1], body: [2, 3])
                try transaction.keepAnswer(answer, to: .write("1"), at: .noon, exceeding: 9999)
                #expect(try transaction.keptAnswer(to: .write("1")) == answer)
                #expect(try transaction.keptAnswer(to: .write("2")) == nil)
                #expect(try transaction.keptAnswer(to: .write("1", client: "pad")) == nil)
                #expect(try transaction.keptAnswer(to: .write("1", user: .ben)) == nil)
            }
            let kept = try await store.read { try $0.keptAnswer(to: .write("1")) }
            #expect(kept == KeptAnswer(fingerprint: [1], body: [2, 3]))
        },
        Check("A write that is undone keeps no answer") { store in
            await #expect(throws: Refused()) {
                try await store.write(.everything) { transaction throws in
                    let answer = KeptAnswer(fingerprint: [1], body: [2])
                    try transaction.keepAnswer(answer, to: .write("1"), at: .noon, exceeding: 9999)
                    throw Refused()
                }
            }
            let kept = try await store.read { try $0.keptAnswer(to: .write("1")) }
            #expect(kept == nil)
        },
        Check("Old answers go, then the oldest beyond the bytes; the newest stay") { store in
            try await store.write(.everything) { transaction throws in
                let answer = KeptAnswer(fingerprint: [1], body: [UInt8](repeating: 7, count: 100))
                for number: Int64 in 1...6 {
                    try transaction.keepAnswer(
                        answer, to: .write("\(number)"),
                        at: .noon.advanced(by: .seconds(number)), exceeding: 9999
                    )
                }
                func remove(before second: Int64, keeping count: Int, limit: Int = 9) throws -> Int
                {
                    try transaction.removeAnswers(
                        keptBefore: .noon.advanced(by: .seconds(second)),
                        exceeding: count * answer.size, limit: limit
                    )
                }
                func left() throws -> [Int] {
                    try (1...6).filter { try transaction.keptAnswer(to: .write("\($0)")) != nil }
                }
                #expect(try remove(before: 1, keeping: 6) == 0)
                #expect(try remove(before: 3, keeping: 6, limit: 1) == 1)
                #expect(try remove(before: 3, keeping: 6) == 1)
                #expect(try left() == [3, 4, 5, 6])
                #expect(try remove(before: 0, keeping: 2) == 2)
                #expect(try left() == [5, 6])
                #expect(try remove(before: 0, keeping: 0) == 2)
                #expect(try left() == [])
                #expect(try remove(before: 9, keeping: 0) == 0)
            }
        },
        Check("What one user writes pushes out the user's own answers, and nobody else's") {
            store in
            try await store.write(.everything) { transaction throws in
                let answer = KeptAnswer(fingerprint: [1], body: [UInt8](repeating: 7, count: 100))
                func keep(_ name: String, of user: UserID) throws {
                    try transaction.keepAnswer(
                        answer, to: .write(name, user: user), at: .noon, exceeding: 8 * answer.size
                    )
                }
                func kept(of user: UserID) throws -> [Int] {
                    try (1...20).filter {
                        try transaction.keptAnswer(to: .write("\($0)", user: user)) != nil
                    }
                }
                for number in 1...2 { try keep("\(number)", of: .ben) }
                for number in 1...8 { try keep("\(number)", of: .anna) }
                #expect(try kept(of: .anna) == Array(1...8))
                try keep("9", of: .anna)
                #expect(try kept(of: .anna) == Array(4...9), "three quarters of what may stay")
                for number in 10...20 { try keep("\(number)", of: .anna) }
                #expect(try kept(of: .anna).count <= 8)
                #expect(try kept(of: .ben) == [1, 2])
                // For all together: who has most loses first.
                let removed = try transaction.removeAnswers(
                    keptBefore: .noon, exceeding: 4 * answer.size, limit: 99
                )
                #expect(removed > 0)
                #expect(try kept(of: .ben) == [1, 2])
                #expect(try kept(of: .anna) == [19, 20])
            }
        },
    ]
}

extension WriteID {
    fileprivate static func write(
        _ requestID: String, user: UserID = .anna, client: String = "phone"
    ) -> WriteID {
        WriteID(user: user, clientID: client, requestID: requestID)
    }
}
