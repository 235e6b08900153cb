// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellServer
import TidebellWire
import HTTPTypes
import TidebellHTTP

@Suite("Files over a socket", .hangs)
struct AssetSocketTests {
    @Test("A client that goes away in the middle of its file leaves nothing")
    func brokenOff() async throws {
        try await SocketTests().serving { server, port, firstRun in
            let answer = await server.cloud.respond(
                .post,
                "/database/1/c/development/private/assets/upload?ckAPIToken=\(firstRun.apiToken)"
                    + "&ckWebAuthToken=\(firstRun.webToken)",
                body: Array(
                    #"{"tokens":[{"recordName":"n","recordType":"T","fieldName":"f"}]}"#.utf8
                )
            )
            let token = try JSONReader.read(try await answer.body.collect()) {
                try UploadAssets.Response(from: &$0).tokens[0]
            }
            let path = try #require(
                token.url.range(of: "/assets/").map { token.url[$0.lowerBound...] })
            let folder = server.configuration.dataFolder.path + "/assets"
            let manager = FileManager.default
            func names(_ part: String) throws -> [String] {
                try manager.contentsOfDirectory(atPath: "\(folder)/\(part)")
            }
            for head in [
                "Content-Length: 9\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            ] {
                let connection = try RawConnection(port)
                try connection.send("POST \(path) HTTP/1.1\r\nHost: here\r\n\(head)")
                let hasBegun = await eventually { (try? names("incoming").count) == 1 }
                #expect(hasBegun)
                connection.close()
                #expect(
                    await eventually {
                        server.cloud.webServices.cloud.transfers.current == 0
                            && (try? names("incoming").isEmpty) == true
                    }
                )
                #expect(try names("kept").isEmpty)
            }
        }
    }
}
