// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

@testable import TidebellServer

/// The worked examples of Amazon's documentation, "Signature Calculations for the Authorization Header:
/// Transferring Payload in a Single Chunk".
@Suite("Signatures of requests to S3")
struct AWSSignatureTests {
    private static let moment = "20130524T000000Z"
    private static let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private struct Example {
        var method = "GET"
        var path = "/"
        var query: [(name: String, value: String)] = []
        var headers: [String: String] = [:]
        var payload = AWSSignatureTests.nothing
    }

    private func authorization(_ example: Example) -> String {
        let signature = AWSSignature(
            credentials: AWSCredentials(
                keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1")
        var headers = example.headers
        headers["host"] = "examplebucket.s3.amazonaws.com"
        headers["x-amz-date"] = Self.moment
        headers["x-amz-content-sha256"] = example.payload
        return signature.authorization(
            of: AWSSignature.Request(
                method: example.method, path: example.path, query: example.query,
                headers: headers, payload: example.payload),
            at: Self.moment)
    }

    private func expected(_ headers: String, _ signature: String) -> String {
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            + "SignedHeaders=\(headers),Signature=\(signature)"
    }

    @Test("The example GET Object")
    func getObject() {
        #expect(
            authorization(Example(path: "/test.txt", headers: ["range": "bytes=0-9"]))
                == expected(
                    "host;range;x-amz-content-sha256;x-amz-date",
                    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"))
    }

    @Test("The example PUT Object")
    func putObject() {
        let payload = AWSSignature.digest(Array("Welcome to Amazon S3.".utf8))
        #expect(payload == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
        #expect(
            authorization(
                Example(
                    method: "PUT", path: "/test$file.text",
                    headers: [
                        "date": "Fri, 24 May 2013 00:00:00 GMT",
                        "x-amz-storage-class": "REDUCED_REDUNDANCY",
                    ], payload: payload))
                == expected(
                    "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
    }

    @Test("The example GET Bucket Lifecycle, whose query has a name alone")
    func lifecycle() {
        #expect(
            authorization(Example(query: [("lifecycle", "")]))
                == expected(
                    "host;x-amz-content-sha256;x-amz-date",
                    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"))
    }

    @Test("The example GET Bucket (List Objects), whose query is sorted")
    func list() {
        #expect(
            authorization(Example(query: [("prefix", "J"), ("max-keys", "2")]))
                == expected(
                    "host;x-amz-content-sha256;x-amz-date",
                    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"))
    }

    @Test("Moments and texts are written as signatures have them")
    func texts() {
        #expect(AWSSignature.text(of: Instant(rawValue: 1_369_353_600_000)) == Self.moment)
        #expect(AWSSignature.text(of: Instant(rawValue: 1_795_813_507_999)) == "20261127T210507Z")
        #expect(AWSSignature.encoded("a b/ü~", keepsSlashes: true) == "a%20b/%C3%BC~")
        #expect(AWSSignature.encoded("a/b+c") == "a%2Fb%2Bc")
    }
}
