// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `assets/upload` (web-services 5.9).
extension UploadAssets: Endpoint {
    /// Answers with the URLs that files are to be sent to.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let cloud = exchange.cloud
        let request = try exchange.read(Request.self)
        let tokens = request.tokens.map { _ in Secret.make(from: cloud.randomness) }
        let hashes = tokens.map { Secret.hash($0) }
        let account = try call.requireUser().account
        let names = try await exchange.transaction(.account(account)) {
            try run(request, tokenHashes: hashes, for: call, in: $0)
        }
        let response = Response(
            tokens: request.tokens.indices.map { index in
                Token(
                    recordName: names[index], fieldName: request.tokens[index].fieldName,
                    url: exchange.baseURL + ReceiveAsset.route.path.stem + tokens[index]
                )
            }
        )
        return .json { response.write(to: &$0) }
    }
}
