// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

@Suite("Limits that an operator sets")
struct SettableLimitTests {
    private let standard = ServerConfiguration(dataFolder: URL(fileURLWithPath: "/"))

    /// A value that a limit does not have by itself.
    private static func other(_ limit: SettableLimit, than value: Int64?) -> Int64 {
        value == limit.range.lowerBound ? limit.range.lowerBound + 1 : limit.range.lowerBound
    }

    private func changed(_ limit: SettableLimit) throws -> ServerConfiguration {
        let value = Self.other(limit, than: limit.value(in: standard))
        var settings = LimitSettings()
        try settings.set("\(limit.name)=\(limit.unit.text(value))")
        var configuration = standard
        settings.apply(to: &configuration)
        #expect(limit.value(in: configuration) == value, "\(limit.name)")
        return configuration
    }

    @Test("Each has an effect of its own on the server's configuration")
    func effects() throws {
        let limits = SettableLimit.all
        #expect(Set(limits.map(\.name)).count == limits.count)
        for limit in limits {
            let configuration = try changed(limit)
            for other in limits where other.name != limit.name {
                #expect(
                    other.value(in: configuration) == other.value(in: standard),
                    "\(limit.name) changes \(other.name)")
            }
            guard let value = limit.value(in: standard) else { continue }
            #expect(limit.range.contains(value), "\(limit.name)")
        }
    }

    @Test("Every bound that is named and counted is set by its name, or is listed as fixed")
    func bounds() {
        for bound in WireError.Bound.allCases.map(\.rawValue) {
            #expect(
                SettableLimit.all.contains { $0.name == bound || $0.name.hasPrefix("\(bound).") }
                    || SettableLimit.fixedLimits[bound] != nil,
                "\(bound)")
        }
    }

    @Test("What the server's limits hold is set, or is listed as fixed, and why")
    func everyProperty() throws {
        let parts: [(Set<String>, @Sendable (ServerConfiguration) -> Any)] = [
            (Set(SettableLimit.fixedLimits.keys), { $0.limits }),
            (Set(SettableLimit.fixedShares.keys), { $0.shares }),
            (Set(SettableLimit.fixedStore.keys), { $0.store }),
        ]
        let configurations = try SettableLimit.all.map(changed)
        for (fixed, part) in parts {
            let before = Self.properties(of: part(standard))
            var settable: Set<String> = []
            for configuration in configurations {
                let after = Self.properties(of: part(configuration))
                settable.formUnion(before.keys.filter { before[$0] != after[$0] })
            }
            #expect(settable.isDisjoint(with: fixed))
            #expect(settable.union(fixed) == Set(before.keys))
        }
    }

    private static func properties(of value: Any) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: Mirror(reflecting: value).children.map {
                ($0.label ?? "", String(describing: $0.value))
            })
    }

    @Test(
        "A value is a number with its unit",
        arguments: [
            ("userQuota=none", "userQuota", nil), ("userQuota=500m", "userQuota", 500 << 20),
            ("tombstoneRetention=90d", "tombstoneRetention", 90 * 24 * 3600),
            ("bodyTime=5", "bodyTime", 5), ("idleTime=2m", "idleTime", 120),
            ("longReads.atOnce=3", "longReads.atOnce", 3),
        ] as [(String, String, Int64?)])
    func values(text: String, name: String, value: Int64?) throws {
        var settings = LimitSettings()
        try settings.set(text)
        var configuration = standard
        settings.apply(to: &configuration)
        let limit = try #require(SettableLimit.all.first { $0.name == name })
        #expect(limit.value(in: configuration) == value)
    }

    @Test(
        "What cannot be set is refused in one sentence that names what can",
        arguments: [
            ("zonesPerDatabse=5", "Did you mean 'zonesPerDatabase'? The limits are: connections, "),
            ("USERQUOTA=1", "Did you mean 'userQuota'?"),
            ("xyz=5", "There is no limit 'xyz'. The limits are: connections, "),
            ("zonesPerDatabase", "--limit must be NAME=VALUE, not 'zonesPerDatabase'."),
            (
                "zonesPerDatabase=0",
                "The limit zonesPerDatabase must be 1 to 1000000, not '0'."
            ),
            ("zonesPerDatabase=1K", "1 to 1000000, not '1K'."),
            ("zonesPerDatabase=", "1 to 1000000, not ''."),
            (
                "bodyBytes=1M",
                "The limit bodyBytes must be 96M to 1024G (bytes, or with K, M or G), not '1M'."
            ),
            (
                "bodyTime=none",
                "must be 1s to 1000000s (seconds, or with s, m, h or d), not 'none'."
            ),
            ("userQuota=-1", "(bytes, or with K, M or G), or none, not '-1'."),
            ("userQuota=99999999999999G", "not '99999999999999G'."),
        ])
    func refused(text: String, sentence: String) {
        var settings = LimitSettings()
        let error = #expect(throws: OperatorError.self) { try settings.set(text) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }

    @Test("A limit is set once, be it by its name or by an option that is short for it")
    func twice() throws {
        var settings = LimitSettings()
        try settings.set("userQuota", to: "5G", by: "--user-quota")
        let error = #expect(throws: OperatorError.self) { try settings.set("userQuota=6G") }
        #expect(
            error?.description
                == "The limit userQuota is set twice: by --user-quota 5G, and by "
                + "--limit userQuota=6G.")
    }

    @Test("The list has each limit, its default and what it may be set to")
    func list() {
        let lines = LimitList.text.split(separator: "\n")
        for limit in SettableLimit.all {
            #expect(lines.contains { $0.hasPrefix("  \(limit.name) ") }, "\(limit.name)")
        }
        #expect(
            lines.contains {
                $0.contains("userQuota") && $0.hasSuffix(" 10G (0 or more, or none)")
            })
        #expect(lines.contains { $0.hasSuffix(" half of all (1 to 1000000)") })
    }

    @Test("SECURITY.md has each limit in its table of bounds, and none that there is not")
    func securityTable() throws {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("SECURITY.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let bounds = try #require(text.firstMatch(of: #/\n## Bounds\n([\s\S]+?)\n## /#)?.1)
        // Bound, default, name, what is beyond it, whether that is counted.
        let cells = bounds.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .map { $0.split(separator: " | ") }
        #expect(cells.allSatisfy { $0.count == 5 })
        // Without options, which begin with a hyphen.
        let listed = Set(
            cells.flatMap { $0[2].matches(of: /`([a-z][A-Za-z.]+)`/).map { String($0.1) } })
        let settable = Set(SettableLimit.all.map(\.name))
        #expect(settable.subtracting(listed) == [])
        #expect(listed.subtracting(settable).isSubset(of: SettableLimit.fixedLimits.keys))
    }
}
