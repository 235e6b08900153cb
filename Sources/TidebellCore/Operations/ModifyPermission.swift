// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension ModifyPermission {
    /// Reads, asks for or decides a permission of the caller (ACCT-6).
    ///
    /// Nobody can be asked on a server: who did not decide before is taken to agree,
    /// as the operator of the cloud and its users are one house. A decision is the
    /// user's, so it holds on all devices.
    package static func run(
        _ request: Request, for call: Call, in transaction: some UserWriting
    ) throws -> Response {
        let user = try call.requireUser().id
        let known = try transaction.permission(request.permission, of: user)
        let answer: PermissionAnswer?
        switch request.action {
        case .read: return Response(answer: known)
        case .request: answer = known ?? .granted
        case .grant: answer = .granted
        case .deny: answer = .denied
        case .reset: answer = nil
        }
        if answer != known {
            try transaction.setPermission(request.permission, of: user, to: answer)
        }
        return Response(answer: answer)
    }
}
