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
    /// Returns those who permitted it (ACCT-6) among the users whom the request means, by record
    /// name or by a verified address.
    package static func run(
        _ request: Request, for call: Call, in reader: some UserReading & AddressReading
    ) throws -> Response {
        _ = try call.requireUser()
        let found = try reader.discoverable(request.lookups, in: call.container)
        return Response(
            users: request.lookups.compactMap { lookup in
                found[lookup].map { UserIdentity(userRecordName: $0, lookup: lookup) }
            }
        )
    }
}

extension LookupUsersByEmail {
    /// Returns those who permitted it among the users with these addresses.
    package static func run(
        _ request: Request, for call: Call, in reader: some UserReading & AddressReading
    ) throws -> Response {
        _ = try call.requireUser()
        let lookups = request.emailAddresses.map { UserLookup.emailAddress($0) }
        let found = try reader.discoverable(lookups, in: call.container)
        return Response(
            users: request.emailAddresses.compactMap { address in
                found[.emailAddress(address)].map {
                    FoundUser(userRecordName: $0, emailAddress: address)
                }
            }
        )
    }
}

extension UserReading where Self: AddressReading {
    /// Returns the record names of those who permitted that others find them.
    fileprivate func discoverable(
        _ lookups: [UserLookup], in container: ContainerKey
    ) throws -> [UserLookup: String] {
        let users = try users(meantBy: lookups, in: container)
        var permitted: [UserID: Bool] = [:]
        for user in users.values where permitted[user.id] == nil {
            permitted[user.id] = try permission(.userDiscoverability, of: user.id) == .granted
        }
        var found: [UserLookup: String] = [:]
        for lookup in lookups {
            guard let user = users[lookup.compared],
                permitted[user.id] == true
            else { continue }
            found[lookup] = user.recordName
        }
        return found
    }
}
