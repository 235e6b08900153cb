// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellScheduling

@testable import TidebellHTTP

@Suite("The header Date")
struct DateHeaderTests {
    @Test(
        "RFC 9110, 5.6.7: the header Date is in the one form that clients may rely on",
        arguments: [
            (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_399_999, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_102_444_799_000, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] as [(Int64, String)])
    func form(_ moment: Int64, _ text: String) {
        let header = DateHeader()
        #expect(header.text(at: Instant(rawValue: moment)) == text)
    }

    @Test("RFC 9110, 6.6.1: the header Date goes on with the clock, also backwards")
    func goesOn() {
        let header = DateHeader()
        let texts = [999, 1000, 1999, 2000, 500].map { header.text(at: Instant(rawValue: $0)) }
        #expect(
            texts == [
                "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:01 GMT",
                "Thu, 01 Jan 1970 00:00:01 GMT", "Thu, 01 Jan 1970 00:00:02 GMT",
                "Thu, 01 Jan 1970 00:00:00 GMT",
            ])
    }
}
