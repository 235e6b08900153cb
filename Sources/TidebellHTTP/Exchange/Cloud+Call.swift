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
        usesExtensions: Bool = false, baseURL: String
    ) -> Call {
        var call = Call(
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
            storeIdentity: store.identity,
            storeIncarnation: store.incarnation,
            limits: limits,
            schemas: schemas,
            queryUses: queryUses,
            uuids: CallUUIDs(after: randomness.makeUUID()),
            assetSeals: AssetSeal(keys: assetSealKeys, baseURL: baseURL),
            fieldCipher: rootKey ?? NoFieldCipher(), shareURLKey: shareURLKey,
            markerSeal: markerSeal
        )
        let search = store.damageSearch
        call.damageSearch = search
        call.reportDamage = { [damage, logger] zone, record in
            damage.report(container, scope, zone: zone, record: record, search, to: logger)
        }
        call.reportDamagedSubscription = { [shares, damage, logger] id in
            shares.metrics.metDamagedSubscription()
            damage.report(container, scope, subscription: id, search, to: logger)
        }
        call.noteQuery = noteQuery
        call.reportLeniency = { [leniency, logger] subject, warning in
            leniency.report(subject, warning, in: container, scope, to: logger)
        }
        return call
    }
}
