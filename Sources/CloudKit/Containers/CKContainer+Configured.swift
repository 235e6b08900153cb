// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKContainer {
    /// Calls `body` with this container, whose methods, and those of its databases, then use a
    /// configuration and a group (OP-7).
    ///
    /// Parameters that are nil keep this container's values. Operations that `body` adds keep their
    /// own configuration and group.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (_ configuredContainer: CKContainer) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Calls `body` with this container, whose methods, and those of its databases, then use a
    /// configuration and a group (OP-7).
    ///
    /// Parameters that are nil keep this container's values. Operations that `body` adds keep their
    /// own configuration and group.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredContainer: CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    /// How the requests of the container's own methods are sent.
    var requestOptions: RequestOptions { conveniences.requestOptions(on: connection.session) }

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
