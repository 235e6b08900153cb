// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension SignOut {
    /// Removes the device that calls, which gets no pushes any more (SUB-51), and then its session with
    /// all that were begun with it.
    ///
    /// It may come from anybody, also from a user who is signed out already: it only removes. The
    /// session goes last, so that who is stopped between the two can sign out again.
    package static func run(
        for call: Call, of user: StoredUser, as steps: some StoreSteps
    ) throws {
        if let device = call.clientID {
            try steps.write(.user(user.id)) {
                try $0.removeDevice(clientID: device, of: user.id)
            }
        }
        if let session = call.session {
            try steps.write(.account(user.account)) { try $0.removeSession(session) }
        }
    }
}
