// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite struct NearNameTests {
    static let names = ["title", "text", "color", "x", "createdTimestamp"]

    @Test(
        "A misspelled name is found by few letters that differ, others are not",
        arguments: [
            ("tilte", "title"), ("titel", "title"), ("Title", "title"), ("titl", "title"),
            ("colour", "color"), ("y", "x"), ("createTimeStamp", "createdTimestamp"),
            ("tide", nil), ("body", nil), ("", "x"),
        ] as [(String, String?)]
    )
    func near(name: String, expected: String?) {
        #expect(NearName.of(name, among: Self.names) == expected)
    }

    @Test("Of equally near names it is always the same; long ones are not compared")
    func ties() {
        #expect(NearName.of("tag", among: ["tog", "tug", "teg"]) == "teg")
        let long = String(repeating: "a", count: 65)
        #expect(NearName.of(long, among: [long]) == nil)
        #expect(NearName.of("a", among: []) == nil)
    }
}
