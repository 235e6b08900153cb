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
                        at: .noon.advanced(by: .seconds(9)),
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
        Check("M5: answers of a clock that was ahead go with the next old one, and stop none") {
            store in
            try await store.write(.everything) { transaction throws in
                let answer = KeptAnswer(fingerprint: [1], body: [2])
                // The clock was ahead for three answers, and again for the last one.
                for (index, second) in [0, 900, 901, 902, 1, 2, 900].enumerated() {
                    try transaction.keepAnswer(
                        answer, to: .write("\(index)"),
                        at: .noon.advanced(by: .seconds(second)), exceeding: 9999
                    )
                }
                func remove(before second: Int64, at now: Int64, limit: Int = 9) throws -> Int {
                    try transaction.removeAnswers(
                        keptBefore: .noon.advanced(by: .seconds(second)),
                        at: .noon.advanced(by: .seconds(now)), exceeding: 9999, limit: limit
                    )
                }
                func left() throws -> [Int] {
                    try (0...6).filter { try transaction.keptAnswer(to: .write("\($0)")) != nil }
                }
                #expect(try remove(before: 1, at: 10) == 1)
                #expect(try left() == [1, 2, 3, 4, 5, 6])
                #expect(try remove(before: 2, at: 10, limit: 2) == 2)
                #expect(try left() == [3, 4, 5, 6])
                #expect(try remove(before: 2, at: 10) == 2)
                #expect(try left() == [5, 6])
                #expect(try remove(before: 9, at: 10) == 1)
                // What comes after it is not known: it may be new.
                #expect(try remove(before: 800, at: 899) == 0)
                #expect(try left() == [6])
                #expect(try remove(before: 901, at: 1000) == 1)
            }
        },
        Check("M5: an answer that a clock far behind keeps counts from the moment of retention") {
            store in
            try await store.write(.everything) { transaction throws in
                let present = Instant.noon.advanced(by: .seconds(1000))
                _ = try transaction.moveRetention(to: present, byAtMost: .zero)
                try transaction.keepAnswer(
                    KeptAnswer(fingerprint: [1], body: [2]), to: .write("1"), at: .noon,
                    exceeding: 9999
                )
                func remove(before moment: Instant) throws -> Int {
                    try transaction.removeAnswers(
                        keptBefore: moment, at: moment, exceeding: 9999, limit: 9)
                }
                #expect(try remove(before: present) == 0)
                #expect(try remove(before: present.advanced(by: .seconds(1))) == 1)
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
                    keptBefore: .noon, at: .noon, exceeding: 4 * answer.size, limit: 99
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
