// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension OperatorError {
    /// Returns the same error with the command that helps in its sentence.
    ///
    /// - Parameter option: What to add to a command that lists something, so that it means the same
    ///   cloud.
    func naming(commandsWith option: String) -> OperatorError {
        guard let remedy else { return self }
        let sentence = description.hasSuffix(".") ? String(description.dropLast()) : description
        let listing = sentence + "; see: tidebell "
        return switch remedy {
        case .listWebhooks: OperatorError(listing + "webhook list" + option)
        case .listSessions(let user): OperatorError(listing + "user sessions \(user)" + option)
        case .listServerKeys: OperatorError(listing + "server-key list" + option)
        case .listRemovedUsers: OperatorError(listing + "user list --removed" + option)
        case .showSchemaDifferences(let container):
            OperatorError(listing + "schema diff \(container)" + option)
        case .remove(let user):
            OperatorError(sentence + ", with tidebell user remove \(user) --erase-data.")
        }
    }
}
