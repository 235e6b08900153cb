// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKContainer {
    /// Calls `body` with this container, whose databases' methods run with a
    /// configuration and in a group (OP-7).
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (_ configuredContainer: CKContainer) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Calls `body` with this container, whose databases' methods run with a
    /// configuration and in a group (OP-7).
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredContainer: CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(
        _ configuration: CKOperation.Configuration?,
        _ group: CKOperationGroup?
    ) -> CKContainer {
        CKContainer(
            connection: connection,
            conveniences: ConvenienceSettings(
                configuration: configuration?.copied() ?? conveniences.configuration,
                group: group ?? conveniences.group
            )
        )
    }
}
