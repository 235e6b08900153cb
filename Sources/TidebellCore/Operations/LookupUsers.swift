// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension LookupUsers {
    /// Returns the users of the container who have these record names.
    package static func run(
        _ request: Request, for call: Call, in reader: some UserReading
    ) throws -> Response {
        _ = try call.requireUser()
        let names = request.userRecordNames
        let known = Set(
            try reader.users(recordNames: Set(names), in: call.container).map(\.recordName))
        return Response(
            users: names.filter(known.contains).map { UserIdentity(userRecordName: $0) })
    }
}

extension DiscoverUsers {
    /// Returns those who permitted it (ACCT-6) among the users whom the request means.
    ///
    /// No account has an e-mail address or a phone number yet: these find nobody.
    package static func run(
        _ request: Request, for call: Call, in reader: some UserReading
    ) throws -> Response {
        _ = try call.requireUser()
        let names = request.lookups.compactMap { lookup in
            if case .userRecordName(let name) = lookup { name } else { nil }
        }
        var found: Set<String> = []
        for user in try reader.users(recordNames: Set(names), in: call.container)
        where try reader.permission(.userDiscoverability, of: user.id) == .granted {
            found.insert(user.recordName)
        }
        return Response(
            users: names.filter(found.contains).map {
                UserIdentity(userRecordName: $0, lookup: .userRecordName($0))
            }
        )
    }
}
