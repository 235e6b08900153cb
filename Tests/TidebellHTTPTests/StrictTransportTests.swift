// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

@Suite("Browsers that came by https") struct StrictTransportTests {
    @Test(
        "They are asked to come by nothing else where the operator says so, and by http nobody is")
    func header() async throws {
        let api = try await TestAPI()
        for (days, isSecure, header) in [
            (nil, true, nil), (365, true, "max-age=31536000"), (0, true, "max-age=0"),
            (365, false, nil),
        ] {
            let services = WebServices(
                cloud: api.cloud.webServices.cloud,
                strictTransport: days.map { .seconds($0 * 24 * 3600) })
            for target in ["/account", "/health", "/none"] {
                let answer = await services.respond(
                    to: WebRequest(.get, target, isSecure: isSecure))
                #expect(answer.headers[.strictTransportSecurity] == header, "\(target)")
            }
        }
    }
}
