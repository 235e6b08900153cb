// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension Cloud {
    /// Returns a call of now.
    ///
    /// - Parameter baseURL: The URL under which the caller reaches this server.
    func call(
        by user: StoredUser?, session: SessionID?, onlyContainer: ContainerKey? = nil,
        clientID: String? = nil, in container: ContainerKey, _ scope: DatabaseScope,
        usesExtensions: Bool = false, baseURL: String, _ shared: Call.Shared
    ) -> Call {
        Call(
            container: container,
            scope: scope,
            user: user,
            session: session,
            onlyContainer: onlyContainer,
            clientID: clientID,
            makeDeviceID: { [devices] in
                guard let clientID, let user else { return "" }
                return devices.deviceID(of: clientID, usedBy: user.recordName)
            },
            usesExtensions: usesExtensions,
            now: time.now(),
            storeIncarnation: store.incarnation,
            uuids: CallUUIDs(after: randomness.makeUUID()),
            assetSeals: AssetSeal(keys: assetSealKeys, baseURL: baseURL),
            in: shared
        )
    }

    /// What its calls have in common.
    func callSurroundings() -> Call.Shared {
        let search = store.damageSearch
        var surroundings = CallSurroundings(storeIdentity: store.identity, limits: limits)
        surroundings.schemas = schemas
        surroundings.queryUses = queryUses
        surroundings.fieldCipher = rootKey ?? NoFieldCipher()
        surroundings.shareURLKey = shareURLKey
        surroundings.markerSeal = markerSeal
        surroundings.damageSearch = search
        surroundings.reportDamage = { [damage, logger] call, zone, record in
            damage.report(
                call.container, call.scope, zone: zone, record: record, search, to: logger)
        }
        surroundings.reportDamagedSubscription = { [shares, damage, logger] call, id in
            shares.metrics.metDamagedSubscription()
            damage.report(call.container, call.scope, subscription: id, search, to: logger)
        }
        surroundings.noteQuery = noteQuery
        surroundings.reportLeniency = { [leniency, logger] call, subject, warning in
            leniency.report(subject, warning, in: call.container, call.scope, to: logger)
        }
        return Call.Shared(surroundings)
    }
}
