// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellScheduling

@Suite("Random UUIDs")
struct RandomUUIDTests {
    /// Counts up, so that a test knows the bits.
    private struct Counter: RandomNumberGenerator {
        var numbers: [UInt64]

        mutating func next() -> UInt64 { numbers.removeFirst() }
    }

    @Test("A UUID holds the generator's bits but for its version, 4, and its variant")
    func bits() {
        var zeros = Counter(numbers: [0, 0])
        #expect(
            UUID.made(with: &zeros).uuidString == "00000000-0000-4000-8000-000000000000"
        )
        var ones = Counter(numbers: [.max, .max])
        #expect(
            UUID.made(with: &ones).uuidString == "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF"
        )
        var order = Counter(numbers: [0x0123_4567_89AB_CDEF, 0x8899_AABB_CCDD_EEFF])
        #expect(
            UUID.made(with: &order).uuidString == "01234567-89AB-4DEF-8899-AABBCCDDEEFF"
        )
        #expect(Randomness.system.makeUUID() != Randomness.system.makeUUID())
    }

    @Test("Numbers for identifiers are drawn many at a time, and each is given once")
    func drawing() {
        let draws = Locked<[Int]>([])
        var numbers = IdentifierNumbers { count in
            draws.withLock { draws in
                draws.append(count)
                return (0..<count).map { UInt64(100 * draws.count + $0) }
            }
        }
        let given = (0..<65).map { _ in numbers.next() }
        #expect(Set(given) == Set(100..<132).union(200..<232).union([331]))
        #expect(draws.current == [32, 32, 32])
    }

    @Test("The system's UUIDs differ, whoever asks for them at the same time")
    func together() async {
        let made = await withTaskGroup(of: [UUID].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<1000).map { _ in Randomness.system.makeUUID() } }
            }
            return await group.reduce(into: [UUID]()) { $0 += $1 }
        }
        #expect(Set(made).count == 8000)
    }

    @Test(
        "The system's bytes are as many as were asked for, none left as they were",
        arguments: [0, 1, 255, 256, 257, 1000])
    func bytes(count: Int) {
        let drawn = (0..<40).map { _ in Randomness.system.makeBytes(count) }
        #expect(drawn.allSatisfy { $0.count == count })
        // That one place is zero all forty times has a chance of 2^-320.
        #expect((0..<count).allSatisfy { place in drawn.contains { $0[place] != 0 } })
    }

    @Test("A process that forked and its child make different numbers")
    func forking() throws {
        // Swift offers no `fork`, which C code of an app may call.
        typealias Fork = @convention(c) () -> pid_t
        let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), "fork"))
        let fork = unsafeBitCast(symbol, to: Fork.self)
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        var numbers = IdentifierNumbers { count in
            (0..<count).map { UInt64(getpid()) << 32 | UInt64($0) }
        }
        _ = numbers.next()
        let child = fork()
        var next = numbers.next()
        if child == 0 {
            write(pipes[1], &next, 8)
            _exit(0)
        }
        try #require(child > 0)
        var ofChild = next
        #expect(read(pipes[0], &ofChild, 8) == 8)
        #expect(ofChild != next)
        waitpid(child, nil, 0)
        pipes.forEach { close($0) }
    }

    /// What Foundation and the system make UUIDs and unique names with: all read `/dev/urandom`.
    private let fromDescriptors = [
        /UUID(?:\s*\.\s*init)?\s*\(\s*\)/, /UUID\s*\.\s*init(?!\s*\()/,
        /UUID\??\s*=\s*\.init\s*\(\s*\)/, /NSUUID|CFUUIDCreate|uuid_generate/,
        /globallyUniqueString|itemReplacementDirectory/, /\/dev\/u?random"/,
    ]

    private func readsDescriptor(_ line: Substring) -> Bool {
        let code = line.drop(while: \.isWhitespace)
        guard !code.hasPrefix("//") else { return false }
        return fromDescriptors.contains { pattern in
            // `makeUUID()` is ours.
            code.matches(of: pattern).contains { match in
                code[..<match.range.lowerBound].last?.isLetter != true
            }
        }
    }

    @Test(
        "H1: the search for UUIDs of Foundation finds each way to write one, and nothing else",
        arguments: [
            ("let id = UUID()", true), ("    UUID.init()", true), ("UUID( ).uuidString", true),
            ("makeUUID: UUID.init,", true), ("let id: UUID = .init()", true),
            ("let id: UUID? = .init ()", true), ("NSUUID().uuidString", true),
            ("ProcessInfo.processInfo.globallyUniqueString", true),
            ("url(for: .itemReplacementDirectory, in: .userDomainMask)", true),
            (#"open("/dev/urandom", O_RDONLY)"#, true),
            ("    // NB: Foundation's `UUID()` opens one", false), ("UUID(uuid: bytes)", false),
            ("UUID.init(uuidString: id)", false), ("Randomness.system.makeUUID()", false),
            ("CallUUIDs(after: first)", false), ("var ids: [UUID] = []", false),
        ]
    )
    func searching(line: String, isFound: Bool) {
        #expect(readsDescriptor(line[...]) == isFound)
    }

    @Test("H1: no source makes a UUID with Foundation, which repeats one without /dev/urandom")
    func noFoundationUUIDs() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources")
        let files = try #require(
            FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        )
        var checked = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            checked += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            // Most files have none of the words: each line is long to search.
            guard text.contains(/(?i)uuid|unique|itemReplacement|\/dev\//) else { continue }
            let lines = text.split(separator: "\n")
            let culprits = lines.filter { readsDescriptor($0) }
            #expect(culprits.isEmpty, "\(file.lastPathComponent): use Randomness")
        }
        #expect(checked > 100)
    }
}
