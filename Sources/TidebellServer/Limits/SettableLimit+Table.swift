// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP

extension SettableLimit {
    /// Limits that belong together.
    package struct Section: Sendable {
        package let title: String
        package let limits: [SettableLimit]
    }

    /// All limits that can be set.
    package static let sections = [
        connections, requests, signIns, reads, writes, storage, times,
    ]

    /// All limits, in one list.
    package static let all = sections.flatMap(\.limits)

    static let most: Int64 = 1_000_000
    static let kilo: Int64 = 1 << 10
    static let mega: Int64 = 1 << 20
    static let giga: Int64 = 1 << 30
    static let hour: Int64 = 3600
    static let day: Int64 = 24 * 3600

    private static let connections = Section(
        title: "Connections",
        limits: [
            Self(
                "connections", \.connections, 8...most, unset: "what open files leave",
                "Connections at a time, at most what the limit of open files leaves room for."),
            Self(
                "connectionsPerAddress", \.shares.connectionsPerAddress, 1...most,
                unset: "half of all",
                "Connections from one address, except a trusted proxy."),
            Self(
                "idleTime", \.shares.idleTime, 1...day,
                "How long a connection with a user may be idle."),
            Self(
                "strangersIdleTime", \.shares.strangersIdleTime, 1...day,
                "How long any other connection may be idle, or wait before its first request."),
            Self(
                "answerTime", \.shares.answerTime, 10...day,
                """
                How long a client may take nothing of an answer; over this time its rate is measured.
                """),
            Self(
                "leastAnswerRate", \.shares.leastAnswerRate, .bytes, 0...mega,
                "Bytes per second that a client must read; a slower connection is closed."),
        ])

    private static let requests = Section(
        title: "Requests",
        limits: [
            Self(
                "headBytes", \.shares.headBytes, .bytes, 8 * kilo...mega,
                "Bytes of the head of a request."),
            Self(
                "bodyTime", \.shares.bodyTime, 1...most,
                "How long a request may take to arrive, plus what leastBodyRate adds."),
            Self(
                "leastBodyRate", \.shares.leastBodyRate, .bytes, 1...mega,
                "Bytes of a request for which it has one more second to arrive."),
            Self(
                "bodyBytes", \.shares.bodyBytes, .bytes,
                Int64(ShareLimits.leastBodyBytes)...1024 * giga,
                "Bytes of the bodies of requests and answers in memory, of all callers."),
            Self(
                "bodyBytesPerCaller", \.shares.bodyBytesPerCaller, .bytes,
                Int64(ShareLimits.leastBodyBytesPerCaller)...1024 * giga, "The same of one caller."
            ),
            Self(
                "requestsPerSecond", \.shares.requestsPerSecond, 0...most,
                "Requests per second of one caller; 0 means no limit."),
            Self(
                "burstSeconds", \.shares.burstSeconds, .seconds, 1...hour,
                "After a pause of this length, a caller may send as many requests at once."),
            Self(
                "heldRequests", \.heldRequests, 1...most,
                "Device streams and courier polls held open at a time."),
            Self(
                "heldRequestsPerCaller", \.shares.heldRequestsPerCaller, 1...most,
                "The same of one caller."),
            Self(
                "courierPolls", \.shares.courierPolls, 1...1000,
                "Polls of one courier; one more ends the oldest."),
            Self(
                "transfers", \.transfers, 1...100_000, unset: "128, fewer with few open files",
                "Uploads at a time, and as many downloads."),
            Self(
                "transfersPerCaller", \.shares.transfersPerCaller, 1...most,
                unset: "a quarter of all", "The same of one caller."),
        ])

    private static let signIns = Section(
        title: "Signing in",
        limits: [
            Self(
                "waitingSignIns", \.shares.waitingSignIns, 1...10_000,
                "Sign-ins with a password that wait for their turn."),
            Self(
                "wrongPasswords", \.shares.wrongPasswords, 1...1000,
                "Wrong passwords for one user from one address in 15 minutes."),
            Self(
                "wrongPasswordsPerAddress", \.shares.wrongPasswordsPerAddress, 1...100_000,
                "Wrong passwords from one address in 15 minutes."),
            Self(
                "signUps", \.shares.signUps, 0...1_000_000,
                "New users per hour who sign up on the sign-in page."),
            Self(
                "signUpsPerAddress", \.shares.signUpsPerAddress, 0...1_000_000,
                "The same from one address."),
            Self(
                "signInsPerAccount", \.limits.signInsPerAccount, 1...10_000,
                "Signed-in devices of a user in a container; a further one signs one out."),
            Self(
                "pagesPerAccount", \.limits.pagesPerAccount, 1...10_000, "The same of web pages."),
        ])

    private static let reads = Section(
        title: "Reads",
        limits: [
            Self(
                "waitingReads", \.store.waitingReads, 1...most,
                "Reads that run or wait for the store."),
            Self(
                "quickQuery.records", \.limits.quickQuery.records, 1...most,
                "Records that a query reads before it counts as a long read."),
            Self(
                "quickQuery.bytes", \.limits.quickQuery.bytes, .bytes, kilo...giga,
                "Bytes of these records."),
            Self(
                "quickPage.records", \.limits.quickPage.records, 1...most,
                "The same of a page of changes, and of records by name."),
            Self(
                "quickPage.bytes", \.limits.quickPage.bytes, .bytes, kilo...giga,
                "Bytes of these records."),
            Self(
                "longReads.atOnce", \.limits.longReads.atOnce, 1...1000,
                unset: "half of the processors", "Long reads at work."),
            Self(
                "longReads.atOnceByCaller", \.limits.longReads.atOnceByCaller, 1...1000,
                unset: "half of longReads.atOnce", "The same of one caller."),
            Self(
                "longReads.waiting", \.limits.longReads.waiting, 0...10_000,
                "Long reads that wait."),
            Self(
                "longReads.waitingOfUser", \.limits.longReads.waitingOfUser, 0...10_000,
                "The same of one user."),
            Self(
                "longReads.waitingOfAnonymous", \.limits.longReads.waitingOfAnonymous,
                0...10_000, "The same of all callers without a user in a container."),
            Self(
                "queryScan.records", \.limits.queryScan.records, 1...100 * most,
                "Records that are read for one page of a query without order; then the page ends."),
            Self(
                "queryScan.bytes", \.limits.queryScan.bytes, .bytes, mega...64 * giga,
                "Bytes of these records."),
            Self(
                "querySort.records", \.limits.querySort.records, 1...100 * most,
                "Records that are read for a sorted query; one that needs more is refused."),
            Self(
                "querySort.bytes", \.limits.querySort.bytes, .bytes, mega...64 * giga,
                "Bytes of these records."),
            // The least bodyBytes hold an answer of them.
            Self(
                "namedRecordBytes", \.limits.namedRecordBytes, .bytes, mega...32 * mega,
                "Bytes of the records that one request names."),
            Self(
                "pageBytes", \.limits.pageBytes, .bytes, 64 * kilo...32 * mega,
                "Bytes of records after which a page of an answer ends."),
        ])
}
