// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Adds an API token, which lets programs call, or a management token, with which the operator
/// asks over the network.
package enum AddToken {
    /// Keeps the token under its hash; a container that no request can name fails.
    ///
    /// - Parameters:
    ///   - container: The only container, in its environment, where it is good; nil for all.
    ///   - lifetime: How long it is valid; nil for ever.
    ///   - signIn: How users of an app sign in on the server's page.
    ///   - task: What alone a management token is good for; nil for all.
    package static func run(
        _ kind: TokenKind, _ hash: [UInt8], named name: String, for container: ContainerKey?,
        lifetime: Duration?, signIn: AppSignIn = AppSignIn(), task: ManagementTask? = nil,
        at now: Instant, in transaction: some TokenWriting
    ) throws {
        try container?.check()
        try signIn.check()
        let token = StoredToken(
            hash: hash, name: name, container: container, createdAt: now,
            expiresAt: lifetime.map { now.advanced(by: $0) }, signIn: signIn, task: task
        )
        try transaction.putToken(token, kind)
    }
}
